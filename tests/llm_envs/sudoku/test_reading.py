"""Grids and placements in every form that is documented, and what is refused."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.parsing import Unparsed
from llm_envs.sudoku.geometry import SYMBOLS
from llm_envs.sudoku.puzzle import Placement
from llm_envs.sudoku.reading import Answer, read_answer, read_grid
from llm_envs.sudoku.state import answer_text, boxed, rows
from tests.llm_envs.sudoku.boards import CLASSIC_SOLUTION, answers, grid_of

SIZES = [4, 6, 9, 16]


def lists(grid: bytes, size: int) -> list[list[int]]:
    return [list(grid[first : first + size]) for first in range(0, size * size, size)]


def numbers(grid: bytes, size: int, between: str) -> str:
    return "\n".join(between.join(map(str, row)) for row in lists(grid, size))


FORMS = {
    "spaced rows": lambda grid, size: rows(grid),
    "drawn boxes": lambda grid, size: boxed(grid),
    "framed": lambda grid, size: "\n".join(f"| {line} |" for line in boxed(grid).splitlines()),
    "rows without spaces": lambda grid, size: rows(grid).replace(" ", ""),
    "one line": lambda grid, size: rows(grid).replace(" ", "").replace("\n", ""),
    "one spaced line": lambda grid, size: rows(grid).replace("\n", " "),
    "numbers": lambda grid, size: numbers(grid, size, " "),
    "comma separated": lambda grid, size: numbers(grid, size, ","),
    "comma and space": lambda grid, size: numbers(grid, size, ", "),
    "JSON lists": lambda grid, size: json.dumps(lists(grid, size)),
    "JSON lists, indented": lambda grid, size: json.dumps(lists(grid, size), indent=1),
    "JSON strings": lambda grid, size: json.dumps(rows(grid).splitlines()),
    "Python lists by row": lambda grid, size: "\n".join(map(str, lists(grid, size))),
    "code fence": lambda grid, size: f"```\n{rows(grid)}\n```",
    "tagged code fence": lambda grid, size: f"Here it is:\n```text\n{boxed(grid)}\n```\nDone.",
    "lower case": lambda grid, size: rows(grid).lower(),
    "CRLF": lambda grid, size: rows(grid).replace("\n", "\r\n"),
    "zeros": lambda grid, size: rows(grid).replace(".", "0"),
    "underscores": lambda grid, size: rows(grid).replace(".", "_"),
    "question marks": lambda grid, size: rows(grid).replace(".", "?"),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", FORMS)
def test_a_grid_is_read_in_every_form(form: str, size: int) -> None:
    """UC-034, UC-035."""
    rng = random.Random(form)
    for filled in (0.0, 0.1, 0.5, 0.9, 1.0):
        grid = bytes(rng.randint(1, size) if rng.random() < filled else 0 for _ in range(size * size))
        text = FORMS[form](grid, size)
        assert read_grid(text, size) == grid
        assert read_grid(text) == grid
        assert read_answer(text, size) == Answer.of_grid(grid)


def test_none_and_null_are_blanks() -> None:
    assert read_grid("[[null, 1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]") == bytes(
        [0, *[1, 2, 3], *[1, 2, 3, 4] * 3]
    )
    assert read_grid("[None, 1, 2, 3]\n" + "[1, 2, 3, 4]\n" * 3) == bytes([0, 1, 2, 3, *[1, 2, 3, 4] * 3])


@pytest.mark.parametrize("text", [CLASSIC_SOLUTION[:-1], CLASSIC_SOLUTION + "1"])
def test_a_digit_too_few_or_too_many_is_refused(text: str) -> None:
    """UC-034: nothing is filled up or cut off."""
    found = read_grid(text, 9)
    assert isinstance(found, Unparsed)
    assert f"{len(text)} cells, it must have 81" in found.reason
    assert isinstance(read_grid(text), Unparsed)
    assert read_grid(CLASSIC_SOLUTION, 9) == grid_of(CLASSIC_SOLUTION), "negative control"


@pytest.mark.parametrize(
    ("text", "size", "reason"),
    [
        ("", 9, "empty"),
        ("  \n ", 9, "empty"),
        ("---+---", 9, "empty"),
        ("1 2 3 4\n1 2 3\n1 2 3 4\n1 2 3 4", 4, "row 2 of your grid has 3 cells, it must have 4"),
        ("1 2 3 4\n1 2 3 4", 4, "2 rows, it must have 4"),
        ("1 2 3 5\n1 2 3 4\n1 2 3 4\n1 2 3 4", 4, "'5' is no digit of a 4x4 grid"),
        ("1 2 3 -4\n1 2 3 4\n1 2 3 4\n1 2 3 4", 4, "'-4' is no digit"),
        ("\u0661 2 3 4\n1 2 3 4\n1 2 3 4\n1 2 3 4", 4, "is no digit"),
        ("[[1, 2, 3, true], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]", 4, "is no digit"),
        ("[" * 5000, 4, "empty"),
        ("7" * 5000, 9, "5000 cells"),
        ("the answer is four", 4, "cells"),
        ("r1c5=1", 4, "'r1c5=1' is no placement in a 4x4 grid"),
        ("r1c1=5", 4, "from 1 to 4"),
        ("r1c1=1 and r2c2=3", 4, "'and' is no placement"),
        ("r1c1", 4, "is no placement"),
        ("r1c1=" + "9" * 5000, 4, "is no placement"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(text: str, size: int, reason: str) -> None:
    found = read_answer(text, size)
    assert isinstance(found, Unparsed)
    assert reason in found.reason
    assert len(found.reason) < 200


PLACEMENTS = (Placement(1, 3), Placement(4, 0), Placement(15, 4))


@pytest.mark.parametrize(
    "text",
    [
        "r1c2=3 r2c1=. r4c4=4",
        "R1C2=3, R2C1=0, R4C4=4",
        "r1c2 = 3; r2c1 = _; r4c4 = 4",
        "r1c2: 3\nr2c1: ?\nr4c4: 4",
        "1 2 3\n2 1 0\n4 4 4",
        "1 2 3; 2 1 .; 4 4 4",
        "(1, 2, 3), (2, 1, 0), (4, 4, 4)",
        "[[1, 2, 3], [2, 1, 0], [4, 4, 4]]",
        "1,2,3\n2,1,0\n4,4,4\n",
        "```\nr1c2=3 r2c1=. r4c4=4\n```",
    ],
)
def test_placements_are_read_in_every_form(text: str) -> None:
    assert read_answer(text, 4) == Answer(PLACEMENTS)


@pytest.mark.parametrize("size", SIZES)
@given(data=st.data())
def test_an_answer_is_read_as_it_was_written(size: int, data: st.DataObject) -> None:
    answer = data.draw(answers(size))
    assert read_answer(answer_text(answer, size), size) == answer


def test_sixteen_by_sixteen_takes_letters_and_numbers() -> None:
    assert read_answer("r16c16=G r16c16=g R16C16=16 r1c1=10 r1c1=A", 16) == Answer(
        (Placement(255, 16), Placement(255, 16), Placement(255, 16), Placement(0, 10), Placement(0, 10))
    )
    assert isinstance(read_answer("r1c1=A", 9), Unparsed)
    assert SYMBOLS[16] == "G"


@given(st.text(max_size=300) | st.text(alphabet="r1c2=3.,;|-+[]() \n`_", max_size=300), st.sampled_from(SIZES))
def test_no_text_is_an_error(text: str, size: int) -> None:
    assert isinstance(read_answer(text, size), Answer | Unparsed)
    assert isinstance(read_grid(text), bytes | Unparsed)
