"""What an agent of Sudoku sees: rules, format of the reply, puzzle, grid, and what happened last.

The part that stays the same during an episode, the puzzle included, is rendered once; a turn only joins strings. The
only placement a prompt spells out is one of the puzzle's clues: an agent that echoes its prompt changes nothing.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

from llm_envs.core.prompts import prompt_template
from llm_envs.sudoku.geometry import SYMBOLS, cell_names, geometry, peers, size_of
from llm_envs.sudoku.puzzle import Placement, Played, Puzzle
from llm_envs.sudoku.state import State, answer_text, placement_text, rows

SHOWN = 10  # placements that are named one by one


@lru_cache(maxsize=4096)
def rules(role: str, clues: bytes) -> str:
    """The part of an observation that does not change during an episode."""
    size = size_of(clues)
    board = geometry(size)
    given = next((cell for cell, digit in enumerate(clues) if digit), None)
    text = prompt_template("llm_envs.sudoku", f"{role}.jinja")
    return text.render(
        size=size,
        box_rows=board.box_rows,
        box_columns=board.box_columns,
        digits=f"1 to {size}" if size < 10 else f"1 to 9 and A to {SYMBOLS[size]}, which stand for 10 to {size},",
        example="" if given is None else placement_text(Placement(given, clues[given]), size),
        puzzle=rows(clues),
    ).rstrip()


def observe(state: State, role: str, feedback: str, *, alone: bool = False) -> str:
    """The prompt of a role; a planner may be `alone`, without a tool."""
    clues = state.puzzle.clues
    now = "No cell has been filled yet." if state.grid == clues else f"The grid now:\n{rows(state.grid)}"
    name = "alone" if alone else role
    text = f"{rules(name, clues)}\n\n{now}{_NEWS[name](state)}{state.news}"
    return f"{text}\nYour last reply was not valid and had no effect: {feedback}." if feedback else text


def _tool_news(state: State) -> str:
    return state.report and f"\nThe last program {state.report}"


def _planner_news(state: State) -> str:
    if state.candidate is None:
        return "\nThe tool suggests nothing."
    apart = "\n" if state.candidate.grid is not None else " "
    return f"\nThe tool suggests:{apart}{answer_text(state.candidate, state.puzzle.size)}"


_NEWS: dict[str, Callable[[State], str]] = {
    "tool": _tool_news,
    "planner": _planner_news,
    "alone": lambda _: "",
    "solver": _tool_news,
}


def news_of(puzzle: Puzzle, played: Played) -> str:
    """What placements did, in words, and which digits they repeat. It says nothing of right and wrong."""
    text = f"\nThe last answer changed {len(played.placed)} cell{'' if len(played.placed) == 1 else 's'}."
    if played.illegal:
        text += f"\nWithout effect: {_listed([_why(puzzle, placement) for placement in played.illegal])}."
    # Where nothing is wrong, nothing repeats: this only saves the search.
    repeats = _repeats(puzzle, played) if played.wrong else ()
    return f"{text}\nRule check (it does not know the solution): {_listed(repeats)}." if repeats else text


def _repeats(puzzle: Puzzle, played: Played) -> list[str]:
    """The digits that stand where they were put, and that another cell of a unit holds too."""
    grid, given, near, names = played.grid, puzzle.given, peers(puzzle.size), cell_names(puzzle.size)
    found: dict[str, None] = {}
    for cell, digit in played.placed:
        if not digit or grid[cell] != digit:
            continue
        # No clue is repeated, it would have barred the digit: without another one that was put, none can be.
        if grid.count(digit) - given[digit] > 1 and near[cell].hold(grid, digit):
            other = near[cell].cells[near[cell].digits(grid).index(digit)]
            found[f"{names[cell]}={SYMBOLS[digit]} repeats {names[other]}"] = None
    return list(found)


def _listed(texts: Sequence[str]) -> str:
    more = f"; and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return "; ".join(texts[:SHOWN]) + more


def _why(puzzle: Puzzle, placement: Placement) -> str:
    """Why the clues rule a placement out."""
    cell, digit = placement
    names, near = cell_names(puzzle.size), peers(puzzle.size)[cell]
    if puzzle.clues[cell]:
        return f"{names[cell]}={SYMBOLS[digit]} ({names[cell]} is a clue)"
    other = near.cells[near.digits(puzzle.clues).index(digit)]
    return f"{names[cell]}={SYMBOLS[digit]} (the clue {names[other]} is {SYMBOLS[digit]} already)"
