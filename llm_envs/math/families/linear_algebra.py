"""Linear algebra: determinants, powers, inverses, systems, eigenvalues, singular matrices, projections."""

import random
from collections.abc import Sequence
from fractions import Fraction

from llm_envs.core.draws import pick, sample, whole
from llm_envs.math.families import latex
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.polynomials import nonzero
from llm_envs.math.families.programs import program

Rows = list[list[int]]

_PRINT_TUPLE = """
print(f"({', '.join(map(str, values))})")
"""

_PRINT_MATRIX = r"""
lines = [" & ".join(map(str, row)) for row in rows]
print(r"\begin{pmatrix} " + r" \\ ".join(lines) + r" \end{pmatrix}")
"""

_ELIMINATE = """
from fractions import Fraction

rows = [[Fraction(entry) for entry in row] for row in augmented]
for pivot in range(len(rows)):
    swap = next(k for k in range(pivot, len(rows)) if rows[k][pivot])
    rows[pivot], rows[swap] = rows[swap], rows[pivot]
    rows[pivot] = [entry / rows[pivot][pivot] for entry in rows[pivot]]
    for k in range(len(rows)):
        if k != pivot:
            rows[k] = [entry - rows[k][pivot] * base for entry, base in zip(rows[k], rows[pivot])]
"""

_SUM_PERMUTATIONS = """
from itertools import permutations

def determinant(rows):
    total = 0
    for order in permutations(range(len(rows))):
        swaps = sum(a > b for place, a in enumerate(order) for b in order[place:])
        product = (-1) ** swaps
        for row, column in zip(rows, order):
            product *= row[column]
        total += product
    return total
"""


_PRINT_DETERMINANT = """
print(determinant(rows))
"""


def _draw_rows(rng: random.Random, size: int, most: int) -> Rows:
    return [[whole(rng, -most, most) for _ in range(size)] for _ in range(size)]


def _frozen(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple([tuple(row) for row in rows])


def _multiply(first: Rows, second: Rows) -> Rows:
    columns = list(zip(*second, strict=True))
    return [[sum([a * b for a, b in zip(row, column, strict=True)]) for column in columns] for row in first]


def _determinant(rows: Sequence[Sequence[int]]) -> int:
    """By Bareiss' elimination without fractions (1968)."""
    if len(rows) == 2:
        return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]
    matrix, sign, last = [list(row) for row in rows], 1, 1
    for pivot in range(len(matrix) - 1):
        swap = next((k for k in range(pivot, len(matrix)) if matrix[k][pivot]), None)
        if swap is None:
            return 0
        if swap != pivot:
            matrix[pivot], matrix[swap], sign = matrix[swap], matrix[pivot], -sign
        head = matrix[pivot]
        for row in matrix[pivot + 1 :]:
            factor = row[pivot]
            for k in range(pivot + 1, len(row)):
                row[k] = (row[k] * head[pivot] - factor * head[k]) // last
        last = head[pivot]
    return sign * matrix[-1][-1]


def _adjugate(rows: Rows) -> Rows:
    """The matrix whose product with the given one is the determinant times the identity."""
    places = range(len(rows))

    def minor(row: int, column: int) -> Rows:
        return [[rows[i][j] for j in places if j != column] for i in places if i != row]

    return [[(-1) ** (row + column) * _determinant(minor(column, row)) for column in places] for row in places]


