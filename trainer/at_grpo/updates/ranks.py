"""Data parallelism: the ranks of one update worker train on different micro-batches and take the same steps.

Each rank runs transformers' loop as if it were alone; accelerate knows nothing of the others. So nothing can wait for
them but what is here: two sums at the end of an iteration, in one order on every rank. Ranks may have had any number of
micro-batches, also none, and any of the policies.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from at_grpo.stopping import WorkerError

Parameters = Mapping[str, Sequence[torch.nn.Parameter]]
POLL_S = 0.05


def _nobody() -> bool:
    """No other rank is known to have ended."""
    return False


class Ranks:
    """This process and the others of its worker: one process group, over gloo, and over NCCL between GPUs."""

    def __init__(
        self, rendezvous: Path, rank: int, size: int, timeout_s: float, lost: Callable[[], bool] = _nobody
    ) -> None:
        """Nobody has met yet.

        Args:
            rendezvous: a file on a file system that all share, not there before the first joins.
            rank, size: which of how many this is.
            timeout_s: seconds for which one rank waits for another.
            lost: whether another process is known to have ended, so that waiting for all would be in vain.
        """
        self.rank, self.size = rank, size
        self._lost = lost
        self._rendezvous, self._timeout = rendezvous, timedelta(seconds=timeout_s)

    def meet(self, parameters: Parameters) -> None:
        """Wait for all ranks, and take the weights of the first. To be called once transformers has looked at the
        process: it advises against a group that it has not made.

        Raises:
            WorkerError: the others did not come.
        """
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        with self._together(), torch.no_grad():
            store: Any = dist.FileStore(str(self._rendezvous), self.size)  # type: ignore[attr-defined]
            store.set_timeout(self._timeout)
            self._await_all(store)
            dist.init_process_group(backend, store=store, rank=self.rank, world_size=self.size, timeout=self._timeout)
            for own in parameters.values():
                for parameter in own:
                    dist.broadcast(parameter.data, 0)

    def _await_all(self, store: Any) -> None:
        """Before torch waits for them, since it would do so deaf to Ctrl-C, and for a rank that has ended, too.

        Raises:
            RuntimeError: they don't come, as torch's own.
        """
        store.set(f"here/{self.rank}", "yes")
        everybody = [f"here/{rank}" for rank in range(self.size)]
        deadline = time.monotonic() + self._timeout.total_seconds()
        while not store.check(everybody):
            if self._lost():
                raise RuntimeError("one ended before all had met")
            if time.monotonic() > deadline:
                raise RuntimeError(f"not all came within {self._timeout.total_seconds():g} s")
            time.sleep(POLL_S)

    def sum(self, tokens: dict[str, int], losses: dict[str, float], parameters: Parameters) -> None:
        """Add up what all ranks have gathered, in place: the policies' token counts and losses, and the gradients of
        those that have tokens anywhere. A parameter without a gradient on any rank keeps None.

        Raises:
            WorkerError: a rank is gone, or did not come in time.
        """
        names = list(parameters)
        with self._together():
            # On the CPU, so over gloo, which notices at once where a rank has died; NCCL would wait.
            totals_P_2 = torch.tensor([[tokens[name], losses[name]] for name in names], dtype=torch.float64)
            dist.all_reduce(totals_P_2)
            for name, (count, loss) in zip(names, totals_P_2.tolist(), strict=True):
                tokens[name], losses[name] = int(count), loss
                if count:
                    _sum_gradients(parameters[name])

    def close(self) -> None:
        """Leave the group."""
        if dist.is_initialized():
            dist.destroy_process_group()

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Around what needs the other ranks: the boundary at which torch's many errors become one."""
        try:
            yield
        except torch.OutOfMemoryError:  # a RuntimeError, too, and this rank's own: the others are still there
            raise
        except RuntimeError as error:
            raise WorkerError(
                f"rank {self.rank} of {self.size} has lost the other ranks of its update worker "
                f"({str(error).strip().splitlines()[0]}). See above which one ended and why, then go on with --resume; "
                "where one is only slow, raise update.timeout_s."
            ) from error


def _sum_gradients(parameters: Sequence[torch.nn.Parameter]) -> None:
    """One flat sum for a policy, with a flag a parameter: how many ranks have a gradient of it."""
    present = torch.tensor([float(parameter.grad is not None) for parameter in parameters])
    parts = [
        torch.zeros_like(parameter).flatten() if parameter.grad is None else parameter.grad.flatten()
        for parameter in parameters
    ]
    flat = torch.cat([*parts, present.to(parts[0])])
    dist.all_reduce(flat)
    *summed, counts = torch.split(flat, [*(part.numel() for part in parts), len(parts)])
    for parameter, total, count in zip(parameters, summed, counts.tolist(), strict=True):
        parameter.grad = total.view_as(parameter).clone() if count else None
