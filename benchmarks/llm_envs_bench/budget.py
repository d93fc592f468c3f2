"""What a run may take, and what it has taken so far."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from llm_envs.core.errors import UsageError, require
from llm_envs_bench.agents.errors import AgentError
from llm_envs_bench.agents.names import OPENAI, model_and_url
from llm_envs_bench.attempts import Attempt, Call, Event
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.prices import Price


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of a run; None where there is none. Replies that are under way when one is reached are waited for.

    Attributes:
        tokens: of prompts and replies together, over all attempts at the run, resumed ones included.
        cost: in the currency of the prices, over the same.
        minutes: of this process.
    """

    tokens: int | None = None
    cost: float | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        require(self.tokens is None or self.tokens >= 1, "max_tokens", self.tokens, "a whole number >= 1")
        require(self.cost is None or self.cost > 0, "max_cost", self.cost, "a number > 0")
        require(self.minutes is None or self.minutes > 0, "max_minutes", self.minutes, "a number > 0")


class Spending:
    """Adds up calls and says when a bound is reached."""

    def __init__(self, budget: Budget, plan: RunPlan, prices: Mapping[str, Price]) -> None:
        """Begin the clock.

        Raises:
            UsageError: costs are bounded and a served model has no price.
        """
        self._budget = budget
        self._ends = None if budget.minutes is None else time.monotonic() + 60 * budget.minutes
        self._prices = {
            (spec.entry, role): prices[model_and_url(agent)[0]]
            for spec in plan.specs
            for role, agent in spec.agents.items()
            if agent.startswith(OPENAI) and model_and_url(agent)[0] in prices
        }
        self.tokens = 0
        self.cost = 0.0
        if budget.cost is not None:
            _check_priced(plan, prices)

    def add_attempts(self, attempts: Iterable[Attempt]) -> None:
        """Count what earlier processes took."""
        for attempt in attempts:
            for call in attempt.calls:
                self.add(attempt.id.rsplit("/", 2)[0], call)

    def add(self, entry: str, call: Call) -> None:
        """Count one reply."""
        if call.usage is None:
            return
        prompt, completion = call.usage.prompt_tokens or 0, call.usage.completion_tokens or 0
        self.tokens += prompt + completion
        price = self._prices.get((entry, call.role))
        if price is not None:
            self.cost += price.of(prompt, completion)

    @property
    def exhausted(self) -> str:
        """Which bound is reached, in words; empty while none is."""
        budget = self._budget
        if budget.tokens is not None and self.tokens >= budget.tokens:
            return f"{self.tokens:,} of at most {budget.tokens:,} tokens are used (--max-tokens)"
        if budget.cost is not None and self.cost >= budget.cost:
            return f"{self.cost:.2f} of at most {budget.cost:.2f} is spent (--max-cost)"
        if self._ends is not None and time.monotonic() >= self._ends:
            return f"{budget.minutes:g} minutes have passed (--max-minutes)"
        return ""

    def check(self) -> None:
        """Raises `AgentError` where a bound is reached: nothing more is asked, and the episode is owed."""
        if reason := self.exhausted:
            raise AgentError(Event.BUDGET, reason)


def _check_priced(plan: RunPlan, prices: Mapping[str, Price]) -> None:
    models = {
        model_and_url(agent)[0] for spec in plan.specs for agent in spec.agents.values() if agent.startswith(OPENAI)
    }
    if not models:
        raise UsageError("max_cost: no agent is a served model; leave it out.")
    if missing := sorted(models - prices.keys()):
        raise UsageError(f"max_cost: needs the price of {', '.join(missing)}; add it to the file of --prices.")