def _unimodular(rng: random.Random, size: int) -> Rows:
    """A product of shears, so that its determinant is 1 and its inverse whole."""
    rows = [[int(i == j) for j in range(size)] for i in range(size)]
    for i in range(size):
        for j in range(size):
            if i != j:
                factor = whole(rng, -1, 1)
                rows[i] = [a + factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return rows


def _determinant_of(rng: random.Random, level: int) -> Draft:
    rows = _draw_rows(rng, 3 if level < 3 else 4, {1: 4, 2: 9, 3: 5}[level])
    text = pick(rng, ("Find the determinant of ${}$.", "What is the determinant of the matrix ${}$?"))
    code = program(_SUM_PERMUTATIONS + _PRINT_DETERMINANT, rows=_frozen(rows))
    return Draft(text.format(latex.matrix(rows)), str(_determinant(rows)), code)


_MULTIPLY_ON = """
rows = matrix
for _ in range(power - 1):
    rows = [[sum(a * b for a, b in zip(row, column)) for column in zip(*matrix)] for row in rows]
"""


def _matrix_power(rng: random.Random, level: int) -> Draft:
    matrix = _draw_rows(rng, 2 if level < 3 else 3, 5 if level < 3 else 3)
    power = {1: 2, 2: whole(rng, 3, 5), 3: whole(rng, 3, 4)}[level]
    half = _multiply(matrix, matrix)
    answer = {2: half, 4: _multiply(half, half)}.get(power) or _multiply(half, matrix)
    answer = _multiply(half, answer) if power == 5 else answer
    shown = rf"{latex.matrix(matrix)}^{power}"
    text = pick(rng, (f"Work out ${shown}$.", f"Find the matrix ${shown}$, a power of the matrix in the brackets."))
    code = program(_MULTIPLY_ON + _PRINT_MATRIX, matrix=_frozen(matrix), power=power)
    return Draft(text, latex.matrix(answer), code)


_BESIDE_IDENTITY = """
augmented = [[*row, *[int(i == j) for j in range(len(matrix))]] for i, row in enumerate(matrix)]
"""

_RIGHT_HALF = """
rows = [row[len(row) // 2 :] for row in rows]
"""

_LAST_COLUMN = """
values = [row[-1] for row in rows]
"""


def _inverse(rng: random.Random, level: int) -> Draft:
    determinant = 0
    while determinant == 0 or (level == 1 and abs(determinant) > 3):
        rows = _draw_rows(rng, 2 if level < 3 else 3, {1: 6, 2: 9, 3: 3}[level])
        determinant = _determinant(rows)
    answer = [[Fraction(entry, determinant) for entry in row] for row in _adjugate(rows)]
    if answer == rows:  # it is its own inverse
        return _inverse(rng, level)
    text = pick(rng, ("Find the inverse of the matrix ${}$.", "Which matrix is inverse to ${}$?"))
    return Draft(
        text.format(latex.matrix(rows)),
        latex.matrix(answer),
        program(_BESIDE_IDENTITY + _ELIMINATE + _RIGHT_HALF + _PRINT_MATRIX, matrix=_frozen(rows)),
    )


def _linear_system(rng: random.Random, level: int) -> Draft:
    size = 2 if level == 1 else 3
    determinant = 0
    while determinant == 0:
        rows = _draw_rows(rng, size, 6 if level == 1 else 4)
        determinant = _determinant(rows)
    if level < 3:
        solution = [Fraction(whole(rng, -9, 9)) for _ in range(size)]
        right = [int(sum([a * x for a, x in zip(row, solution, strict=True)])) for row in rows]
    else:
        right = [whole(rng, -9, 9) for _ in range(size)]
        scaled = [sum([a * b for a, b in zip(row, right, strict=True)]) for row in _adjugate(rows)]
        solution = [Fraction(value, determinant) for value in scaled]
    names = "xyz"[:size]
    lines = [
        f"{latex.linear_combination(zip(row, names, strict=True))} = {value}"
        for row, value in zip(rows, right, strict=True)
    ]
    unknowns = f"(${', '.join(names)}$)"
    text = pick(rng, (f"Solve the system ${'$, $'.join(lines)}$", f"Find the only solution of ${'$, $'.join(lines)}$"))
    augmented = tuple([(*row, value) for row, value in zip(rows, right, strict=True)])
    code = program(_ELIMINATE + _LAST_COLUMN + _PRINT_TUPLE, augmented=augmented)
    return Draft(f"{text} for {unknowns}.", latex.ordered(solution), code)


_TRY_EIGENVALUES = r"""
bound = max(sum(map(abs, row)) for row in matrix)  # no eigenvalue is larger
found = []
for value in range(-bound, bound + 1):
    if determinant([[entry - value * (i == j) for j, entry in enumerate(row)] for i, row in enumerate(matrix)]) == 0:
        found.append(value)
print(r"\{" + ", ".join(map(str, found)) + r"\}")
"""


def _eigenvalues(rng: random.Random, level: int) -> Draft:
    size = 2 if level < 3 else 3
    values = sample(rng, range(-6, 7) if level == 1 else range(-9, 10), size)
    change = _unimodular(rng, size)
    if level == 2:
        change = _multiply(change, _unimodular(rng, size))
    diagonal = [[value if i == j else 0 for j in range(size)] for i, value in enumerate(values)]
    diagonal[0][-1] = whole(rng, -3, 3)
    matrix = _multiply(_multiply(change, diagonal), _adjugate(change))
    text = pick(rng, ("Find the set of all eigenvalues of ${}$.", "Which numbers are eigenvalues of the matrix ${}$?"))
    code = program(_SUM_PERMUTATIONS + _TRY_EIGENVALUES, matrix=_frozen(matrix))
    return Draft(text.format(latex.matrix(matrix)), latex.finite_set(values), code)


_INTERPOLATE = """
from fractions import Fraction

def at(k):
    return determinant([[constant + factor * k for constant, factor in row] for row in rows])

print(Fraction(at(0), at(0) - at(1)))  # the determinant is linear in k
"""


def _singular(rng: random.Random, level: int) -> Draft:
    size = 2 if level == 1 else 3
    slope = 0
    while slope == 0:
        rows, places = _draw_rows(rng, size, 9 if level == 1 else 5), range(size)
        factors = [[0] * size for _ in places]
        line = whole(rng, 0, size - 1)  # of the row that k stands in
        for column in sample(rng, places, 1 if level < 3 else 2):
            factors[line][column] = nonzero(rng, 1 if level == 2 else 3)
        at_zero = _determinant(rows)
        at_one = _determinant([[rows[i][j] + factors[i][j] for j in places] for i in places])
        slope = at_one - at_zero
    shown = [[latex.linear_combination(((factors[i][j], "k"), (rows[i][j], ""))) for j in places] for i in places]
    inside = r" \\ ".join([" & ".join(row) for row in shown])
    matrix = rf"\begin{{pmatrix}} {inside} \end{{pmatrix}}"
    text = pick(
        rng,
        (
            f"For which value of $k$ is ${matrix}$ not invertible?",
            f"Find the number $k$ for which ${matrix}$ is singular.",
        ),
    )
    entries = tuple([tuple([(rows[i][j], factors[i][j]) for j in places]) for i in places])
    return Draft(text, latex.number(Fraction(-at_zero, slope)), program(_SUM_PERMUTATIONS + _INTERPOLATE, rows=entries))


_NORMAL_EQUATIONS = """
augmented = [[sum(a * b for a, b in zip(u, v)) for v in (*spanning, vector)] for u in spanning]
"""

_COMBINE = """
values = [sum(row[-1] * direction[k] for row, direction in zip(rows, spanning)) for k in range(len(vector))]
"""


def _onto_line(vector: Sequence[int], direction: Sequence[int]) -> list[Fraction]:
    share = Fraction(sum([a * b for a, b in zip(vector, direction, strict=True)]), sum([a * a for a in direction]))
    return [share * a for a in direction]


def _projection(rng: random.Random, level: int) -> Draft:
    size = 2 if level == 1 else 3
    vector, first, second = (tuple([nonzero(rng, most) for _ in range(size)]) for most in (9, 5, 4))
    spanning: tuple[tuple[int, ...], ...] = (first,)
    answer = _onto_line(vector, first)
    if level == 3:
        (a, b, c), (d, e, f) = first, second
        normal = (b * f - c * e, c * d - a * f, a * e - b * d)
        if normal == (0, 0, 0):
            return _projection(rng, level)
        spanning = (first, second)
        answer = [p - q for p, q in zip(vector, _onto_line(vector, normal), strict=True)]
    if answer == list(vector):  # it lies there already
        return _projection(rng, level)
    onto = f"the line spanned by {first}" if level < 3 else f"the plane spanned by {first} and {second}"
    text = pick(
        rng,
        (f"Find the orthogonal projection of {vector} onto {onto}.", f"Which vector of {onto} is nearest to {vector}?"),
    )
    return Draft(
        text,
        latex.ordered(answer),
        program(_NORMAL_EQUATIONS + _ELIMINATE + _COMBINE + _PRINT_TUPLE, vector=vector, spanning=spanning),
    )


FAMILIES = (
    Family(
        "determinant",
        Topic.LINEAR_ALGEBRA,
        "a determinant by elimination or expansion",
        Form.INTEGER,
        ("3 x 3, small entries", "3 x 3", "4 x 4"),
        _determinant_of,
    ),
    Family(
        "matrix_power",
        Topic.LINEAR_ALGEBRA,
        "products of matrices",
        Form.MATRIX,
        ("a square", "powers 3 to 5", "of a 3 x 3 matrix"),
        _matrix_power,
    ),
    Family(
        "inverse_matrix",
        Topic.LINEAR_ALGEBRA,
        "the inverse: adjugate over determinant",
        Form.MATRIX,
        ("2 x 2, determinant up to 3", "2 x 2", "3 x 3"),
        _inverse,
    ),
    Family(
        "linear_system",
        Topic.LINEAR_ALGEBRA,
        "a linear system with one solution",
        Form.VECTOR,
        ("two unknowns", "three unknowns", "three unknowns, fractions"),
        _linear_system,
    ),
    Family(
        "eigenvalues",
        Topic.LINEAR_ALGEBRA,
        "zeros of the characteristic polynomial",
        Form.SET,
        ("2 x 2, small", "2 x 2", "3 x 3"),
        _eigenvalues,
    ),
    Family(
        "singular_matrix",
        Topic.LINEAR_ALGEBRA,
        "a matrix is singular where its determinant is 0",
        Form.FRACTION,
        ("2 x 2", "3 x 3", "the unknown twice in a row"),
        _singular,
    ),
    Family(
        "projection",
        Topic.LINEAR_ALGEBRA,
        "what is left after a projection is orthogonal to it",
        Form.VECTOR,
        ("in the plane", "onto a line in space", "onto a plane in space"),
        _projection,
    ),
)
