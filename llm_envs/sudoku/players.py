"""Reference players of Sudoku: oracle, greedy, random, and the weak one that warm-starts models."""

import random
from collections.abc import Callable, Sequence

from llm_envs.sudoku.geometry import peers
from llm_envs.sudoku.puzzle import Placement
from llm_envs.sudoku.reading import Answer
from llm_envs.sudoku.state import State, answer_text

WEAK_RIGHT = 0.3  # how often the weak player puts the right digit; else any that the clues admit
MOST_AT_ONCE = 3  # placements of the random and the weak player in one turn
SOLVER_PROGRAMS = 0.25  # how often a random or weak single agent writes a program instead of an answer


def oracle_answer(state: State, _rng: random.Random) -> Answer:
    """The solution as a whole grid."""
    return Answer.of_grid(state.puzzle.solution)


def greedy_answer(state: State, rng: random.Random) -> Answer:
    """Every digit that is the only one its cell can hold now; where there is none, a random guess in the cell with the
    fewest; where a cell can hold none, or the grid is full and wrong, all that was filled is cleared.
    """
    puzzle, grid = state.puzzle, state.grid
    empty = [cell for cell, digit in enumerate(grid) if not digit]
    options = {cell: _options(state, cell) for cell in empty}
    if not empty or not all(options.values()):
        filled = (cell for cell in range(len(grid)) if grid[cell] and not puzzle.clues[cell])
        return Answer(tuple(Placement(cell, 0) for cell in filled))
    forced = tuple(Placement(cell, digits[0]) for cell, digits in options.items() if len(digits) == 1)
    if forced:
        return Answer(forced)
    cell = min(empty, key=lambda place: len(options[place]))
    return Answer((Placement(cell, _pick(options[cell], rng)),))


def random_answer(state: State, rng: random.Random) -> Answer:
    """One to three digits that the clues admit, filled cells included."""
    return Answer(tuple(_any_placement(state, rng) for _ in range(1 + int(rng.random() * MOST_AT_ONCE))))


def weak_answer(state: State, rng: random.Random) -> Answer:
    """One to three digits, each with probability 0.3 the right one for its cell, else any that the clues admit."""
    placements = random_answer(state, rng).placements
    solution = state.puzzle.solution
    return Answer(
        tuple(
            Placement(cell, solution[cell]) if rng.random() < WEAK_RIGHT else Placement(cell, digit)
            for cell, digit in placements
        )
    )


PLAYERS: dict[str, Callable[[State, random.Random], Answer]] = {
    "oracle": oracle_answer,
    "greedy": greedy_answer,
    "random": random_answer,
    "weak": weak_answer,
}


def reference_reply(player: str, state: State, role: str, rng: random.Random) -> str:
    """What a reference player says; a tool's program prints the answer that it would give."""
    answer = answer_text(PLAYERS[player](state, rng), state.puzzle.size)
    programs = role == "tool"
    if role == "solver" and player in {"random", "weak"}:
        programs = state.candidate is None and rng.random() < SOLVER_PROGRAMS
    return f'```python\nprint("""{answer}""")\n```' if programs else f"<answer>{answer}</answer>"


def _any_placement(state: State, rng: random.Random) -> Placement:
    cell = _pick([place for place, given in enumerate(state.puzzle.clues) if not given], rng)
    barred = state.puzzle.barred[cell]
    return Placement(cell, _pick([digit for digit in range(1, state.puzzle.size + 1) if not barred >> digit & 1], rng))


def _options(state: State, cell: int) -> list[int]:
    """The digits that no other cell of the cell's units holds now."""
    barred = state.puzzle.barred[cell]
    held = set(peers(state.puzzle.size)[cell].digits(state.grid))
    return [digit for digit in range(1, state.puzzle.size + 1) if not barred >> digit & 1 and digit not in held]


def _pick(items: Sequence[int], rng: random.Random) -> int:
    return items[int(rng.random() * len(items))]
