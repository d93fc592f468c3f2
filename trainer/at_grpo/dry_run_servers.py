"""The servers' part of `--dry-run`: where they run, how they are started, what they need."""

import shlex

from at_grpo.choices import Backend
from at_grpo.config import TrainConfig
from at_grpo.inference.plan import UTILIZATION, ServerPlan, server_plans
from at_grpo.memory import MemoryPlan, show_bytes
from at_grpo.placement import VISIBLE, Placement
from at_grpo.pools import Pool

DEFAULT_UTILIZATION = 0.92  # of vLLM 0.31


def server_lines(config: TrainConfig, pool: Pool, memory: MemoryPlan, place: int, placement: Placement) -> list[str]:
    """A pool's servers; nothing without any. `place`: which of the pools it is."""
    if config.inference.backend == Backend.TRANSFORMERS:
        return []
    urls = pool.section.urls or config.inference.urls
    if urls:
        return ["", f"Rollouts by the running servers {', '.join(urls)}; the run starts none."]
    plans = server_plans(config, pool, placement.pools[place], placement)
    ranks = placement.pools[place].ranks
    where = "the CPU" if ranks[0] is None else f"GPU {', '.join(map(str, ranks))}"
    first = sum(len(earlier.servers) for earlier in placement.pools[:place])
    return [
        "",
        f"{len(plans)} vLLM server(s), each with a copy of the base model; the trainer is on {where}.",
        *(_command(first + number, plan) for number, plan in enumerate(plans)),
        *_needs(config, memory, plans),
    ]


def _command(number: int, plan: ServerPlan) -> str:
    where = f"{VISIBLE}={','.join(plan.gpus)} " if plan.gpus else ""
    return f"  server {number}: {where}{shlex.join(plan.command([]))}"


def _needs(config: TrainConfig, memory: MemoryPlan, plans: tuple[ServerPlan, ...]) -> list[str]:
    """Estimates of one server, which is like the others."""
    plan, slots = plans[0], plans[0].slots
    requests = -(-config.rollout.instances * config.rollout.k // len(plans))
    adapters = f"{slots} slots for adapters {show_bytes(slots * memory.slot)}"
    cache = show_bytes(memory.reply * requests)
    replies = f"keys and values of its {requests} longest replies at once {cache} (with less, some wait)"
    lines = [f"A server needs, estimated: base {show_bytes(memory.base)}, {adapters}, {replies}."]
    if plan.gpus:
        share = plan.options.get(UTILIZATION)
        said = f"as {UTILIZATION} says" if share else f"vLLM's default; set inference.options.{UTILIZATION} for less"
        lines.append(f"It takes {share or DEFAULT_UTILIZATION} of the memory of each of its GPUs: {said}.")
    else:
        lines.append(f"On the CPU it keeps {plan.environment()['VLLM_CPU_KVCACHE_SPACE']} GiB for keys and values.")
    return lines
