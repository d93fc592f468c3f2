"""UC-061: the judge against real gold answers, right and wrong ones."""

import json
from collections.abc import Callable

import pytest

from llm_envs.math.judging import Verdict, check_gold, judge
from tests.architecture.paths import ROOT

DATA = ROOT.parent / "shared" / "data" / "gsm8k_train.jsonl"
FORMS: dict[str, Callable[[int], str]] = {
    "plain": str,
    "thousands": lambda n: f"{n:,}",
    "latex thousands": lambda n: f"{n:,}".replace(",", "{,}"),
    "sentence": lambda n: f"${n}$.",
    "decimal": lambda n: f"{n}.00",
    "money": lambda n: rf"\${n}" if n >= 0 else rf"-\${-n}",
    "unit": lambda n: rf"{n}\text{{ clips}}",
    "name": lambda n: f"x = {n}",
    "fraction": lambda n: rf"\dfrac{{{3 * n}}}{{3}}",
    "sum": lambda n: rf"\left({n - 1}\right) + 1",
}

pytestmark = [pytest.mark.needs("data"), pytest.mark.usefixtures("no_math_verify")]


@pytest.fixture(scope="module")
def golds() -> list[str]:
    if not DATA.exists():
        pytest.skip(f"{DATA.name} is not in ../shared/data")
    return [json.loads(line)["answer"] for line in DATA.read_text().splitlines()]


@pytest.mark.parametrize("form", FORMS)
def test_every_gold_answer_is_right_for_itself_in_every_written_form(golds: list[str], form: str) -> None:
    assert len(golds) == 500
    verdicts = {gold: judge(gold=gold, answer=FORMS[form](int(gold))) for gold in golds}
    assert {gold for gold, verdict in verdicts.items() if verdict is not Verdict.RIGHT} == set()


@pytest.mark.parametrize("form", FORMS)
def test_no_gold_answer_is_right_for_another(golds: list[str], form: str) -> None:
    """The negative control of the test above."""
    shuffled = golds[1:] + golds[:1]
    pairs = [(gold, other) for gold, other in zip(golds, shuffled, strict=True) if int(gold) != int(other)]
    verdicts = {(gold, other): judge(gold=gold, answer=FORMS[form](int(other))) for gold, other in pairs}
    assert len(pairs) > 450
    assert {pair for pair, verdict in verdicts.items() if verdict is not Verdict.WRONG} == set()


def test_every_gold_answer_can_be_judged(golds: list[str]) -> None:
    assert [gold for gold in golds if check_gold(gold) is not None] == []
