"""What exports share: which episodes there are, and playing one in which somebody else's model has a seat."""

from collections.abc import Callable, Mapping
from typing import Any

import llm_envs
from llm_envs.core.errors import UsageError, require, unknown_choice
from llm_envs.core.roles import role_of
from llm_envs.core.task import Split
from llm_envs.episode import Episode, Turn
from llm_envs.players import Player
from llm_envs_bench.agents import Agent, AgentError, Cast, plan_run
from llm_envs_bench.agents.base import PlainAgent
from llm_envs_bench.agents.references import ReferenceAgent
from llm_envs_bench.attempts import Event
from llm_envs_bench.budget import Budget, Spending
from llm_envs_bench.one_episode import play_one
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.spec import EpisodeKey, RunSpec, Sampling
from llm_envs_bench.suites import load_suite, plan_suite

MODEL = "model"  # stands in a plan for whoever the other framework asks
INSTANCES = 200  # of an environment that is named, as in `llm-envs eval`
Seat = Callable[[RunSpec, str], Player]  # who answers in this role of this entry


def plan_episodes(
    suite: str | None,
    env: str | None,
    *,
    players: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    split: str = Split.TEST.value,
    first: int = 0,
    instances: int | None = None,
    samples: int | None = None,
    seed: int = 0,
    reply_tokens: int | None = None,
) -> RunPlan:
    """What is played: a frozen suite, or one environment.

    Args:
        suite: name or file of a suite. It has its own options, split and first instance.
        env: an environment, where there is no suite.
        players: role -> reference player (`oracle`, `greedy`, ...); the model plays every other role.
        options: of the environment.
        split: of the environment.
        first: the environment's first instance.
        instances: how many (default: 200 of an environment, all of a suite's; fewer of a suite: the first ones).
        samples: episodes of each instance (default: the suite's, or 1).
        seed: of the reference players' chance.
        reply_tokens: most tokens of a reply (default: the suite's, where it has any).

    Raises:
        UsageError: a name that does not exist, a value that is not allowed, or an entry that leaves the model no role.
    """
    require((suite is None) != (env is None), "suite, env", (suite, env), "one of the two, the other left out")
    rest: dict[str, Any] = {"seed": seed, "sampling": Sampling(max_tokens=reply_tokens)}
    by_role = dict(players or {})
    if suite is not None:
        require(not options, "options", options, "left out: a suite has its own")
        require(split == Split.TEST and first == 0, "split, first", (split, first), "left out: a suite has its own")
        plan = plan_suite(load_suite(suite), MODEL, by_role, samples=samples, instances=instances, **rest)
    else:
        count = INSTANCES if instances is None else instances
        rest |= {"split": split, "first": first, "instances": count, "samples": 1 if samples is None else samples}
        plan = RunPlan((plan_run(str(env), MODEL, by_role, options=dict(options or {}), **rest),))
    for spec in plan.specs:
        _check_players(spec)
    return plan


def model_turns(episode: Episode) -> tuple[Turn, ...]:
    """The turns that the model took."""
    return tuple(turn for turn in episode.turns if episode.players[turn.role] == MODEL)


def model_return(episode: Episode) -> float:
    """What the model earned: the mean over the agents that it played."""
    earned = [value for agent, value in episode.returns.items() if episode.players[role_of(agent)] == MODEL]
    return sum(earned) / len(earned)


async def play_episode(spec: RunSpec, key: EpisodeKey, seat: Seat) -> Episode:
    """Play one episode as the runner plays it.

    Args:
        spec: the entry.
        key: which of its episodes.
        seat: who answers in a role that the model plays. What it raises ends the episode and comes through.

    Raises:
        AgentError: infrastructure kept the episode from its end; it has no score.
        UsageError: the instance is not the one that the suite has frozen.
    """
    agents: dict[str, Agent] = {
        role: _SeatAgent(seat(spec, role)) if agent == MODEL else ReferenceAgent(agent, spec.seed)
        for role, agent in spec.agents.items()
    }
    env = llm_envs.make(spec.env, **spec.options)
    try:
        episode, attempt = await play_one(env, spec, key, Cast(agents), Spending(Budget(), RunPlan((spec,)), {}))
    finally:
        env.close()
    if attempt.failure is not None:
        raise AgentError(Event(attempt.failure), episode.error or "")
    return episode


class _SeatAgent(PlainAgent):
    """A player of one episode as an agent."""

    name = MODEL

    def __init__(self, player: Player) -> None:
        self.player = player

    def enter(self, key: EpisodeKey) -> Player:
        """See `Agent`."""
        return self.player


def _check_players(spec: RunSpec) -> None:
    references = llm_envs.make(spec.env, **spec.options).unwrapped.task.players
    for agent in spec.agents.values():
        if agent != MODEL and agent not in references:
            raise unknown_choice("player", agent, references)
    if MODEL not in spec.agents.values():
        raise UsageError(f"players={dict(spec.agents)}: must leave the model a role of {spec.entry}; take one out.")
