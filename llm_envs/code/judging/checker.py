"""Outputs that a program of the problem's own decides about, where more than one is right."""

import json
import logging
from dataclasses import dataclass
from typing import NamedTuple

from llm_envs.code.judging.calls import result_of
from llm_envs.code.judging.stages import StagedWork, Stages
from llm_envs.code.problem import Case, Problem
from llm_envs.sandbox.base import Outcome, Program, Status

logger = logging.getLogger(__name__)

CHECKER_CPU_S, CHECKER_WALL_S, CHECKER_MEMORY_MB = 10.0, 60.0, 512
_REFUSED = 1


class Checked(NamedTuple):
    """What a program did, and whether the checker accepts it."""

    outcome: Outcome
    accepted: bool


@dataclass(frozen=True, slots=True)
class CheckedRun(StagedWork[Checked]):
    """Run a program, then the checker on its output. The program never meets the expected output."""

    problem: Problem
    code: str
    case: Case
    program: Program

    def stages(self) -> Stages[Checked]:
        (outcome,) = yield (self.program,)
        output = self._output(outcome)
        if output is None:
            return Checked(outcome, accepted=False)
        question = json.dumps({"stdin": self.case.stdin, "expected": self.case.expected, "output": output})
        checker = Program(
            self.problem.checker,
            question,
            cpu_s=CHECKER_CPU_S,
            wall_s=CHECKER_WALL_S,
            memory_mb=CHECKER_MEMORY_MB,
        )
        (answer,) = yield (checker,)
        # An output may be made to break the checker: whatever does not accept it, refuses it.
        if answer.status is not Status.OK and answer.exit_code != _REFUSED:
            logger.warning("the checker of %s ended with %s: taken as a refusal", self.problem.name, answer.status)
        return Checked(outcome, accepted=answer.status is Status.OK)

    def _output(self, outcome: Outcome) -> str | None:
        if outcome.status is not Status.OK:
            return None
        return outcome.stdout if self.problem.entry_point is None else result_of(self.code, outcome.stdout)
