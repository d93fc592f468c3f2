"""What is under test, and how the checks play it."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from llm_envs.core.env import TextAECEnv
from llm_envs.players import Env, Player, ReferencePlayer

GARBAGE = ("", "I am not sure what to do.", "<answer></answer>", "```\n```", "�" * 40)


def expect(condition: bool, message: str) -> None:
    """Raise `AssertionError` with a message that says what is wrong and how to mend it."""
    if not condition:
        raise AssertionError(message)


@dataclass(frozen=True)
class Subject:
    """An environment factory and the options it is checked with."""

    make: Callable[..., Env]
    options: Mapping[str, Any]
    episodes: int

    def env(self, **more: Any) -> Env:
        """A new environment; `more` overrides options."""
        env = self.make(**{**self.options, **more})
        expect(
            isinstance(env.unwrapped, TextAECEnv),
            f"{type(env.unwrapped).__name__} is no TextAECEnv: return one from raw_env(), around a Task.",
        )
        for number, agent in enumerate(env.possible_agents):
            env.action_space(agent).seed(number)  # PettingZoo's tests sample from it; a failure must repeat
        return env

    def raw(self) -> TextAECEnv:
        """A new environment without its wrappers."""
        raw: TextAECEnv = self.env().unwrapped
        return raw


class GarbagePlayer:
    """Says nothing that any game understands."""

    name = "garbage"

    def act(self, env: Env, agent: str, observation: str) -> str:
        return random.Random(f"{agent}:{env.unwrapped.cycle}:{observation}").choice(GARBAGE)


class NoisyOracle:
    """The oracle, but with probability `noise` garbage or, where the task has it, its random player."""

    def __init__(self, seed: int, noise: float = 0.4) -> None:
        self.name = "noisy oracle"
        self._seed = seed
        self._noise = noise

    def act(self, env: Env, agent: str, observation: str) -> str:
        rng = random.Random(f"{self._seed}:{agent}:{env.unwrapped.cycle}:{observation}")
        if rng.random() >= self._noise:
            return ReferencePlayer("oracle", self._seed).act(env, agent, observation)
        if "random" in env.unwrapped.task.players and rng.random() < 0.7:
            return ReferencePlayer("random", self._seed).act(env, agent, observation)
        return rng.choice(GARBAGE)


def players_of(env: Env, seed: int) -> list[Player]:
    """One of each kind that the checks let play."""
    names = [name for name in env.unwrapped.task.players if name != "oracle"]
    return [NoisyOracle(seed), GarbagePlayer(), *(ReferencePlayer(name, seed) for name in names)]


def require_oracle(env: Env) -> None:
    """Every task has an oracle, since "solvable" and "nobody earns more" mean nothing without one."""
    task = env.unwrapped.task
    expect(
        "oracle" in task.players,
        f"{type(task).__name__}.players={task.players} has no 'oracle': add one whose replies, in Task.reference, "
        "solve every instance within max_cycles.",
    )


def potential(env: Env) -> float:
    """How near the present state is to a solution."""
    raw = env.unwrapped
    return float(raw.task.potential(raw.snapshot))
