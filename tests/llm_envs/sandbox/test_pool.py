"""The queue in front of the cages, with cages that do as they are told."""

import asyncio
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import CancelledError

import pytest

from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from llm_envs.sandbox.cage import CageLostError
from llm_envs.sandbox.encoding import Key
from llm_envs.sandbox.imports import Imports
from llm_envs.sandbox.pool import PooledSandbox
from tests.llm_envs.sandbox.processes import eventually


class ScriptedCages:
    """Makes cages that echo the code, and do what some codes say; keeps count."""

    def __init__(self) -> None:
        self.started = self.closed = 0
        self.runs: list[str] = []
        self.batches: list[int] = []
        self.refusals: list[Exception] = []
        self.deadly: dict[str, int] = {}  # code -> how often it kills its cage
        self.gate = threading.Event()
        self.gate.set()
        self.lock = threading.Lock()

    def start(self, imports: Imports) -> "ScriptedCage":
        with self.lock:
            if self.refusals:
                raise self.refusals.pop(0)
            self.started += 1
        return ScriptedCage(self, imports)


class ScriptedCage:
    def __init__(self, cages: ScriptedCages, imports: Imports) -> None:
        self.cages, self.imports, self.preload = cages, imports, imports.usual
        self.stopped = threading.Event()

    def run(self, programs: Sequence[Program], compile_once: Collection[Key] = ()) -> Iterator[Outcome]:
        with self.cages.lock:
            self.cages.batches.append(len(programs))
        for program in programs:
            while not self.cages.gate.wait(0.01):
                if self.stopped.is_set():
                    raise CageLostError("stopped")
            with self.cages.lock:
                self.cages.runs.append(program.code)
                if self.cages.deadly.get(program.code, 0) > 0:
                    self.cages.deadly[program.code] -= 1
                    raise CageLostError("died of it")
            if program.code == "bug":
                raise ZeroDivisionError
            status = Status(program.code) if program.code in set(Status) else Status.OK
            yield Outcome(status, 0, program.code, wall_s=0.001)

    @property
    def outdated(self) -> bool:
        return not self.imports.usual <= self.preload

    def stop(self) -> None:
        self.stopped.set()

    def close(self) -> None:
        with self.cages.lock:
            self.cages.closed += 1

    def abandon(self) -> None:
        raise AssertionError("nobody forked")


@pytest.fixture
def cages() -> ScriptedCages:
    return ScriptedCages()


def make(cages: ScriptedCages, slots: int = 1, recycle_after: int = 500, *, spare: bool = False) -> PooledSandbox:
    return PooledSandbox("scripted", frozenset(), cages.start, slots=slots, recycle_after=recycle_after, spare=spare)


def codes(*names: object) -> list[Program]:
    return [Program(str(name)) for name in names]


def test_outcomes_come_in_the_order_of_the_programs_and_equal_ones_run_once(cages: ScriptedCages) -> None:
    sandbox = make(cages, slots=3)
    wanted = [index % 7 for index in range(100)]
    assert [outcome.stdout for outcome in sandbox.run(codes(*wanted))] == [str(index) for index in wanted]
    assert sorted(cages.runs) == [str(index) for index in range(7)]
    sandbox.close()


def test_cages_start_when_they_are_needed_and_not_beyond_the_slots(cages: ScriptedCages) -> None:
    sandbox = make(cages, slots=3)
    assert cages.started == 0
    assert sandbox.run([]) == []
    assert cages.started == 0
    sandbox.run(codes("one"))
    assert cages.started == 1
    sandbox.run(codes(*range(200)))
    assert cages.started <= 3
    sandbox.close()
    assert cages.closed == cages.started


def test_a_batch_is_spread_over_the_slots(cages: ScriptedCages) -> None:
    """No slot takes more than a fair share of what waits, so that none is idle while another has a queue."""
    sandbox = make(cages, slots=2)
    cages.gate.clear()
    running = asyncio.new_event_loop()
    future = running.create_task(sandbox.arun(codes(*range(40))))
    running.call_later(0.1, cages.gate.set)
    assert len(running.run_until_complete(future)) == 40
    running.close()
    assert max(cages.batches) <= 15
    assert sum(cages.batches) == 40
    sandbox.close()


def test_a_lost_cage_is_retried_once_on_a_fresh_one(cages: ScriptedCages) -> None:
    cages.deadly["b"] = 1
    sandbox = make(cages)
    outcomes = sandbox.run(codes("a", "b", "c", "d"))
    assert [outcome.stdout for outcome in outcomes] == ["a", "b", "c", "d"]
    assert cages.runs == ["a", "b", "b", "c", "d"]
    assert (cages.started, cages.closed) == (2, 1)
    sandbox.close()


def test_a_cage_lost_twice_over_one_program_is_an_error_and_no_verdict(cages: ScriptedCages) -> None:
    """Other calls that waited behind it are not harmed."""
    cages.deadly["b"] = 2
    sandbox = make(cages)

    async def both() -> tuple[list[Outcome], list[Outcome]]:
        first = asyncio.ensure_future(sandbox.arun(codes("a", "b", "c")))
        second = asyncio.ensure_future(sandbox.arun(codes("d", "e")))
        with pytest.raises(SandboxError, match="was lost 2 times: died of it"):
            await first
        return [], await second

    assert [outcome.stdout for outcome in asyncio.run(both())[1]] == ["d", "e"]
    assert cages.runs.count("b") == 2
    sandbox.close()


