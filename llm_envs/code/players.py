"""Reference players of the programming environment: oracle, greedy, random, and the weak one."""

import random

from llm_envs.code.inputs import are_new
from llm_envs.code.problem import Case, Problem
from llm_envs.code.state import State
from llm_envs.core.draws import pick

PLAYERS: tuple[str, ...] = ("oracle", "greedy", "random", "weak")
WEAK_RIGHT = 0.3  # how often the weak player writes a right program or a right case; else a mutant, a wrong case
SOLVER_CASES = 0.25  # how often any other single agent than the oracle writes cases instead of a program


def reference_reply(player: str, state: State, role: str, most: int, rng: random.Random) -> str:
    """What a reference player says, with at most `most` cases.

    The oracle codes the reference, and tests with the problem's spare cases. The greedy one codes what passes the
    visible tests and no more, a table of them, and tests with their copies. The random one prints the output of a
    visible test whatever it reads, and tests with such an output for the input of another. The weak one is now and then
    an oracle; else it codes a mutant, and tests like the random one.
    """
    cases = role == "tester"
    if role == "solver" and player != "oracle":
        cases = state.program is not None and rng.random() < SOLVER_CASES
    right = player == "oracle" or (player == "weak" and rng.random() < WEAK_RIGHT)
    problem = state.problem
    if cases:
        if player == "greedy":
            return _tags(problem.visible[:most] or _bad_cases(problem, rng))
        return _tags(_good_cases(problem, most) if right else _bad_cases(problem, rng))
    if right:
        code = problem.reference
    elif player == "greedy":
        code = _table(problem)
    elif player == "weak" and problem.mutants:
        code = pick(rng, problem.mutants)
    else:
        code = _constant(problem, rng)
    return f"```python\n{code}\n```"


def _good_cases(problem: Problem, most: int) -> tuple[Case, ...]:
    """Spare cases, or visible tests, which count for nothing, where a problem comes without."""
    spare = tuple(case for case, new in zip(problem.spare, are_new(problem, problem.spare), strict=True) if new)
    return spare[:most] or problem.visible[:1] or (Case("\n", "\n"),)


def _bad_cases(problem: Problem, rng: random.Random) -> tuple[Case, ...]:
    if not problem.visible:
        return (Case("\n", "\n"),)
    return (Case(pick(rng, problem.visible).stdin, pick(rng, problem.visible).expected),)


def _constant(problem: Problem, rng: random.Random) -> str:
    """A program that gives the result of one visible test in all."""
    expected = pick(rng, problem.visible).expected if problem.visible else "0"
    if problem.entry_point is None:
        return f"print({expected!r}, end='')"
    return f"import json\ndef {problem.entry_point}(*arguments):\n    return json.loads({expected!r})"


def _table(problem: Problem) -> str:
    """A program that has learned the visible tests by heart."""
    known = {case.stdin: case.expected for case in problem.visible}
    if problem.entry_point is None:
        return f"import sys\nprint({known!r}.get(sys.stdin.read(), '0'), end='')"
    return (
        f"import json\nKNOWN = {list(known.items())!r}\ndef {problem.entry_point}(*arguments):\n"
        "    for lines, result in KNOWN:\n"
        "        if [json.loads(line) for line in lines.splitlines()] == list(arguments):\n"
        "            return json.loads(result)"
    )


def _tags(cases: tuple[Case, ...]) -> str:
    return "\n".join(
        f"<input>\n{_closed(case.stdin)}</input>\n<output>\n{_closed(case.expected)}</output>" for case in cases
    )


def _closed(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
