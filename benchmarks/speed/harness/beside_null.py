"""The games beside an environment in which nothing happens."""

import itertools
from collections.abc import Callable, Sequence

from pettingzoo import AECEnv

from harness.games import GAMES, Game, in_threes, play
from harness.null_env import NullEnv
from harness.timing import Arm, Row, medians, per_call, repeated
from llm_envs.core.env import TextAECEnv
from llm_envs.core.task import Split

CALLS, NULL_CALLS, NEW_TURNS = 100, 1000, 100  # a slice


def turns(env: AECEnv[str, str, str], answers: Sequence[str]) -> Callable[[], None]:
    """What one turn is."""
    replies = itertools.cycle(answers)

    def turn() -> None:
        observation = env.last()[0]
        len(observation or "")
        env.step(next(replies))

    return turn


def new_games(game: Game) -> Arm:
    """Whole games on instances that were never seen: their first prompts, and what else is worked out once, count."""
    env, indices = game.begin(), itertools.count(1)

    def arm() -> float:
        ready: list[tuple[TextAECEnv, list[str]]] = []
        while sum(len(replies) for _, replies in ready) < NEW_TURNS:
            env.reset(options={"index": next(indices)})
            ready.append((env.fork(), in_threes(game.solution(env))))
        seconds = per_call(lambda: play(ready), 1)
        if not all(info["success"] for played, _ in ready for info in played.infos.values()):
            raise SystemExit(f"{game.name}: a game was not solved")
        return seconds / sum(len(replies) for _, replies in ready)

    return arm


def compare_with_null(rounds: int) -> list[Row]:
    """A turn, a fork, a reset and a new instance of each game, in null turns or null resets."""
    return [row for game in GAMES for row in _compare(game, rounds)]


def _compare(game: Game, rounds: int) -> list[Row]:
    env, null = game.begin(), NullEnv()
    null.reset()
    answers = game.answers(env)
    check(env, answers)
    resetting, indices = env.fork(), itertools.count(1 << 20)  # no instance that the games play
    found = medians(
        {
            "null turn": repeated(turns(null, ["", ""]), NULL_CALLS),
            "turn": repeated(turns(env, answers), CALLS),
            "turn, new games": new_games(game),
            "fork": repeated(env.fork, CALLS),
            "null reset": repeated(null.reset, NULL_CALLS),
            "reset, instance at hand": repeated(lambda: resetting.reset(options={"index": 0}), CALLS),
            "new instance": repeated(lambda: env.task.instance(Split.TRAIN, next(indices)), 10),
        },
        rounds,
    )
    floors = {
        "null turn": ("turn", "turn, new games", "fork"),
        "null reset": ("reset, instance at hand", "new instance"),
    }
    return [
        Row(f"{game.name}: {what}", found[what], floor, found[floor], f"{floor}s")
        for floor, measured in floors.items()
        for what in measured
    ]


def check(env: TextAECEnv, answers: Sequence[str]) -> None:
    """Stop unless every answer is valid and changes the state, and a fork goes on as its original does."""
    trial, twin = env.fork(), env.fork()
    start = env.state()
    for reply in answers:
        agent, before = trial.agent_selection, trial.state()
        for one in (trial, twin):
            one.step(reply)
        if trial.infos[agent]["invalid"] or trial.state() == before:
            raise SystemExit(f"{env}: {reply} does nothing: {trial.infos[agent]['invalid']}")
        if (trial.state(), trial.rewards, trial.infos) != (twin.state(), twin.rewards, twin.infos):
            raise SystemExit(f"{env}: two forks differ after {reply}")
        if any(trial.terminations.values()) or any(trial.truncations.values()):
            raise SystemExit(f"{env}: {reply} ends the episode")
    if env.state() != start:
        raise SystemExit(f"{env}: playing on forks changed their original")
