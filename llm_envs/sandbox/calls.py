"""What a caller waits for, and what a slot works on."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress

from llm_envs.sandbox.base import Outcome, Program, SandboxError
from llm_envs.sandbox.encoding import worth_compiling_once


class Call:
    """The programs of one call: equal ones run once, and the future is done when all are."""

    def __init__(self, programs: Sequence[Program]) -> None:
        """Nothing is queued yet; a call without programs is done."""
        places = {program: place for place, program in enumerate(dict.fromkeys(programs))}
        self.future: Future[list[Outcome]] = Future()
        self.tasks = [Task(self, place, program) for program, place in places.items()]
        self.compile_once = worth_compiling_once(places)
        self._order = [places[program] for program in programs]
        self._outcomes: dict[int, Outcome] = {}
        self._lock = threading.Lock()
        if not self.tasks:
            self.future.set_result([])

    def finish(self, place: int, outcome: Outcome) -> None:
        """Note the outcome of one distinct program; the last one wakes the caller."""
        with self._lock:
            self._outcomes[place] = outcome
            if len(self._outcomes) < len(self.tasks):
                return
        self._settle(lambda: self.future.set_result([self._outcomes[place] for place in self._order]))

    def fail(self, error: SandboxError) -> None:
        """Give the caller an error, unless it has its answer already."""
        self._settle(lambda: self.future.set_exception(error))

    @staticmethod
    def _settle(settle: Callable[[], None]) -> None:
        with suppress(InvalidStateError):  # cancelled by the caller, or failed by another slot
            settle()


class Task:
    """One distinct program of a call."""

    def __init__(self, call: Call, place: int, program: Program) -> None:
        """`place`: which of the call's distinct programs it is."""
        self.call, self.program = call, program
        self._place = place
        self.losses = 0  # cages that died over it

    @property
    def wanted(self) -> bool:
        """Whether somebody still waits for it."""
        return not self.call.future.done()

    def finish(self, outcome: Outcome) -> None:
        """Report its outcome."""
        self.call.finish(self._place, outcome)
