"""What the replies of each role took: tokens, seconds, money."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from llm_envs_bench.agents.names import model_and_url
from llm_envs_bench.attempts import Call, Usage
from llm_envs_bench.prices import Price
from llm_envs_bench.stats import Counts, Estimate, ratio
from llm_envs_bench.store import Run

Indexed = tuple[int, Call]  # the instance that a reply belongs to


@dataclass(frozen=True, slots=True)
class RoleCost:
    """One role's replies of a run, failed attempts at an episode included, since they were paid for as well.

    Attributes:
        replies: how many.
        prompt_tokens, completion_tokens: for each scored episode; None where some reply's are not known.
        money: for each scored episode, in the currency of the prices; None where tokens or their price are not known.
        seconds, slow_seconds: until a reply was there: the median, and what 1 of 20 replies exceeded.
    """

    replies: int
    prompt_tokens: Estimate | None
    completion_tokens: Estimate | None
    money: Estimate | None
    seconds: float
    slow_seconds: float


def role_costs(run: Run, prices: Mapping[str, Price]) -> dict[str, RoleCost]:
    """Role -> what its replies took, in the order in which the roles act; without roles that were not timed.

    Args:
        run: one entry of a run folder.
        prices: model -> price.
    """
    calls: dict[str, list[Indexed]] = {role: [] for role in run.spec.agents}
    for attempt in run.attempts:
        for call in attempt.calls:
            calls[call.role].append((instance_of(attempt.id), call))
    scored = [(episode.index or 0, 0.0, 1.0) for episode in run.episodes]
    return {
        role: _cost(found, scored, prices.get(model_and_url(run.spec.agents[role])[0]))
        for role, found in calls.items()
        if found
    }


def instance_of(episode_id: str) -> int:
    """`plan_path/17/0` -> 17."""
    return int(episode_id.rsplit("/", 2)[1])


def _cost(calls: Sequence[Indexed], scored: Counts, price: Price | None) -> RoleCost:
    seconds = [call.seconds for _, call in calls]

    def an_episode(count: Callable[[Usage], float | None]) -> Estimate | None:
        """For each scored episode, clustered by instance; None where that of some reply is not known."""
        parts = [(index, None if call.usage is None else count(call.usage)) for index, call in calls]
        known = [(index, float(part), 0.0) for index, part in parts if part is not None]
        return ratio([*known, *scored]) if len(known) == len(calls) else None

    def money(usage: Usage) -> float | None:
        if price is None or usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return price.of(usage.prompt_tokens, usage.completion_tokens)

    return RoleCost(
        replies=len(calls),
        prompt_tokens=an_episode(lambda usage: usage.prompt_tokens),
        completion_tokens=an_episode(lambda usage: usage.completion_tokens),
        money=an_episode(money),
        seconds=median(seconds),
        slow_seconds=quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0],
    )
