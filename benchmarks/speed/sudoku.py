"""Sudoku against its peers: puzzles made and solved per second, and what a turn costs, as ratios of one run.

Arms take turns; the medians of their turns are compared. Times are CPU seconds of one thread, which other programs on
the machine disturb less. Before anything is timed, every puzzle of every arm is checked: it has the blanks asked for
and one solution (told by py-sudoku), the solvers' grids are equal, the compiled code gives the same puzzles as pure
Python, and puzzles differ by more than a symmetry of the rules, so that none is another one with its rows exchanged.
Compiling is timed apart.

The peers, reasoning-gym and py-sudoku, pin other versions of libraries and live in an environment of their own:

    python3.11 -m venv /tmp/peers && /tmp/peers/bin/pip install reasoning-gym py-sudoku
    python benchmarks/speed/sudoku.py --peers /tmp/peers/bin/python [--seeds 200] [--turns 5] [--deep 30]

Without `--peers` the arms of this project run alone.
"""

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import cycle
from typing import Any, Protocol

from pettingzoo import AECEnv

from llm_envs import sudoku_v0
from llm_envs.core.task import Split
from llm_envs.sudoku.engine import PYTHON, Engine, get_engine
from llm_envs.sudoku.generator import PRESETS, generate, recipe
from llm_envs.sudoku.geometry import geometry
from llm_envs.sudoku.puzzle import Placement, Puzzle
from llm_envs.sudoku.state import placement_text

LEAST, MOST = 40, 45  # blanks, of 9x9 puzzles
NULL_TURNS, TURNS = 20_000, 3_000

# Answers each line of JSON on its standard input with a line of JSON: results, and the seconds that they took.
PEER = """
import json, sys, time
from reasoning_gym.games.sudoku import SudokuConfig, SudokuDataset
from sudoku import Sudoku

def make(index):
    return data[index]["metadata"]["puzzle"]

def board(grid):
    return Sudoku(3, 3, board=[[digit or None for digit in grid[row * 9:row * 9 + 9]] for row in range(9)])

def solve(puzzle):
    return puzzle.solve().board

def unique(puzzle):
    return [[not puzzle.has_multiple_solutions()]]

least, most, seeds = map(int, sys.argv[1:])
data = SudokuDataset(SudokuConfig(min_empty=least, max_empty=most, seed=0, size=seeds))
jobs = {"make": (int, make), "solve": (board, solve), "unique": (board, unique)}
for line in sys.stdin:
    name, items = json.loads(line)
    prepare, job = jobs[name]
    items = [prepare(item) for item in items]
    started = time.process_time()
    results = [job(item) for item in items]
    seconds = time.process_time() - started
    print(json.dumps([[sum(result, []) for result in results], seconds]), flush=True)
"""


class Arm(Protocol):
    """Does a job on each item; results, and the seconds that all of them took."""

    def __call__(self, items: Sequence[Any]) -> tuple[list[bytes], float]: ...


