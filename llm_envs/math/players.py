r"""Reference players of the math environment: oracle, greedy, random, and the weak one that warm-starts tiny models."""

import random
import re
from collections.abc import Callable

from llm_envs.core.draws import pick, whole
from llm_envs.math.question import Question
from llm_envs.math.state import State

WEAK_RIGHT = 0.3  # how often the weak player gives the right answer; else one that is near it
NEAR = (-3, -2, -1, 1, 2, 3)
SOLVER_PROGRAMS = 0.25  # how often any other single agent than the oracle writes a program instead of an answer
RANDOM_BELOW = 1_000_000  # few questions ask for a number of six digits, so that guessing solves none

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")


def oracle_answer(question: Question, _rng: random.Random) -> str:
    """The right one."""
    return question.answer


def greedy_answer(question: Question, _rng: random.Random) -> str:
    """The last whole number in the question, which takes no thought."""
    numbers: list[str] = _WHOLE_NUMBER.findall(question.text)
    return numbers[-1] if numbers else "0"


def random_answer(_question: Question, rng: random.Random) -> str:
    """Any whole number below a million."""
    return str(whole(rng, 0, RANDOM_BELOW - 1))


def weak_answer(question: Question, rng: random.Random) -> str:
    """With probability 0.3 the right one; else a whole number at most 3 away from it, or, where it is none, a digit."""
    if rng.random() < WEAK_RIGHT:
        return question.answer
    if _WHOLE_NUMBER.fullmatch(question.answer):
        return str(int(question.answer) + pick(rng, NEAR))
    return str(whole(rng, 0, 9))


PLAYERS: dict[str, Callable[[Question, random.Random], str]] = {
    "oracle": oracle_answer,
    "greedy": greedy_answer,
    "random": random_answer,
    "weak": weak_answer,
}


def reference_reply(player: str, state: State, role: str, rng: random.Random, *, full: bool) -> str:
    """What a reference player says, programs bare in `local` and fenced in `full`.

    A tool prints the answer that it would give; in `full` the oracle's program works it out where the question comes
    with one.
    """
    answer = PLAYERS[player](state.question, rng)
    programs = role == "tool"
    if role == "solver" and player != "oracle":
        programs = state.output is None and rng.random() < SOLVER_PROGRAMS
    if not programs:
        return rf"\boxed{{{answer}}}"
    program = f"print({answer if _WHOLE_NUMBER.fullmatch(answer) else repr(answer)})"
    if not full:
        return program
    if player == "oracle" and state.question.program:
        program = state.question.program.rstrip("\n")
    return f"```python\n{program}\n```"
