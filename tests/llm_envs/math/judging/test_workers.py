"""math-verify in worker processes: from anywhere, bounded, and nothing left behind."""

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from llm_envs.core.jobs import Work, arun_jobs, run_jobs
from llm_envs.math.judging import AnswerCheck, Verdict, ajudge, judge, third_tier, workers
from llm_envs.math.judging.workers import Workers
from tests.architecture.paths import ROOT

FLOOR = (r"\lfloor 3.5 \rfloor", "3")  # only math-verify can tell
ENDLESS = ("7", "9^{9^{9^9}}")  # as it would be without the bounds of the exact reader

pytestmark = [pytest.mark.needs("math"), pytest.mark.usefixtures("math_verify")]


@pytest.fixture
def pool() -> Iterator[Workers]:
    pool = Workers(slots=1, limit_s=20)
    yield pool
    pool.close()


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or a zombie that nobody has waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def busy_pid(pool: Workers) -> int:
    """The worker of a pool of one, once it has started."""
    while not pool.pids:
        time.sleep(0.01)
    return pool.pids[0]


def judge_floor() -> Verdict:
    return judge(gold=FLOOR[0], answer=FLOOR[1])


def test_a_verdict_is_the_same_from_the_main_thread_and_from_others() -> None:
    """UC-050."""
    with ThreadPoolExecutor(8) as threads:
        futures = [threads.submit(judge_floor) for _ in range(16)]
        assert {judge_floor(), *(future.result() for future in futures)} == {Verdict.RIGHT}


def test_a_verdict_is_the_same_in_event_loops_their_executors_and_one_inside_another() -> None:
    """UC-050."""

    async def inner() -> set[Verdict]:
        loop = asyncio.get_running_loop()
        in_executor = await loop.run_in_executor(None, judge_floor)
        in_other_loop = await loop.run_in_executor(None, lambda: asyncio.run(ajudge(gold=FLOOR[0], answer=FLOOR[1])))
        blocking = judge_floor()
        return {in_executor, in_other_loop, blocking, await ajudge(gold=FLOOR[0], answer=FLOOR[1])}

    assert asyncio.run(inner()) == {Verdict.RIGHT}
    assert asyncio.run(inner()) == {Verdict.RIGHT}, "a second loop uses the same workers"


def in_fork(connection: "multiprocessing.connection.Connection") -> None:
    connection.send(judge_floor())


def test_a_verdict_is_the_same_in_a_forked_process_and_afterwards_in_its_parent() -> None:
    """UC-050."""
    assert judge_floor() is Verdict.RIGHT
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=in_fork, args=(theirs,))
    child.start()
    assert ours.recv() is Verdict.RIGHT
    child.join()
    assert child.exitcode == 0
    assert judge_floor() is Verdict.RIGHT


def test_nobodys_signal_handler_is_replaced() -> None:
    """UC-050."""

    def mine(signum: int, frame: object) -> None:
        raise AssertionError("an alarm of somebody else")

    clock_runs = signal.getitimer(signal.ITIMER_REAL)[0] > 0  # the watchdog's of the tests
    before = signal.signal(signal.SIGALRM, mine)
    try:
        assert judge_floor() is Verdict.RIGHT
        assert signal.getsignal(signal.SIGALRM) is mine
        assert (signal.getitimer(signal.ITIMER_REAL)[0] > 0) is clock_runs
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_event_loop_runs_on_while_a_worker_is_busy() -> None:
    async def scene() -> Verdict:
        assert await ajudge(gold=FLOOR[0], answer=FLOOR[1]) is Verdict.RIGHT
        shared = third_tier._shared.workers
        assert shared is not None
        for pid in shared.pids:
            os.kill(pid, signal.SIGSTOP)  # busy for as long as we like
        task = asyncio.ensure_future(ajudge(gold=FLOOR[0], answer=FLOOR[1]))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not task.done()
        for pid in shared.pids:
            os.kill(pid, signal.SIGCONT)
        return await task

    assert asyncio.run(scene()) is Verdict.RIGHT


