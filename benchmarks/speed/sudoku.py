"""Sudoku against its peers: puzzles made and solved per second.

Before anything is timed, every puzzle of every arm is checked: it has the blanks asked for and one solution (told by
py-sudoku), the solvers' grids are equal, the compiled code gives the same puzzles as pure Python, and puzzles differ by
more than a symmetry of the rules, so that none is another one with its rows exchanged. Compiling is timed apart. Arms
take turns, ratios are of medians. What turns and forks cost is in `envs.py`.

    python benchmarks/speed/sudoku.py [--peers PYTHON] [--markdown] [--seeds 200] [--rounds 5] [--deep 30]

Without `--peers` the arms of this project run alone.
"""

import argparse
import hashlib
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

from harness.peers import Worker, add_peers, start_worker
from harness.timing import Row, machine, medians, table

from llm_envs.core.task import Split
from llm_envs.sudoku.engine import PYTHON, Engine, get_engine
from llm_envs.sudoku.generator import PRESETS, generate, recipe
from llm_envs.sudoku.geometry import geometry

LEAST, MOST = 40, 45  # blanks, of 9x9 puzzles

# Does a job on each item; CPU seconds of one item, and the results.
Work = Callable[[Sequence[Any]], tuple[float, list[bytes]]]


def by_peer(peer: Worker, job: str) -> Work:
    """A job of a peer's on each item."""

    def run(items: Sequence[Any]) -> tuple[float, list[bytes]]:
        plain = [list(item) if isinstance(item, bytes) else item for item in items]
        seconds, results = peer.ask(job, plain)
        return seconds, [bytes(result) for result in results]

    return run


def timed(job: Callable[[Any], bytes | None]) -> Work:
    """A function of this process on each item."""

    def run(items: Sequence[Any]) -> tuple[float, list[bytes]]:
        started = time.process_time()
        results = [job(item) or b"" for item in items]
        return (time.process_time() - started) / len(items), results

    return run


def make_with(engine: Engine, blanks: int | tuple[int, int]) -> Callable[[int], bytes]:
    """A maker of 9x9 puzzles by index."""
    wanted = recipe(9, "easy", blanks)
    return lambda index: generate(wanted, Split.TRAIN, index, engine).clues


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_peers(parser)
    parser.add_argument("--markdown", action="store_true", help="print the table of ratios as Markdown")
    parser.add_argument("--seeds", type=int, default=200, help="puzzles of a turn")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each arm")
    parser.add_argument("--deep", type=int, default=30, help="puzzles with many blanks")
    options = parser.parse_args()
    engines: dict[str, Engine] = {"pure Python": PYTHON}
    fast = compiled()
    if fast is not None:
        engines["compiled"] = fast
    peer = start_worker(options.peers, "sudokus.py", str(LEAST), str(MOST), str(options.seeds))
    with ExitStack() as stack:
        if peer is not None:
            stack.enter_context(closing(peer))
        puzzles, made = compare_making(engines, peer, options.seeds, options.rounds)
        solved = compare_solving(engines, peer, puzzles, options.rounds)
    print(f"{machine()}\n\n{table([*made, *solved], markdown=options.markdown)}")
    show_deep(engines, options.deep)
    show_presets(engines)


def compiled() -> Engine | None:
    """The compiled engine, its compilation timed, or None where numba is not installed."""
    started = time.perf_counter()
    engine = get_engine("auto", 9)
    if engine is PYTHON:
        print("numba is not installed: no compiled arm (pip install 'llm-envs[fast]')")
        return None
    from llm_envs.sudoku import fast

    fast.warm_up()
    print(f"compiling, or loading what was compiled before: {time.perf_counter() - started:.1f} s")
    return engine


def compare_making(
    engines: Mapping[str, Engine], peer: Worker | None, seeds: int, rounds: int
) -> tuple[list[bytes], list[Row]]:
    """Puzzles with 40 to 45 blanks: those of the first arm, and the comparison."""
    arms: dict[str, Work] = {} if peer is None else {"reasoning-gym": by_peer(peer, "make")}
    arms |= {name: timed(make_with(engine, (LEAST, MOST))) for name, engine in engines.items()}
    made = {name: arm(range(seeds))[1] for name, arm in arms.items()}
    for name, puzzles in made.items():
        check_puzzles(name, puzzles, peer)
    if len(engines) == 2 and made["pure Python"] != made["compiled"]:
        raise SystemExit("the compiled code makes other puzzles than pure Python")
    rows = compare(f"Sudoku 9x9, {LEAST} to {MOST} blanks, made", arms, range(seeds), rounds)
    return next(iter(made.values())), rows


