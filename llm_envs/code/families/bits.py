"""Families about the binary digits of numbers."""

import random

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.inputs import length, numbers
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, shuffled, whole


def lonely_value(values: list[int], *, times: int) -> int:
    """Each binary digit is there a multiple of `times` times, but for those of the value looked for."""
    lonely = 0
    for bit in range(10):
        count = sum(value >> bit & 1 for value in values)
        if count % times:
            lonely |= 1 << bit
    return lonely


LONELY_VALUE = Family(
    name="lonely_value",
    idea="counting each binary digit modulo the number of repetitions",
    arguments=(Argument("values", Kind.INTS, "1 to 40 whole numbers from 0 to 1000"),),
    result=Kind.INT,
    solve=lonely_value,
    parameters=lambda rng, level: {"times": pick(rng, (3, 5, 7)[:level])},
    statement=lambda parameters: (
        f"One value stands in the list once; every other value of the list stands there exactly {parameters['times']} "
        "times. Which one stands there once?"
    ),
    draw=lambda rng, level, parameters: (_repeated(rng, level, parameters["times"]),),
    mutants=(
        Mutant("as if the others were there twice", "count % times", "count % 2"),
        Mutant("takes numbers of eight binary digits", "range(10)", "range(8)"),
        Mutant("digits that most values have", "if count % times", "if count * 2 > len(values)"),
        Mutant("forgets the lowest digit", "range(10)", "range(1, 10)"),
        Mutant("leaves the last value out", "for value in values)", "for value in values[: max(1, len(values) - 1)])"),
    ),
)


def _repeated(rng: random.Random, level: int, times: int) -> list[int]:
    """Some values, each `times` times, and one once; small ones as often as large ones."""
    most = pick(rng, (7, 1000, 1000))
    found: list[int] = []
    while len(found) < 1 + whole(rng, 0, 2 + level):
        value = whole(rng, 0, most)
        if value not in found:
            found.append(value)
    return shuffled(rng, [*found[1:] * times, found[0]])[:40]


def greatest_xor(values: list[int], *, ignored: int) -> int:
    """From the highest digit down: a digit can be had if two prefixes differ by the prefix with it."""
    best = 0
    for bit in range(9, ignored - 1, -1):
        prefixes = {value >> bit for value in values}
        wanted = best >> bit | 1
        if any(prefix ^ wanted in prefixes for prefix in prefixes):
            best |= 1 << bit
    return best


GREATEST_XOR = Family(
    name="greatest_xor",
    idea="fixing the binary digits of an answer from the highest down, with a set of prefixes",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from 0 to 1000"),),
    result=Kind.INT,
    solve=greatest_xor,
    parameters=lambda rng, level: {"ignored": whole(rng, 1, 1 + level)},
    statement=lambda parameters: (
        "Take two values of the list and their bitwise exclusive or, and set the lowest "
        f"{parameters['ignored']} binary digits of it to 0. What is the greatest number that can come out? For fewer "
        "than two values it is 0."
    ),
    draw=lambda rng, level, _: (numbers(rng, length(rng, level), 0, pick(rng, (15, 60, 1000))),),
    mutants=(
        Mutant("sets no digit to 0", "ignored - 1, -1", "-1, -1"),
        Mutant("sets one digit too many to 0", "ignored - 1, -1", "ignored, -1"),
        Mutant("forgets the digits found before", "wanted = best >> bit | 1", "wanted = 1"),
        Mutant("takes numbers of eight binary digits", "range(9,", "range(7,"),
        Mutant(
            "takes the two largest values",
            "prefixes = {value >> bit for value in values}",
            "prefixes = {value >> bit for value in sorted(values)[-2:]}",
        ),
        Mutant(
            "one of the two is the first value",
            "for prefix in prefixes)",
            "for prefix in [value >> bit for value in values[:1]])",
        ),
    ),
)


def gray_codes(values: list[int], *, decode: bool) -> list[int]:
    """A number and half of it make its code; a code and all its halves make the number."""
    found = []
    for value in values:
        code = value ^ value >> 1
        number, rest = value, value >> 1
        while rest > 0:
            number, rest = number ^ rest, rest >> 1
        found.append(number if decode else code)
    return found


