"""`--dry-run`: what a configuration will do and need, without loading weights or playing an episode."""

import os

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from at_grpo.batch_plan import BatchPlan, plan_batch
from at_grpo.config import TrainConfig, describe_player
from at_grpo.dry_run_processes import check_size, process_lines, processes
from at_grpo.dry_run_servers import server_lines
from at_grpo.env_facts import inspect_env
from at_grpo.memory import MemoryPlan, plan_memory, show_bytes
from at_grpo.placement import Placement, named_gpus, place, visible_gpus
from at_grpo.pools import pools_of


def dry_run(config: TrainConfig, console: Console, size: int | None = None, gpus: int | None = None) -> None:
    """Print the batch arithmetic, the memory estimate and the processes of a checked configuration.

    Args:
        config: of the run.
        console: where to.
        size: bytes of a GPU, or of the machine where there is none; None for whatever this one has.
        gpus: how many GPUs to plan for; None for those that this machine has.

    Raises:
        UsageError: a plan that needs more than `size`, or than this machine's GPUs have.
    """
    batch = plan_batch(config, inspect_env(config.env))
    console.print(_batch_table(batch))
    pools, (placement, note) = pools_of(config), _placement(config, gpus)
    memories = [plan_memory(config, pool) for pool in pools]
    lines = [*_batch_lines(batch, config), *note]
    for number, (pool, memory) in enumerate(zip(pools, memories, strict=True)):
        lines += [*([f"Pool {', '.join(pool.policies)}, on {pool.base}:"] if len(pools) > 1 else [])]
        lines += [*_memory_lines(memory, gpus), *server_lines(config, pool, memory, number, placement), ""]
    planned = list(processes(config, pools, memories, placement))
    lines += process_lines(planned) if len(planned) > 1 else []
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    known = _gpu_memory() if size is None and not note else size
    if known is not None:
        check_size(planned, known)


def _placement(config: TrainConfig, gpus: int | None) -> tuple[Placement, list[str]]:
    """Where everything would run; without the GPUs that are named, as if they were there, and a line that says so."""
    if gpus is not None:
        return place(config, tuple(map(str, range(gpus)))), [f"Planned for a machine with {gpus} GPU(s)."]
    visible = visible_gpus()
    needed = max((gpu + 1 for gpus in named_gpus(config).values() for gpu in gpus), default=0)
    if needed <= len(visible):
        return place(config, visible), []
    note = f"This machine shows {len(visible)} GPUs; the configuration names {needed}."
    return place(config, tuple(map(str, range(needed)))), [note]


def _batch_table(batch: BatchPlan) -> Table:
    cycles = "cycles" if batch.cycles is not None else "one cycle"
    title = f"Most samples an iteration = instances × {cycles} × agents × K"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for column in ("role", "policy", "product", "samples", "groups", "tokens", "passes"):
        table.add_column(column, justify="left" if column in {"role", "policy"} else "right", no_wrap=True)
    for role in batch.roles:
        table.add_row(
            role.role,
            role.policy,
            f"{batch.instances} × {batch.cycles or 1} × {role.agents} × {batch.k}",
            f"{role.samples:,}",
            f"{role.groups:,}",
            f"{role.completion_tokens:,}",
            f"{role.micro_batches:,}",
        )
    return table


def _batch_lines(batch: BatchPlan, config: TrainConfig) -> list[str]:
    prompts = sum(role.prompt_tokens for role in batch.roles)
    replies = sum(role.completion_tokens for role in batch.roles)
    return [
        f"{batch.samples:,} samples an iteration, fewer where episodes end early; groups by {config.rollout.grouping}.",
        f"Tokens an iteration at most: {replies:,} sampled and trained on, {prompts:,} of prompts.",
        f"{batch.iterations:,} iterations, {batch.optimizer_steps:,} optimizer steps.",
        f"{batch.episodes:,} instances, none of them twice.",
        *(f"{role} is not trained: {describe_player(player)} plays it." for role, player in config.frozen.items()),
        "",
    ]


def _memory_lines(memory: MemoryPlan, gpus: int | None) -> list[str]:
    adapters = ", ".join(f"{name} {count:,}" for name, count in memory.adapter_parameters.items())
    trained = "All weights in float32" if memory.full else "Adapters"
    batch = f"activations {show_bytes(memory.activations)}, logits {show_bytes(memory.logits)}"
    where = _device() if gpus is None else "on a GPU of that machine" if gpus else "on the CPU of that machine"
    sampling = f"Sampling, roughly and at most: keys and values {show_bytes(memory.cache)}."
    return [
        f"Base model {memory.base_parameters:,} parameters: {show_bytes(memory.base)}.",
        f"{trained} ({adapters} parameters) with gradients and AdamW moments: {show_bytes(memory.adapters)}.",
        f"A micro-batch, roughly and at most: {batch}.",
        *([] if memory.served else [sampling]),
        f"Peak {'of the trainer ' if memory.served else ''}about {show_bytes(memory.peak)}; {where}.",
    ]


def _device() -> str:
    import torch

    if torch.cuda.is_available():
        device = torch.cuda.get_device_properties(0)
        return f"runs on {device.name} with {show_bytes(device.total_memory)}"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"runs on the CPU (no CUDA device) with {show_bytes(memory)} of memory"


def _gpu_memory() -> int | None:
    """Bytes of the smallest visible GPU; None where there is none."""
    import torch

    gpus = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
    return min((gpu.total_memory for gpu in gpus), default=None)
