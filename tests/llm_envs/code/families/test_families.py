"""Families of generated problems: what each of them promises."""

import random
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from llm_envs.code.families.base import LEVELS, Family, Mutant
from llm_envs.code.families.generator import HIDDEN, MOST_ALIKE, VISIBLE, generate
from llm_envs.code.families.programs import ENTRY_POINT, Style, mutant_functions, source
from llm_envs.code.families.table import FAMILIES
from llm_envs.code.families.trials import draw_trials
from llm_envs.code.families.values import Kind, to_stdin
from llm_envs.code.problem import Problem
from llm_envs.core.task import Split
from llm_envs.sandbox.base import Program, Status
from llm_envs.sandbox.locked import LockedSandbox
from llm_envs.sandbox.locked import unavailable as locked_unavailable
from llm_envs.sandbox.unsafe import UnsafeSandbox
from tests.llm_envs.code.families.page import PAGE, page
from tests.llm_envs.code.families.running import output, passes
from tests.scale import scaled

every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
INSTANCES = scaled(fast=2, system=10, long=200)
DRAWS = scaled(fast=60, system=200, long=2000)
LUCK = 0.2  # share of the hidden tests that a program which solves something else may pass


class OnlyRandom:
    """A source of chance of which nothing can be asked but `random()`."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed).random


def problems(family: Family, split: Split = Split.TRAIN) -> list[Problem]:
    """Some instances of every level; both styles take turns."""
    styles = tuple(Style)
    return [
        generate((family.name,), level, styles[(index + level) % 2], split, index)
        for level in LEVELS
        for index in range(INSTANCES)
    ]


def draws(family: Family, level: int, count: int) -> list[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Parameters and inputs, without the generator's choice."""
    rng: Any = OnlyRandom(f"{family.name}:{level}")
    found = []
    for _ in range(count):
        parameters = family.parameters(rng, level)
        found.append((parameters, family.draw(rng, level, parameters)))
    return found


def test_names_and_ideas_are_unique() -> None:
    assert len({family.idea.casefold() for family in FAMILIES.values()}) == len(FAMILIES)
    assert len({family.solve for family in FAMILIES.values()}) == len(FAMILIES)
    for name, family in FAMILIES.items():
        assert name == family.name
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name)


def test_the_page_lists_what_there_is() -> None:
    """`python -m tests.llm_envs.code.families.page` writes it anew."""
    assert PAGE.read_text() == page()


@every_family
def test_a_mutant_is_one_change_of_the_reference(family: Family) -> None:
    text = source(family)
    assert len(family.mutants) >= 5
    assert len({mutant.mistake for mutant in family.mutants}) == len(family.mutants)
    for mutant in family.mutants:
        assert text.count(mutant.old) == 1, mutant
        assert mutant.old != mutant.new
    assert len(mutant_functions(family)) == len(family.mutants)
    assert family.solve.__name__ != ENTRY_POINT


@every_family
def test_mutants_differ_in_what_they_do(family: Family) -> None:
    """Two that are the same mistake in other words would count twice."""
    behaviours = []
    for function in (family.solve, *mutant_functions(family)):
        given: list[str] = []
        for level in LEVELS:
            for parameters, arguments in draws(family, level, DRAWS):
                copies = [[*map(_copy, value)] if isinstance(value, list) else value for value in arguments]
                try:
                    given.append(repr(function(*copies, **parameters)))
                except Exception as error:  # noqa: BLE001 - a wrong program may fail in any way
                    given.append(type(error).__name__)
        behaviours.append(tuple(given))
    assert len(set(behaviours)) == len(behaviours)


