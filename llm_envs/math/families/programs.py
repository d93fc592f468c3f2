"""Programs that work out the answer to a question."""

Literal = int | str | tuple["Literal", ...]

HORNER = """
from fractions import Fraction

def value(polynomial, x):  # its coefficients, the highest power first
    total = Fraction(0)
    for coefficient in polynomial:
        total = total * x + coefficient
    return total
"""


def program(body: str, **numbers: Literal) -> str:
    """The numbers of a question, one assignment each; then, after an empty line, what to do with them.

    Equal numbers in the same body make the same program, whatever words the question is asked in.

    Args:
        body: Python that needs nothing but the standard library and prints the answer; it begins with an empty line.
        numbers: what the body may use by name.
    """
    return "".join([f"{name} = {value!r}\n" for name, value in numbers.items()]) + body
