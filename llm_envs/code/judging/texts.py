"""When what a program printed counts as what it should have printed."""

from collections import Counter
from decimal import Decimal

from llm_envs.code.judging.numbers import read_number, same_number
from llm_envs.code.problem import Comparison

_BLANKS = " \t\r"


def same_text(expected: str, got: str, comparison: Comparison, tolerance: float) -> bool:
    """Compare an output with the expected one; see `Comparison`.

    Raises:
        ValueError: `CHECKER`, which takes the checker and not a comparison.
    """
    match comparison:
        case Comparison.EXACT:
            return _lines(expected) == _lines(got)
        case Comparison.TOKENS:
            return words(expected) == words(got)
        case Comparison.FLOATS:
            return _same_words(words(expected), words(got), Decimal(repr(tolerance)))
        case Comparison.UNORDERED:
            if len(words(expected)) != len(words(got)):  # a flood is refused before it is looked at line by line
                return False
            return Counter(_lines_of_words(expected)) == Counter(_lines_of_words(got))
        case Comparison.CHECKER:
            raise ValueError("comparison='checker': an output is compared by running the problem's checker.")


def words(text: str) -> list[bytes]:
    """What blanks and line breaks separate: those of ASCII, so that other spaces are part of a word."""
    return text.encode("utf-8", "surrogatepass").split()


def _lines(text: str) -> list[str]:
    lines = [line.rstrip(_BLANKS) for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _lines_of_words(text: str) -> list[tuple[bytes, ...]]:
    return [found for line in text.split("\n") if (found := tuple(words(line)))]


def _same_words(expected: list[bytes], got: list[bytes], tolerance: Decimal) -> bool:
    if len(expected) != len(got):
        return False
    return all(
        mine == yours or _same_numbers(mine, yours, tolerance) for mine, yours in zip(expected, got, strict=True)
    )


def _same_numbers(expected: bytes, got: bytes, tolerance: Decimal) -> bool:
    mine = read_number(expected.decode("utf-8", "replace"))
    yours = None if mine is None else read_number(got.decode("utf-8", "replace"))
    return mine is not None and yours is not None and same_number(mine, yours, tolerance)
