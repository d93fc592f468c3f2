"""Families about how points and segments lie to each other."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import size
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole


def closest_pair(points: list[list[int]], *, apart: int, metric: str) -> list[int]:
    """All pairs, in the order in which ties are broken."""
    best: list[int] = []
    for one in range(len(points)):
        for other in range(one + apart, len(points)):
            across = abs(points[one][0] - points[other][0])
            up = abs(points[one][1] - points[other][1])
            distance = across + up if metric == "sum" else max(across, up)
            if not best or distance < best[0]:
                best = [distance, one, other]
    return best


_METRICS = {
    "sum": "the difference of their x plus the difference of their y (both without sign)",
    "max": "the greater one of the difference of their x and the difference of their y (both without sign)",
}


def _closest_pair_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    reach = pick(rng, (4, 9, 20))
    return ([[whole(rng, 0, reach), whole(rng, 0, reach)] for _ in range(size(rng, level, 0, (6, 9, 12)))],)


CLOSEST_PAIR = Family(
    name="closest_pair",
    idea="closest pair of points under a metric",
    arguments=(Argument("points", Kind.ROWS, "up to 12 rows `x y` with coordinates between 0 and 20"),),
    result=Kind.INTS,
    solve=closest_pair,
    parameters=lambda rng, level: {"apart": whole(rng, 1, level), "metric": pick(rng, tuple(_METRICS))},
    statement=lambda parameters: (
        f"The distance of two points is {_METRICS[parameters['metric']]}. Points are numbered from 0 in the given "
        f"order. Of all pairs of points i and j with j - i at least {parameters['apart']} find that with the least "
        "distance; if there are several, that with the smallest i, and of these that with the smallest j. Give the "
        "distance, i and j, or nothing if there is no such pair."
    ),
    draw=_closest_pair_draw,
    mutants=(
        Mutant("keeps the last one of several pairs", "distance < best[0]", "distance <= best[0]"),
        Mutant(
            "forgets the sign of the difference of x",
            "abs(points[one][0] - points[other][0])",
            "points[one][0] - points[other][0]",
        ),
        Mutant(
            "forgets the sign of the difference of y",
            "abs(points[one][1] - points[other][1])",
            "points[one][1] - points[other][1]",
        ),
        Mutant(
            "pairs points that are one place too far apart only",
            "range(one + apart, len(points))",
            "range(one + apart + 1, len(points))",
        ),
        Mutant(
            "compares each point with the next one only",
            "range(one + apart, len(points))",
            "range(one + apart, min(one + apart + 1, len(points)))",
        ),
        Mutant("forgets the last point", "range(one + apart, len(points))", "range(one + apart, len(points) - 1)"),
    ),
)


def crossings(segments: list[list[int]], *, touching: bool) -> list[int]:
    """The signs of four turns; segments on one line meet where their boxes do."""

    def side(segment: list[int], x: int, y: int) -> int:
        a, b, c, d = segment
        turn = (c - a) * (y - b) - (d - b) * (x - a)
        return (turn > 0) - (turn < 0)

    counts = [0] * len(segments)
    for one, mine in enumerate(segments):
        a, b, c, d = mine
        for other, (e, f, g, h) in enumerate(segments[:one]):
            first = side(mine, e, f) * side(mine, g, h)
            second = side(segments[other], a, b) * side(segments[other], c, d)
            boxes = max(min(a, c), min(e, g)) <= min(max(a, c), max(e, g)) and max(min(b, d), min(f, h)) <= min(
                max(b, d), max(f, h)
            )
            meet = first <= 0 and second <= 0 and boxes if touching else first < 0 and second < 0
            counts[one] += meet
            counts[other] += meet
    return counts


def _crossings_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    reach = pick(rng, (2, 4, 6))
    segments: list[list[int]] = []
    for _ in range(size(rng, level, 0, (6, 7, 8))):
        x, y = whole(rng, 0, reach), whole(rng, 0, reach)
        if segments and rng.random() < 0.3:  # from the end of another one
            x, y = segments[-1][2:]
        end = [whole(rng, 0, reach), whole(rng, 0, reach)]
        segments.append([x, y, *end] if end != [x, y] else [x, y, x + 1, y])
    return (segments,)


CROSSINGS = Family(
    name="crossings",
    idea="intersection of segments by the signs of turns",
    arguments=(
        Argument(
            "segments",
            Kind.ROWS,
            "up to 8 rows `a b c d`: a segment from (a, b) to (c, d), another point, with coordinates between 0 and 7",
        ),
    ),
    result=Kind.INTS,
    solve=crossings,
    parameters=lambda rng, _level: {"touching": rng.random() < 0.5},
    statement=lambda parameters: (
        "For each segment in turn give how many of the others it meets. Two segments meet if "
        + (
            "they have at least one point in common, be it an end of either."
            if parameters["touching"]
            else "they cross in one point that is an end of neither; to touch or to lie on each other is not to meet."
        )
    ),
    draw=_crossings_draw,
    mutants=(
        Mutant("mixes up whether touching counts", "if touching", "if not touching"),
        Mutant(
            "looks at the ends of one segment only",
            "side(segments[other], a, b) * side(segments[other], c, d)",
            "first",
        ),
        Mutant(
            "looks at the boxes around the segments only",
            "first <= 0 and second <= 0 and boxes if touching else first < 0 and second < 0",
            "boxes",
        ),
        Mutant("counts a meeting for one of the two", "            counts[other] += meet\n", ""),
        Mutant(
            "looks at each segment and the one before it",
            "enumerate(segments[:one]):",
            "list(enumerate(segments[:one]))[-1:]:",
        ),
        Mutant("mixes up two coordinates in the turn", "(d - b) * (x - a)", "(d - b) * (x - c)"),
    ),
)

FAMILIES = (CLOSEST_PAIR, CROSSINGS)
