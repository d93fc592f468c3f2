"""Where instances come from, and what observations may not show."""

import random
from collections.abc import Awaitable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from llm_envs.core.task import Split
from llm_envs.play import play
from llm_envs.players import Env, Player
from llm_envs.testing.subject import NoisyOracle, Subject, expect, players_of

INDICES = 24


@runtime_checkable
class KeepsSecrets(Protocol):
    """A task that names texts which no observation of a state may hold: hidden tests, gold answers."""

    def secrets(self, state: Any) -> Sequence[str]:
        """The texts."""
        ...


def check_instances(subject: Subject) -> None:
    """An instance depends on split and index alone, and no instance is in two splits."""
    raw, again = subject.raw(), subject.raw()
    seen: dict[str, set[str]] = {}
    for split in Split:
        texts = [raw.task.text(raw.task.instance(split, index)) for index in range(INDICES)]
        repeated = [again.task.text(again.task.instance(split, index)) for index in reversed(range(INDICES))]
        expect(
            texts == repeated[::-1],
            f"Task.instance({split.value!r}, index) gave another instance in another order of calls: derive all chance "
            "from (split, index), e.g. random.Random(f'{name}:{split}:{index}').",
        )
        seen[split] = set(texts)
    different = len(set.union(*seen.values()))
    expect(different > len(seen), f"Task.instance gives {different} instances for {INDICES} indices of all splits.")
    for first, second in (("train", "validation"), ("train", "test"), ("validation", "test")):
        both = seen[first] & seen[second]
        expect(
            not both,
            f"{len(both)} instances are in {first} and in {second}: let a hash of the content decide the split, and "
            f"draw again where it says another one. One of them:\n{next(iter(both), '')}",
        )


def check_global_random_state(subject: Subject) -> None:
    """Neither do we touch the caller's generators, nor do they touch us."""
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  # the legacy global generator is what must stay untouched
    before = random.getstate(), _numpy_state()
    first = play(subject.env(), {"all": NoisyOracle(0)}, index=None, seed=7)
    after = random.getstate(), _numpy_state()
    expect(before == after, "playing changed the state of random or numpy.random: use a private generator.")
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    second = play(subject.env(), {"all": NoisyOracle(0)}, index=None, seed=7)
    expect(first == second, "an episode depends on the state of random or numpy.random: use a private generator.")


def _numpy_state() -> tuple[Any, ...]:
    state: Any = np.random.get_state()  # noqa: NPY002
    return state[0], state[1].tolist(), *state[2:]


class _Watching:
    """A player that looks for secrets in what it is shown before it plays."""

    def __init__(self, player: Player, task: KeepsSecrets) -> None:
        self.name = player.name
        self._player = player
        self._task = task

    def act(self, env: Env, agent: str, observation: str) -> str | Awaitable[str]:
        found = [text for text in self._task.secrets(env.unwrapped.snapshot) if text and text in observation]
        expect(not found, f"an observation of {agent} holds the secret {found[:1]}: leave it out.")
        return self._player.act(env, agent, observation)


def check_secrets(subject: Subject) -> None:
    """No observation of any role holds a text that the task calls secret in that very state."""
    env = subject.env()
    task = env.unwrapped.task
    if not isinstance(task, KeepsSecrets):
        return
    for index in range(subject.episodes):
        for player in players_of(env, index):
            play(env, {"all": _Watching(player, task)}, index=index)
