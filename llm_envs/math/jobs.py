"""What the harness does for an action before it counts: programs are run, answers and outputs judged."""

from collections.abc import Sequence
from dataclasses import dataclass

from llm_envs.core.jobs import GetSandbox, arun_jobs, run_jobs
from llm_envs.core.parsing import Unparsed
from llm_envs.math.judging import AnswerCheck, Verdict, is_worked_out
from llm_envs.math.question import Question
from llm_envs.math.replies import read_output
from llm_envs.sandbox.base import Outcome, Program, Status


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known of an answer.

    Attributes:
        verdict: whether it is the right one.
        agrees: whether it is one of the answers that it was compared with.
    """

    verdict: Verdict
    agrees: bool


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program did and came to.

    Attributes:
        output: the answer that it printed, or why that is none.
        judgement: of the output; None where that is no answer.
    """

    outcome: Outcome
    output: str | Unparsed
    judgement: Judgement | None = None


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """The job of judging an answer. A right one that is not worked out stays undecided.

    Attributes:
        answer: the answer.
        question: what it answers.
        others: answers of agents and programs to compare it with; no gold is involved in that.
    """

    answer: str
    question: Question
    others: tuple[str, ...] = ()

    def run(self, sandbox: GetSandbox) -> Judgement:
        return self._judgement(run_jobs(self._checks(), sandbox))

    async def arun(self, sandbox: GetSandbox) -> Judgement:
        return self._judgement(await arun_jobs(self._checks(), sandbox))

    def _checks(self) -> list[AnswerCheck]:
        gold = AnswerCheck(gold=self.question.answer, answer=self.answer, rounded=not self.question.exact)
        others = () if self.answer in self.others else self.others
        return [gold, *(AnswerCheck(gold=other, answer=self.answer) for other in others)]

    def _judgement(self, verdicts: Sequence[Verdict]) -> Judgement:
        verdict, *compared = verdicts
        question = self.question
        if verdict is Verdict.RIGHT and not is_worked_out(
            gold=question.answer, answer=self.answer, question=question.text
        ):
            verdict = Verdict.UNDECIDED
        return Judgement(verdict, self.answer in self.others or Verdict.RIGHT in compared)


@dataclass(frozen=True, slots=True)
class JudgeProgram:
    """The job of running a program and judging what it printed.

    Attributes:
        program: the program.
        question, others: see `JudgeAnswer`.
    """

    program: Program
    question: Question
    others: tuple[str, ...] = ()

    def run(self, sandbox: GetSandbox) -> Ran:
        (outcome,) = run_jobs((self.program,), sandbox)
        output = _output(outcome)
        return Ran(outcome, output, None if isinstance(output, Unparsed) else self._judge(output).run(sandbox))

    async def arun(self, sandbox: GetSandbox) -> Ran:
        (outcome,) = await arun_jobs((self.program,), sandbox)
        output = _output(outcome)
        return Ran(outcome, output, None if isinstance(output, Unparsed) else await self._judge(output).arun(sandbox))

    def _judge(self, output: str) -> JudgeAnswer:
        return JudgeAnswer(output, self.question, self.others)


def _output(outcome: Outcome) -> str | Unparsed:
    return read_output(outcome.stdout) if outcome.status is Status.OK else Unparsed("it failed")
