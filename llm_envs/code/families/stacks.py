"""Families whose algorithm is a stack."""

import random

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.inputs import length, numbers
from llm_envs.code.families.shapes import words
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole


def next_greater(values: list[int], *, strict: bool, leftwards: bool) -> list[int]:
    """The stack holds places whose greater value is still to come."""
    line = values[::-1] if leftwards else values
    distances = [0] * len(line)
    waiting: list[int] = []
    for place, value in enumerate(line):
        while waiting and (line[waiting[-1]] < value or (not strict and line[waiting[-1]] == value)):
            earlier = waiting.pop()
            distances[earlier] = place - earlier
        waiting.append(place)
    return distances[::-1] if leftwards else distances


NEXT_GREATER = Family(
    name="next_greater",
    idea="a stack of values that wait for a greater one",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from -9 to 9"),),
    result=Kind.INTS,
    solve=next_greater,
    parameters=lambda rng, _level: {"strict": pick(rng, (False, True)), "leftwards": pick(rng, (False, True))},
    statement=lambda parameters: (
        f"For each value give the distance to the nearest value on its {'left' if parameters['leftwards'] else 'right'}"
        f" that is {'greater' if parameters['strict'] else 'at least as great'}, 1 for its neighbour, and 0 if there "
        "is none."
    ),
    draw=lambda rng, level, _: (_hilly(rng, length(rng, level)),),
    mutants=(
        Mutant("equal values are on the other side", "(not strict and", "(strict and"),
        Mutant("looks to the other side", "values[::-1] if leftwards", "values[::-1] if not leftwards"),
        Mutant("lets one value go, not all", "while waiting and", "if waiting and"),
        Mutant("counts the values in between", "= place - earlier", "= place - earlier - 1"),
        Mutant(
            "where there is none, the distance to the end",
            "    return",
            "    for place in waiting[:-1]:\n        distances[place] = len(line) - place\n    return",
        ),
    ),
)


def _hilly(rng: random.Random, count: int) -> list[int]:
    """Values that rise, fall, are mixed, or are nearly all the same."""
    values = numbers(rng, count, *pick(rng, ((-9, 9), (0, 2))))
    way = pick(rng, (0, 0, 1, 2))
    return sorted(values, reverse=way == 1) if way else values


def bracket_error(text: str, *, deepest: int) -> int:
    """The stack holds the brackets that are open."""
    partner = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    for place, letter in enumerate(text, start=1):
        if letter in partner:
            if not stack or stack.pop() != partner[letter]:
                return place
        else:
            stack.append(letter)
            if len(stack) > deepest:
                return place
    return len(text) + 1 if stack else 0


BRACKET_ERROR = Family(
    name="bracket_error",
    idea="matching brackets of several kinds with a stack",
    arguments=(Argument("text", Kind.TEXT, "up to 28 brackets out of `()[]{}`; it may be empty"),),
    result=Kind.INT,
    solve=bracket_error,
    parameters=lambda rng, level: {"deepest": whole(rng, 2, 1 + level)},
    statement=lambda parameters: (
        "A text of brackets is right if every bracket that closes has the kind of the bracket opened last that is not "
        f"closed yet, no more than {parameters['deepest']} brackets are open at any place, and none is open at the "
        "end. Give 0 if the text is right. Else give the place, counted from 1, of the first bracket that makes it "
        "wrong; if nothing but a missing end makes it wrong, give the length of the text plus 1."
    ),
    draw=lambda rng, level, parameters: (_brackets(rng, length(rng, level), parameters["deepest"]),),
    mutants=(
        Mutant(
            "does not look at the kind", "not stack or stack.pop() != partner[letter]", "not stack or not stack.pop()"
        ),
        Mutant("one bracket more may be open", "len(stack) > deepest", "len(stack) > deepest + 1"),
        Mutant("one bracket fewer may be open", "len(stack) > deepest", "len(stack) >= deepest"),
        Mutant("forgets brackets that are open at the end", "len(text) + 1 if stack else 0", "0"),
        Mutant("takes a bracket that closes nothing", "not stack or stack.pop()", "stack and stack.pop()"),
        Mutant("gives the length for a missing end", "len(text) + 1 if", "len(text) if"),
        Mutant(
            "counts all brackets opened so far",
            "if len(stack) > deepest",
            'if sum(map(text[:place].count, "([{")) > deepest + 1',
        ),
    ),
)