def test_an_overrun_is_undecided_and_the_next_answer_is_judged() -> None:
    """UC-051: the worker is killed and replaced."""
    pool = Workers(slots=1, limit_s=2)
    first, second = pool.submit([ENDLESS]), pool.submit([FLOOR])
    pid = busy_pid(pool)
    assert first.result() == [Verdict.UNDECIDED]
    assert second.result() == [Verdict.RIGHT]
    assert has_ended(pid)
    pool.close()


def test_a_worker_that_is_killed_is_replaced_and_asked_again(pool: Workers) -> None:
    assert pool.submit([FLOOR]).result() == [Verdict.RIGHT]
    pid = busy_pid(pool)
    os.kill(pid, signal.SIGSTOP)
    answer = pool.submit([FLOOR])
    os.kill(pid, signal.SIGKILL)
    assert answer.result() == [Verdict.RIGHT]
    assert busy_pid(pool) != pid


@pytest.mark.parametrize(
    "program",
    ["import sys; sys.exit(1)", "print('null', flush=True); input()", "print('null', flush=True); print('nonsense')"],
    ids=["at once", "when asked", "talks nonsense"],
)
def test_a_worker_that_fails_again_and_again_is_undecided_never_wrong(
    program: str, pool: Workers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "library.py"
    script.write_text(program)
    monkeypatch.setattr(workers, "_PROGRAM", script)
    assert pool.submit([FLOOR, FLOOR]).result() == [Verdict.UNDECIDED, Verdict.UNDECIDED]
    monkeypatch.undo()
    assert pool.submit([FLOOR]).result() == [Verdict.RIGHT]


def test_closing_ends_what_runs_and_leaves_no_thread_and_no_process() -> None:
    pool = Workers(slots=2, limit_s=600)
    running: list[Future[list[Verdict]]] = [pool.submit([ENDLESS]) for _ in range(4)]
    while len(pool.pids) < 2:
        time.sleep(0.01)
    pids = pool.pids
    pool.close()
    pool.close()
    assert [future.result() for future in running] == [[Verdict.UNDECIDED]] * 4
    assert all(has_ended(pid) for pid in pids)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("math-verify")]
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit([FLOOR])


OWNER = f"""
import time
from llm_envs.math.judging.workers import Workers
pool = Workers(slots=1, limit_s=600)
pool.submit([{FLOOR!r}]).result()
future = pool.submit([{ENDLESS!r}])
print(pool.pids[0], flush=True)
"""


@pytest.mark.parametrize("end", ["killed", "exits"])
def test_no_worker_outlives_its_owner_however_that_ends(end: str) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER + ("time.sleep(600)" if end == "killed" else "pool.close()")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    worker = int(owner.stdout.readline())
    if end == "killed":
        assert not has_ended(worker)
        owner.kill()
    owner.communicate()
    while not has_ended(worker):  # the watchdog of the tests ends a wait that is in vain
        time.sleep(0.01)


def test_the_exact_tiers_start_no_process() -> None:
    assert judge(gold="7", answer=ENDLESS[1]) is Verdict.UNDECIDED
    assert judge(gold=r"\frac13", answer=r"\frac{1}{3}") is Verdict.RIGHT
    assert third_tier._shared.workers is None


def test_an_answer_check_is_a_job_of_an_environment() -> None:
    def no_sandbox() -> None:
        raise AssertionError("judging needs no sandbox")

    checks = [AnswerCheck("7", "7"), AnswerCheck("7", "8"), AnswerCheck("7", None), AnswerCheck(*FLOOR)]
    expected = [Verdict.RIGHT, Verdict.WRONG, Verdict.WRONG, Verdict.RIGHT]
    assert all(isinstance(check, Work) for check in checks)
    assert run_jobs(checks, no_sandbox) == expected
    assert asyncio.run(arun_jobs(checks, no_sandbox)) == expected


def test_without_the_library_the_log_says_once_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(third_tier, "find_spec", lambda name: None)
    monkeypatch.setattr(third_tier._shared, "warned", False)
    assert {judge_floor(), judge_floor()} == {Verdict.UNDECIDED}
    assert [record.getMessage() for record in caplog.records if "llm-envs[math]" in record.getMessage()] != []
    assert len(caplog.records) == 1
