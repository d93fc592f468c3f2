"""Options, problems of one's own, and the page that tells of both."""

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from llm_envs import code_v0
from llm_envs.code.descriptions import problem_of
from llm_envs.code.families.table import FAMILIES
from llm_envs.code.task import CodeTask
from llm_envs.core.errors import UsageError
from llm_envs.core.options import options_of
from llm_envs.core.task import Split
from tests.llm_envs.code.problems import DIVISOR, SUM_FUNCTION, SUM_STDIO


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("difficulty", "herd", "Did you mean 'hard'"),
        ("families", "circular_sun", "Did you mean 'circular_sum'"),
        ("families", [], "a name, several names, or None"),
        ("families", 3, "a name, several names, or None"),
        ("style", "stdin", "Did you mean 'stdio'"),
        ("cases", 0, "from 1 to 10"),
        ("cases", 11, "from 1 to 10"),
        ("stop", "never", "agreement, budget, correct"),
        ("roles", "planners", "single, team"),
    ],
)
def test_options_with_wrong_values_are_refused_in_words(option: str, value: Any, words: str) -> None:
    with pytest.raises(UsageError, match=f"{option}=.*{words}"):
        CodeTask(**{option: value})


def test_the_page_lists_every_option_with_its_default() -> None:
    rows = [line for line in (code_v0.__doc__ or "").splitlines() if line.startswith("| `")]
    for name, default in options_of(code_v0.env).items():
        (row,) = [row for row in rows if row.startswith(f"| `{name}` |")]
        if name not in {"agents", "turn_order"}:
            shown = f'"{default}"' if isinstance(default, str) else str(default)
            assert row.split("|")[2].strip() == shown


def test_families_are_taken_by_name_in_the_order_of_the_table() -> None:
    assert CodeTask().families == tuple(FAMILIES)
    assert CodeTask(families="circular_sum").families == ("circular_sum",)
    assert CodeTask(families=["range_updates", "circular_sum"]).families == ("circular_sum", "range_updates")
    names = {CodeTask(families="circular_sum").instance(Split.TRAIN, index).problem.name for index in range(5)}
    assert names == {"circular_sum"}


def test_the_style_changes_the_form_of_a_problem_and_nothing_else() -> None:
    stdio, function = (CodeTask(style=style).instance(Split.TRAIN, 3).problem for style in ("stdio", "function"))
    assert stdio.entry_point is None
    assert function.entry_point is not None
    assert stdio.name == function.name
    assert (len(stdio.hidden), len(stdio.mutants)) == (len(function.hidden), len(function.mutants))


def test_difficulties_are_levels() -> None:
    problems = [CodeTask(difficulty=name).instance(Split.TRAIN, 0).problem for name in ("easy", "medium", "hard")]
    assert len({problem.hidden for problem in problems}) == 3


# ---- problems of one's own


@pytest.mark.parametrize("problem", [SUM_STDIO, SUM_FUNCTION, DIVISOR])
def test_a_problem_survives_as_plain_values(problem: Any) -> None:
    assert problem_of(json.loads(json.dumps(asdict(problem)))) == problem
    assert problem_of(problem) is problem


def test_a_statement_and_hidden_tests_are_enough() -> None:
    problem = problem_of({"statement": "Print 1.", "hidden": [{"stdin": "", "expected": "1"}]})
    assert (problem.name, problem.visible, problem.reference) == ("given", (), "")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hiddens": []}, "Did you mean 'hidden'"),
        ({"hidden": []}, "at least one test"),
        ({"hidden": None}, "a list of"),
        ({"hidden": "tests"}, "a list of"),
        ({"hidden": [{"stdin": "1"}]}, r"\['hidden'\]\[0\]"),
        ({"hidden": [{"stdin": "1", "expected": 1}]}, r"\['hidden'\]\[0\]"),
        ({"visible": [["1", "2"]]}, r"\['visible'\]\[0\]"),
        ({"mutants": "print(1)"}, "a list of programs"),
        ({"comparison": "close"}, "checker, exact, floats, tokens, unordered"),
        ({"comparison": "checker"}, "a checker belongs to"),
        ({"tolerance": "small"}, "a number"),
        ({"memory_mb": 1.5}, "a whole number"),
        ({"cpu_s": True}, "a number"),
        ({"statement": None}, "must be text"),
        ({"reference": 3}, "must be text"),
        ({"entry_point": "f"}, "must be JSON"),
    ],
)
def test_a_description_of_no_problem_is_refused(changes: dict[str, Any], words: str) -> None:
    """UC-068."""
    description = {**asdict(SUM_STDIO), **changes}
    env = code_v0.raw_env()
    with pytest.raises(UsageError, match=words):
        env.reset(options={"task": description})


@pytest.mark.parametrize(
    "description", [None, 3, "print", {"hidden": [{"stdin": "", "expected": ""}]}, {"statement": ""}]
)
def test_what_is_no_description_is_refused(description: Any) -> None:
    """UC-068."""
    with pytest.raises(UsageError, match="options"):
        problem_of(description)


def test_a_problem_may_be_given_as_it_is() -> None:
    env = code_v0.raw_env()
    env.reset(options={"task": replace(SUM_STDIO, name="mine")})
    assert env.snapshot.problem.name == "mine"
    assert env.index is None