def _brackets(rng: random.Random, count: int, deepest: int) -> str:
    """Mostly right, and as deep as allowed; then now and then with an error, or cut."""
    text, stack = "", ""
    limit = deepest + (rng.random() < 0.3)
    while len(text) + len(stack) < count:
        if stack and (len(stack) >= limit or rng.random() < 0.4):
            text, stack = text + stack[-1], stack[:-1]
        else:
            kind = pick(rng, ("()", "[]", "{}"))
            text, stack = text + kind[0], stack + kind[1]
    text += stack[::-1]
    way = rng.random()
    place = whole(rng, 0, max(0, len(text) - 1))
    if way < 0.25:
        return text[:place] + pick(rng, ")]}(") + text[place + 1 :]
    return text[:place] if way < 0.45 else text


def infix_value(text: str, *, sum_first: bool) -> int:
    """Two stacks (Dijkstra's shunting yard): values, and operators that wait for their right side."""
    rank = {"+": 2 if sum_first else 1, "-": 2 if sum_first else 1, "*": 1 if sum_first else 2}
    values: list[int] = []
    waiting: list[str] = []

    def apply() -> None:
        right, left = values.pop(), values.pop()
        operator = waiting.pop()
        values.append(left + right if operator == "+" else left - right if operator == "-" else left * right)

    for part in text.replace("(", "( ").replace(")", " )").split():
        if part == "(":
            waiting.append(part)
        elif part == ")":
            while waiting[-1] != "(":
                apply()
            waiting.pop()
        elif part in rank:
            while waiting and waiting[-1] != "(" and rank[waiting[-1]] >= rank[part]:
                apply()
            waiting.append(part)
        else:
            values.append(int(part))
    while waiting:
        apply()
    return values[0]


INFIX_VALUE = Family(
    name="infix_value",
    idea="evaluating an expression with operator precedence and brackets",
    arguments=(Argument("text", Kind.TEXT, "an expression such as `2 * (3 - 4) + 10`, numbers from 0 to 12"),),
    result=Kind.INT,
    solve=infix_value,
    parameters=lambda rng, _level: {"sum_first": pick(rng, (False, True))},
    statement=lambda parameters: (
        "Work the expression out. Contrary to what is usual, `+` and `-` bind more tightly than `*`, "
        "so that `2 * 3 + 4` is 14; operators that bind equally are applied from left to right. Brackets are as usual."
        if parameters["sum_first"]
        else "Work the expression out. As usual, `*` binds more tightly than `+` and `-`, so that `2 * 3 + 4` is 10; "
        "operators that bind equally are applied from left to right."
    ),
    draw=lambda rng, level, _: (_expression(rng, pick(rng, (1, 3, 4, 2 + 2 * level)), level),),
    mutants=(
        Mutant("`*` binds the other way", '"*": 1 if sum_first else 2', '"*": 3 if sum_first else 0'),
        Mutant(
            "all operators bind equally",
            'rank = {"+": 2 if sum_first else 1, "-": 2 if sum_first else 1, "*": 1 if sum_first else 2}',
            'rank = {"+": 1, "-": 1, "*": 1}',
        ),
        Mutant("from right to left", ">= rank[part]", "> rank[part]"),
        Mutant("the sides of a difference change places", "left - right", "right - left"),
        Mutant("`-` binds less tightly than `+`", '"-": 2 if sum_first else 1', '"-": 1.5 if sum_first else 0.5'),
        Mutant("a bracket ends with one operation", 'while waiting[-1] != "("', 'if waiting[-1] != "("'),
    ),
)


def _expression(rng: random.Random, terms: int, depth: int) -> str:
    """Terms joined by operators, a product or difference more often than not; some terms are in brackets."""
    parts = []
    for place in range(terms):
        inner = depth > 0 and terms > 1 and rng.random() < 0.3
        parts.append(f"({_expression(rng, whole(rng, 2, 4), depth - 1)})" if inner else str(whole(rng, 0, 12)))
        if place < terms - 1:
            parts.append(pick(rng, "+-*"))
    return " ".join(parts)


def widest_rectangle(heights: list[int], *, widest: int) -> int:
    """The stack holds rising heights; one that ends at a lower height knows how far it reached."""
    best = 0
    rising: list[tuple[int, int]] = []
    for place, height in enumerate([*heights, 0]):
        start = place
        while rising and rising[-1][1] >= height:
            start, high = rising.pop()
            best = max(best, high * min(place - start, widest))
        rising.append((start, height))
    return best


