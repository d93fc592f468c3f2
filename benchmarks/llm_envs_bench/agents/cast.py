"""Who plays which role."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import llm_envs
from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.core.roles import role_of
from llm_envs.registry import normalise_id
from llm_envs_bench.agents.base import Agent
from llm_envs_bench.agents.checkpoints import fingerprint, load_checkpoints
from llm_envs_bench.agents.command import CommandAgent
from llm_envs_bench.agents.names import (
    CHECKPOINT,
    COMMAND,
    FORMS,
    OPENAI,
    PYTHON,
    assign_roles,
    checkpoint_folders,
    model_and_url,
)
from llm_envs_bench.agents.openai_chat import KEY, Endpoint, OpenAIAgent
from llm_envs_bench.agents.python_factory import PythonAgent
from llm_envs_bench.agents.references import HUMAN, HumanAgent, ReferenceAgent
from llm_envs_bench.agents.retries import Patience
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.spec import RunSpec

Around: TypeAlias = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays one entry of a run.

    Attributes:
        agents: role -> agent.
        episode: opened around every episode; a sampler that batches in process counts the episodes in flight by it.
    """

    agents: Mapping[str, Agent]
    episode: Around = nullcontext


@dataclass(frozen=True, slots=True)
class Asking:
    """How agents outside this process are asked; nothing of it changes what they answer, or is written down.

    Attributes:
        patience: how often and how long.
        key_variables: role -> environment variable with the endpoint's key; "" names that of all other roles.
    """

    patience: Patience = field(default_factory=Patience)
    key_variables: Mapping[str, str] = field(default_factory=dict)

    def key_variable(self, role: str) -> str:
        """The variable with a role's key."""
        return self.key_variables.get(role, self.key_variables.get("", KEY))


def plan_run(
    env: str, everyone: str | None, by_role: Mapping[str, str], *, options: Mapping[str, Any], **rest: Any
) -> RunSpec:
    """The description of a run, every role assigned and every checkpoint identified by its weights.

    Args:
        env: an environment, by any of its names.
        everyone: agent of each role that `by_role` does not name.
        by_role: role -> agent.
        options: of the environment.
        rest: the other fields of `RunSpec`.

    Raises:
        UsageError: an environment, option, role or checkpoint that does not exist, or a role that nobody plays.
    """
    env_id = normalise_id(env)
    agents = assign_roles(roles_of(env_id, options), everyone, by_role)
    weights = {role: fingerprint(path) for role, path in checkpoint_folders(agents).items()}
    return RunSpec(env=env_id, agents=agents, options=options, weights=weights, **rest)


def roles_of(env_id: str, options: Mapping[str, Any]) -> list[str]:
    """The roles of an environment in the order in which they act."""
    env = llm_envs.make(env_id, **options)
    return list(dict.fromkeys(role_of(agent) for agent in env.possible_agents))


def build_casts(plan: RunPlan, asking: Asking | None = None) -> dict[str, Cast]:
    """Entry -> its cast. Entries whose roles the same checkpoints play share the model in memory.

    Raises:
        UsageError: an agent that does not exist, or that can't be used here; the message says what would help.
    """
    loaded: dict[str, tuple[dict[str, Agent], Around]] = {}
    return {spec.entry: build_cast(spec, asking, loaded) for spec in plan.specs}


def build_cast(
    spec: RunSpec, asking: Asking | None = None, loaded: dict[str, tuple[dict[str, Agent], Around]] | None = None
) -> Cast:
    """The agents that the specifications of an entry stand for.

    Args:
        spec: the entry.
        asking: how agents outside this process are asked.
        loaded: checkpoints that other entries have loaded, to be used again and added to.

    Raises:
        UsageError: an agent that does not exist, or that can't be used here; the message says what would help.
    """
    asking = asking or Asking()
    folders = checkpoint_folders(spec.agents)
    _check_sampling(spec)
    agents, around = _load(spec, folders, {} if loaded is None else loaded) if folders else ({}, nullcontext)
    references = llm_envs.make(spec.env, **spec.options).unwrapped.task.players
    others = {
        role: _agent(spec, role, agent, asking, references) for role, agent in spec.agents.items() if role not in agents
    }
    return Cast({role: (agents | others)[role] for role in spec.agents}, around)


def _load(
    spec: RunSpec, folders: Mapping[str, Path], loaded: dict[str, tuple[dict[str, Agent], Around]]
) -> tuple[dict[str, Agent], Around]:
    mark = repr((sorted(folders.items()), spec.seed, spec.sampling.temperature))
    if mark not in loaded:
        loaded[mark] = load_checkpoints(spec.agents, folders, seed=spec.seed, temperature=spec.sampling.temperature)
    return loaded[mark]


def _agent(spec: RunSpec, role: str, agent: str, asking: Asking, references: Sequence[str]) -> Agent:
    if agent.startswith(OPENAI):
        model, url = model_and_url(agent)
        return OpenAIAgent(
            agent,
            Endpoint(model, url, asking.key_variable(role)),
            temperature=spec.sampling.temperature,
            max_tokens=spec.limit(role),
            patience=asking.patience,
        )
    if agent.startswith(COMMAND):
        command = agent.removeprefix(COMMAND)
        return CommandAgent(agent, command, seed=spec.seed, timeout_s=asking.patience.timeout_s)
    if agent.startswith(PYTHON):
        return PythonAgent(agent, agent.removeprefix(PYTHON), role, seed=spec.seed)
    if agent == HUMAN:
        return HumanAgent()
    if agent not in references:
        raise unknown_choice("agent", agent, (*references, *FORMS))
    return ReferenceAgent(agent, spec.seed)


def _check_sampling(spec: RunSpec) -> None:
    """An option that nobody among the agents heeds would be ignored in silence."""
    served = any(agent.startswith(OPENAI) for agent in spec.agents.values())
    sampled = served or any(agent.startswith(CHECKPOINT) for agent in spec.agents.values())
    if spec.sampling.max_tokens is not None and not served:
        raise UsageError("max_tokens: no agent takes it (a checkpoint keeps its own limit); leave it out.")
    if spec.sampling.temperature is not None and not sampled:
        raise UsageError("temperature: no agent is a model; leave it out.")
