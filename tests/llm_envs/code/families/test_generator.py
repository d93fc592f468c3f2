"""The generator of problems: pure, the same everywhere, in splits that share nothing."""

import subprocess
import sys
from collections import Counter

import pytest

from llm_envs.code.families.generator import generate
from llm_envs.code.families.programs import Style
from llm_envs.code.families.table import FAMILIES
from llm_envs.code.problem import Problem
from llm_envs.core.task import Split
from tests.scale import scaled

ALL = tuple(FAMILIES)
COUNT = scaled(fast=100, system=400, long=5000)
PROGRAM = f"""
from llm_envs.code.families.generator import generate
from llm_envs.code.families.table import FAMILIES
from llm_envs.core.task import Split
for number, name in enumerate(FAMILIES):
    print(generate((name,), 1 + number % 3, ("stdio", "function")[number % 2], Split.TEST, {2**31 - 1}))
"""


def content(problem: Problem) -> tuple[str, frozenset[str]]:
    return problem.statement, frozenset(case.stdin for case in (*problem.visible, *problem.hidden))


def test_a_problem_is_a_function_of_its_arguments() -> None:
    """UC-010: neither the order of calls nor what else was made plays a part."""
    forwards = [generate(ALL, 2, Style.STDIO, Split.TRAIN, index) for index in range(COUNT)]
    backwards = [generate(ALL, 2, Style.STDIO, Split.TRAIN, index) for index in reversed(range(COUNT))]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) == COUNT, "negative control: indices differ"


def test_problems_are_the_same_in_processes_with_different_hash_seeds() -> None:
    """UC-010."""
    runs = [
        subprocess.run([sys.executable, "-c", PROGRAM], env={"PYTHONHASHSEED": seed}, capture_output=True, check=False)
        for seed in ("0", "4242")
    ]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr.decode()
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout.splitlines()) == len(ALL)


def test_no_problem_is_in_two_splits() -> None:
    """UC-011: nor at two levels, since families, parameters and inputs decide the split whatever the options."""
    found = {
        split: {
            content(generate(ALL, level, Style.STDIO, split, index)) for level in (1, 3) for index in range(COUNT // 4)
        }
        for split in Split
    }
    for one in Split:
        for other in Split:
            assert bool(found[one] & found[other]) == (one == other), "with itself as the negative control"


def test_both_styles_ask_for_the_same() -> None:
    for index in range(COUNT // 4):
        program, function = (generate(ALL, 1, style, Split.TRAIN, index) for style in Style)
        assert program.name == function.name
        assert program.statement.split("\n\n")[0] == function.statement.split("\n\n")[0]
        assert (program.entry_point, function.entry_point) == (None, "solution")
        assert function.signature.startswith("def solution(")
        assert len(program.hidden) == len(function.hidden)


def test_all_families_are_drawn_and_no_others() -> None:
    names = Counter(generate(ALL[:6], 1, Style.STDIO, Split.TRAIN, index).name for index in range(COUNT))
    assert set(names) == set(ALL[:6])
    assert max(names.values()) < COUNT // 2


@pytest.mark.parametrize("style", Style)
def test_a_style_may_be_given_by_its_name(style: Style) -> None:
    """As options come from a configuration."""
    named = generate(ALL, 1, str(style), "validation", 5)  # type: ignore[arg-type]
    assert named == generate(ALL, 1, style, Split.VALIDATION, 5)
