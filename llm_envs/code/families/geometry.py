"""Families about points and segments in the plane, in whole numbers only."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import points, size
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, shuffled, whole


def convex_hull(points: list[list[int]], *, border: bool) -> list[list[int]]:
    """Andrew's monotone chain (1979): the lower chain, then the upper one."""

    def chain(ordered: list[list[int]]) -> list[list[int]]:
        kept: list[list[int]] = []
        for x, y in ordered:
            while len(kept) > 1:
                (a, b), (c, d) = kept[-2], kept[-1]
                turn = (c - a) * (y - b) - (d - b) * (x - a)
                if turn > 0 or (turn == 0 and border):
                    break
                kept.pop()
            kept.append([x, y])
        return kept

    ordered = sorted(points)
    lower, upper = chain(ordered), chain(ordered[::-1])
    return lower + [point for point in upper if point not in lower]


def _convex_hull_statement(parameters: dict[str, Any]) -> str:
    border = "together with all other points on its border" if parameters["border"] else "and no other points"
    line = "all of them" if parameters["border"] else "the outermost two (or the only one)"
    return (
        "The hull is the smallest convex polygon that holds all points. Give its corners "
        f"{border}, each once, counterclockwise (x grows to the right, y upward), beginning with the point that has "
        "the smallest x, of several such points the one with the smallest y. If all points lie on one line, give "
        f"{line}, in ascending order of x, then of y."
    )


def _convex_hull_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    count = size(rng, level, 1, (6, 8, 12))
    if rng.random() < 0.15:  # on a line
        across, up = pick(rng, ((1, 0), (0, 1), (1, 1), (1, 2)))
        return (shuffled(rng, [[1 + across * place, 2 + up * place] for place in range(min(count, 5))]),)
    return (points(rng, count, pick(rng, (3, 4, 9))),)


CONVEX_HULL = Family(
    name="convex_hull",
    idea="convex hull by a monotone chain",
    arguments=(Argument("points", Kind.ROWS, "1 to 12 rows `x y`, all different, with coordinates between 0 and 10"),),
    result=Kind.ROWS,
    solve=convex_hull,
    parameters=lambda rng, _level: {"border": rng.random() < 0.5},
    statement=_convex_hull_statement,
    draw=_convex_hull_draw,
    mutants=(
        Mutant("mixes up whether points on the border count", "and border", "and not border"),
        Mutant(
            "looks at the last three points once",
            "            while len(kept) > 1:\n",
            "            for _ in kept[1:2]:\n",
        ),
        Mutant("sorts by y", "sorted(points)", "sorted(points, key=lambda point: point[::-1])"),
        Mutant(
            "gives the lower chain, then the upper one from the left",
            "chain(ordered[::-1])",
            "chain(ordered[::-1])[::-1]",
        ),
        Mutant("mixes up two coordinates in the turn", "(d - b) * (x - a)", "(d - b) * (x - c)"),
    ),
)


def _polygon(rng: random.Random, corners: int, reach: int) -> list[list[int]]:
    """A simple polygon: below and above a line from its leftmost to its rightmost corner, in either direction."""
    places = sorted(shuffled(rng, range(reach + 1))[:corners])
    below, above = [[places[0], 5]], []
    for x in places[1:-1]:
        if rng.random() < 0.5:
            below.append([x, whole(rng, 0, 4)])
        else:
            above.append([x, whole(rng, 6, 10)])
    if len(below) + len(above) == 1:
        above = [[places[0], 8]]
    corner = [*below, [places[-1], 5], *above[::-1]]
    turn = whole(rng, 0, len(corner) - 1)
    return (corner[turn:] + corner[:turn])[:: pick(rng, (-1, 1))]


def spots_inside(corners: list[list[int]], spots: list[list[int]], *, border: bool) -> str:
    """A ray to the right, which counts a side from its lower end (included) to its upper one (not)."""
    answer = ""
    for x, y in spots:
        inside = on_border = False
        for (a, b), (c, d) in zip(corners, corners[1:] + corners[:1], strict=True):
            turn = (c - a) * (y - b) - (d - b) * (x - a)
            if turn == 0 and min(a, c) <= x <= max(a, c) and min(b, d) <= y <= max(b, d):
                on_border = True
            if (b <= y < d and turn > 0) or (d <= y < b and turn < 0):
                inside = not inside
        answer += "i" if (border if on_border else inside) else "o"
    return answer


def _spots_inside_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    corners = _polygon(rng, whole(rng, 3, (5, 7, 9)[level - 1]), 10)
    spots = []
    for _ in range(whole(rng, 0, 2 + level)):
        x, y = pick(rng, corners)
        spots.append([whole(rng, 0, 10), y if rng.random() < 0.6 else whole(rng, 0, 10)])
        if rng.random() < 0.15:
            spots[-1] = [x, y]
    return corners, spots


SPOTS_INSIDE = Family(
    name="spots_inside",
    idea="point in polygon by the crossings of a ray",
    arguments=(
        Argument(
            "corners",
            Kind.ROWS,
            "3 to 9 rows `x y` with coordinates between 0 and 10: the corners of a polygon in the order of its border, "
            "clockwise or counterclockwise; its sides meet at common corners only",
        ),
        Argument("spots", Kind.ROWS, "up to 5 rows `x y` with coordinates between 0 and 10"),
    ),
    result=Kind.TEXT,
    solve=spots_inside,
    parameters=lambda rng, _level: {"border": rng.random() < 0.5},
    statement=lambda parameters: (
        "For each spot in turn tell whether it lies inside the polygon: write `i` for a spot inside and `o` for one "
        f"outside, as one text without blanks. A spot on the border counts as "
        f"{'inside' if parameters['border'] else 'outside'}. Without spots the text is empty."
    ),
    draw=_spots_inside_draw,
    mutants=(
        Mutant("mixes up what the border counts as", "border if on_border", "not border if on_border"),
        Mutant(
            "counts a side with both its ends",
            "(b <= y < d and turn > 0) or (d <= y < b and turn < 0)",
            "(b <= y <= d and turn > 0) or (d <= y <= b and turn < 0)",
        ),
        Mutant(
            "forgets the side back to the first corner",
            "zip(corners, corners[1:] + corners[:1], strict=True)",
            "zip(corners, corners[1:], strict=False)",
        ),
        Mutant("counts sides that go up only", " or (d <= y < b and turn < 0)", ""),
        Mutant(
            "takes the box around the polygon",
            "border if on_border else inside",
            "border if on_border else min(corners)[0] < x < max(corners)[0]",
        ),
        Mutant(
            "counts the sides on both sides of the spot",
            "(b <= y < d and turn > 0) or (d <= y < b and turn < 0)",
            "b <= y < d or d <= y < b",
        ),
    ),
)
FAMILIES = (CONVEX_HULL, SPOTS_INSIDE)
