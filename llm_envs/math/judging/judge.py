"""The judge: three tiers, one verdict.

1. The normal forms of both texts are the same.
2. Both are read as values of a kind, and compared exactly (`comparison`).
3. Pairs of expressions that this leaves open go to math-verify, in processes that can be killed (`workers`).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from llm_envs.core.jobs import GetSandbox
from llm_envs.math.judging.comparison import Comparison, Pair
from llm_envs.math.judging.normal_form import normal_form, squeezed
from llm_envs.math.judging.reading import read
from llm_envs.math.judging.third_tier import submit
from llm_envs.math.judging.values import Scalar, Unread
from llm_envs.math.judging.verdict import Verdict

_SHORT = 64  # characters: below, reading takes less time than handing over to a thread would


def judge(*, gold: str, answer: str | None) -> Verdict:
    """Whether an answer is the gold answer; no answer is a wrong one. Blocks; safe from any thread.

    Both are LaTeX or plain text, with or without `$`, the answer as `extract_answer` gives it.
    """
    verdict, pairs = _judge_exactly(gold, answer)
    return _judge_with(gold, answer, pairs, submit(pairs).result()) if pairs and answer is not None else verdict


async def ajudge(*, gold: str, answer: str | None) -> Verdict:
    """The same without blocking the event loop."""
    if answer is None or len(answer) <= _SHORT:
        verdict, pairs = _judge_exactly(gold, answer)
    else:
        verdict, pairs = await asyncio.to_thread(_judge_exactly, gold, answer)
    if not pairs or answer is None:
        return verdict
    return _judge_with(gold, answer, pairs, await asyncio.wrap_future(submit(pairs)))


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

    def run(self, sandbox: GetSandbox) -> Verdict:
        return judge(gold=self.gold, answer=self.answer)

    async def arun(self, sandbox: GetSandbox) -> Verdict:
        return await ajudge(gold=self.gold, answer=self.answer)


def _judge_exactly(gold: str, answer: str | None) -> tuple[Verdict, list[Pair]]:
    """The verdict of the first two tiers, and the pairs on which the third may change it."""
    if answer is None:
        return Verdict.WRONG, []
    wanted, given = normal_form(gold), normal_form(answer)
    if squeezed(wanted) == squeezed(given):
        return (Verdict.RIGHT if wanted else Verdict.UNDECIDED), []
    comparison = Comparison()
    verdict = comparison.compare(read(wanted), read(given))
    return verdict, comparison.open if verdict is Verdict.UNDECIDED else []


def _judge_with(gold: str, answer: str, pairs: Sequence[Pair], verdicts: list[Verdict]) -> Verdict:
    """The verdict when those on the open pairs are known."""
    comparison = Comparison(dict(zip(pairs, verdicts, strict=True)))
    return comparison.compare(read(normal_form(gold)), read(normal_form(answer)))
