"""`DiscreteAECEnv`: the game inside a text task with arrays and numbered actions, for learners without language.

Task, states and rewards are those of the text environment; only what an agent sees and says differs. Turn order, seeds,
horizon and copies are `TextAECEnv`'s.
"""

from typing import Any, Protocol, TypeVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray

from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.core.jobs import Job
from llm_envs.core.task import Task

StateT_contra = TypeVar("StateT_contra", contravariant=True)
ActionT_co = TypeVar("ActionT_co", covariant=True)
Int8Array = NDArray[np.int8]
Observation = dict[str, Int8Array]


class DiscreteView(Protocol[StateT_contra, ActionT_co]):
    """How a task's states and actions look to a learner without language. Pure functions, like the task's.

    Attributes:
        box: the space of an encoded state, of dtype int8.
        actions: number of actions, counted from 0.
    """

    box: "Box[Any]"  # Gymnasium before 1.4 has no generic spaces
    actions: int

    def encode(self, state: StateT_contra) -> Int8Array:
        """The state as an array in `box`."""
        ...

    def mask(self, state: StateT_contra) -> Int8Array:
        """1 for each action that does something, else 0; shape (actions,). At least one while the game goes on."""
        ...

    def decode(self, state: StateT_contra, action: int) -> ActionT_co:
        """The task's own action. One outside the mask is decoded too: the task decides what it costs."""
        ...


class DiscreteAECEnv(TextAECEnv):
    """A task as a PettingZoo AEC environment with action masks.

    Observations are `Dict(observation=view.box, action_mask=Box(0, 1, (actions,), int8))`, actions `Discrete(actions)`;
    `state()` is the encoded state. An action outside the mask is taken and costs what the task says. The task needs a
    role whose actions start no programs.
    """

    # Spaces of another kind than the parent's: that is the point of this class.
    observation_spaces: dict[str, Dict]  # type: ignore[assignment]
    action_spaces: dict[str, Discrete]  # type: ignore[assignment]
    state_space: "Box[Any]"  # type: ignore[assignment]

    def __init__(self, task: Task[Any, Any], view: DiscreteView[Any, Any], **options: Any) -> None:
        """Wrap a task.

        Args:
            task: the pure core.
            view: its encoding.
            options: those of `TextAECEnv`.
        """
        super().__init__(task, **options)
        self.view = view
        mask = Box(0, 1, (view.actions,), np.int8)
        agents = self.possible_agents
        self.observation_spaces = {agent: Dict(observation=view.box, action_mask=mask) for agent in agents}
        self.action_spaces = {agent: Discrete(view.actions) for agent in agents}
        self.state_space = view.box

    def observe(self, agent: str) -> Observation:  # type: ignore[override]  # an array where the parent shows text
        return {"observation": self.view.encode(self.snapshot), "action_mask": self.view.mask(self.snapshot)}

    def state(self) -> Int8Array:  # type: ignore[override]  # same
        return self.view.encode(self.snapshot)

    def _plan(self, action: Any) -> tuple[Any, tuple[Job, ...]] | None:
        agent = self.agent_selection
        if not self.agents or self.terminations[agent] or self.truncations[agent]:
            return super()._plan(action)  # a dead agent leaves, or the call is refused
        if not self.action_spaces[agent].contains(action):
            raise UsageError(f"action={action!r} of {agent}: must be a whole number from 0 to {self.view.actions - 1}.")
        return self.view.decode(self.snapshot, int(action)), ()
