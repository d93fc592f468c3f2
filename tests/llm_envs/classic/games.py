"""The seven classics, and scenes of them. `python -m tests.llm_envs.classic.games` writes the golden prompts anew."""

import random
from pathlib import Path
from typing import Any

import llm_envs
from llm_envs.core.fork_check import random_action, view
from llm_envs.core.stepping import is_over
from llm_envs.players import ReferencePlayer

FOLDER = Path(__file__).parent / "golden"
NAMES = ("chess", "connect_four", "hanabi", "leduc_holdem", "rps", "texas_holdem", "tictactoe")
FOREIGN = {
    "chess": "chess-v6",
    "connect_four": "connect_four-v3",
    "hanabi": "hanabi-v5",
    "leduc_holdem": "leduc_holdem-v4",
    "rps": "rps-v2",
    "texas_holdem": "texas_holdem-v4",
    "tictactoe": "tictactoe-v3",
}
LONGEST = 40  # plies
RANDOM = ReferencePlayer("random")


def begun(name: str, plies: int, index: int = 0, **options: Any) -> Any:
    """A textualized classic after some random turns."""
    env = llm_envs.make(f"{name}_v0", **options)
    env.reset(options={"index": index})
    for _ in range(plies):
        if not is_over(env):
            agent = env.agent_selection
            env.step(RANDOM.act(env, agent, str(env.observe(agent))))
    return env


def seen(env: Any) -> tuple[Any, ...]:
    """All that a player or a trainer sees of a text environment."""
    raw = env.unwrapped
    return (
        list(raw.agents),
        raw.agent_selection,
        str(raw.state()),
        {agent: str(raw.observe(agent)) for agent in raw.agents},
        dict(raw.rewards),
        dict(raw._cumulative_rewards),
        dict(raw.terminations),
        dict(raw.truncations),
        {agent: dict(info) for agent, info in raw.infos.items()},
    )


def line(env: Any) -> list[tuple[Any, ...]]:
    """All that is seen on a way of random turns, to the end or as long as is worth comparing."""
    steps = [seen(env)]
    while not is_over(env) and len(steps) <= LONGEST:
        agent = env.agent_selection
        env.step(RANDOM.act(env, agent, str(env.observe(agent))))
        steps.append(seen(env))
    return steps


def foreign_line(env: Any, seed: int) -> list[Any]:
    """The same on a game of PettingZoo itself."""
    rng, steps = random.Random(seed), [view(env)]
    while not is_over(env) and len(steps) <= LONGEST:
        env.step(random_action(env, rng))
        steps.append(view(env))
    return steps


def observation_of(name: str, shown: str) -> str:
    """What the agent to act reads after three random turns, or at the start where the game does not last as long."""
    env = begun(name, plies=3, index=1, observation=shown)
    if is_over(env):
        env = begun(name, plies=0, index=1, observation=shown)
    return str(env.observe(env.agent_selection))


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name in NAMES:
        for shown in ("full", "brief"):
            (FOLDER / f"{name}_{shown}.txt").write_text(observation_of(name, shown) + "\n")


if __name__ == "__main__":
    main()
