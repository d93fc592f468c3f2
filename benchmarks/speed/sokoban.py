"""Rooms per second: 10x10 with one box, beside textarena's generator.

The work is checked first: every room of either arm is 10x10 with one player, one box and one goal, is not solved, and
can be solved; ours come with a plan, which is replayed, and with the smallest number of pushes, which another search
confirms. Arms take turns, ratios are of medians. No room is stored: every turn draws new ones.

    python benchmarks/speed/sokoban.py [--peers PYTHON] [--markdown] [--rounds 15] [--rooms 40]
"""

import argparse
import itertools
import statistics
from collections.abc import Callable
from contextlib import closing
from functools import partial

from harness.peers import Worker, add_peers, start_worker
from harness.timing import Row, machine, medians, per_call, table

from llm_envs.core.task import Split
from llm_envs.sokoban.board import Board, walk
from llm_envs.sokoban.generator import Level, generate
from llm_envs.sokoban.layouts import Shape
from llm_envs.sokoban.levels import parse_level
from llm_envs.sokoban.presets import make_dials
from llm_envs.sokoban.solver import PushBounds, solve

SIZE = 10
CHECKED = 100  # rooms of each arm that are looked at before anything is timed

Maker = Callable[[int], tuple[float, list[Level]]]  # makes so many new rooms; CPU seconds of one, and the rooms


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_peers(parser)
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each arm")
    parser.add_argument("--rooms", type=int, default=40, help="rooms a turn")
    options = parser.parse_args()
    check("llm-envs", ours())
    peer = start_worker(options.peers, "textarena_rooms.py")
    if peer is None:
        return
    with closing(peer):
        check("textarena", theirs(peer))
        makers = {"llm-envs": ours(), "textarena": theirs(peer)}
        found = medians({name: partial(seconds, make, options.rooms) for name, make in makers.items()}, options.rounds)
    row = Row("Sokoban 10x10, one box: room with plan and bounds", found["llm-envs"], "textarena", found["textarena"])
    print(f"{machine()}\n\n{table([row], markdown=options.markdown)}")


def seconds(make: Maker, rooms: int) -> float:
    """CPU seconds of a room."""
    return make(rooms)[0]


def ours() -> Maker:
    """Rooms with their plans and their smallest numbers of pushes."""
    dials = make_dials(size=SIZE, boxes=1, shape=Shape.CARVED, walls=0.5, min_pushes=3, max_moves=160)
    indices = itertools.count()

    def make(count: int) -> tuple[float, list[Level]]:
        made: list[Level] = []
        seconds = per_call(lambda: made.append(generate(dials, Split.TRAIN, next(indices))), count)
        return seconds, made

    return make


def theirs(peer: Worker) -> Maker:
    """Rooms without anything."""
    made_before = 0

    def make(count: int) -> tuple[float, list[Level]]:
        nonlocal made_before
        seconds, rooms = peer.ask("make", {"first": made_before, "count": count})
        made_before += count
        return seconds, [Level(parse_level(room), None, PushBounds(0, None)) for room in rooms]

    return make


def check(name: str, make: Maker) -> None:
    """Refuse to time an arm whose rooms are not of the kind that is compared."""
    pushes, floor = [], []
    for level in make(CHECKED)[1]:
        board, solution = level.start, solve(level.start)
        problem = fault(level, solution.bounds.optimal)
        if problem:
            raise SystemExit(f"{name}: a room {problem}:\n{board.text}")
        pushes.append(len(solution.pushes or ()))
        floor.append(board.room.floor.bit_count())
    print(
        f"{name}: {CHECKED} rooms checked; on average {statistics.mean(pushes):.1f} pushes at least, "
        f"{statistics.mean(floor):.0f} cells of floor"
    )


def fault(level: Level, found: int | None) -> str:
    """What is wrong with a room, of which another search found the smallest number of pushes, or nothing."""
    board: Board = level.start
    if (board.room.rows, board.room.cols) != (SIZE, SIZE) or board.boxes.bit_count() != 1:
        return f"is not {SIZE}x{SIZE} with one box"
    if board.solved or found is None:
        return "is solved at the start, or can't be solved"
    if level.moves is not None and not walk(board, level.moves).end.solved:
        return "has a plan that does not solve it"
    said = level.bounds.optimal
    return "" if said in {None, found} else f"is said to need {said} pushes and needs {found}"


if __name__ == "__main__":
    main()
