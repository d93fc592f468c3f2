"""The pure core of an environment: a game or problem as functions on an immutable state.

A `Task` knows nothing of PettingZoo, turns, seeds or processes; `TextAECEnv` is the shell that adds them. Since a
state is an immutable value, a fork is a reference, a replay is exact, and a snapshot pickles.
"""

import random
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from llm_envs.core.jobs import Job
from llm_envs.core.parsing import Unparsed
from llm_envs.sandbox.base import Outcome

StateT = TypeVar("StateT")
ActionT = TypeVar("ActionT")

Result = Outcome  # of a job that is a program


class Split(StrEnum):
    """Disjoint sets of instances: train on one, select checkpoints on the second, report the third."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


class Transition(NamedTuple, Generic[StateT]):
    """What an action led to (a tuple, since one is made on every turn).

    Attributes:
        state: the state after the action.
        penalties: name -> penalty of the acting agent in [-1, 0], 0 being perfect; their sum, floored at -1, is its
            local reward.
        info: what a person or a log wants to know of this action; plain values only, no timings, no ids.
    """

    state: StateT
    penalties: Mapping[str, float] = MappingProxyType({})
    info: Mapping[str, Any] = MappingProxyType({})


class Task(Protocol[StateT, ActionT]):
    """A multi-role task over an immutable state. Every method is a pure function of its arguments.

    The team reward of a step is `potential(after) - potential(before)`: it telescopes, so no episode earns by going
    round in circles (potential-based shaping, Ng et al. 1999, with the potential of the solved state equal to 1).

    A task may also have `secrets(state) -> Sequence[str]`: texts that no observation of that state may hold, such as
    hidden tests; the conformance kit looks for them.
    """

    roles: tuple[str, ...]
    players: tuple[str, ...]  # its reference players; an "oracle" that solves every instance is among them

    def instance(self, split: Split, index: int) -> StateT:
        """The start of instance `index` (>= 0) of a split.

        The same pair always gives the same instance, and no instance belongs to two splits.
        """
        ...

    def load(self, description: Any) -> StateT:
        """The start of the instance that a caller describes by `reset(options={"task": ...})`.

        Raises:
            UsageError: a description of no valid instance.
        """
        ...

    def observe(self, state: StateT, role: str, feedback: str) -> str:
        """All that the role may see: its rules, the format of its reply, the current state.

        `feedback` says in words why the agent's last reply was not valid, or is empty.
        """
        ...

    def parse(self, state: StateT, role: str, text: str) -> ActionT | Unparsed:
        """The action in a reply. Called once a reply, on text without lone surrogates."""
        ...

    def jobs(self, state: StateT, role: str, action: ActionT) -> tuple[Job, ...]:
        """Programs to run and answers to judge before the action can be applied; usually none."""
        ...

    def apply(self, state: StateT, role: str, action: ActionT, results: Sequence[Any]) -> Transition[StateT]:
        """The transition; `results` are those of the jobs, in their order: a `Result` for a program."""
        ...

    def potential(self, state: StateT) -> float:
        """How near the solution is, in [0, 1]; 1 only when solved."""
        ...

    def solved(self, state: StateT) -> bool:
        """Whether the state is a solution, whatever ended or did not end the episode."""
        ...

    def finished(self, state: StateT) -> bool:
        """Whether no agent can act any more: solved, or lost for good."""
        ...

    def text(self, state: StateT) -> str:
        """The full state as text, for centralised critics, logs and rendering."""
        ...

    def reference(self, player: str, state: StateT, role: str, rng: random.Random) -> str:
        """The reply of a reference player (a name in `players`) in this state; all its chance comes from `rng`."""
        ...
