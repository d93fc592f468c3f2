"""The servers' part of `--dry-run`: where they run, how they are started, what they need."""

import shlex
from pathlib import Path

from at_grpo.choices import Backend
from at_grpo.config import TrainConfig
from at_grpo.inference.plan import ServerPlan, server_plans
from at_grpo.memory import MemoryPlan, show_bytes
from at_grpo.placement import VISIBLE, place, visible_gpus

UTILIZATION = "gpu-memory-utilization"
DEFAULT_UTILIZATION = 0.92  # of vLLM 0.31


def server_lines(config: TrainConfig, memory: MemoryPlan) -> list[str]:
    """Nothing without servers. Where this machine has not the GPUs that are named, it says so and goes on."""
    section = config.inference
    if section.backend != Backend.VLLM:
        return []
    if section.urls:
        return ["", f"Rollouts by the running servers {', '.join(section.urls)}; the run starts none."]
    visible = visible_gpus()
    needed = max(section.gpus, default=-1) + 1
    absent = needed > len(visible)
    placement = place(section, tuple(map(str, range(needed))) if absent else visible)
    source = str(Path(config.run.output_dir) / "base") if config.model.warm_start else config.model.base
    plans = server_plans(config, source, placement)
    where = "the CPU" if placement.trainer is None else f"GPU {placement.trainer}"
    return [
        "",
        f"{len(plans)} vLLM server(s), each with a copy of the base model; the trainer is on {where}.",
        *([f"This machine shows {len(visible)} GPUs; the configuration names {needed}."] if absent else []),
        *(_command(number, plan) for number, plan in enumerate(plans)),
        *_needs(config, memory, plans),
    ]


def _command(number: int, plan: ServerPlan) -> str:
    where = f"{VISIBLE}={','.join(plan.gpus)} " if plan.gpus else ""
    return f"  server {number}: {where}{shlex.join(plan.command([]))}"


def _needs(config: TrainConfig, memory: MemoryPlan, plans: tuple[ServerPlan, ...]) -> list[str]:
    """Estimates of one server, which is like the others."""
    plan, slots = plans[0], plans[0].slots
    requests = -(-config.rollout.instances * config.rollout.k // len(plans))
    cache = memory.cache // (config.rollout.instances * config.rollout.k) * requests
    adapters = f"{slots} slots for adapters {show_bytes(slots * memory.slot)}"
    replies = f"keys and values of its {requests} longest replies at once {show_bytes(cache)} (with less, some wait)"
    lines = [f"A server needs, estimated: base {show_bytes(memory.base)}, {adapters}, {replies}."]
    if plan.gpus:
        share = plan.options.get(UTILIZATION)
        said = f"as {UTILIZATION} says" if share else f"vLLM's default; set inference.options.{UTILIZATION} for less"
        lines.append(f"It takes {share or DEFAULT_UTILIZATION} of the memory of each of its GPUs: {said}.")
    else:
        lines.append(f"On the CPU it keeps {plan.environment()['VLLM_CPU_KVCACHE_SPACE']} GiB for keys and values.")
    return lines
