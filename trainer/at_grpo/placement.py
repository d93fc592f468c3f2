"""Which process of a run gets which GPUs: the trainer one, the servers those that are named, or what is left."""

import os
from dataclasses import dataclass
from functools import cache

from at_grpo.choices import Backend
from at_grpo.config import InferenceSection
from llm_envs.core.errors import UsageError

VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True)
class Placement:
    """GPUs by the names that `CUDA_VISIBLE_DEVICES` knows them by.

    Attributes:
        trainer: the trainer's; None for the CPU.
        servers: each server's; empty for the CPU. There are none where no server is started.
    """

    trainer: str | None
    servers: tuple[tuple[str, ...], ...]

    def shares(self, number: int) -> bool:
        """Whether server `number` has the trainer's GPU."""
        return self.trainer is not None and self.trainer in self.servers[number]

    def confine(self) -> None:
        """Leave this process its own GPU: TRL refuses a process that sees several. To be called before CUDA is used."""
        if self.trainer is not None:
            os.environ[VISIBLE] = self.trainer


@cache
def visible_gpus() -> tuple[str, ...]:
    """The GPUs that CUDA gives to this process, in its order; as it was when this was asked first, so that it still
    holds when the process has been confined.
    """
    import torch

    count = torch.cuda.device_count()
    named = [name.strip() for name in os.environ.get(VISIBLE, "").split(",") if name.strip()]
    return tuple(named[:count]) if named else tuple(map(str, range(count)))


def place(section: InferenceSection, visible: tuple[str, ...]) -> Placement:
    """Give the servers the GPUs of `inference.gpus`, and the trainer the first one that is not among them.

    `inference.gpus` counts among the visible ones, as torch does. Where it is empty, each server gets one that the
    trainer has not, or all share the trainer's where there are too few.

    Raises:
        UsageError: a GPU that is not there.
    """
    absent = [gpu for gpu in section.gpus if gpu >= len(visible)]
    if absent:
        seen = f"among the {len(visible)} that are visible, counted from 0" if visible else "empty: no GPU is visible"
        raise UsageError(
            f"inference.gpus={list(section.gpus)}: must be {seen}. See `nvidia-smi`, {VISIBLE}, and whether "
            "torch is a CUDA build (`at-grpo doctor`)."
        )
    wanted = section.servers if section.backend == Backend.VLLM and not section.urls else 0
    if not visible:
        return Placement(None, ((),) * wanted)
    others = [name for number, name in enumerate(visible) if number not in section.gpus]
    trainer, *rest = others or visible
    if section.gpus:
        share = len(section.gpus) // section.servers
        names = [visible[gpu] for gpu in section.gpus]
        servers = tuple(tuple(names[share * number : share * (number + 1)]) for number in range(wanted))
    elif len(rest) >= wanted:
        servers = tuple((name,) for name in rest[:wanted])
    else:
        servers = ((trainer,),) * wanted
    return Placement(trainer, servers)
