"""Programs of one iteration: equal ones run once, those asked for together go to the sandbox together."""

import asyncio
from collections.abc import Sequence

from llm_envs.sandbox.base import Outcome, Program, Sandbox


class SharedRuns:
    """A view of a sandbox that lasts one iteration.

    Siblings often write the same program; running it once gives all of them the same outcome, which is also what makes
    their rewards comparable. Programs asked for in one tick of the event loop leave as one batch.

    Attributes:
        asked, ran: programs asked for, and how many of them really ran.
    """

    def __init__(self, inner: Sandbox) -> None:
        self.name = inner.name
        self.guarantees = inner.guarantees
        self.asked = 0
        self.ran = 0
        self._inner = inner
        self._outcomes: dict[Program, asyncio.Future[Outcome]] = {}
        self._waiting: list[Program] = []
        self._flushes: set[asyncio.Task[None]] = set()  # the loop itself keeps only weak references to tasks

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        """Blocking runs are not shared: nothing else could ask meanwhile."""
        self.asked += len(programs)
        self.ran += len(programs)
        return self._inner.run(programs)

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        """Outcomes in the order of the programs. A run that fails raises its error, such as `SandboxError`, to
        everyone who shares it.
        """
        return list(await asyncio.gather(*(asyncio.shield(self._ask(program)) for program in programs)))

    def _ask(self, program: Program) -> asyncio.Future[Outcome]:
        self.asked += 1
        future = self._outcomes.get(program)
        if future is None:
            loop = asyncio.get_running_loop()
            future = self._outcomes[program] = loop.create_future()
            if not self._waiting:
                loop.call_soon(self._start_flush)
            self._waiting.append(program)
        return future

    def _start_flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if not batch:  # stopped meanwhile
            return
        task = asyncio.ensure_future(self._flush(batch))
        self._flushes.add(task)
        task.add_done_callback(self._flushes.discard)

    async def _flush(self, batch: list[Program]) -> None:
        self.ran += len(batch)
        try:
            outcomes = await self._inner.arun(batch)
        except asyncio.CancelledError:
            for program in batch:
                self._outcomes.pop(program).cancel()
            raise
        except Exception as error:  # noqa: BLE001 -- whoever waits must hear of it, whatever it is
            for program in batch:
                self._outcomes.pop(program).set_exception(error)
            return
        for program, outcome in zip(batch, outcomes, strict=True):
            self._outcomes[program].set_result(outcome)

    async def stop(self) -> None:
        """Cancel what still runs for askers that are gone; nothing is left behind."""
        self._waiting = []
        flushes = list(self._flushes)
        for flush in flushes:
            flush.cancel()
        await asyncio.gather(*flushes, return_exceptions=True)

    def close(self) -> None:
        """The sandbox belongs to whoever made it and stays open."""