class Peers:
    """The peers' interpreter, kept running."""

    def __init__(self, python: str, seeds: int) -> None:
        self._process = subprocess.Popen(
            [python, "-c", PEER, str(LEAST), str(MOST), str(seeds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, job: str, items: Sequence[Any]) -> tuple[list[bytes], float]:
        """A job of `PEER` on each item, as an `Arm`."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the peers' pipes are closed")
        plain = [list(item) if isinstance(item, bytes) else item for item in items]
        stdin.write(json.dumps([job, plain]) + "\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise SystemExit("The peers' interpreter stopped; does it have reasoning-gym and py-sudoku?")
        results, seconds = json.loads(line)
        return [bytes(result) for result in results], seconds

    def close(self) -> None:
        """End the interpreter."""
        self._process.terminate()
        self._process.wait()


def timed(job: Callable[[Any], bytes | None]) -> Arm:
    """An arm of a function of this process."""

    def run(items: Sequence[Any]) -> tuple[list[bytes], float]:
        started = time.process_time()
        results = [job(item) or b"" for item in items]
        return results, time.process_time() - started

    return run


def make_with(engine: Engine, blanks: int | tuple[int, int]) -> Callable[[int], bytes]:
    """A maker of 9x9 puzzles by index."""
    wanted = recipe(9, "easy", blanks)
    return lambda index: generate(wanted, Split.TRAIN, index, engine).clues


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", help="the Python of an environment with reasoning-gym and py-sudoku")
    parser.add_argument("--seeds", type=int, default=200, help="puzzles of a turn")
    parser.add_argument("--turns", type=int, default=5, help="turns of each arm")
    parser.add_argument("--deep", type=int, default=30, help="puzzles with many blanks")
    options = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}")
    engines = {"pure Python": PYTHON, "compiled": compiled()}
    engines = {name: engine for name, engine in engines.items() if engine is not None}
    peers = Peers(options.peers, options.seeds) if options.peers else None
    try:
        puzzles = compare_making(engines, peers, options.seeds, options.turns)
        compare_solving(engines, peers, puzzles, options.turns)
    finally:
        if peers is not None:
            peers.close()
    show_deep(engines, options.deep)
    show_presets(engines)
    show_turns()


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


def compare_making(engines: dict[str, Engine], peers: Peers | None, seeds: int, turns: int) -> list[bytes]:
    """Puzzles with 40 to 45 blanks; returns those of the first arm."""
    arms = {name: timed(make_with(engine, (LEAST, MOST))) for name, engine in engines.items()}
    if peers is not None:
        arms = {"reasoning-gym": partial(peers.ask, "make"), **arms}
    made = {name: arm(range(seeds))[0] for name, arm in arms.items()}
    for name, puzzles in made.items():
        check_puzzles(name, puzzles, peers)
    if len(engines) == 2 and made["pure Python"] != made["compiled"]:
        raise SystemExit("the compiled code makes other puzzles than pure Python")
    report(f"{seeds} 9x9 puzzles with {LEAST} to {MOST} blanks, mean of a turn", arms, range(seeds), turns)
    return next(iter(made.values()))


def check_puzzles(name: str, puzzles: Sequence[bytes], peers: Peers | None) -> None:
    """Stop unless the puzzles are what was asked for."""
    blanks = {puzzle.count(0) for puzzle in puzzles}
    if name != "reasoning-gym" and not blanks <= set(range(LEAST, MOST + 1)):
        raise SystemExit(f"{name}: puzzles have {sorted(blanks)} blanks")
    if not all(len(PYTHON.search(puzzle, limit=2).solutions) == 1 for puzzle in puzzles):
        raise SystemExit(f"{name}: a puzzle has not one solution")
    if peers is not None and set(peers.ask("unique", puzzles)[0]) != {b"\1"}:
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


def compare_solving(engines: dict[str, Engine], peers: Peers | None, puzzles: Sequence[bytes], turns: int) -> None:
    """The same boards for every solver."""
    arms = {name: timed(engine.solve) for name, engine in engines.items()}
    if peers is not None:
        arms = {"py-sudoku": partial(peers.ask, "solve"), **arms}
    solved = [arm(puzzles)[0] for arm in arms.values()]
    if any(grids != solved[0] or b"" in grids for grids in solved):
        raise SystemExit("the solvers do not agree")
    report(f"{len(puzzles)} boards of the first maker solved, mean of a turn", arms, puzzles, turns)


def report(title: str, arms: dict[str, Arm], items: Sequence[Any], turns: int) -> None:
    """Time the arms in turns; the median turn of each, and the ratio to the first."""
    means: dict[str, list[float]] = {name: [] for name in arms}
    for _ in range(turns):
        for name, arm in arms.items():
            means[name].append(arm(items)[1] / len(items))
    print(f"\n{title}")
    floor = statistics.median(next(iter(means.values())))
    for name, times in means.items():
        median = statistics.median(times)
        print(f"  {name:15} {1e6 * median:10.1f} us  {1 / median:8.0f}/s  x{floor / median:.1f}")


def show_deep(engines: dict[str, Engine], count: int) -> None:
    """Puzzles with many blanks: the median and the 95th percentile."""
    print(f"\n{count} puzzles each, ms: median, 95th percentile")
    for name, engine in engines.items():
        for blanks in (45, 50, 55, 60):
            arm = timed(make_with(engine, blanks))
            made = [arm([index]) for index in range(count)]
            if {puzzle.count(0) for (puzzle,), _ in made} != {blanks}:
                raise SystemExit(f"{name}: not all puzzles have {blanks} blanks")
            ordered = sorted(seconds for _, seconds in made)
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


class NullEnv(AECEnv[str, str, str]):
    """The least that a correct AEC environment does in a turn: a constant observation, rewards of nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.metadata = {"name": "null_v0"}
        self.possible_agents = ["tool_0", "planner_0"]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.agents = list(self.possible_agents)
        self.agent_selection = self.agents[0]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}

    def observe(self, agent: str) -> str:
        return "nothing"

    def step(self, action: str) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(None)
            return
        self._cumulative_rewards[agent] = 0.0
        self.agent_selection = self.agents[1 - self.agents.index(agent)]
        self._accumulate_rewards()


def show_turns() -> None:
    """A whole text turn and a fork, in turns of the null environment."""
    null = NullEnv()
    null.reset()
    print("\na turn: last(), the prompt's length, an answer of three placements parsed, step()")
    for size in (4, 9, 16):
        env = sudoku_v0.raw_env(size=size, difficulty="medium", roles="planners", max_cycles=1 << 30, engine="python")
        env.reset(options={"index": 0})
        answers = cycle(three_placements(env.snapshot.puzzle))

        def turn(game: AECEnv[str, str, str], reply: str) -> None:
            observation = game.last()[0]
            len(observation or "")
            game.step(reply)

        floors, turns, forks = [], [], []
        for _ in range(9):
            floors.append(per_call(lambda: turn(null, ""), NULL_TURNS))
            turns.append(per_call(lambda: turn(env, next(answers)), TURNS))  # noqa: B023  # called within the loop
            forks.append(per_call(env.fork, TURNS))
        floor, whole, fork = statistics.median(floors), statistics.median(turns), statistics.median(forks)
        print(
            f"  {size:2}x{size:<2} null turn {1e6 * floor:5.2f} us   turn {1e6 * whole:6.2f} us x{whole / floor:.1f}   "
            f"fork {1e6 * fork:5.2f} us x{fork / floor:.1f}"
        )


def three_placements(puzzle: Puzzle) -> list[str]:
    """Answers of three placements each, which put legal digits, right and wrong, and clear them again."""
    cells = [cell for cell, given in enumerate(puzzle.clues) if not given]
    highest = {
        cell: max(digit for digit in range(1, puzzle.size + 1) if not puzzle.barred[cell] >> digit & 1)
        for cell in cells
    }
    answers = []
    for first in range(0, len(cells) - 3, 3):
        three = cells[first : first + 3]
        for placements in ([Placement(cell, highest[cell]) for cell in three], [Placement(cell, 0) for cell in three]):
            text = " ".join(placement_text(placement, puzzle.size) for placement in placements)
            answers.append(f"<answer>{text}</answer>")
    return answers


def per_call(job: Callable[[], object], count: int) -> float:
    """Seconds a call."""
    started = time.process_time()
    for _ in range(count):
        job()
    return (time.process_time() - started) / count


if __name__ == "__main__":
    main()