GRAY_CODES = Family(
    name="gray_codes",
    idea="Gray code: the exclusive or with the number shifted, and how to undo it",
    arguments=(Argument("values", Kind.INTS, "up to 14 whole numbers from 0 to 1000"),),
    result=Kind.INTS,
    solve=gray_codes,
    parameters=lambda rng, _level: {"decode": pick(rng, (False, True))},
    statement=lambda parameters: (
        "The reflected Gray code of a number n >= 0 is the exclusive or of n and n // 2 (1 has code 1, 2 has code 3, 3 "
        f"has code 2). For each value give {'the number that has this code' if parameters['decode'] else 'its code'}."
    ),
    draw=lambda rng, level, _: (numbers(rng, length(rng, level) // 2, 0, pick(rng, (1, 3, 7, 20 * level, 1000))),),
    mutants=(
        Mutant("encodes instead of decoding, or decodes", "number if decode else code", "code if decode else number"),
        Mutant("or instead of exclusive or", "number if decode else code", "value | value >> 1"),
        Mutant("the difference instead of the exclusive or", "number if decode else code", "value - (value >> 1)"),
        Mutant("numbers of eight binary digits", "number if decode else code", "(number if decode else code) & 255"),
        Mutant(
            "a value that is there again is left out", "for value in values:", "for value in dict.fromkeys(values):"
        ),
        Mutant("leaves 0 out", "for value in values:", "for value in filter(None, values):"),
    ),
)


def xor_basis(values: list[int], *, target: int) -> list[int]:
    """Gaussian elimination over binary digits: the basis spans what subsets can reach."""
    basis: list[int] = []
    for value in values:
        rest = value
        for vector in sorted(basis, reverse=True):
            rest = min(rest, rest ^ vector)
        if rest:
            basis.append(rest)
    rest = target
    for vector in sorted(basis, reverse=True):
        rest = min(rest, rest ^ vector)
    return [1 << len(basis), rest]


XOR_BASIS = Family(
    name="xor_basis",
    idea="a basis of numbers under exclusive or (Gaussian elimination over binary digits)",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from 0 to 255"),),
    result=Kind.INTS,
    solve=xor_basis,
    parameters=lambda rng, level: {"target": whole(rng, 5, 20 * level)},
    statement=lambda parameters: (
        "Every subset of the list, the empty one included, has the exclusive or of its values as its sum; that of the "
        "empty subset is 0. Give two numbers: how many different sums there are, and the smallest number that the "
        f"exclusive or of {parameters['target']} and one of the sums can be."
    ),
    draw=lambda rng, level, _: (_dependent(rng, level),),
    mutants=(
        Mutant(
            "every value doubles the number of sums",
            "        if rest:\n            basis.append(rest)",
            "        basis.append(rest)",
        ),
        Mutant(
            "equal values are all that depends",
            "        if rest:\n            basis.append(rest)",
            "        if value and value not in basis:\n            basis.append(value)",
        ),
        Mutant(
            "does not count the sum of the empty subset",
            "[1 << len(basis), rest]",
            "[(1 << len(basis)) - (0 not in values), rest]",
        ),
        Mutant(
            "reduces the target by one vector",
            "    return",
            "    rest = min([target, *(target ^ vector for vector in basis)])\n    return",
        ),
        Mutant(
            "from the lowest vector to the highest",
            "    rest = target\n    for vector in sorted(basis, reverse=True)",
            "    rest = target\n    for vector in sorted(basis)",
        ),
        Mutant("leaves the first value out", "for value in values", "for value in values[1:]"),
    ),
)


def _dependent(rng: random.Random, level: int) -> list[int]:
    """Few values, and sums of some of them."""
    values = numbers(rng, length(rng, level) // 2, 0, pick(rng, (7, 31, 255)))
    for _ in range(whole(rng, 0, len(values) // 2)):
        values.append(pick(rng, values) ^ pick(rng, values))
    return shuffled(rng, values)


def reversed_bits(values: list[int], *, width: int) -> list[int]:
    """Each digit below the width goes to its mirror place; digits above it stay."""
    found = []
    for value in values:
        mirrored = value >> width << width
        for place in range(width):
            mirrored |= (value >> place & 1) << (width - 1 - place)
        found.append(mirrored)
    return found


REVERSED_BITS = Family(
    name="reversed_bits",
    idea="reversing a field of binary digits by shifts and masks",
    arguments=(Argument("values", Kind.INTS, "up to 7 whole numbers from 0 to 1000"),),
    result=Kind.INTS,
    solve=reversed_bits,
    parameters=lambda rng, level: {"width": whole(rng, 4, 4 + level)},
    statement=lambda parameters: (
        f"In each value, reverse the order of the lowest {parameters['width']} binary digits, leading zeros among them "
        "included, and leave the higher digits as they are. Give the new values in the order of the list."
    ),
    draw=lambda rng, level, parameters: (_fields(rng, length(rng, level) // 4, parameters["width"]),),
    mutants=(
        Mutant("loses the higher digits", "value >> width << width", "0"),
        Mutant(
            "does not reverse leading zeros",
            "(width - 1 - place)",
            "max(0, min(width, value.bit_length()) - 1 - place)",
        ),
        Mutant("one digit too few", "range(width)", "range(width - 1)"),
        Mutant("does not clear the digits first", "value >> width << width", "value"),
        Mutant("forgets the lowest digit", "range(width)", "range(1, width)"),
        Mutant("mirrors to one place too low", "(width - 1 - place)", "max(0, width - 2 - place)"),
    ),
)


def _fields(rng: random.Random, count: int, width: int) -> list[int]:
    """Values within the field, above it, and ones that read the same in both directions."""
    same = [0, (1 << width) - 1, 1 << width, (1 << width - 1) + 1]
    most = pick(rng, ((1 << width) - 1, 1000))
    return [pick(rng, same) if rng.random() < 0.5 else whole(rng, 0, most) for _ in range(count)]


FAMILIES = (LONELY_VALUE, GREATEST_XOR, GRAY_CODES, XOR_BASIS, REVERSED_BITS)
