"""What `llm-envs eval --dry-run` prints: the first prompts, and what the run would ask and take."""

from collections.abc import Mapping

from rich.console import Console

from llm_envs_bench.forecast import CHARACTERS, UNLIMITED_REPLY, forecast
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.prices import Price


def print_forecast(plan: RunPlan, prices: Mapping[str, Price], console: Console) -> None:
    """Print it; nothing is asked of any agent but the environments' own oracles."""

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    forecasts = forecast(plan, prices)
    for entry in forecasts:
        for role, prompt in entry.prompts.items():
            say(f"--- {entry.entry}, first prompt of the {role}\n{prompt}\n")
    say(f"{plan.label}: {plan.episodes} episodes of {len(plan.specs)} entries")
    if not any(high for entry in forecasts for high in entry.requests):
        say("No served model plays, so nothing is spent.")
        return
    for name in ("requests", "prompt_tokens", "reply_tokens"):
        low, high = (sum(getattr(entry, name)[case] for entry in forecasts) for case in (0, 1))
        say(f"{name.replace('_', ' '):<14} {low:,} to {high:,}")
    costs = [entry.cost for entry in forecasts]
    known = [cost for cost in costs if cost is not None]
    if len(known) == len(costs):
        say(f"{'cost':<14} {sum(low for low, _ in known):.2f} to {sum(high for _, high in known):.2f}")
    else:
        say("cost           not known; --prices names a file with what tokens cost")
    say(
        "From: every model plays like the oracle. To: every episode takes all of its cycles and every reply is as long "
        f"as it may be, or {UNLIMITED_REPLY:,} tokens where nothing limits it. A token is taken for {CHARACTERS} "
        "characters; models that reason may exceed both."
    )