def check_puzzles(name: str, puzzles: Sequence[bytes], peer: Worker | None) -> None:
    """Stop unless the puzzles are what was asked for."""
    blanks = {puzzle.count(0) for puzzle in puzzles}
    if name != "reasoning-gym" and not blanks <= set(range(LEAST, MOST + 1)):
        raise SystemExit(f"{name}: puzzles have {sorted(blanks)} blanks")
    if not all(len(PYTHON.search(puzzle, limit=2).solutions) == 1 for puzzle in puzzles):
        raise SystemExit(f"{name}: a puzzle has not one solution")
    if peer is not None and set(by_peer(peer, "unique")(puzzles)[1]) != {b"\1"}:
        raise SystemExit(f"{name}: a puzzle has more than one solution, says py-sudoku")
    if len({fingerprint(puzzle) for puzzle in puzzles}) < len(puzzles):
        raise SystemExit(f"{name}: two puzzles may be one up to a symmetry")
    print(f"{name}: {len(puzzles)} different puzzles with one solution, {min(blanks)} to {max(blanks)} blanks")


def fingerprint(puzzle: bytes) -> bytes:
    """A digest that is equal for puzzles which renaming digits, exchanging rows, columns, bands, stacks or transposing
    turns into one another: so different digests prove different puzzles. Colour refinement (Weisfeiler and Leman) of
    the graph of cells and digits.
    """
    board = geometry(9)
    near = [(frozenset(board.units[unit]) - {cell} for unit in board.units_of[cell]) for cell in range(81)]
    lines = [[tuple(group) for group in groups] for groups in near]
    cells = [b"\1" if digit else b"\0" for digit in puzzle]
    for _ in range(4):
        digits = {
            digit: _digest(sorted(cells[cell] for cell in range(81) if puzzle[cell] == digit)) for digit in range(1, 10)
        }
        seen = [[_digest(sorted(cells[peer] for peer in group)) for group in groups] for groups in lines]
        cells = [
            _digest([cells[cell], digits.get(puzzle[cell], b""), *sorted(seen[cell][:2]), seen[cell][2]])
            for cell in range(81)
        ]
    return _digest(sorted(cells))


def _digest(parts: Iterable[bytes]) -> bytes:
    return hashlib.blake2b(b"|".join(parts), digest_size=8).digest()


def compare_solving(
    engines: Mapping[str, Engine], peer: Worker | None, puzzles: Sequence[bytes], rounds: int
) -> list[Row]:
    """The same boards for every solver."""
    arms: dict[str, Work] = {} if peer is None else {"py-sudoku": by_peer(peer, "solve")}
    arms |= {name: timed(engine.solve) for name, engine in engines.items()}
    solved = [arm(puzzles)[1] for arm in arms.values()]
    if any(grids != solved[0] or b"" in grids for grids in solved):
        raise SystemExit("the solvers do not agree")
    return compare("Sudoku 9x9, the same boards, solved", arms, puzzles, rounds)


def compare(what: str, arms: Mapping[str, Work], items: Sequence[Any], rounds: int) -> list[Row]:
    """Mean times of all items; every arm but the first beside the first."""

    def mean(arm: Work) -> float:
        return arm(items)[0]

    found = medians({name: partial(mean, arm) for name, arm in arms.items()}, rounds)
    beside, *others = found
    return [Row(f"{what}, {name}", found[name], beside, found[beside]) for name in others]


def show_deep(engines: dict[str, Engine], count: int) -> None:
    """Puzzles with many blanks: the median and the 95th percentile."""
    print(f"\n{count} puzzles each, ms: median, 95th percentile")
    for name, engine in engines.items():
        for blanks in (45, 50, 55, 60):
            arm = timed(make_with(engine, blanks))
            made = [arm([index]) for index in range(count)]
            if {puzzle.count(0) for _, (puzzle,) in made} != {blanks}:
                raise SystemExit(f"{name}: not all puzzles have {blanks} blanks")
            ordered = sorted(seconds for seconds, _ in made)
            high = ordered[min(count - 1, round(0.95 * count))]
            print(f"  {name:15} {blanks} blanks {1e3 * statistics.median(ordered):8.2f} {1e3 * high:8.2f}")


def show_presets(engines: dict[str, Engine]) -> None:
    """Puzzles per second of each preset."""
    print("\npuzzles per second, training split")
    for (size, difficulty), wanted in PRESETS.items():
        rates = []
        for name, engine in engines.items():
            count = {4: 200, 6: 100, 9: 40, 16: 6}[size]
            started = time.process_time()
            for index in range(count):
                generate(wanted, Split.TRAIN, index, engine)
            rates.append(f"{name} {count / (time.process_time() - started):7.0f}")
        print(f"  {size:2}x{size:<2} {difficulty:7} {'   '.join(rates)}")


if __name__ == "__main__":
    main()
