"""Work in stages: what is run next depends on what the last programs did. Written once, run blocking or not."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from llm_envs.core.jobs import GetSandbox, Job, arun_jobs, run_jobs

ResultT = TypeVar("ResultT")
Stages: TypeAlias = Generator[Sequence[Job], list[Any], ResultT]


class StagedWork(ABC, Generic[ResultT]):
    """A `Work` (see `core.jobs`) whose `stages` yields jobs, receives their results, and returns the work's own."""

    __slots__ = ()

    @abstractmethod
    def stages(self) -> Stages[ResultT]:
        """The stages, in their order."""

    def run(self, sandbox: GetSandbox) -> ResultT:
        """Do it, blocking. Raises SandboxError."""
        stages = self.stages()
        try:
            jobs = next(stages)
            while True:
                jobs = stages.send(run_jobs(jobs, sandbox))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # what `stages` returns

    async def arun(self, sandbox: GetSandbox) -> ResultT:
        """The same without blocking the event loop."""
        stages = self.stages()
        try:
            jobs = next(stages)
            while True:
                jobs = stages.send(await arun_jobs(jobs, sandbox))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # same
