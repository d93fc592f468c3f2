"""What every process of a plan needs of its device's memory, and whether that is there."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from at_grpo.config import TrainConfig
from at_grpo.dry_run_servers import DEFAULT_UTILIZATION
from at_grpo.inference.plan import UTILIZATION, ServerPlan, server_plans
from at_grpo.memory import MemoryPlan, show_bytes
from at_grpo.placement import Placement
from at_grpo.pools import Pool
from llm_envs.core.errors import UsageError

CPU = "the CPU"


@dataclass(frozen=True, slots=True)
class Process:
    """A process of a run.

    Attributes:
        title: what it does.
        devices: where; `CPU` for none of its own.
        need: bytes on each device, roughly and at most for a trainer, at least for a server.
        share: of each device's memory, which a server takes whatever it needs; 0 for none.
    """

    title: str
    devices: tuple[str, ...]
    need: int
    share: float = 0.0

    def takes(self, size: int) -> int:
        """Bytes of a device of this size."""
        return max(self.need, int(self.share * size))


def processes(
    config: TrainConfig, pools: Sequence[Pool], memories: Sequence[MemoryPlan], placement: Placement
) -> Iterator[Process]:
    """All of a run, pool by pool: the ranks of the update worker, then the servers."""
    number = 0
    for pool, memory, place in zip(pools, memories, placement.pools, strict=True):
        for rank, gpu in enumerate(place.ranks):
            driver = number == 0 and rank == 0 and pool is pools[0]
            title = "the driver, which trains" if driver else f"rank {rank} of the update worker of"
            yield Process(f"{title} {', '.join(pool.policies)}", (_device(gpu),), memory.peak)
        for plan in server_plans(config, pool, place, placement):
            yield _server(number, pool, plan, memory)
            number += 1


def _server(number: int, pool: Pool, plan: ServerPlan, memory: MemoryPlan) -> Process:
    need = (memory.base + plan.slots * memory.slot + memory.reply) // max(1, len(plan.gpus))
    share = float(str(plan.options.get(UTILIZATION, DEFAULT_UTILIZATION))) if plan.gpus else 0.0
    devices = tuple(map(_device, plan.gpus)) or (CPU,)
    return Process(f"server {number} of {', '.join(pool.policies)}", devices, need, share)


def _device(gpu: str | None) -> str:
    return CPU if gpu is None else f"GPU {gpu}"


def process_lines(planned: Sequence[Process]) -> list[str]:
    """A line for each process."""
    lines = ["", "Processes, and what each needs of the memory of its device, roughly:"]
    for process in planned:
        share = f", and takes {process.share:g} of it" if process.share else ""
        lines.append(f"  {process.title}: {show_bytes(process.need)} on {', '.join(process.devices)}{share}")
    return lines


def check_size(planned: Sequence[Process], size: int) -> None:
    """Refuse a plan that needs more than a device has.

    Args:
        planned: of the run.
        size: bytes of a GPU, or of the machine where there is none.

    Raises:
        UsageError: with a line for each device that is too small.
    """
    on: dict[str, list[Process]] = defaultdict(list)
    for process in planned:
        for device in process.devices:
            on[device].append(process)
    lines = []
    for device, there in on.items():
        total = sum(process.takes(size) for process in there)
        if total > size:
            parts = ", ".join(f"{process.title} {show_bytes(process.takes(size))}" for process in there)
            lines.append(f"{device}: the plan needs about {show_bytes(total)}, it has {show_bytes(size)} ({parts}).")
    if lines:
        advice = (
            "Lower optim.micro_batch_size, max_tokens or rollout.max_prompt_tokens, give processes GPUs of their own "
            f"(pools, inference.gpus), or set inference.options.{UTILIZATION} for less."
        )
        raise UsageError("\n".join([*lines, advice]))
