"""The judge: three tiers, one verdict.

1. The normal forms of both texts are the same.
2. Both are read as values of a kind, and compared exactly (`comparison`).
3. Pairs of expressions that are still open go to math-verify, in worker processes that can be killed (`workers`).
"""

from dataclasses import dataclass

from llm_envs.core.jobs import GetSandbox
from llm_envs.math.judging.comparison import Comparison
from llm_envs.math.judging.normal_form import normal_form, squeezed
from llm_envs.math.judging.reading import read
from llm_envs.math.judging.values import Unread
from llm_envs.math.judging.verdict import Verdict


def judge(*, gold: str, answer: str | None) -> Verdict:
    """Whether an answer is the gold answer; no answer is a wrong one. Blocking; safe from any thread."""
    verdict, open_pairs = _judge_exactly(gold, answer)
    return verdict


def _judge_exactly(gold: str, answer: str | None) -> tuple[Verdict, list[tuple[str, str]]]:
    """The verdict of the first two tiers, and the pairs that the third may decide."""
    if answer is None:
        return Verdict.WRONG, []
    wanted, given = squeezed(normal_form(gold)), squeezed(normal_form(answer))
    if wanted == given:
        return (Verdict.RIGHT if wanted else Verdict.UNDECIDED), []
    comparison = Comparison()
    verdict = comparison.compare(read(normal_form(gold)), read(normal_form(answer)))
    return verdict, comparison.open if verdict is Verdict.UNDECIDED else []


async def ajudge(*, gold: str, answer: str | None) -> Verdict:
    """The same without blocking the event loop."""
    return judge(gold=gold, answer=answer)


def check_gold(gold: str) -> str | None:
    """Why no answer can be judged against a gold answer, or None where one can."""
    value = read(normal_form(gold))
    return value.reason if isinstance(value, Unread) else None


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The job of judging an answer (see `llm_envs.core.jobs.Work`); its result is a `Verdict`."""

    gold: str
    answer: str | None

    def run(self, sandbox: GetSandbox) -> Verdict:
        return judge(gold=self.gold, answer=self.answer)

    async def arun(self, sandbox: GetSandbox) -> Verdict:
        return await ajudge(gold=self.gold, answer=self.answer)
