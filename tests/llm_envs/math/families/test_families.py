"""Promises of every family: one exact answer, found twice, in the form that the text asks for."""

import random
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from llm_envs.core.task import Split
from llm_envs.math.families.base import LEVELS, Family, Form, Topic
from llm_envs.math.families.generator import LEAST_QUESTIONS, split_of
from llm_envs.math.families.table import FAMILIES
from llm_envs.math.judging import Verdict, close_workers, judge
from llm_envs.sandbox.base import Program, Sandbox, Status
from tests.llm_envs.math.families.drafts import drafts, drafts_of_all_levels, integers, take_apart
from tests.llm_envs.math.families.page import PAGE, page
from tests.scale import scaled

every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)

NUMBER = r"-?(?:\d+|\\frac\{\d+\}\{\d+\})"
FORMS = {
    Form.INTEGER: r"-?\d+",
    Form.FRACTION: NUMBER,
    Form.DIGITS: r"[1-8][0-8]*",
    Form.TRIPLE: r"\(\d+, \d+, \d+\)",
    Form.VECTOR: rf"\({NUMBER}(?:, {NUMBER}){{1,2}}\)",
    Form.SET: rf"\\\{{{NUMBER}(?:, {NUMBER})*\\\}}",
    Form.INTERVALS: rf"(?:(?: \\cup )?[(\[](?:{NUMBER}|-\\infty), (?:{NUMBER}|\\infty)[)\]])+",
    Form.MATRIX: r"\\begin\{pmatrix\} [-\d &\\frac{}]+ \\end\{pmatrix\}",
    Form.SURD: rf"{NUMBER}|(?:\d+)?\\sqrt\{{\d+\}}|\\frac\{{\d*\\sqrt\{{\d+\}}\}}\{{\d+\}}",
    Form.PI: r"(?:\d+)?\\pi|\\frac\{\d*\\pi\}\{\d+\}",
    Form.POLYNOMIAL: rf"0|-?(?:{NUMBER}|(?:{NUMBER})?x)(?: [+-] {NUMBER})?",
}


@pytest.fixture(scope="module", autouse=True)
def _workers() -> Iterator[None]:
    yield
    close_workers()


def test_families_differ_in_name_and_idea_and_cover_all_topics() -> None:
    families = list(FAMILIES.values())
    assert len(families) >= 44
    assert len({family.idea for family in families}) == len(families)
    assert [name for name, family in FAMILIES.items() if name != family.name] == []
    assert {family.topic for family in families} == set(Topic)
    assert {family.form for family in families} == set(Form) == set(FORMS)


def test_the_page_lists_the_families_as_they_are() -> None:
    assert PAGE.read_text() == page()


@every_family
def test_the_program_finds_the_answer_in_another_way(family: Family, sandbox: Sandbox) -> None:
    """Both are judged against the answer (UC-053, UC-061); the answer of another question is wrong."""
    found = drafts_of_all_levels(family, scaled(fast=3, system=10, long=150))
    outcomes = sandbox.run([Program(draft.program) for draft in found])
    assert [outcome.stderr for outcome in outcomes if outcome.status is not Status.OK] == []
    for draft, outcome in zip(found, outcomes, strict=True):
        printed = outcome.stdout.strip()
        assert judge(gold=draft.answer, answer=printed) is Verdict.RIGHT, f"{draft.text}\n{draft.answer}\n{printed}"
        assert judge(gold=draft.answer, answer=draft.answer) is Verdict.RIGHT
    for draft, other in pairwise(found):
        same = draft.answer == other.answer
        assert judge(gold=draft.answer, answer=other.answer) is (Verdict.RIGHT if same else Verdict.WRONG)


@every_family
def test_the_answer_has_the_form_that_the_text_asks_for(family: Family) -> None:
    for draft in drafts_of_all_levels(family, scaled(fast=100, long=2000)):
        assert re.fullmatch(FORMS[family.form], draft.answer), f"{draft.text}\n{draft.answer}"


@every_family
def test_the_text_holds_every_number_that_the_program_uses(family: Family) -> None:
    """Coefficients of 1 and absent terms are not written."""
    for draft in drafts_of_all_levels(family, scaled(fast=30, long=300)):
        numbers, body = take_apart(draft.program)
        written = set(map(int, re.findall(r"\d+", draft.text)))
        used = {abs(number) for value in numbers.values() for number in integers(value)}
        assert used - written <= {0, 1}, f"{draft.text}\n{numbers}"
        assert numbers
        assert body


@every_family
def test_the_text_does_not_hold_the_answer_unless_by_chance(family: Family) -> None:
    """A short number is now and then one of those in the question; what is longer hardly ever is."""
    found = [draft for draft in drafts_of_all_levels(family, scaled(fast=100, long=1000)) if len(draft.answer) > 3]
    given_away = [draft for draft in found if re.search(rf"(?<![\d.]){re.escape(draft.answer)}(?![\d.])", draft.text)]
    assert len(given_away) <= 0.01 * len(found), given_away[:3]


@every_family
def test_small_splits_have_many_questions_at_every_level(family: Family) -> None:
    """Wordings do not count: equal numbers are the same question."""
    for level in LEVELS:
        rng, found = random.Random(level), dict[str, Split]()
        for _ in range(10 * LEAST_QUESTIONS):
            draft = family.draw(rng, level)
            found[draft.program] = split_of(family, draft)
            if len(found) == LEAST_QUESTIONS:
                break
        assert len(found) == LEAST_QUESTIONS
        splits = list(found.values())
        assert min(map(splits.count, Split)) >= LEAST_QUESTIONS // 16, "an eighth, give or take"


@every_family
def test_levels_differ_and_every_question_has_more_than_one_wording(family: Family) -> None:
    programs = [{draft.program for draft in drafts(family, level, 40)} for level in LEVELS]
    assert all(len(a & b) <= 4 for a, b in ((programs[0], programs[1]), (programs[1], programs[2])))
    for level in LEVELS:
        openings = {re.sub(r"[^A-Za-z ]+", "#", draft.text) for draft in drafts(family, level, 40)}
        assert len(openings) > 1


class _OnlyRandom(random.Random):
    """A generator of which nothing but `random()` may be used."""

    def getrandbits(self, k: int, /) -> int:
        raise AssertionError("only the sequence of random() is the same in every version of Python")


@every_family
def test_all_chance_comes_through_random(family: Family) -> None:
    """The same seed gives the same questions in every version of Python."""
    for level in LEVELS:
        family.draw(_OnlyRandom(1), level)
    with pytest.raises(AssertionError, match="only the sequence"):
        _OnlyRandom(1).choice([1, 2, 3])  # negative control


@every_family
def test_no_answer_is_worth_guessing(family: Family) -> None:
    """The commonest answer of a level is right in less than a quarter of its questions."""
    for level in LEVELS:
        answers = [draft.answer for draft in drafts(family, level, 200)]
        assert max(map(answers.count, set(answers))) < 50
