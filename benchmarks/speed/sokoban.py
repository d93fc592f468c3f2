"""Rooms per second: 10x10 with one box, beside textarena's generator, as a ratio of medians in one run.

    python3.11 -m venv /tmp/peers && /tmp/peers/bin/pip install textarena numpy
    python benchmarks/speed/sokoban.py --peers /tmp/peers/bin/python [--turns 15] [--rooms 40]

The peer runs in an environment of its own, both arms in a worker process each that is up before the clock starts.
The work is checked first: every room of either arm is 10x10 with one player, one box and one goal, is not solved, and
can be solved; ours come with a plan, which is replayed, and with the smallest number of pushes, which another search
confirms. The arms take turns; times are CPU seconds of one thread, which other programs on the machine disturb less. No
room is stored: every turn draws new ones.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from llm_envs.sokoban.board import Board, walk
from llm_envs.sokoban.levels import parse_level
from llm_envs.sokoban.solver import solve

SIZE = 10
CHECKED = 100  # rooms of each arm that are looked at before anything is timed

OURS = """
import json, sys, time
from llm_envs.core.task import Split
from llm_envs.sokoban.generator import generate
from llm_envs.sokoban.layouts import Shape
from llm_envs.sokoban.presets import make_dials

dials = make_dials(size=10, boxes=1, shape=Shape.CARVED, walls=0.5, min_pushes=3, max_moves=160)
for line in sys.stdin:
    first, count, show = json.loads(line)
    started = time.process_time()
    levels = [generate(dials, Split.TRAIN, index) for index in range(first, first + count)]
    seconds = time.process_time() - started
    rooms = [(level.start.text, level.moves, level.bounds.optimal) for level in levels] if show else []
    print(json.dumps([seconds, rooms]), flush=True)
"""

# Sokoban of textarena 0.7 as its environment draws rooms, with one box in 10x10. Codes: 0 wall, 2 goal, 3 and 4 box,
# 5 player; the first array it returns is the room without box and player.
TEXTARENA = """
import json, sys, time
from textarena.envs.Sokoban.utils import generate_room

sys.setrecursionlimit(10_000)

def text(fixed, room):
    mark = {0: "  ", 1: "  ", 2: "..", 3: "$*", 4: "$*", 5: "@+"}
    rows = zip(fixed.tolist(), room.tolist())
    return "\\n".join("".join("#" if r == 0 else mark[r][f == 2] for f, r in zip(*row)) for row in rows)

for line in sys.stdin:
    first, count, show = json.loads(line)
    started = time.process_time()
    rooms = [generate_room(dim=(10, 10), num_steps=34, num_boxes=1, seed=seed) for seed in range(first, first + count)]
    seconds = time.process_time() - started
    texts = [(text(fixed, room), None, None) for fixed, room, _ in rooms] if show else []
    print(json.dumps([seconds, texts]), flush=True)
"""


@dataclass
class Arm:
    """A generator in a process of its own: takes (first seed, count, whether to show the rooms), one line each."""

    name: str
    process: "subprocess.Popen[str]"

    @classmethod
    def start(cls, name: str, python: str, code: str) -> Self:
        pipe = subprocess.PIPE
        return cls(name, subprocess.Popen([python, "-c", code], stdin=pipe, stdout=pipe, text=True))

    def draw(self, first: int, count: int, *, show: bool = False) -> tuple[float, list[Any]]:
        """Seconds, and the rooms as (text, plan, smallest number of pushes) where they are asked for."""
        if self.process.stdin is None or self.process.stdout is None:
            raise SystemExit(f"{self.name}: has no pipes")
        self.process.stdin.write(json.dumps([first, count, show]) + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline()
        if not reply:
            raise SystemExit(f"{self.name}: its worker died; is the package installed in that environment?")
        seconds, rooms = json.loads(reply)
        return seconds, rooms

    def close(self) -> None:
        """End the worker, which reads to the end of its input."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(timeout=60)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, help="Python of an environment with textarena; without it only our rate")
    parser.add_argument("--turns", type=int, default=15, help="turns of each arm")
    parser.add_argument("--rooms", type=int, default=40, help="rooms a turn")
    options = parser.parse_args()
    arms = [Arm.start("llm-envs", sys.executable, OURS)]
    if options.peers is not None:
        arms.append(Arm.start("textarena", str(options.peers), TEXTARENA))
    try:
        print(f"Python {sys.version.split()[0]}, {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
        for arm in arms:
            check(arm)
        compare(arms, options.turns, options.rooms)
    finally:
        for arm in arms:
            arm.close()
    if options.peers is None:
        print("--peers was not given: nothing to compare with (the top of this file says how to install textarena)")


def check(arm: Arm) -> None:
    """Refuse to time an arm whose rooms are not of the kind that is compared."""
    pushes, floor = [], []
    for text, moves, optimal in arm.draw(0, CHECKED, show=True)[1]:
        board = parse_level(text)
        solution = solve(board)
        problem = fault(board, moves, optimal, solution.bounds.optimal)
        if problem:
            raise SystemExit(f"{arm.name}: a room {problem}:\n{text}")
        pushes.append(len(solution.pushes or ()))
        floor.append(board.room.floor.bit_count())
    print(
        f"{arm.name}: {CHECKED} rooms checked; on average {statistics.mean(pushes):.1f} pushes at least, "
        f"{statistics.mean(floor):.0f} cells of floor"
    )


def fault(board: Board, moves: list[Any] | None, optimal: int | None, found: int | None) -> str:
    """What is wrong with a room, or nothing."""
    if (board.room.rows, board.room.cols) != (SIZE, SIZE) or board.boxes.bit_count() != 1:
        return f"is not {SIZE}x{SIZE} with one box"
    if board.solved or found is None:
        return "is solved at the start, or can't be solved"
    if moves is not None and not walk(board, moves).end.solved:
        return "has a plan that does not solve it"
    return "" if optimal in {None, found} else f"is said to need {optimal} pushes and needs {found}"


def compare(arms: list[Arm], turns: int, rooms: int) -> None:
    """Time the arms in turns."""
    seconds: dict[str, list[float]] = {arm.name: [] for arm in arms}
    for turn in range(1, turns + 1):
        for arm in arms:
            seconds[arm.name].append(arm.draw(CHECKED + turn * rooms, rooms)[0] / rooms)
    slowest = max(statistics.median(times) for times in seconds.values())
    for name, times in seconds.items():
        median = statistics.median(times)
        print(f"  {name:10} {1e3 * median:8.3f} ms a room (best {1e3 * min(times):.3f})  x{slowest / median:.1f}")


if __name__ == "__main__":
    main()
