"""The cages of this machine side by side, on the same programs."""

import asyncio
import logging
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from harness.plain_runs import ContainerEach, InterpreterEach
from harness.timing import Row
from llm_envs.code.judging import Verdict, judge
from llm_envs.code.problem import Case, Problem
from llm_envs.sandbox.base import Outcome, Program, Sandbox
from llm_envs.sandbox.registry import KINDS

MOVES = ("up", "down", "left", "right")
BATCH, CONTAINERS = 40, 6  # programs a turn; containers take a second where the others take hundredths
INPUTS, IN_FLIGHT = 20, 2000
BLOCKED_S = 0.05  # a beat of the event loop that is later than this was blocked, or the machine was busy

DOUBLE = Problem(
    name="double",
    statement="",
    visible=(Case("2\n", "4\n"),),
    hidden=(Case("0\n", "0\n"), Case("-7\n", "-14\n"), Case("1000000007\n", "2000000014\n")),
    cpu_s=1.0,
)
# Programs and the verdicts on the four tests, the visible one first.
TABLE: Mapping[str, tuple[str, ...]] = {
    "print(2 * int(input()))": ("pass",) * 4,
    "import sys\nprint(sum(map(int, sys.stdin.read().split() * 2)))": ("pass",) * 4,
    "n = int(input())\nprint(n * n)": ("pass", "pass", "wrong", "wrong"),
    "print(4)": ("pass", "wrong", "wrong", "wrong"),
    "print(2 * int(input()) / (int(False) + 1))": ("wrong",) * 4,
    "print(1 / 0)": ("error",) * 4,
    "raise SystemExit(3)": ("error",) * 4,
    "pass": ("wrong",) * 4,
    "print(": ("error",) * 4,
    "n = int(input())\nprint(2 * n if n else 1 // n)": ("pass", "error", "pass", "pass"),
}


def cages(stack: ExitStack) -> tuple[list[Sandbox], dict[str, Sandbox]]:
    """The cages that work here, and the arms without one by the name of the cage that they stand beside."""
    logging.getLogger("llm_envs").setLevel(logging.ERROR)
    ours: list[Sandbox] = []
    interpreter = InterpreterEach("python -I each")
    stack.callback(interpreter.close)
    plain: dict[str, Sandbox] = {}
    for kind in KINDS:
        if not kind.automatic or (reason := kind.unavailable()):
            print(f"{kind.name}: left out{f': {reason}' if kind.automatic else ''}")
            continue
        cage = kind.create()
        stack.callback(cage.close)
        ours.append(cage)
        plain[kind.name] = interpreter if kind.name != "docker" else _containers(stack)
    return ours, plain


def _containers(stack: ExitStack) -> Sandbox:
    import docker

    from llm_envs.sandbox.docker import IMAGE, IMAGE_VARIABLE

    client = docker.from_env()
    stack.callback(client.close)
    arm = ContainerEach("a container each", client, os.environ.get(IMAGE_VARIABLE, IMAGE))
    stack.callback(arm.close)
    return arm


def compare_programs(ours: Sequence[Sandbox], plain: Mapping[str, Sandbox], turns: int) -> list[Row]:
    """Each cage beside the arm without one."""
    arms = {arm.name: arm for arm in (*ours, *plain.values())}
    for name, arm in arms.items():
        check_verdicts(name, arm)
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    for turn in range(turns + 1):
        for name, arm in arms.items():
            count = CONTAINERS if isinstance(arm, ContainerEach) else BATCH
            programs = [Program(f'print("{MOVES[turn % 4]}", {turn * BATCH + index})') for index in range(count)]
            taken, outcomes = timed(lambda arm=arm, programs=programs: arm.run(programs))
            expected = [f"{MOVES[turn % 4]} {turn * BATCH + index}\n" for index in range(count)]
            if [outcome.stdout for outcome in outcomes] != expected:
                raise SystemExit(f"{name}: other outputs than asked for")
            if turn:
                seconds[name].append(taken / count)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    return [
        Row(f"{cage.name}: trivial programs", medians[cage.name], arm.name, medians[arm.name])
        for cage in ours
        for arm in (plain[cage.name],)
    ]


