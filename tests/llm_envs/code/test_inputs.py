"""An input is known again however it is written, and told from what is no input of the problem."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.code.families.generator import generate
from llm_envs.code.families.programs import Style
from llm_envs.code.families.table import FAMILIES
from llm_envs.code.families.values import Kind, read_json, read_stdin, to_json, to_stdin
from llm_envs.code.inputs import are_new, essence
from llm_envs.code.problem import Case, Problem
from llm_envs.core.task import Split
from tests.llm_envs.code.problems import SUM_FUNCTION, SUM_STDIO
from tests.scale import scaled

NUMBERS = st.integers(-(10**12), 10**12)
WORDS = st.text("abz", max_size=5)
VALUES: dict[Kind, st.SearchStrategy[object]] = {
    Kind.INT: NUMBERS,
    Kind.INTS: st.lists(NUMBERS, max_size=4),
    Kind.TEXT: WORDS,
    Kind.LINES: st.lists(WORDS, max_size=4),
    Kind.ROWS: st.lists(st.lists(NUMBERS, min_size=1, max_size=3), max_size=3),
    Kind.BOOL: st.booleans(),
}
ARGUMENTS = st.lists(st.sampled_from(Kind), min_size=1, max_size=3).flatmap(
    lambda kinds: st.tuples(st.just(tuple(kinds)), st.tuples(*(VALUES[kind] for kind in kinds)))
)


@given(ARGUMENTS)
def test_arguments_are_read_as_they_were_written(arguments: tuple[tuple[Kind, ...], tuple[object, ...]]) -> None:
    kinds, values = arguments
    stdin = to_stdin(kinds, values)
    assert read_stdin(kinds, stdin) == read_stdin(kinds, stdin + "\n  \n") == [*values]
    assert read_json(kinds, to_json(values)) == [*values]
    assert read_stdin(kinds, stdin + "0\n") is None
    assert read_json(kinds, to_json(values) + "0\n") is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.INT, "1.0"),
        (Kind.INT, "1_0"),
        (Kind.INT, "1 2"),
        (Kind.INT, ""),
        (Kind.INTS, "1 x"),
        (Kind.LINES, "2\na"),
        (Kind.ROWS, "2\n1 2"),
        (Kind.BOOL, "Yes"),
        (Kind.BOOL, "yes "),
    ],
)
def test_what_has_another_form_is_no_input(kind: Kind, text: str) -> None:
    assert read_stdin((kind,), text) is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [(Kind.INT, "true"), (Kind.INT, "1.0"), (Kind.INTS, "[1, true]"), (Kind.TEXT, '["a"]'), (Kind.BOOL, "1")],
)
def test_a_value_of_another_type_is_no_argument(kind: Kind, text: str) -> None:
    """Python would take each of them for the one that it equals, and a copy for another case."""
    assert read_json((kind,), text) is None


@pytest.mark.parametrize("style", Style)
def test_no_copy_of_an_example_is_a_new_case_of_a_generated_problem(style: Style) -> None:
    """UC-085: a line that nobody reads, another spelling of a number, other blanks."""
    for name in [*FAMILIES][:: scaled(fast=9, long=1)]:
        problem = generate((name,), 1, style, Split.TRAIN, 0)
        assert all(are_new(problem, problem.spare)), "the control: honest cases are new"
        for example in problem.visible:
            for stdin in (example.stdin, f"{example.stdin}0\n", f"{example.stdin}\n \n", f"{example.stdin}[]\n"):
                assert are_new(problem, [Case(stdin, "")]) == (False,), (name, stdin)


def test_inputs_of_an_unknown_form_are_compared_by_their_words_and_numbers() -> None:
    def new(problem: Problem, *inputs: str) -> tuple[bool, ...]:
        return are_new(problem, [Case(stdin, "") for stdin in inputs])

    assert new(SUM_STDIO, "1 2 4", "01 2 4", "1 2 4\n7", "1  2 4", "1 2 4 7") == (True, False, False, False, True)
    assert new(SUM_STDIO, "1 2 3\n0", "+5", "5.0", "5.5", "x 5") == (False, False, False, True, True)
    assert new(SUM_FUNCTION, "[1, 2, 3.0]", "[true, 2, 3]", "[1, 2, 4]") == (False, False, True)


@given(st.text(max_size=40), st.sampled_from([SUM_STDIO, SUM_FUNCTION]), st.sampled_from(["", "int", "lines", "bool"]))
def test_any_text_has_an_essence_or_none(text: str, problem: Problem, form: str) -> None:
    formed = replace(problem, form=(form,) if form else ())
    assert essence(formed, Case(text, "")) is None or isinstance(essence(formed, Case(text, "")), tuple)
