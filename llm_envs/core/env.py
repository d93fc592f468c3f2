"""`TextAECEnv`: any pure `Task` as a PettingZoo AEC environment with text in and text out."""

import copy
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Self

from pettingzoo import AECEnv

from llm_envs.core.errors import UsageError, require, unknown_choice, whole_number
from llm_envs.core.instances import InstanceStream
from llm_envs.core.jobs import Job, arun_jobs, run_jobs
from llm_envs.core.parsing import Unparsed, clean_text
from llm_envs.core.rewards import agent_reward, local_reward
from llm_envs.core.roles import expand_agents, role_of
from llm_envs.core.spaces import TextObservation, TextSpace
from llm_envs.core.task import Split, Task, Transition
from llm_envs.sandbox.base import Sandbox
from llm_envs.sandbox.registry import KINDS, get_sandbox

MAX_OBSERVATION = 1 << 17
MAX_ACTION = 1 << 16


class OnInvalid(StrEnum):
    """What a reply without a usable action does beyond its penalty: nothing, or end the episode."""

    NOOP = "noop"
    TERMINATE = "terminate"


class TextAECEnv(AECEnv[str, str, str]):
    """Turn order, reward ledger, seeds, horizon, invalid replies and rendering around a pure task.

    One *cycle* is one action of every agent. On each step every live agent receives `alpha * team`, the acting agent
    also its local reward in [-1, 0] (`core.rewards`). `infos[agent]` describes that agent's own latest action
    (`role`, `invalid` (reason or None), `team_reward`, `local_reward`, the task's named terms) and, always up to
    date, `success`.

    Attributes:
        task, snapshot: the pure core and the present state, an immutable value.
        roles: agent -> role.
        split, index: the instance being played; the index is None where the caller gave a task of its own.
        cycle: cycles completed in this episode.
        sandbox: a `Sandbox`, or the name of one that starts with the first program. It may be swapped between steps.
    """

    def __init__(
        self,
        task: Task[Any, Any],
        *,
        name: str,
        agents: Mapping[str, int] | None = None,
        turn_order: Sequence[str] | None = None,
        alpha: float = 1.0,
        max_cycles: int = 8,
        on_invalid: str = "noop",
        split: str = "train",
        render_mode: str | None = None,
        sandbox: str | Sandbox = "auto",
        renderers: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> None:
        """Wrap a task.

        Args:
            task: the pure core.
            name: PettingZoo name, e.g. `plan_path_v0`.
            agents: agents per role, 1 where not named.
            turn_order: the roles in the order in which they act.
            alpha: weight of the team reward in every agent's reward, >= 0.
            max_cycles: horizon; when it is reached every agent is truncated.
            on_invalid: "noop" or "terminate".
            split: split that `reset` draws from unless its options name one.
            render_mode: None or a key of the renderers; "ansi" and "human" are always there.
            sandbox: name of a cage (see `llm_envs.sandbox`) or a `Sandbox`; started when the first program runs.
            renderers: render modes of the game's own: mode -> function of the task's state. They win over the plain
                ones.

        Raises:
            UsageError: an option outside what is allowed.
        """
        super().__init__()
        _check_options(alpha, on_invalid, split, sandbox)
        self._renderers = dict(renderers or {})
        modes = list(dict.fromkeys(["ansi", "human", *self._renderers]))
        if render_mode is not None and render_mode not in modes:
            raise unknown_choice("render_mode", render_mode, modes)
        self.task = task
        self.metadata = {"name": name, "render_modes": modes, "is_parallelizable": False, "render_fps": 2}
        self.possible_agents = expand_agents(task.roles, agents, turn_order)
        self.roles = {agent: role_of(agent) for agent in self.possible_agents}
        self.alpha = float(alpha)
        self.max_cycles = whole_number("max_cycles", max_cycles, least=1)
        self.render_mode = render_mode
        self._on_invalid = OnInvalid(on_invalid)
        self._default_split = Split(split)
        self.sandbox = sandbox
        self._instances = InstanceStream()
        self.observation_spaces = {agent: TextSpace(MAX_OBSERVATION) for agent in self.possible_agents}
        self.action_spaces = {agent: TextSpace(MAX_ACTION) for agent in self.possible_agents}
        self.state_space = TextSpace(MAX_OBSERVATION)

    # ---- spaces and views

    def observation_space(self, agent: str) -> TextSpace:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> TextSpace:
        return self.action_spaces[agent]

    def observe(self, agent: str) -> str:
        return TextObservation(self.task.observe(self.snapshot, self.roles[agent], self._feedback.get(agent, "")))

    def state(self) -> str:  # PettingZoo annotates arrays; the global state here is text
        return TextObservation(self.task.text(self.snapshot))

    def render(self) -> Any:
        if self.render_mode is None:
            raise UsageError("render_mode=None: pass render_mode='ansi' or 'human' when the environment is made.")
        if self.render_mode in self._renderers:
            return self._renderers[self.render_mode](self.snapshot)
        text = self.task.text(self.snapshot)
        if self.render_mode == "ansi":
            return text
        sys.stdout.write(text + "\n")
        return None

    def close(self) -> None:
        """Nothing to release: a sandbox belongs to whoever made it; one that was named belongs to the process."""

    # ---- episodes

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode.

        Args:
            seed: reseeds the private generator; without it the instances go on from the last reset.
            options: `split`, `index` (>= 0) and `task` (a description the task can load) choose the instance; keys
                that are not known are ignored, as PettingZoo asks.

        Raises:
            UsageError: an option that is known, with a value that is not allowed.
        """
        options = options or {}
        self.snapshot = self._pick_instance(seed, options)
        self.agents = list(self.possible_agents)
        self.cycle = 0
        self._turn = 0
        self._solved = self.task.solved(self.snapshot)
        self._potential = self.task.potential(self.snapshot)
        self._feedback: dict[str, str] = {}
        self.agent_selection = self.agents[0]
        self._skip_agent_selection = None
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {
            agent: {"role": role, "success": self._solved, "invalid": None, "team_reward": 0.0, "local_reward": 0.0}
            for agent, role in self.roles.items()
        }

    def _pick_instance(self, seed: int | None, options: Mapping[str, Any]) -> Any:
        self._instances, self.split, index = self._instances.pick(seed, options, self._default_split)
        self.index = None if options.get("task") is not None else index
        if self.index is None:
            return self.task.load(options["task"])
        return self.task.instance(self.split, self.index)

    def step(self, action: str | None) -> None:  # None is how a dead agent leaves
        """Act for `agent_selection`, blocking while its programs run.

        Raises:
            UsageError: text for a dead agent, anything but text for a live one, or no agent left.
            SandboxError: the sandbox failed; the episode is unchanged.
        """
        planned = self._plan(action)
        if planned is not None:
            parsed, jobs = planned
            self._commit(parsed, run_jobs(jobs, self._jobs_sandbox) if jobs else ())

    async def astep(self, action: str | None) -> None:
        """`step` without blocking the event loop while programs run."""
        planned = self._plan(action)
        if planned is not None:
            parsed, jobs = planned
            self._commit(parsed, await arun_jobs(jobs, self._jobs_sandbox) if jobs else ())

    def _jobs_sandbox(self) -> Sandbox:
        sandbox = self.sandbox
        if isinstance(sandbox, str):
            self.sandbox = sandbox = get_sandbox(sandbox)
        return sandbox

    def _plan(self, action: str | None) -> tuple[Any, tuple[Job, ...]] | None:
        """The parsed action and its jobs, or None where a dead agent just left."""
        agent = self.agent_selection
        if not self.agents:
            raise UsageError("step() after the last agent left: call reset() first.")
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                shown = repr(action)[:60]
                raise UsageError(f"action={shown}: must be None, since {agent} is dead and leaves by step(None).")
            self._was_dead_step(None)
            return None
        if not isinstance(action, str):
            raise UsageError(f"action={action!r}: must be a str, since {agent} is alive.")
        if len(action) > MAX_ACTION:
            return Unparsed(f"your reply had {len(action)} characters, at most {MAX_ACTION} are read"), ()
        role = self.roles[agent]
        parsed = self.task.parse(self.snapshot, role, clean_text(action))
        if isinstance(parsed, Unparsed):
            return parsed, ()
        return parsed, self.task.jobs(self.snapshot, role, parsed)

    def _commit(self, parsed: Any, results: Sequence[Any]) -> None:
        """Apply the action and settle rewards, flags and turn."""
        agent = self.agent_selection
        invalid = parsed.reason if isinstance(parsed, Unparsed) else None
        transition: Transition[Any]
        if invalid is None:
            transition = self.task.apply(self.snapshot, self.roles[agent], parsed, results)
            self._feedback.pop(agent, None)
        else:
            transition = Transition(self.snapshot, {"format": -1.0})
            self._feedback[agent] = invalid
        team = 0.0
        if transition.state is not self.snapshot:
            self.snapshot = transition.state
            before, self._potential = self._potential, self.task.potential(self.snapshot)
            team = self._potential - before
        self._settle(agent, team, transition, invalid)
        over = self.task.finished(self.snapshot) or (invalid is not None and self._on_invalid is OnInvalid.TERMINATE)
        self._next_turn(over)

    def _settle(self, agent: str, team: float, transition: Transition[Any], invalid: str | None) -> None:
        local = local_reward(transition.penalties)
        share = agent_reward(alpha=self.alpha, team=team, local=0.0)
        own = agent_reward(alpha=self.alpha, team=team, local=local)
        self.rewards = dict.fromkeys(self.agents, share)
        self.rewards[agent] = own
        cumulative = self._cumulative_rewards
        if share:
            for other in cumulative:
                cumulative[other] += share
        cumulative[agent] = own  # what it had before, `last()` has handed out before this step
        was, self._solved = self._solved, self.task.solved(self.snapshot)
        if was != self._solved:  # new dicts: those that `last()` gave out stay as they were
            self.infos = {other: {**info, "success": self._solved} for other, info in self.infos.items()}
        self.infos[agent] = {
            "role": self.roles[agent],
            "success": self._solved,
            "invalid": invalid,
            "team_reward": team,
            "local_reward": local,
            **transition.penalties,
            **transition.info,
        }

    def _next_turn(self, over: bool) -> None:
        self._turn += 1
        if self._turn == len(self.possible_agents):
            self._turn = 0
            self.cycle += 1
        if over:
            self.terminations = dict.fromkeys(self.agents, True)
        elif self.cycle == self.max_cycles:
            self.truncations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[self._turn]

    # ---- copies

    def fork(self) -> Self:
        """A copy that goes on by itself, in constant time: the immutable state is shared, the ledgers are copied."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        if "agents" not in self.__dict__:  # not reset yet: there are no ledgers
            return other
        other.agents = self.agents.copy()
        other.rewards = self.rewards.copy()
        other._cumulative_rewards = self._cumulative_rewards.copy()
        other.terminations = self.terminations.copy()
        other.truncations = self.truncations.copy()
        other.infos = {agent: info.copy() for agent, info in self.infos.items()}
        other._feedback = self._feedback.copy()
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A fork with spaces of its own, so that sampling from the copy does not advance the original's generators."""
        other = self.fork()
        other.observation_spaces = copy.deepcopy(self.observation_spaces, memo)
        other.action_spaces = copy.deepcopy(self.action_spaces, memo)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Pickles without live processes: the copy starts its sandbox by name when it needs one."""
        state = self.__dict__.copy()
        if not isinstance(self.sandbox, str):
            state["sandbox"] = self.sandbox.name
        return state


def _check_options(alpha: float, on_invalid: str, split: str, sandbox: str | Sandbox) -> None:
    """Raises `UsageError` for a value outside what is allowed."""
    require(isinstance(alpha, (int, float)) and 0 <= alpha < float("inf"), "alpha", alpha, "a finite number >= 0")
    if on_invalid not in set(OnInvalid):
        raise unknown_choice("on_invalid", on_invalid, OnInvalid)
    if split not in set(Split):
        raise unknown_choice("split", split, Split)
    cages = ("auto", *(kind.name for kind in KINDS))
    if isinstance(sandbox, str) and sandbox not in cages:
        raise unknown_choice("sandbox", sandbox, cages)
