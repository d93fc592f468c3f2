"""The judge of answers beside math-verify in a pool of processes, on numbers as models write them."""

import logging
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor

from harness.timing import Row
from llm_envs.math.judging import Verdict, judge

ANSWERS, CHUNK = 2000, 50
WRONG_SHARE = 0.5
FORMS: tuple[Callable[[int], str], ...] = (
    str,
    lambda number: f"{number:,}",
    lambda number: f"\\${number}",
    lambda number: f"{number}.00",
    lambda number: f"\\text{{{number}}}",
    lambda number: f"{number}\\text{{ apples}}",
    lambda number: f"x = {number}",
    lambda number: f"\\frac{{{2 * number}}}{{2}}",
    lambda number: f"{number}\\%",
    lambda number: f"{number} dollars",
)
Pair = tuple[str, str]  # gold and answer


def pairs(turn: int) -> list[Pair]:
    """Golds of one to five digits, as GSM8K has them, and answers of which half are meant to be wrong. Every turn has
    other ones, since judges remember.
    """
    rng = random.Random(turn)
    found = []
    for number in range(ANSWERS):
        gold = int(10 ** (5 * rng.random()))
        meant = gold if rng.random() >= WRONG_SHARE else gold + 1 + int(100 * rng.random())
        found.append((str(gold), FORMS[number % len(FORMS)](meant)))
    return found


def ours(given: Sequence[Pair]) -> list[bool]:
    """Whether each is right, says our judge, in this process."""
    return [judge(gold=gold, answer=answer) is Verdict.RIGHT for gold, answer in given]


def theirs(given: Sequence[Pair]) -> list[bool]:
    """Whether each is right, says math-verify, in a worker. Its own time limits need a main thread: they are off."""
    from math_verify import parse, verify

    logging.disable(logging.WARNING)
    return [
        verify(
            parse(f"${gold}$", parsing_timeout=None),
            parse(f"$\\boxed{{{answer}}}$", parsing_timeout=None),
            timeout_seconds=None,
        )
        for gold, answer in given
    ]


def compare_answers(turns: int) -> list[Row]:
    """Answers a second; none, with the reason, where math-verify is not installed."""
    try:
        import math_verify  # noqa: F401
    except ImportError:
        print("answers: left out, math-verify is not installed (the extra `math`)")
        return []
    workers = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(workers) as pool:

        def pooled(given: Sequence[Pair]) -> list[bool]:
            chunks = [given[first : first + CHUNK] for first in range(0, len(given), CHUNK)]
            return [verdict for part in pool.map(theirs, chunks) for verdict in part]

        check(pairs(0), ours(pairs(0)), pooled(pairs(0)))
        seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
        for turn in range(1, turns + 1):
            given = pairs(turn)
            for name, arm in (("ours", ours), ("theirs", pooled)):
                started = time.perf_counter()
                arm(given)
                seconds[name].append((time.perf_counter() - started) / len(given))
    mine, other = (statistics.median(times) for times in seconds.values())
    return [Row("numbers in ten forms, one process", mine, f"math-verify, {workers} processes", other)]


def check(given: Sequence[Pair], mine: Sequence[bool], other: Sequence[bool]) -> None:
    """What math-verify calls right we call right, but for what it is known to get wrong; how we differ is printed."""
    differ = [(pair, right) for pair, right, known in zip(given, mine, other, strict=True) if right != known]
    missed = [pair for pair, right in differ if not right]
    found = [pair for pair, right in differ if right]
    odd = [pair for pair in missed if "%" not in pair[1]]  # 5% is not 5: docs/math_judging.md
    if odd:
        raise SystemExit(f"math-verify says right and we do not: {odd[:5]}")
    example = f", e.g. {found[0]}" if found else ""
    print(
        f"answers: {len(given) - len(differ)} of {len(given)} verdicts are math-verify's; {len(found)} right ones it "
        f"misses{example}; {len(missed)} percentages that it takes for numbers"
    )
