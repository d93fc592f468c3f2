"""What our own runner makes of the same policy."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from llm_envs.episode import Episode
from llm_envs_bench.agents import Cast, plan_run
from llm_envs_bench.agents.base import PlainAgent
from llm_envs_bench.agents.references import ReferenceAgent
from llm_envs_bench.exports.episodes import MODEL
from llm_envs_bench.runner import evaluate
from llm_envs_bench.spec import EpisodeKey
from llm_envs_bench.store import Run
from tests.benchmarks.exports.replies import REPLIES, reply_to

ENV = "plan_path_v0"
OPTIONS = {"size": 4, "walls": 0.0, "min_path": 2, "max_cycles": 3}


class PolicyAgent(PlainAgent):
    """The policy of the comparison."""

    name = MODEL

    def __init__(self, replies: Sequence[str]) -> None:
        self._replies = replies

    def enter(self, key: EpisodeKey) -> "PolicyAgent":
        return self

    def act(self, env: object, agent: str, observation: str) -> str:
        return reply_to(observation, self._replies)


def run_of_ours(out: Path, instances: int, samples: int = 1, replies: Sequence[str] = REPLIES) -> Run:
    """The oracle is the tool, the policy plans."""
    spec = plan_run(ENV, MODEL, {"tool": "oracle"}, options=OPTIONS, instances=instances, samples=samples)
    cast = Cast({"tool": ReferenceAgent("oracle", 0), "planner": PolicyAgent(replies)})
    return evaluate(spec, out, cast=cast)


def by_key(episodes: Sequence[Episode]) -> dict[tuple[int | None, int], Episode]:
    """(instance, sample) -> episode, without the name that it has in its file."""
    return {(episode.index, episode.sample): replace(episode, id="") for episode in episodes}
