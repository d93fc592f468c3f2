"""What an action asks the harness to do, outside the model's reach, before the action can be applied."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from llm_envs.sandbox.base import Outcome, Program, Sandbox, SandboxError, Status

GetSandbox: TypeAlias = Callable[[], Sandbox]  # starts it on the first call


@runtime_checkable
class Work(Protocol):
    """A job that is more than one program: an answer to judge, say, or an output that another program checks.

    Its result is what `Task.apply` finds in the job's place. What it raises, as `SandboxError`, is a failure of the
    infrastructure and leaves the episode as it was; a wrong answer is a result.
    """

    def run(self, sandbox: GetSandbox) -> Any:
        """Do it, blocking."""
        ...

    async def arun(self, sandbox: GetSandbox) -> Any:
        """Do it without blocking the event loop."""
        ...


Job: TypeAlias = Program | Work


def run_jobs(jobs: Sequence[Job], sandbox: GetSandbox) -> list[Any]:
    """The results of jobs in their order; the programs among them share one call of the sandbox.

    Raises:
        SandboxError: the sandbox failed.
    """
    programs = [job for job in jobs if isinstance(job, Program)]
    outcomes = iter(_checked(sandbox().run(programs)) if programs else ())
    return [next(outcomes) if isinstance(job, Program) else job.run(sandbox) for job in jobs]


async def arun_jobs(jobs: Sequence[Job], sandbox: GetSandbox) -> list[Any]:
    """The same without blocking the event loop, all jobs at once."""
    programs = [job for job in jobs if isinstance(job, Program)]
    works = [job for job in jobs if not isinstance(job, Program)]
    if not works:  # nearly always
        return _checked(await sandbox().arun(programs)) if programs else []
    ran, *done = await asyncio.gather(_arun(programs, sandbox), *(work.arun(sandbox) for work in works))
    outcomes, results = iter(ran), iter(done)
    return [next(outcomes) if isinstance(job, Program) else next(results) for job in jobs]


async def _arun(programs: Sequence[Program], sandbox: GetSandbox) -> list[Outcome]:
    return _checked(await sandbox().arun(programs)) if programs else []


def _checked(outcomes: list[Outcome]) -> list[Outcome]:
    if any(outcome.status is Status.LOST for outcome in outcomes):
        raise SandboxError("the sandbox gave a lost program for an outcome; it must raise SandboxError itself.")
    return outcomes
