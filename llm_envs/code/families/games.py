"""Families about games that are played without mistakes."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import pairs, size
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole


def winning_take(heaps: list[int], *, most: int, banned: int) -> list[int]:
    """Sprague and Grundy: heaps add up like their nimbers."""
    nimbers = [0]
    for count in range(1, max(heaps, default=0) + 1):
        after = {nimbers[count - taken] for taken in range(1, min(most, count) + 1) if taken != banned}
        nimbers.append(min(set(range(len(after) + 1)) - after))
    total = 0
    for heap in heaps:
        total ^= nimbers[heap]
    for place, heap in enumerate(heaps):
        for taken in range(1, min(most, heap) + 1):
            if taken != banned and total ^ nimbers[heap] ^ nimbers[heap - taken] == 0:
                return [place, taken]
    return []


WINNING_TAKE = Family(
    name="winning_take",
    idea="nimbers of a game that is a sum of heaps (Sprague and Grundy)",
    arguments=(Argument("heaps", Kind.INTS, "up to 6 whole numbers from 0 to 16"),),
    result=Kind.INTS,
    solve=winning_take,
    parameters=lambda rng, level: {"most": whole(rng, 3 + level, 4 + level), "banned": whole(rng, 1, 2 + level)},
    statement=lambda parameters: (
        "Two players take stones from heaps in turn. A move takes from one heap at least 1 and at most "
        f"{parameters['most']} of its stones, but never exactly {parameters['banned']}. Who cannot move loses. Find a "
        "move with which the player to move wins however the other one plays: of several that in the first heap, and "
        "in that heap that with the fewest stones. Give the number of the heap, counted from 0, and the number of "
        "stones, or nothing if there is no such move."
    ),
    draw=lambda rng, level, _: ([whole(rng, 0, pick(rng, (4, 9, 16))) for _ in range(size(rng, level, 0, (4, 5, 6)))],),
    mutants=(
        Mutant("adds nimbers as numbers", "total ^= nimbers[heap]", "total += nimbers[heap]"),
        Mutant(
            "takes one more than the greatest nimber after a move",
            "min(set(range(len(after) + 1)) - after)",
            "max(after, default=-1) + 1",
        ),
        Mutant("takes heaps for their own nimbers", "total ^= nimbers[heap]", "total ^= heap % (most + 1)"),
        Mutant("forgets the banned number while it looks for the move", "if taken != banned and total", "if total"),
        Mutant("forgets the banned number in the nimbers", " if taken != banned}", "}"),
        Mutant("knows only won and lost heaps", "min(set(range(len(after) + 1)) - after)", "int(0 in after)"),
    ),
)


def row_game(values: list[int], *, most: int, poor: bool) -> int:
    """The best difference for the player to move, for every part of the row."""
    choose = min if poor else max
    lead = {(place, place): 0 for place in range(len(values) + 1)}
    for length in range(1, len(values) + 1):
        for start in range(len(values) - length + 1):
            end = start + length
            options = []
            for taken in range(1, min(most, length) + 1):
                options.append(sum(values[start : start + taken]) - lead[start + taken, end])
                options.append(sum(values[end - taken : end]) - lead[start, end - taken])
            lead[start, end] = choose(options)
    return lead[0, len(values)]


ROW_GAME = Family(
    name="row_game",
    idea="minimax over the parts of a row that is taken from both ends",
    arguments=(Argument("values", Kind.INTS, "up to 10 whole numbers from -9 to 20"),),
    result=Kind.INT,
    solve=row_game,
    parameters=lambda rng, level: {"most": whole(rng, 2, 1 + level), "poor": rng.random() < 0.4},
    statement=lambda parameters: (
        "Numbers lie in a row. Two players move in turn until none is left. A move takes from one end of the row at "
        f"least 1 and at most {parameters['most']} numbers (not more than there are, and all from the same end). Each "
        "player's result is the sum of the numbers taken, and each plays, without mistakes, for "
        + ("the least" if parameters["poor"] else "the greatest")
        + " difference of the own result less that of the other player. Give this difference for the player who moves "
        "first; for an empty row it is 0."
    ),
    draw=lambda rng, level, _: ([whole(rng, pick(rng, (-9, 1)), 20) for _ in range(size(rng, level, 0, (6, 8, 10)))],),
    mutants=(
        Mutant(
            "takes from the left end only",
            "                options.append(sum(values[end - taken : end]) - lead[start, end - taken])\n",
            "",
        ),
        Mutant(
            "forgets what the other player gets",
            "sum(values[start : start + taken]) - lead[start + taken, end]",
            "sum(values[start : start + taken])",
        ),
        Mutant("mixes up least and greatest", "min if poor else max", "max if poor else min"),
        Mutant("the other player helps", "- lead[start, end - taken]", "+ lead[start, end - taken]"),
        Mutant("takes one number too many at most", "min(most, length) + 1", "min(most + 1, length) + 1"),
        Mutant("decides by the first number taken", "sum(values[end - taken : end])", "values[end - 1]"),
        Mutant(
            "looks at the last numbers only in their order",
            "sum(values[start : start + taken])",
            "values[start] * taken",
        ),
    ),
)


def token_game(nodes: int, moves: list[list[int]], *, stuck_wins: bool) -> str:
    """Places are won or lost from the ends of the game backward; what stays open goes on for ever."""
    after: list[list[int]] = [[] for _ in range(nodes)]
    for start, end in moves:
        after[start].append(end)
    state = ["d"] * nodes
    for _ in range(nodes):
        for node in range(nodes):
            results = [state[target] for target in after[node]]
            if not results:
                state[node] = "w" if stuck_wins else "l"
            elif "l" in results:
                state[node] = "w"
            elif "d" not in results:
                state[node] = "l"
    return "".join(state)


def _token_game_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    nodes = size(rng, level, 1, (6, 8, 10))
    moves = pairs(rng, nodes, whole(rng, nodes // 2, nodes + 2), loops=rng.random() < 0.2)
    if rng.random() < 0.5:  # no circles
        moves = [sorted(move, reverse=rng.random() < 0.1) for move in moves]
    if rng.random() < 0.15:  # nobody is ever stuck
        moves += [[node, (node + 1) % nodes] for node in range(nodes)]
    return nodes, moves


TOKEN_GAME = Family(
    name="token_game",
    idea="won, lost and drawn positions of a game on a graph, backward from its ends",
    arguments=(
        Argument("nodes", Kind.INT, "the number of places, from 1 to 10; they are numbered from 0"),
        Argument("moves", Kind.ROWS, "up to 22 rows `a b`; `a` and `b` may be the same place"),
    ),
    result=Kind.TEXT,
    solve=token_game,
    parameters=lambda rng, _level: {"stuck_wins": rng.random() < 0.5},
    statement=lambda parameters: (
        "Two players move one token in turn. A move `a b` takes it from place `a` to place `b`. The player to move who "
        f"has no move {'wins' if parameters['stuck_wins'] else 'loses'}. For each place in turn tell how the game ends "
        "for the player to move, if the token is there and both play without mistakes: `w` if that player wins, `l` if "
        "that player loses, `d` if neither can be made to lose, so that the game goes on for ever. Give one text."
    ),
    draw=_token_game_draw,
    mutants=(
        Mutant("who has no move gets the other result", "if stuck_wins", "if not stuck_wins"),
        Mutant(
            "looks at the places once",
            "for _ in range(nodes):\n        for node",
            "for _ in range(1):\n        for node",
        ),
        Mutant("a draw is as good as a lost place for the other", '"l" in results', '"w" not in results'),
        Mutant("gives up a place that leads to a draw", 'elif "d" not in results:', 'elif "w" in results:'),
        Mutant("knows no draws", 'state = ["d"] * nodes', 'state = ["l"] * nodes'),
        Mutant(
            "moves go in both directions",
            "        after[start].append(end)\n",
            "        after[start].append(end)\n        after[end].append(start)\n",
        ),
        Mutant(
            "the last move of a place counts", "        after[start].append(end)\n", "        after[start] = [end]\n"
        ),
    ),
)

FAMILIES = (WINNING_TAKE, ROW_GAME, TOKEN_GAME)