WIDEST_RECTANGLE = Family(
    name="widest_rectangle",
    idea="a stack of rising heights that gives the largest rectangle below them",
    arguments=(Argument("heights", Kind.INTS, "up to 28 whole numbers from 0 to 12"),),
    result=Kind.INT,
    solve=widest_rectangle,
    parameters=lambda rng, level: {"widest": whole(rng, 3, 3 + level)},
    statement=lambda parameters: (
        "Columns of the given heights, each 1 wide, stand side by side on one line. What is the area of the largest "
        f"rectangle that stands on that line, lies within the columns and is at most {parameters['widest']} wide? It "
        "is 0 if there is none."
    ),
    draw=lambda rng, level, _: (_terraces(rng, length(rng, level)),),
    mutants=(
        Mutant("a rectangle that reaches the last column is forgotten", "[*heights, 0]", "heights"),
        Mutant("forgets how wide it may be", "min(place - start, widest)", "(place - start)"),
        Mutant("one too narrow", "min(place - start, widest)", "min(place - start, widest - 1)"),
        Mutant("a height begins where it stands", "rising.append((start, height))", "rising.append((place, height))"),
        Mutant(
            "leaves wide ones out instead of cutting them",
            "min(place - start, widest)",
            "(place - start if place - start <= widest else 1)",
        ),
        Mutant("ends one height, not all that are higher", "while rising", "if rising"),
    ),
)


def _terraces(rng: random.Random, count: int) -> list[int]:
    """Heights that come several times in a row, or are mixed."""
    heights: list[int] = []
    longest = pick(rng, (1, 3, 7))
    while len(heights) < count:
        heights += [whole(rng, 0, 12)] * whole(rng, 1, longest)
    return heights[:count]


def best_rest(digits: str, *, removed: int, largest: bool) -> str:
    """A digit goes as soon as a better one follows it; what is left to remove goes from the end."""
    kept: list[str] = []
    left = removed
    for digit in digits:
        while kept and left and (kept[-1] < digit if largest else kept[-1] > digit):
            kept.pop()
            left -= 1
        kept.append(digit)
    return "".join(kept[: max(0, len(digits) - removed)])


BEST_REST = Family(
    name="best_rest",
    idea="a stack of digits from which worse ones are removed while that is allowed",
    arguments=(Argument("digits", Kind.TEXT, "up to 28 digits; it may be empty"),),
    result=Kind.TEXT,
    solve=best_rest,
    parameters=lambda rng, level: {"removed": whole(rng, 2, 2 + level), "largest": pick(rng, (False, True))},
    statement=lambda parameters: (
        f"Remove exactly {parameters['removed']} digits, so that the others, in their order, make the "
        f"{'largest' if parameters['largest'] else 'smallest'} number, and give them; zeros at their beginning are "
        "kept. If there are no more digits than have to be removed, give an empty text."
    ),
    draw=lambda rng, level, _: (_digits(rng, length(rng, level, 2)),),
    mutants=(
        Mutant("removes too few where the rest is in order", "kept[: max(0, len(digits) - removed)]", "kept"),
        Mutant("removes one digit for each that follows", "while kept and", "if kept and"),
        Mutant(
            "compares with the first digit that is kept",
            "kept[-1] < digit if largest else kept[-1] > digit",
            "kept[0] < digit if largest else kept[0] > digit",
        ),
        Mutant(
            "equal digits go too",
            "kept[-1] < digit if largest else kept[-1] > digit",
            "kept[-1] <= digit if largest else kept[-1] >= digit",
        ),
        Mutant(
            "removes what is left from the beginning",
            "kept[: max(0, len(digits) - removed)]",
            "kept[max(0, removed - (len(digits) - len(kept))):]",
        ),
        Mutant("removes one digit where more should go", "left -= 1", "left = 0"),
    ),
)


def _digits(rng: random.Random, count: int) -> str:
    """Digits in random, rising or falling order, or few different ones."""
    text = words(rng, pick(rng, ("0123456789", "012", "0099")), count)
    way = pick(rng, (0, 0, 1, 2))
    return "".join(sorted(text, reverse=way == 1)) if way else text


FAMILIES = (NEXT_GREATER, BRACKET_ERROR, INFIX_VALUE, WIDEST_RECTANGLE, BEST_REST)
