"""The judge: three tiers, one verdict.

1. The normal forms of both texts are the same.
2. Both are read as values of a kind, and compared exactly (`comparison`).
3. Pairs of expressions that this leaves open go to math-verify, in processes that can be killed (`workers`).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from llm_envs.core.jobs import GetSandbox
from llm_envs.math.judging.asking import Pair
from llm_envs.math.judging.comparison import Comparison
from llm_envs.math.judging.errors import TooLargeError
from llm_envs.math.judging.normal_form import normal_form, squeezed
from llm_envs.math.judging.reading import read
from llm_envs.math.judging.third_tier import submit
from llm_envs.math.judging.values import Scalar, Unread
from llm_envs.math.judging.verdict import Verdict

_SHORT = 64  # characters: below, reading takes less time than handing over to a thread would


def judge(*, gold: str, answer: str | None, rounded: bool = True) -> Verdict:
    """Whether an answer is the gold answer; no answer is a wrong one. Blocks; safe from any thread.

    Both are LaTeX or plain text, with or without `$`, the answer as `extract_answer` gives it. With `rounded` a decimal
    of enough places stands for a number that has no finite one.
    """
    verdict, pairs = _judge_exactly(gold, answer, rounded)
    if not pairs or answer is None:
        return verdict
    return _judge_with(gold, answer, rounded, dict(zip(pairs, submit(pairs).result(), strict=True)))


async def ajudge(*, gold: str, answer: str | None, rounded: bool = True) -> Verdict:
    """The same without blocking the event loop."""
    if answer is None or len(answer) <= _SHORT:
        verdict, pairs = _judge_exactly(gold, answer, rounded)
    else:
        verdict, pairs = await asyncio.to_thread(_judge_exactly, gold, answer, rounded)
    if not pairs or answer is None:
        return verdict
    found = await asyncio.wrap_future(submit(pairs))
    return _judge_with(gold, answer, rounded, dict(zip(pairs, found, strict=True)))


def check_gold(gold: str) -> str | None:
    """Why no answer can be judged against a gold answer, or None where one can. Blocks; for loaders of data sets."""
    text = normal_form(gold)
    value = read(text)
    if isinstance(value, Unread):
        return value.reason
    if isinstance(value, Scalar) and value.value is None and not value.too_large:
        (verdict,) = submit([(value.text, value.text)]).result()
        return None if verdict is Verdict.RIGHT else "neither the exact reader nor math-verify reads it"
    return None


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The job of judging an answer (see `llm_envs.core.jobs.Work`); its result is a `Verdict`."""

    gold: str
    answer: str | None
    rounded: bool = True

    def run(self, sandbox: GetSandbox) -> Verdict:
        return judge(gold=self.gold, answer=self.answer, rounded=self.rounded)

    async def arun(self, sandbox: GetSandbox) -> Verdict:
        return await ajudge(gold=self.gold, answer=self.answer, rounded=self.rounded)


def _judge_exactly(gold: str, answer: str | None, rounded: bool) -> tuple[Verdict, list[Pair]]:
    """The verdict of the first two tiers, and the pairs on which the third may change it."""
    if answer is None:
        return Verdict.WRONG, []
    wanted, given = normal_form(gold), normal_form(answer)
    if squeezed(wanted) == squeezed(given):
        return (Verdict.RIGHT if wanted else Verdict.UNDECIDED), []
    comparison = Comparison(rounded=rounded)
    verdict = _compare(comparison, wanted, given)
    return verdict, comparison.open if verdict is Verdict.UNDECIDED else []


def _judge_with(gold: str, answer: str, rounded: bool, known: Mapping[Pair, Verdict]) -> Verdict:
    """The verdict when those on the open pairs are known."""
    return _compare(Comparison(known, rounded=rounded), normal_form(gold), normal_form(answer))


def _compare(comparison: Comparison, gold: str, answer: str) -> Verdict:
    try:
        return comparison.compare(read(gold), read(answer))
    except TooLargeError:  # of what puts the two together: each by itself is within the bounds
        return Verdict.UNDECIDED
