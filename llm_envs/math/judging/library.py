"""The program of a worker process: pairs of expressions in, math-verify's verdicts out, a line of JSON each.

It stands alone, run as a script, so that a worker starts without the rest of the package. Its first line says that it
is ready (`null`) or why it is not. It ends with its standard input, with its owner, and at the latest when a request
has taken longer than its owner waits: the kernel sees to that, since no Python code of a process that multiplies huge
integers ever runs. math-verify's own time limits are off: they replace the handler of SIGALRM.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from typing import Any

_DIGITS, _AGREE = 60, 40
MOST_MEMORY = 2 << 30  # bytes
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve until the standard input ends."""
    owner, limit_s = int(sys.argv[1]), float(sys.argv[2])
    _die_with(owner)
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no reply
    try:
        compare: Any = _load()
    except ImportError as error:
        replies.write(json.dumps(str(error)) + "\n")
        return
    replies.write("null\n")
    replies.flush()
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        verdicts = [compare(gold, answer) for gold, answer in json.loads(line)]
        signal.setitimer(signal.ITIMER_REAL, 0)
        replies.write(json.dumps(verdicts) + "\n")
        replies.flush()


def _die_with(owner: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    if sys.platform == "linux":  # the thread that started this process lives as long as the worker does
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != owner:
            sys.exit()


def _load() -> Any:
    from math_verify import LatexExtractionConfig, parse, verify

    def parsed(text: str) -> list[Any]:
        found: list[Any] = parse(
            f"${text}$",
            extraction_config=[LatexExtractionConfig()],
            fallback_mode="no_fallback",
            extraction_mode="first_match",
            parsing_timeout=None,
            raise_on_error=True,
        )
        return found

    def same(gold: list[Any], answer: list[Any]) -> bool:
        result: bool = verify(
            gold=gold,
            target=answer,
            float_rounding=12,
            numeric_precision=50,
            strict=True,
            allow_set_relation_comp=False,
            timeout_seconds=None,
            raise_on_error=True,
        )
        return result

    def compare(gold: str, answer: str) -> str:
        """Right or wrong where both directions say the same, since the library is not symmetric, and numbers agree."""
        try:
            left, right = parsed(gold), parsed(answer)
            if not left or not right:
                return "undecided"
            verdicts = {same(left, right), same(right, left)}
            apart = _apart(left[0], right[0])
        except Exception:  # noqa: BLE001  # the boundary of a library that raises anything on what models write
            return "undecided"
        if len(verdicts) > 1 or apart is (True in verdicts):
            return "undecided"
        return "right" if True in verdicts else "wrong"

    return compare


def _apart(left: Any, right: Any) -> bool | None:
    """Whether two expressions differ at points where their symbols are numbers; None for what is no expression.

    The library compares numbers to 12 digits, and what it cannot simplify it takes to be different.

    Raises:
        ValueError: they have no value at any point.
    """
    from sympy import Expr, Integer, N

    if not isinstance(left, Expr) or not isinstance(right, Expr):
        return None
    symbols = left.free_symbols | right.free_symbols
    names = sorted({str(symbol) for symbol in symbols})  # beside an i the library takes all others for complex, too
    agreed = False
    for first in (2, 5):  # natural numbers, for sums up to n
        point = {symbol: Integer(first + names.index(str(symbol))) for symbol in symbols}
        values = [N(side.subs(point).doit(), _DIGITS) for side in (left, right)]
        if not all(value.is_number and value.is_finite for value in values):
            continue
        if abs(values[0] - values[1]) > (1 + abs(values[0])) * 10**-_AGREE:
            return True
        agreed = True
    if not agreed:
        raise ValueError(f"no value at any point: {left}, {right}")
    return False


if __name__ == "__main__":
    main()