def test_a_start_that_fails_once_is_retried_and_a_refusal_is_told(cages: ScriptedCages) -> None:
    cages.refusals = [CageLostError("no memory"), OSError(11, "no process")]
    sandbox = make(cages)
    with pytest.raises(SandboxError, match="was lost 2 times: BlockingIOError"):
        sandbox.run(codes("a"))
    cages.refusals = [OSError(11, "no process")]
    assert sandbox.run(codes("a"))[0].stdout == "a"
    sandbox.close()
    refusing = make(cages)
    cages.refusals = [SandboxError("Landlock is missing")]
    with pytest.raises(SandboxError, match="Landlock is missing"):
        refusing.run(codes("a"))
    refusing.close()


def test_a_defect_of_ours_reaches_the_caller_instead_of_hanging_it(cages: ScriptedCages) -> None:
    sandbox = make(cages)
    with pytest.raises(SandboxError, match="ZeroDivisionError"):
        sandbox.run(codes("bug"))
    assert sandbox.run(codes("a"))[0].stdout == "a"
    sandbox.close()


@pytest.mark.parametrize(("code", "fresh"), [("timeout", 2), ("memory", 2), ("error", 1), ("output", 1)])
def test_a_cage_is_replaced_after_a_program_that_may_have_worn_it(cages: ScriptedCages, code: str, fresh: int) -> None:
    sandbox = make(cages)
    sandbox.run(codes(code))
    sandbox.run(codes("next"))
    assert cages.started == fresh
    sandbox.close()


def test_a_cage_is_replaced_after_its_number_of_runs(cages: ScriptedCages) -> None:
    sandbox = make(cages, recycle_after=10)
    for index in range(35):
        sandbox.run(codes(index))
    assert (cages.started, cages.closed) == (4, 3)
    sandbox.close()
    assert cages.closed == 4


def test_a_cage_is_replaced_when_programs_come_to_use_other_modules(cages: ScriptedCages) -> None:
    sandbox = make(cages)
    for index in range(20):
        sandbox.run(codes(f"x = {index}"))
    assert cages.started == 1
    for index in range(100):
        sandbox.run(codes(f"import json\nx = {index}"))
    assert cages.started == 2
    sandbox.close()


def test_from_the_first_worn_cage_on_one_is_ready_ahead_of_need(cages: ScriptedCages) -> None:
    sandbox = make(cages, spare=True)
    sandbox.run(codes("first"))
    assert cages.started == 1
    sandbox.run(codes("timeout"))
    assert eventually(lambda: (cages.started, cages.closed) == (2, 1))
    sandbox.run(codes("next"))
    assert eventually(lambda: cages.started == 3)
    sandbox.run(codes("memory"))
    sandbox.run(codes("last"))
    assert eventually(lambda: (cages.started, cages.closed) == (4, 2))
    sandbox.close()
    assert cages.closed == cages.started == 4
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sandbox-scripted")]


def test_a_cage_in_reserve_that_cannot_be_had_is_nobodys_error(cages: ScriptedCages) -> None:
    sandbox = make(cages, spare=True)
    sandbox.run(codes("first"))
    cages.refusals = [CageLostError("no memory")]
    sandbox.run(codes("timeout"))
    assert eventually(lambda: not cages.refusals)
    assert [outcome.stdout for outcome in sandbox.run(codes("next"))] == ["next"]
    sandbox.close()
    assert cages.closed == cages.started


def test_a_cage_in_reserve_that_has_grown_old_is_not_taken(cages: ScriptedCages) -> None:
    """It was made before programs came to use other modules."""
    sandbox = make(cages, spare=True)
    sandbox.run(codes("timeout"))
    assert eventually(lambda: cages.started == 2)
    for index in range(40):
        sandbox.run(codes(f"import json\nx = {index}"))
    sandbox.run(codes("last"))
    assert cages.started > 2
    sandbox.close()
    assert cages.closed == cages.started


def test_a_cancelled_call_drops_what_has_not_started(cages: ScriptedCages) -> None:
    """UC-100."""
    sandbox = make(cages)
    cages.gate.clear()

    async def cancelled() -> None:
        first = asyncio.ensure_future(sandbox.arun(codes("running")))
        await asyncio.sleep(0.05)
        second = asyncio.ensure_future(sandbox.arun(codes("waiting")))
        await asyncio.sleep(0.05)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        cages.gate.set()
        await first

    asyncio.run(cancelled())
    assert sandbox.run(codes("later"))[0].stdout == "later"
    assert cages.runs == ["running", "later"]
    sandbox.close()


def test_closing_fails_what_runs_and_what_waits_and_leaves_no_thread(cages: ScriptedCages) -> None:
    sandbox = make(cages)
    cages.gate.clear()
    threads = [threading.Thread(target=_expect_closed, args=(sandbox, name)) for name in ("running", "waiting")]
    for thread in threads:
        thread.start()
    while not cages.batches:
        pass
    sandbox.close()
    sandbox.close()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert cages.closed == cages.started == 1
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sandbox-scripted")]
    with pytest.raises(SandboxError, match="'scripted' is closed"):
        sandbox.run(codes("late"))


def _expect_closed(sandbox: PooledSandbox, name: str) -> None:
    with pytest.raises((SandboxError, CancelledError), match="closed"):
        sandbox.run(codes(name))


def test_a_sandbox_that_nobody_holds_closes_itself(cages: ScriptedCages) -> None:
    make(cages).run(codes("a"))
    assert cages.closed == 1


@pytest.mark.parametrize("argument", ["slots", "recycle_after"])
def test_numbers_that_cannot_be_meant_are_refused(cages: ScriptedCages, argument: str) -> None:
    with pytest.raises(ValueError, match=f"{argument}=0: must be at least 1"):
        PooledSandbox("scripted", frozenset(), cages.start, **{"slots": 1, "recycle_after": 1, argument: 0})  # type: ignore[arg-type]
