"""Programs per second in the `locked` cage, against a plain isolated Python per program, as ratios of one run.

Every arm runs the same programs with the same concurrency; outputs are compared before anything is timed; arms take
turns, and the median turn of each counts. Starting the cages is not timed.

    python benchmarks/speed/sandbox.py [--turns 9] [--programs 40]
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from llm_envs.sandbox.base import Program, Sandbox
from llm_envs.sandbox.locked import LockedSandbox

Arm = Callable[[Sequence[Program]], list[str]]
MOVES = ("up", "down", "left", "right")
INPUTS = 20
IN_FLIGHT = 2000


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=9, help="turns of each arm")
    parser.add_argument("--programs", type=int, default=40, help="programs of a batch")
    options = parser.parse_args()
    slots = len(os.sched_getaffinity(0))
    locked = LockedSandbox(slots=slots)
    print(f"{slots} slots, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}")
    try:
        compare_trivial(locked, slots, options.programs, options.turns)
        compare_inputs("20 inputs of a trivial program", "print(input())\n", locked, options.turns)
        compare_inputs("20 inputs, 50 ms to compile", slow_to_compile(), locked, max(3, options.turns // 3))
        in_flight(locked)
    finally:
        locked.close()


def compare_trivial(locked: Sandbox, slots: int, count: int, turns: int) -> None:
    """Small distinct programs, as a role that plans by programs writes them."""
    arms: dict[str, Arm] = {
        "python -I per program": partial(plain, slots),
        "locked, one call each": partial(one_by_one, locked),
        "locked, one batch": partial(batch, locked),
    }

    def programs(turn: int) -> list[Program]:
        return [Program(f'print("{MOVES[turn % 4]} right", {turn * count + index})') for index in range(count)]

    report(f"{count} distinct trivial programs", arms, programs, turns)


def compare_inputs(title: str, code: str, locked: Sandbox, turns: int) -> None:
    """One program with several inputs, as a judge runs it."""
    arms: dict[str, Arm] = {"one run each": partial(one_by_one, locked), "one batch": partial(batch, locked)}

    def programs(turn: int) -> list[Program]:  # new code in each turn: a cage may still have the last one compiled
        return [Program(f"{code}# {turn}\n", f"{turn} {index}\n") for index in range(INPUTS)]

    report(title, arms, programs, turns)


def report(title: str, arms: dict[str, Arm], programs: Callable[[int], list[Program]], turns: int) -> None:
    """Check that the arms agree, time them in turns, print rates and ratios to the first."""
    outputs = {name: arm(programs(0)) for name, arm in arms.items()}
    expected = next(iter(outputs.values()))
    for name, found in outputs.items():
        if found != expected or "" in found:
            raise SystemExit(f"{title}: {name!r} gives other outputs: {found[:3]} and not {expected[:3]}")
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    for turn in range(1, turns + 1):
        given = programs(turn)
        for name, arm in arms.items():
            started = time.perf_counter()
            arm(given)
            seconds[name].append((time.perf_counter() - started) / len(given))
    print(f"\n{title}")
    floor = statistics.median(seconds[next(iter(arms))])
    for name, times in seconds.items():
        median = statistics.median(times)
        rates = f"{1 / median:7.0f}/s (best {1 / min(times):5.0f})"
        print(f"  {name:24} {rates}  {1e3 * median:7.2f} ms  x{floor / median:.1f}")


def in_flight(locked: Sandbox) -> None:
    """Many callers at once on one event loop: none lost, none mixed up."""

    async def all_of_them() -> list[str]:
        calls = [locked.arun([Program(f"print({index})")]) for index in range(IN_FLIGHT)]
        return [outcome.stdout for (outcome,) in await asyncio.gather(*calls)]

    started = time.perf_counter()
    found = asyncio.run(all_of_them())
    seconds = time.perf_counter() - started
    wrong = sum(output != f"{index}\n" for index, output in enumerate(found))
    print(f"\n{IN_FLIGHT} calls in flight: {seconds:.1f} s, {IN_FLIGHT / seconds:.0f}/s, {wrong} lost or mixed up")


def plain(slots: int, programs: Sequence[Program]) -> list[str]:
    """A fresh isolated interpreter for each, as many at once as there are slots; no cage and no limits."""

    def run(program: Program) -> str:
        command = [sys.executable, "-I", "-c", program.code]
        return subprocess.run(command, input=program.stdin, capture_output=True, text=True, check=True).stdout

    with ThreadPoolExecutor(slots) as threads:
        return list(threads.map(run, programs))


def one_by_one(sandbox: Sandbox, programs: Sequence[Program]) -> list[str]:
    """A call for each, one after the other."""
    return [outcome.stdout for program in programs for outcome in sandbox.run([program])]


def batch(sandbox: Sandbox, programs: Sequence[Program]) -> list[str]:
    """One call for all."""
    return [outcome.stdout for outcome in sandbox.run(programs)]


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


if __name__ == "__main__":
    main()
