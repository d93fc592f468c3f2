"""What games with a program-writing tool share: who plays, what a reply's program is, what a failed one is told."""

import ast
import warnings
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from llm_envs.core.errors import unknown_choice
from llm_envs.core.parsing import Unparsed, last_code_block
from llm_envs.core.task import Result
from llm_envs.sandbox.base import Status

PROGRAM_OUTPUT = 1 << 14  # bytes; the longest answer of any game here has about 2 KiB
LONGEST_BARE_PROGRAM = 1000  # characters; a longer program must stand in a fenced block
REPORT_CHARACTERS = 300  # of what a program said


class Team(StrEnum):
    """Who plays: a tool and a planner, a single agent with the same tool access, or planners without a tool."""

    TEAM = "team"
    SINGLE = "single"
    PLANNERS = "planners"


_ROLES = {Team.TEAM: ("tool", "planner"), Team.SINGLE: ("solver",), Team.PLANNERS: ("planner",)}


def team_roles(roles: str) -> tuple[str, ...]:
    """The roles of a team in turn order. Raises `UsageError` for a team that does not exist."""
    if roles not in set(Team):
        raise unknown_choice("roles", roles, Team)
    return _ROLES[Team(roles)]


@dataclass(frozen=True, slots=True)
class Script:
    """A Python program to run in the sandbox."""

    code: str


def read_program(text: str, *, bare: bool = False) -> Script | Unparsed:
    """The program in a reply: its last fenced Python block, else its last fenced block, else, with `bare`, the whole
    reply where that is a short program.
    """
    code = last_code_block(text)
    if code is None and bare and is_bare_program(text):
        code = text
    if code is None or not code.strip():
        where = "" if bare else "fenced block with a "
        return Unparsed(f"your reply holds no {where}Python program")
    return Script(code)


@lru_cache(maxsize=4096)  # small models repeat a few programs; the parser costs more than all the rest of a turn
def is_bare_program(text: str) -> bool:
    """Whether a reply without a fence is a short Python program; prose that happens to parse calls nothing."""
    return len(text) <= LONGEST_BARE_PROGRAM and "(" in text and is_python(text)


def is_python(text: str) -> bool:
    """Whether a text is Python source, as far as its grammar goes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's remarks on the style of noise concern nobody
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # all four are how Python refuses a source text
        return False
    return True


def failure(result: Result) -> str | None:
    """What went wrong with a program, in words for its author; None where it ran to its end."""
    if result.status is Status.OK:
        return None
    said = result.stderr.strip().splitlines()
    why = f": {said[-1][:REPORT_CHARACTERS]}" if said else ""
    return f"failed ({result.status}{why})"


def output(result: Result) -> str:
    """The start of what a program printed, quoted."""
    return repr(result.stdout.strip()[:REPORT_CHARACTERS])