def _copy(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


@every_family
def test_every_mutant_ends_passes_a_visible_test_and_fails_a_hidden_one(family: Family) -> None:
    for problem in problems(family):
        assert len(problem.mutants) == len(family.mutants)
        alive = 0
        for mutant in problem.mutants:
            visible = [passes(problem, mutant, case) for case in problem.visible]
            assert any(visible)
            assert not all(passes(problem, mutant, case) for case in problem.hidden)
            alive += all(visible)
        assert alive, "the visible tests must leave a mutant alive, else they say all"


@every_family
def test_whatever_the_parameters_every_mistake_can_be_told_apart(family: Family) -> None:
    """Else the generator would pass over problems with such parameters."""
    for level in LEVELS:
        rng: Any = OnlyRandom(f"{family.name}:{level}")
        for _ in range(scaled(fast=8, long=200)):
            parameters = family.parameters(rng, level)
            assert any(draw_trials(family, level, parameters, rng) for _ in range(6)), parameters


@every_family
def test_the_reference_passes_and_tests_are_different(family: Family) -> None:
    for problem in problems(family):
        assert (len(problem.visible), len(problem.hidden)) == (VISIBLE, HIDDEN)
        cases = [*problem.visible, *problem.hidden]
        assert len({case.stdin for case in cases}) == len(cases), "a hidden input among the visible ones"
        assert all(passes(problem, problem.reference, case) for case in cases)
        assert not passes(problem, "raise SystemError", cases[0]), "negative control"


@every_family
def test_a_program_that_always_prints_the_same_earns_little(family: Family) -> None:
    for problem in problems(family):
        assert max(Counter(case.expected for case in problem.hidden).values()) <= MOST_ALIKE


@every_family
def test_a_statement_names_every_number_and_differs_with_every_parameter(family: Family) -> None:
    for level in LEVELS:
        statements: dict[str, dict[str, Any]] = {}
        for parameters, _ in draws(family, level, DRAWS):
            text = family.statement(parameters)
            for value in parameters.values():
                if not isinstance(value, bool | str):
                    assert re.search(rf"(?<![\w.-]){re.escape(str(value))}(?![\w])", text), (value, text)
            assert statements.setdefault(text, parameters) == parameters


@every_family
def test_a_statement_says_what_each_argument_is_and_keeps_to_its_bounds(family: Family) -> None:
    for level in LEVELS:
        for _, arguments in draws(family, level, DRAWS):
            for argument, value in zip(family.arguments, arguments, strict=True):
                bounds = re.findall(r"from (-?\d+) to (-?\d+)", argument.about)
                if argument.kind in (Kind.INT, Kind.INTS) and len(bounds) == 1:
                    least, most = map(int, bounds[0])
                    for number in value if isinstance(value, list) else [value]:
                        assert least <= number <= most, argument
                lengths = re.findall(
                    r"(?:(\d+) to|up to) (\d+) (?:whole numbers|letters|words|lines|rows)", argument.about
                )
                if argument.kind != Kind.INT and len(lengths) == 1:
                    assert int(lengths[0][0] or 0) <= len(value) <= int(lengths[0][1]), argument


@every_family
def test_levels_grow(family: Family) -> None:
    """By the text of the inputs and the numbers of the parameters."""
    kinds = tuple(argument.kind for argument in family.arguments)
    sizes = [
        sum(
            len(to_stdin(kinds, arguments)) + len(str(parameters)) for parameters, arguments in draws(family, level, 60)
        )
        for level in LEVELS
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


@every_family
def test_no_content_is_in_two_splits_and_no_two_problems_of_a_batch_are_the_same(family: Family) -> None:
    """UC-011."""
    found = {
        split: {
            (problem.statement, tuple(sorted(case.stdin for case in (*problem.visible, *problem.hidden))))
            for problem in (generate((family.name,), 1, Style.STDIO, split, index) for index in range(INSTANCES * 4))
        }
        for split in Split
    }
    assert {len(contents) for contents in found.values()} == {INSTANCES * 4}
    assert len(frozenset[Any]().union(*found.values())) == 3 * INSTANCES * 4


def test_the_reference_prints_what_is_expected_in_a_process_of_its_own() -> None:
    """In both styles and for every family; in a cage where one works here, since its programs start sooner."""
    wanted, programs = [], []
    for family in FAMILIES.values():
        for style in Style:
            problem = generate((family.name,), 3, style, Split.TEST, 0)
            call = f"\nimport json, sys\nprint(json.dumps({ENTRY_POINT}(*map(json.loads, sys.stdin))))\n"
            code = problem.reference + (call if style is Style.FUNCTION else "")
            for case in [*problem.visible[:1], *problem.hidden[: scaled(fast=0, system=2, long=HIDDEN)]]:
                wanted.append((family.name, style, case.expected.split()))
                programs.append(Program(code, case.stdin))
    sandbox = UnsafeSandbox(slots=2) if locked_unavailable() else LockedSandbox(slots=2)
    try:
        outcomes = sandbox.run(programs)
    finally:
        sandbox.close()
    assert {outcome.status for outcome in outcomes} == {Status.OK}
    printed = [outcome.stdout.split() for outcome in outcomes]
    assert [(name, style, got) for (name, style, _), got in zip(wanted, printed, strict=True)] == wanted


def test_a_solver_of_one_family_scores_nothing_on_nearly_all_others() -> None:
    """It solves none of them, and on at least 90% it passes at most a fifth of the hidden tests: where inputs are
    small, answers such as 0, 1 and an empty line are right now and then.
    """
    cases = scaled(fast=3, system=HIDDEN)
    for level in scaled(fast=(2,), system=LEVELS):
        problems = {name: generate((name,), level, Style.STDIO, Split.TEST, 1) for name in FAMILIES}
        for name, own in problems.items():
            passed = {
                other: [passes(problem, own.reference, case) for case in problem.hidden[:cases]]
                for other, problem in problems.items()
            }
            assert all(passed.pop(name)), "negative control: it solves its own"
            assert not [other for other, verdicts in passed.items() if all(verdicts) and _solves(own, problems[other])]
            lucky = sum(sum(verdicts) > LUCK * cases for verdicts in passed.values())
            assert lucky <= 0.1 * len(passed)


def _solves(solver: Problem, problem: Problem) -> bool:
    return all(passes(problem, solver.reference, case) for case in problem.hidden)


def test_a_family_that_cannot_keep_the_promises_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that is no mistake at all fails no test."""
    name, family = next(iter(FAMILIES.items()))
    same = Mutant("no mistake", "return", "return ")
    text = source(family)
    assert text.count("return") == 1
    monkeypatch.setitem(FAMILIES, name, replace(family, mutants=(*family.mutants, same)))
    with pytest.raises(RuntimeError, match=f"family '{name}' at level 1"):
        generate((name,), 1, Style.STDIO, Split.TRAIN, 0)


def test_a_program_that_does_not_end_counts_as_failed() -> None:
    """Negative control of the helper that runs programs here."""
    assert output("while True: pass", "") is None
    assert output("print(input())", "7\n") == "7\n"