def check_verdicts(name: str, arm: Sandbox) -> None:
    """The judge says the same of each program of the table, wherever it runs."""
    for code, expected in TABLE.items():
        judgement = judge(DOUBLE, code, arm)
        found = (*judgement.visible, *judgement.hidden)
        if found != tuple(map(Verdict, expected)):
            raise SystemExit(f"{name}: verdicts {found} on {code!r}, must be {expected}")


def compare_inputs(cage: Sandbox, turns: int) -> list[Row]:
    """One program with several inputs, as a judge runs it."""
    return [
        _compare_inputs(cage, what, code, count)
        for what, code, count in (
            ("trivial code", "print(input())\n", turns),
            ("50 ms to compile", slow_to_compile(), max(3, turns // 2)),
        )
    ]


def _compare_inputs(cage: Sandbox, what: str, code: str, turns: int) -> Row:
    seconds: dict[str, list[float]] = {"one call": [], "a call each": []}
    for turn in range(turns + 1):
        for name, times in seconds.items():
            # new code in each turn: a cage may still have the last one compiled
            programs = [Program(f"{code}# {turn} {name}\n", f"{turn} {index}\n") for index in range(INPUTS)]
            if name == "one call":
                taken, outcomes = timed(lambda programs=programs: cage.run(programs))
            else:
                taken, outcomes = timed(lambda programs=programs: [cage.run([program])[0] for program in programs])
            if [outcome.stdout for outcome in outcomes] != [f"{turn} {index}\n" for index in range(INPUTS)]:
                raise SystemExit(f"{cage.name}, {what}: other outputs than asked for")
            if turn:
                times.append(taken / INPUTS)
    one, each = (statistics.median(times) for times in seconds.values())
    return Row(f"{cage.name}: {INPUTS} inputs in one call, {what}", one, "a call each", each)


def in_flight(cage: Sandbox) -> str:
    """Many callers at once on one event loop: none lost, none mixed up, and the loop goes on."""
    late: list[float] = []

    async def beat() -> None:
        while True:
            started = time.perf_counter()
            await asyncio.sleep(0.01)
            late.append(time.perf_counter() - started - 0.01)

    async def all_of_them() -> list[str]:
        beating = asyncio.create_task(beat())
        calls = [cage.arun([Program(f"print({index})")]) for index in range(IN_FLIGHT)]
        found = [outcome.stdout for (outcome,) in await asyncio.gather(*calls)]
        beating.cancel()
        return found

    taken, found = timed(lambda: asyncio.run(all_of_them()))
    wrong = sum(output != f"{index}\n" for index, output in enumerate(found))
    if wrong:
        raise SystemExit(f"{cage.name}: {wrong} of {IN_FLIGHT} lost or mixed up")
    blocked = sum(one > BLOCKED_S for one in late)
    return (
        f"{cage.name}: {IN_FLIGHT} calls in flight in {taken:.1f} s, {IN_FLIGHT / taken:.0f}/s, none lost or mixed up; "
        f"{blocked} of {len(late)} beats of the event loop came more than {1000 * BLOCKED_S:.0f} ms late"
    )


def timed(job: Callable[[], list[Outcome]] | Callable[[], list[str]]) -> tuple[float, list]:
    """Wall seconds of a job, and what it gave."""
    started = time.perf_counter()
    given = job()
    return time.perf_counter() - started, given


def slow_to_compile() -> str:
    """A program of which compiling takes about 50 ms, and running next to nothing."""
    lines = 500
    while True:
        body = "\n".join(
            f"    x = (x * {index} + {index + 1}) % 1000003 if x else [x, {index}][0]" for index in range(lines)
        )
        code = f"def unused(x):\n{body}\n    return x\nprint(input())\n"
        started = time.perf_counter()
        compile(code, "main.py", "exec")
        if time.perf_counter() - started >= 0.05:
            return code
        lines += 100
