"""Geometry: lattice polygons, sweeps, unfoldings, triangles, similarity, mirrors, volumes."""

import random
from fractions import Fraction
from math import gcd

from llm_envs.core.draws import pick, sample, shuffled, whole
from llm_envs.math.families import latex
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.polynomials import nonzero
from llm_envs.math.families.programs import program

_PRINT_ROOT = r"""
from math import isqrt

def split(number):  # root, rest: the number is root^2 * rest
    root = max(k for k in range(1, isqrt(number) + 1) if number % (k * k) == 0)
    return root, number // root**2

(over, top), (under, bottom) = split(square.numerator), split(square.denominator)
factor, rest = Fraction(over, under * bottom), top * bottom
value = rf"\frac{{{factor.numerator}}}{{{factor.denominator}}}" if factor.denominator > 1 else str(factor)
print(value if rest == 1 else rf"{value}\sqrt{{{rest}}}")
"""

_PRINT_PI = r"""
print(rf"\frac{{{factor.numerator}}}{{{factor.denominator}}}\pi" if factor.denominator > 1 else rf"{factor}\pi")
"""

_COUNT_POINTS = """
from fractions import Fraction

sides = list(zip(corners, corners[1:] + corners[:1]))
inside = edge = 0
for x in range(min(x for x, _ in corners), max(x for x, _ in corners) + 1):
    for y in range(min(y for _, y in corners), max(y for _, y in corners) + 1):
        on, crossings = False, 0
        for (x1, y1), (x2, y2) in sides:
            turn = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)
            on |= turn == 0 and min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2)
            crossings += (y1 > y) != (y2 > y) and (turn > 0) == (y2 > y1)
        edge += on
        inside += not on and crossings % 2
print(inside if points else inside + Fraction(edge, 2) - 1)
"""


def _lattice_polygon(rng: random.Random, level: int) -> Draft:
    side = 1 if level == 1 else 2  # corners above the line from the first corner to the one opposite, and below it
    left, base = whole(rng, -8, -2), whole(rng, -3, 3)
    xs = [left]
    for _ in range(side + 1):
        xs.append(xs[-1] + whole(rng, 1, 4))
    below = [(x, base - whole(rng, 1, 6)) for x in xs[1:-1]]
    above = [(x, base + whole(rng, 1, 6)) for x in xs[1:-1]]
    corners = ((left, base), *below, (xs[-1], base), *above[::-1])
    edges = list(zip(corners, (*corners[1:], corners[0]), strict=True))
    twice = sum([a * d - b * c for (a, b), (c, d) in edges])
    edge_points = sum([gcd(c - a, d - b) for (a, b), (c, d) in edges])
    answer = Fraction(twice, 2) if level < 3 else Fraction(twice - edge_points, 2) + 1
    shown = ", ".join(map(str, corners))
    if level < 3:
        texts = (
            f"A polygon has the corners {shown}, in this order. What is its area?",
            (
                f"Find the area that is enclosed by the segments from each of these points to the next and from the "
                f"last to the first: {shown}."
            ),
        )
    else:
        texts = (
            (
                f"A polygon has the corners {shown}, in this order. How many points with integer coordinates lie "
                "strictly inside it?"
            ),
            (
                f"Count the points with integer coordinates in the interior of the polygon with the corners {shown}, "
                "in this order."
            ),
        )
    text = pick(rng, texts)
    return Draft(text, latex.number(answer), program(_COUNT_POINTS, corners=corners, points=int(level == 3)))


_SWEEP = """
from fractions import Fraction

factor = Fraction(0)
for direction in range(360):  # degree by degree, from along the first wall, round the field, to along the other wall
    if direction < 270:
        factor += Fraction(rope**2, 360)
    else:  # past a corner, where the rope bends
        factor += sum(Fraction((rope - wall) ** 2, 360) for wall in walls if rope > wall)
"""


