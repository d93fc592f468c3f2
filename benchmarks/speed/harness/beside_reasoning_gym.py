"""Grids with a prompt and a shortest path, beside reasoning-gym's."""

import itertools
import random
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

from harness.peers import Worker
from harness.timing import Row, medians, per_call
from llm_envs import plan_path_v0
from llm_envs.core.parsing import last_answer
from llm_envs.core.task import Split

SIZES, LEAST, WALLS = (8, 16), (1, 4), 0.2
CHECKED, SLICE = 200, 100  # grids
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
SIGNS = str.maketrans("XO*#", "#.@G")  # of reasoning-gym, in ours

Path = tuple[str, list[str]]  # a grid and the moves of its answer


class Maker(Protocol):
    """Makes so many new grids with prompt and answer; CPU seconds of one, and what was made."""

    def __call__(self, count: int) -> tuple[float, list[Path]]: ...


def compare_paths(peer: Worker, rounds: int) -> list[Row]:
    """A grid, its prompt and a shortest path through it, beside reasoning-gym's.

    Theirs may have no way, or one of a single move. So the work is equal twice: any grid of theirs beside ours with a
    way of at least one move, and grids with a way of at least four moves, for which theirs are drawn until one has it.
    """
    return [_compare(size, least, peer, rounds) for size in SIZES for least in LEAST]


def _compare(size: int, least: int, peer: Worker, rounds: int) -> Row:
    makers = {"llm-envs": _ours(size, least), "reasoning-gym": _theirs(size, peer)}
    for name, make in makers.items():
        for grid, moves in make(CHECKED)[1]:
            fault = path_fault(grid, moves, size)
            if fault:
                raise SystemExit(f"{name}: {' '.join(moves)} {fault}\n{grid}")
    found = medians({name: partial(_seconds, make, least) for name, make in makers.items()}, rounds)
    what = f"Plan-Path {size}x{size}, {least} {'move' if least == 1 else 'moves'} or more: grid, prompt, path"
    return Row(what, found["llm-envs"], "reasoning-gym", found["reasoning-gym"])


def _seconds(make: Maker, least: int) -> float:
    """CPU seconds of a grid that counts: any, or those with a way of so many moves."""
    seconds, made = make(SLICE)
    return seconds if least == 1 else seconds * SLICE / sum(len(moves) >= least for _, moves in made)


def _ours(size: int, least: int) -> Maker:
    task = plan_path_v0.raw_env(size=size, walls=WALLS, min_path=least, roles="planners", max_moves=256).task
    indices, rng = itertools.count(), random.Random(0)

    def make_one() -> tuple[Any, str, str]:
        state = task.instance(Split.TRAIN, next(indices))
        return state, task.observe(state, "planner", ""), task.reference("oracle", state, "planner", rng)

    def make(count: int) -> tuple[float, list[Path]]:
        made: list[tuple[Any, str, str]] = []
        seconds = per_call(lambda: made.append(make_one()), count)
        return seconds, [(task.text(state), (last_answer(said) or "").split()) for state, _, said in made]

    return make


def _theirs(size: int, peer: Worker) -> Maker:
    made_before = 0

    def make(count: int) -> tuple[float, list[Path]]:
        nonlocal made_before
        seconds, made = peer.ask("make", {"size": size, "walls": WALLS, "first": made_before, "count": count})
        made_before += count
        grids = ["\n".join("".join(row) for row in matrix).translate(SIGNS) for matrix, _ in made]
        answers = [[] if said == "infeasible" else said.split() for _, said in made]
        return seconds, list(zip(grids, answers, strict=True))

    return make


def path_fault(grid: str, moves: Sequence[str], size: int) -> str:
    """What is wrong with a shortest path from `@` to `G`, or nothing; no moves mean that there is no way."""
    rows = grid.split("\n")
    if [len(row) for row in rows] != [size] * size:
        return f"is for a grid that is not {size}x{size}"
    marks = {(row, column): mark for row, line in enumerate(rows) for column, mark in enumerate(line)}
    (here,) = [cell for cell, mark in marks.items() if mark == "@"]
    reached = {here: 0}
    queue = [here]
    for row, column in queue:
        for down, right in STEPS.values():
            near = (row + down, column + right)
            if marks.get(near, "#") != "#" and near not in reached:
                reached[near] = reached[row, column] + 1
                queue.append(near)
    (goal,) = [cell for cell, mark in marks.items() if mark == "G"]
    for move in moves:
        here = (here[0] + STEPS[move][0], here[1] + STEPS[move][1])
        if here not in reached:
            return "leads into a wall"
    if goal not in reached:
        return "is said to lead to a goal that can't be reached" if moves else ""
    if here == goal and len(moves) == reached[goal]:
        return ""
    return f"is no shortest path, which has {reached[goal]} moves"
