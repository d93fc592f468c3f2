"""Rewards, endings and records of whole episodes."""

import json
import math
from collections import defaultdict
from dataclasses import replace

from llm_envs.core.task import Split
from llm_envs.episode import Episode
from llm_envs.play import play
from llm_envs.players import Env, Player, ReferencePlayer
from llm_envs.testing.subject import Subject, expect, players_of, potential, require_oracle

CLOSE = 1e-9
REQUIRED_INFO = ("role", "success", "invalid", "team_reward", "local_reward")


def check_ledger(subject: Subject) -> None:
    """What `last()` hands out over an episode is alpha * (change of potential) + the agent's own local rewards."""
    env = subject.env()
    require_oracle(env)
    for index in range(subject.episodes):
        for player in players_of(env, index):
            _check_one_ledger(env, player, index)


def _check_one_ledger(env: Env, player: Player, index: int) -> None:
    env.reset(options={"index": index})
    raw = env.unwrapped
    start = level = potential(env)
    handed_out: dict[str, float] = defaultdict(float)
    local: dict[str, float] = defaultdict(float)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        handed_out[agent] += reward
        if terminated or truncated:
            env.step(None)
            continue
        expect(env.observation_space(agent).contains(observation), f"an observation of {agent} is outside its space.")
        env.step(player.act(env, agent, str(observation)))
        info = env.infos[agent]
        missing = [key for key in REQUIRED_INFO if key not in info]
        expect(not missing, f"infos[{agent!r}] lacks {missing}: Task.apply must not hide what the shell puts there.")
        level, before = potential(env), level
        expect(0.0 <= level <= 1.0, f"Task.potential is {level}: must lie in [0, 1].")
        solved = raw.task.solved(raw.snapshot)
        expect((level == 1.0) == solved, f"Task.potential is {level} where solved is {solved}: 1 must mean solved.")
        expect(info["success"] is bool(solved), f"infos[{agent!r}]['success'] must be Task.solved of the state.")
        expect(math.isclose(info["team_reward"], level - before, abs_tol=CLOSE), "team_reward must be the potential's.")
        expect(-1.0 <= info["local_reward"] <= 0.0, f"local_reward {info['local_reward']}: must lie in [-1, 0].")
        local[agent] += info["local_reward"]
    for agent in env.possible_agents:
        right = raw.alpha * (level - start) + local[agent]
        expect(
            math.isclose(handed_out[agent], right, abs_tol=CLOSE),
            f"last() gave {agent} {handed_out[agent]} in all, but alpha * team + local is {right}: accumulate each "
            "step's rewards once, and clear an agent's when it acts.",
        )


def check_ending(subject: Subject) -> None:
    """Every agent leaves once, by `step(None)`; the horizon truncates, the task's own end terminates."""
    env = subject.env()
    for index in range(subject.episodes):
        for player in players_of(env, index):
            env.reset(options={"index": index})
            left: list[str] = []
            steps = 0
            for agent in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if not (terminated or truncated):
                    env.step(player.act(env, agent, str(observation)))
                    steps += 1
                    continue
                over = env.unwrapped.task.finished(env.unwrapped.snapshot)
                expect(terminated or not over, "an episode that the task calls finished must terminate.")
                _expect_refusal(env, agent)
                env.step(None)
                left.append(agent)
            expect(sorted(left) == sorted(env.possible_agents), f"agents left as {left}: each must leave exactly once.")
            expect(env.agents == [], "agents must be empty after the last one left.")
            most = env.unwrapped.max_cycles * len(env.possible_agents)
            expect(steps <= most, f"{steps} turns in an episode of at most {most}.")


def _expect_refusal(env: Env, agent: str) -> None:
    """Text for a dead agent must be refused without harm."""
    inner = env.unwrapped  # below the order-enforcing wrapper, which counts calls
    try:
        inner.step("text")
    except ValueError:
        expect(agent in inner.agents, "a refused step changed the environment.")
        return
    raise AssertionError("step('text') for a dead agent was accepted: it must raise a ValueError that says why.")


def check_oracle(subject: Subject) -> None:
    """The oracle solves every instance, and whoever does not solve one earns less on it than the oracle, each agent."""
    env = subject.env()
    require_oracle(env)
    for split in Split:
        for index in range(subject.episodes):
            best = play(env, {"all": ReferencePlayer("oracle")}, split=split, index=index)
            expect(
                best.success,
                f"the oracle does not solve {split} {index} within max_cycles={env.unwrapped.max_cycles}: mend "
                "Task.reference, or let the generator leave out what cannot be solved in time.",
            )
            for player in players_of(env, index):
                other = play(env, {"all": player}, split=split, index=index)
                if not other.success and env.unwrapped.alpha > 0:
                    _expect_less(other, best, player.name)


def _expect_less(other: Episode, best: Episode, name: str) -> None:
    for agent, value in other.returns.items():
        expect(
            value < best.returns[agent],
            f"player {name!r} does not solve {other.split} {other.index}, but {agent} earns {value}, the oracle "
            f"{best.returns[agent]}: pay progress by the potential only, and keep local terms at most 0.",
        )


def check_records(subject: Subject) -> None:
    """An episode survives JSON unchanged: infos hold plain values."""
    env = subject.env()
    for player in players_of(env, 0):
        episode = play(env, {"all": player}, index=0, env_id="under/test-v0")
        try:
            again = Episode.from_json(episode.to_json())
        except TypeError as error:
            raise AssertionError(f"{error}: put only str, int, float, bool and None into infos.") from error
        expect(
            again == episode,
            f"an episode changes on its way through JSON: put only str, int, float, bool and None into infos. "
            f"{json.loads(replace(episode, turns=episode.turns[:1]).to_json())['turns'][:1]}",
        )