def _tether(rng: random.Random, level: int) -> Draft:
    short, long = sorted(sample(rng, range(6, 30), 2))
    least, most = {1: (short // 2, short), 2: (short + 1, long), 3: (long + 1, long + short - 1)}[level]
    rope = whole(rng, least, most)
    answer = Fraction(3 * rope**2 + max(rope - short, 0) ** 2 + max(rope - long, 0) ** 2, 4)
    animal = pick(rng, ("goat", "pony", "sheep"))
    text = pick(
        rng,
        (
            (
                f"A {animal} is tied to an outer corner of a closed rectangular barn of {long} m by {short} m with a "
                f"rope of {rope} m, on a wide meadow. How many square metres can it graze?"
            ),
            (
                f"On open grass stands a rectangular shed of {short} m by {long} m. A {animal} is tied outside to one "
                f"of its corners by a rope of {rope} m. Find the area it can reach, in square metres."
            ),
        ),
    )
    return Draft(text, latex.scaled(answer, r"\pi"), program(_SWEEP + _PRINT_PI, rope=rope, walls=(short, long)))


_UNFOLD = """
from fractions import Fraction
from itertools import permutations

square = Fraction(min((first + second) ** 2 + third**2 for first, second, third in permutations(edges)))
"""


def _box_walk(rng: random.Random, level: int) -> Draft:
    edges = sorted([whole(rng, 2, {1: 16, 2: 30, 3: 70}[level]) for _ in range(3)])
    square = (edges[0] + edges[1]) ** 2 + edges[2] ** 2
    told = " by ".join(map(str, shuffled(rng, edges)))
    text = pick(
        rng,
        (
            (
                f"An ant walks on the surface of a closed box of {told} from one corner to the corner farthest from "
                "it, the other end of a space diagonal. How long is its shortest way?"
            ),
            (
                f"What is the length of a shortest path along the surface of a cuboid of {told} between two corners "
                "that are diagonally opposite through its interior?"
            ),
        ),
    )
    return Draft(text, latex.square_root(square), program(_UNFOLD + _PRINT_ROOT, edges=tuple(edges)))


_PLACE_TRIANGLE = """
from fractions import Fraction

a, b, c = sides  # c lies on the x-axis from the origin, where it meets b
x = Fraction(b * b + c * c - a * a, 2 * c)
y_squared = b * b - x * x
if wanted == "area":
    square = c * c * y_squared / 4
elif wanted == "inradius":  # twice the area over the perimeter
    square = c * c * y_squared / (a + b + c) ** 2
else:  # the centre is as far from the origin as from the other two corners
    square = Fraction(c * c, 4) + (x * x + y_squared - c * x) ** 2 / (4 * y_squared)
"""


def _triangle(rng: random.Random, level: int) -> Draft:
    most = 25 if level < 3 else 20
    while True:
        a, b, c = sorted([whole(rng, 3, most) for _ in range(3)])
        if a + b > c:
            break
    heron = (a + b + c) * (a + b - c) * (a - b + c) * (b + c - a)  # 16 times the square of the area
    square = {
        1: Fraction(heron, 16),
        2: Fraction(heron, 4 * (a + b + c) ** 2),
        3: Fraction((a * b * c) ** 2, heron),
    }[level]
    ask = {1: "area", 2: "radius of the inscribed circle", 3: "radius of the circumscribed circle"}[level]
    shown = ", ".join(map(str, shuffled(rng, (a, b, c))))
    text = pick(
        rng,
        (
            f"A triangle has sides of length {shown}. Find the {ask}.",
            f"What is the {ask} of a triangle with the sides {shown}?",
        ),
    )
    wanted = {1: "area", 2: "inradius", 3: "circumradius"}[level]
    return Draft(
        text, latex.square_root(square), program(_PLACE_TRIANGLE + _PRINT_ROOT, sides=(a, b, c), wanted=wanted)
    )


_CUT_TRIANGLE = """
from fractions import Fraction

def area(*corners):
    return abs(sum(a * d - b * c for (a, b), (c, d) in zip(corners, corners[1:] + corners[:1]))) / Fraction(2)

def cut(base):  # A at the origin, BC level and so long; where the level line through D meets AC
    return base * Fraction(upper, upper + lower)

base = Fraction(1)
a, b, c, d, e = (0, 0), (0, upper + lower), (base, upper + lower), (0, upper), (cut(base), upper)
if wanted == "length":
    print(cut(given))
elif wanted == "part":
    print(given * area(a, d, e) / area(a, b, c))
else:
    print(given * area(d, b, c, e) / area(a, d, e))
"""


def _parallel_cut(rng: random.Random, level: int) -> Draft:
    upper, lower, given = whole(rng, 2, 15), whole(rng, 2, 15), whole(rng, 5, 90)
    ratio = Fraction(upper, upper + lower)
    answer = {1: given * ratio, 2: given * ratio**2, 3: given * (1 / ratio**2 - 1)}[level]
    told, ask = {
        1: (f"BC = {given}", "How long is DE?"),
        2: (f"the area of ABC is {given}", "What is the area of triangle ADE?"),
        3: (f"the area of ADE is {given}", "What is the area of the quadrilateral DBCE?"),
    }[level]
    text = pick(
        rng,
        (
            (
                f"In triangle ABC, D lies on AB with AD = {upper} and DB = {lower}. The parallel to BC through D meets "
                f"AC in E, and {told}. {ask}"
            ),
            (
                f"A line parallel to side BC of a triangle ABC meets AB in D and AC in E. Given that AD = {upper}, "
                f"DB = {lower} and {told}: {ask}"
            ),
        ),
    )
    wanted = {1: "length", 2: "part", 3: "rest"}[level]
    return Draft(
        text, latex.number(answer), program(_CUT_TRIANGLE, upper=upper, lower=lower, given=given, wanted=wanted)
    )


_MIRROR = """
from fractions import Fraction

x, y = point
for a, b, c in lines:  # u, v: its middle with the image is on the line, and their difference along the line's normal
    right, across = 2 * c - a * x - b * y, b * x - a * y
    u, v = Fraction(a * right + b * across, a * a + b * b), Fraction(b * right - a * across, a * a + b * b)
    assert a * (x + u) + b * (y + v) == 2 * c and b * (u - x) == a * (v - y)
    x, y = u, v
print(f"({x}, {y})")
"""


def _mirror(rng: random.Random, level: int) -> Draft:
    point = (whole(rng, -9, 9), whole(rng, -9, 9))
    x, y = Fraction(point[0]), Fraction(point[1])
    lines = []
    for _ in range(1 if level < 3 else 2):
        most = 1 if level == 1 else 4
        a, b, c = nonzero(rng, most), nonzero(rng, most), whole(rng, -12, 12)
        c += a * x + b * y == c  # a point of the mirror would stay where it is
        lines.append((a, b, c))
        off = 2 * (a * x + b * y - c) / (a * a + b * b)
        x, y = x - off * a, y - off * b
    (first, *rest) = [f"${latex.linear_combination(((a, 'x'), (b, 'y')))} = {c}$" for a, b, c in lines]
    then = f", and the image then in the line {rest[0]}" if rest else ""
    text = pick(
        rng,
        (
            f"The point {point} is reflected in the line {first}{then}. Where does it end up?",
            f"Find the point that one gets by reflecting {point} in the line {first}{then}.",
        ),
    )
    return Draft(text, latex.ordered((x, y)), program(_MIRROR, point=point, lines=tuple(lines)))


_SLICE_SOLID = """
from fractions import Fraction

def slice_area(z):  # over pi, at height z
    radius = bottom + Fraction(top - bottom, height) * z
    return radius**2 - hole**2

half = Fraction(height, 2)  # Simpson's rule is exact, since slices grow as the square of the height
factor = (slice_area(0) + 4 * slice_area(half) + slice_area(height)) * height / 6
"""


def _frustum(rng: random.Random, level: int) -> Draft:
    top = 0 if level == 1 else whole(rng, 2, 14)
    bottom, height = whole(rng, top + 1, top + 25), whole(rng, 2, 30)
    hole = whole(rng, 1, top - 1) if level == 3 else 0
    answer = Fraction(height * (bottom**2 + bottom * top + top**2), 3) - height * hole**2
    solid = (
        f"cone has base radius {bottom} and height {height}"
        if level == 1
        else f"truncated cone of height {height} has a base of radius {bottom} and a top of radius {top}"
    )
    drill = f" A hole of radius {hole} is drilled through it along its whole axis." if hole else ""
    whose = "the volume of what is left" if hole else "its volume"
    text = f"A right circular {solid}.{drill} " + pick(rng, (f"What is {whose}?", f"Find {whose}."))
    code = program(_SLICE_SOLID + _PRINT_PI, bottom=bottom, top=top, height=height, hole=hole)
    return Draft(text, latex.scaled(answer, r"\pi"), code)


FAMILIES = (
    Family(
        "lattice_polygon",
        Topic.GEOMETRY,
        "the shoelace formula and Pick's theorem",
        Form.FRACTION,
        ("area of a quadrilateral", "area of a hexagon", "points inside a hexagon"),
        _lattice_polygon,
    ),
    Family(
        "tether",
        Topic.GEOMETRY,
        "a rope sweeps a sector, and a shorter one past a corner",
        Form.PI,
        ("shorter than both walls", "longer than one wall", "longer than both walls"),
        _tether,
    ),
    Family(
        "box_walk",
        Topic.GEOMETRY,
        "a shortest way on a surface is straight when unfolded",
        Form.SURD,
        ("edges up to 16", "edges up to 30", "edges up to 70"),
        _box_walk,
    ),
    Family(
        "triangle",
        Topic.GEOMETRY,
        "Heron's formula and what follows from it",
        Form.SURD,
        ("area", "radius of the incircle", "radius of the circumcircle"),
        _triangle,
    ),
    Family(
        "parallel_cut",
        Topic.GEOMETRY,
        "lengths of similar figures, and their squares",
        Form.FRACTION,
        ("a length", "the area cut off", "the area that remains"),
        _parallel_cut,
    ),
    Family(
        "mirror",
        Topic.GEOMETRY,
        "a reflection goes twice the way to the line",
        Form.VECTOR,
        ("in a diagonal line", "in any line", "in two lines"),
        _mirror,
    ),
    Family(
        "frustum",
        Topic.GEOMETRY,
        "the volume of a cone and of its parts",
        Form.PI,
        ("a cone", "a truncated cone", "a drilled one"),
        _frustum,
    ),
)
