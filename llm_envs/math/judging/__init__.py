"""Judging answers to mathematics questions: extract, normalise, compare exactly, then ask math-verify.

`docs/math_judging.md` is the policy: what counts as the same answer, and what does not.
"""

from llm_envs.math.judging.boxes import extract_answer
from llm_envs.math.judging.judge import AnswerCheck, ajudge, check_gold, judge
from llm_envs.math.judging.third_tier import close_workers
from llm_envs.math.judging.verdict import Verdict
from llm_envs.math.judging.worked_out import is_worked_out

__all__ = [
    "AnswerCheck",
    "Verdict",
    "ajudge",
    "check_gold",
    "close_workers",
    "extract_answer",
    "is_worked_out",
    "judge",
]
