"""Puzzles as a function of (recipe, split, index), each with exactly one solution."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from llm_envs.core.errors import UsageError, require, unknown_choice, whole_number
from llm_envs.core.instances import split_of_content
from llm_envs.core.task import Split
from llm_envs.sudoku.engine import Engine
from llm_envs.sudoku.geometry import geometry
from llm_envs.sudoku.puzzle import Puzzle
from llm_envs.sudoku.rng import SplitMix64
from llm_envs.sudoku.techniques import Technique

ROUNDS = 100  # of putting clues back and digging again, before another full grid is tried
PUT_BACK = 6  # clues a round; 4 to 8 reach few clues soonest (measured on 9x9)
SYMMETRIES = 32  # tried before another puzzle is; one in eight puzzles belongs to the smaller splits


class Difficulty(StrEnum):
    """Presets; what they mean depends on the size."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a puzzle is like.

    Attributes:
        size: 4, 6, 9 or 16.
        least, most: bounds of the number of blank cells, from which it is drawn evenly.
        hardest: the puzzle yields to techniques up to this one.
        needs: the puzzle does not yield to easier techniques than this one.
    """

    size: int
    least: int
    most: int
    hardest: Technique = Technique.GUESSING
    needs: Technique = Technique.NAKED_SINGLE


_NAKED, _HIDDEN, _PAIRS, _GUESSING = Technique

# Every 4x4 puzzle and nearly every 6x6 puzzle yields to singles.
PRESETS = {
    (4, Difficulty.EASY): Recipe(4, 4, 6),
    (4, Difficulty.MEDIUM): Recipe(4, 7, 8),
    (4, Difficulty.HARD): Recipe(4, 9, 11),
    (6, Difficulty.EASY): Recipe(6, 10, 14, hardest=_NAKED),
    (6, Difficulty.MEDIUM): Recipe(6, 17, 20, hardest=_HIDDEN),
    (6, Difficulty.HARD): Recipe(6, 23, 25, needs=_HIDDEN),
    (9, Difficulty.EASY): Recipe(9, 36, 40, hardest=_NAKED),
    (9, Difficulty.MEDIUM): Recipe(9, 45, 49, hardest=_HIDDEN, needs=_HIDDEN),
    (9, Difficulty.HARD): Recipe(9, 51, 54, needs=_PAIRS),
    (16, Difficulty.EASY): Recipe(16, 80, 95, hardest=_NAKED),
    (16, Difficulty.MEDIUM): Recipe(16, 110, 125, hardest=_HIDDEN, needs=_HIDDEN),
    (16, Difficulty.HARD): Recipe(16, 135, 145, needs=_PAIRS),
}

# The most blanks that digging reaches in every case, soon enough (measured); beyond lie few puzzles or none.
MOST_BLANKS = {
    4: {_NAKED: 12, _HIDDEN: 12, _PAIRS: 12, _GUESSING: 12},
    6: {_NAKED: 26, _HIDDEN: 27, _PAIRS: 27, _GUESSING: 27},
    9: {_NAKED: 57, _HIDDEN: 59, _PAIRS: 59, _GUESSING: 60},
    16: {_NAKED: 150, _HIDDEN: 150, _PAIRS: 150, _GUESSING: 150},
}


def recipe(
    size: int, difficulty: str, blanks: int | tuple[int, int] | None = None, hardest: str | None = None
) -> Recipe:
    """The recipe of the environment's options.

    Args:
        size: 4, 6, 9 or 16.
        difficulty: a preset; `blanks` or `hardest` replaces all of it.
        blanks: number of blank cells, or its bounds (default: the preset's).
        hardest: name of a technique, e.g. "hidden_single" (default: any).

    Raises:
        UsageError: an option outside what is allowed, or more blanks than can be dug.
    """
    geometry(size)
    if difficulty not in set(Difficulty):
        raise unknown_choice("difficulty", difficulty, Difficulty)
    preset = PRESETS[size, Difficulty(difficulty)]
    if blanks is None and hardest is None:
        return preset
    limit = Technique.GUESSING
    if hardest is not None:
        names = {technique.name.lower(): technique for technique in Technique}
        if hardest not in names:
            raise unknown_choice("hardest", hardest, names)
        limit = names[hardest]
    most_blanks = MOST_BLANKS[size][limit]
    if blanks is None:
        return Recipe(size, preset.least, min(preset.most, most_blanks), hardest=limit)
    bounds = tuple(blanks) if isinstance(blanks, tuple | list) else (blanks, blanks)
    require(len(bounds) == 2, "blanks", blanks, "a whole number or two, e.g. 45 or (40, 45)")
    least, most = (whole_number("blanks", bound, least=1) for bound in bounds)
    if not least <= most <= most_blanks:
        raise UsageError(
            f"blanks={blanks!r}: must be at most {most_blanks}, or two such numbers in order: {size}x{size} puzzles "
            f"that have one solution and yield to {limit.name.lower()} rarely have more, or never."
        )
    return Recipe(size, least, most, hardest=limit)


def generate(wanted: Recipe, split: Split, index: int, engine: Engine) -> Puzzle:
    """Puzzle `index` of a split.

    Puzzles are drawn until one has the blanks and the difficulty asked for; then its rows and columns are permuted
    within the rules until its content belongs to the split, so that no puzzle is in two splits.
    """
    seed = f"sudoku-v0:{wanted.size}:{wanted.least}:{wanted.most}:{wanted.hardest:d}:{wanted.needs:d}:{split}:{index}"
    rng = SplitMix64(int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=8).digest(), "big"))
    while True:
        blanks = wanted.least + rng.below(wanted.most - wanted.least + 1)
        solution = engine.full_grid(wanted.size, rng)
        clues = _dig_deep(engine, solution, rng, blanks, wanted.hardest)
        if clues.count(0) < blanks or _too_easy(engine, clues, wanted.needs):
            continue
        for _ in range(SYMMETRIES):
            if split_of(clues) is split:
                return Puzzle.make(clues, solution)
            cells = _symmetry(wanted.size, rng)
            clues, solution = bytes([clues[cell] for cell in cells]), bytes([solution[cell] for cell in cells])


def _too_easy(engine: Engine, clues: bytes, needs: Technique) -> bool:
    return needs > Technique.NAKED_SINGLE and engine.yields_to(clues, Technique(needs - 1))


def _dig_deep(engine: Engine, solution: bytes, rng: SplitMix64, blanks: int, hardest: Technique) -> bytes:
    """Dig; where it gets stuck short of `blanks`, put some clues back and dig again, and keep the better puzzle."""
    clues = engine.dig(solution, solution, rng, blanks, hardest)
    for _ in range(ROUNDS):
        if clues.count(0) == blanks:
            break
        empty = [cell for cell, digit in enumerate(clues) if not digit]
        fuller = bytearray(clues)
        for place in rng.shuffled(len(empty))[:PUT_BACK]:
            fuller[empty[place]] = solution[empty[place]]
        again = engine.dig(solution, bytes(fuller), rng, blanks, hardest)
        if again.count(0) >= clues.count(0):
            clues = again
    return clues


def canonical(clues: bytes) -> bytes:
    """The puzzle with its digits renamed in order of appearance: puzzles that differ by names only are one."""
    seen = bytes(dict.fromkeys(clues.replace(b"\0", b"")))
    return clues.translate(bytes.maketrans(seen, bytes(range(1, len(seen) + 1))))


def split_of(clues: bytes) -> Split:
    """The split a puzzle belongs to, whatever its digits are called."""
    return split_of_content(canonical(clues))


def _symmetry(size: int, rng: SplitMix64) -> list[int]:
    """A random symmetry of the rules as the old cell of each new one: bands, stacks, and lines within them change
    places.
    """
    board = geometry(size)
    rows, columns = _lines(size, board.box_rows, rng), _lines(size, board.box_columns, rng)
    return [row * size + column for row in rows for column in columns]


def _lines(size: int, group: int, rng: SplitMix64) -> list[int]:
    """Lines in random order, kept together in groups of `group`."""
    return [first * group + line for first in rng.shuffled(size // group) for line in rng.shuffled(group)]
