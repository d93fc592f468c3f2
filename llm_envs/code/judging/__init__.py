"""The judge of programs: `judge(problem, code, get_sandbox())`.

A program runs once for each test, in the sandbox, and sees that test's input and nothing else. What it printed is
compared out here, by the rules of `docs/code_judging.md`: an exit code, a forged line, an object that equals
everything or a patched built-in earns nothing.
"""

from llm_envs.code.judging.judge import ajudge, judge, programs, verdicts
from llm_envs.code.judging.verdicts import Judgement, Verdict, share_passed

__all__ = ["Judgement", "Verdict", "ajudge", "judge", "programs", "share_passed", "verdicts"]
