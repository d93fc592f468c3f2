"""Counting: choices, arrangements, paths, symmetries."""

import random
from functools import cache
from math import comb, factorial, gcd, prod

from llm_envs.core.draws import pick, sample, whole
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.programs import program

_FILL_BOXES = """
ways = [1] + [0] * total  # by what is used up so far
for low, high in bounds:
    ways = [sum(ways[used - here] for here in range(low, min(high, used) + 1)) for used in range(total + 1)]
print(ways[total])
"""


def _bounded_sums(rng: random.Random, level: int) -> Draft:
    count = level + 2
    lows = sorted([whole(rng, 0, 6) for _ in range(count)])
    spare = whole(rng, 6, 18)
    total = sum(lows) + spare
    cap = whole(rng, spare // count + 1, spare - 2) if level == 3 else spare  # on what one takes beyond its lower bound
    answer = 0
    for over in range(count + 1):
        left = spare - over * (cap + 1)
        if left >= 0:
            answer += (-1) ** over * comb(count, over) * comb(left + count - 1, count - 1)
    names = ("Ada", "Ben", "Cleo", "Dan", "Eve")[:count]
    wishes = ", ".join([f"{name} at least {low}" for name, low in zip(names, lows, strict=True)])
    if level == 3:
        wishes = ", ".join([f"{name} from {low} to {low + cap}" for name, low in zip(names, lows, strict=True)])
    thing = pick(rng, ("apples", "coins", "marbles"))
    text = f"In how many ways can {total} equal {thing} be shared out, each person within these limits: {wishes}?"
    bounds = tuple([(low, low + cap) if level == 3 else (low, total) for low in lows])
    return Draft(text, str(answer), program(_FILL_BOXES, total=total, bounds=bounds))


_COUNT_THROUGH = """
print(sum(any(number % divisor == 0 for divisor in divisors) == wanted for number in range(1, last + 1)))
"""


def _multiples(rng: random.Random, level: int) -> Draft:
    divisors = tuple(sorted(sample(rng, range(2, 16), level + 1)))
    last, wanted = whole(rng, 100, 999 if level < 3 else 3000), whole(rng, 0, 1)
    answer = 0
    for chosen in range(1, 1 << len(divisors)):
        common = 1
        for place, divisor in enumerate(divisors):
            if chosen >> place & 1:
                common = common * divisor // gcd(common, divisor)
        answer += (-1) ** (chosen.bit_count() + 1) * (last // common)
    told = f"{', '.join(map(str, divisors[:-1]))} or {divisors[-1]}"
    which = f"are divisible by at least one of the numbers {told}" if wanted else f"are not divisible by any of {told}"
    text = pick(
        rng, (f"How many integers from 1 to {last} {which}?", f"Count the integers in 1, 2, ..., {last} that {which}.")
    )
    code = program(_COUNT_THROUGH, divisors=divisors, last=last, wanted=wanted)
    return Draft(text, str(answer if wanted else last - answer), code)


_TRY_SEATINGS = """
from itertools import permutations

print(sum(all(seat not in forbidden[person] for person, seat in enumerate(seats))
          for seats in permutations(range(1, len(forbidden) + 1))))
"""


def _count_seatings(allowed: list[int]) -> int:
    """The permanent of a 0/1 matrix, its rows as bit masks."""
    restricted = [row for row in allowed if row.bit_count() < len(allowed)]
    ways = {0: 1}  # by the set of columns that the rows so far take up
    for row in restricted:
        following: dict[int, int] = {}
        for taken, count in ways.items():
            free = row & ~taken
            while free:
                bit = free & -free
                following[taken | bit] = following.get(taken | bit, 0) + count
                free ^= bit
        ways = following
    return sum(ways.values()) * factorial(len(allowed) - len(restricted))


def _forbidden_seats(rng: random.Random, level: int) -> Draft:
    count = level + 3
    forbidden = tuple(sorted([tuple(sorted(sample(rng, range(1, count + 1), whole(rng, 0, 2)))) for _ in range(count)]))
    everyone = (1 << count) - 1
    answer = _count_seatings([everyone - sum([1 << (seat - 1) for seat in seats]) for seats in forbidden])
    names = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn")
    rules = [
        f"{name} refuses seat {' and seat '.join(map(str, seats))}"
        for name, seats in zip(names[:count], forbidden, strict=True)
        if seats
    ]
    who = f"{', '.join(names[: count - 1])} and {names[count - 1]}"
    text = f"{who} take the seats 1 to {count}, one each. {'; '.join(rules) or 'Nobody refuses any seat'}. " + pick(
        rng, ("In how many ways can they sit?", "How many seatings suit everybody?")
    )
    return Draft(text, str(answer), program(_TRY_SEATINGS, forbidden=forbidden))


_WALK_GRID = """
ways = {(0, 0): 1}
for x in range(width + 1):
    for y in range(height + 1):
        if (x, y) != (0, 0):
            ways[x, y] = 0 if (x, y) in closed else ways.get((x - 1, y), 0) + ways.get((x, y - 1), 0)
print(ways[width, height])
"""


def _lattice_paths(rng: random.Random, level: int) -> Draft:
    width, height = sorted((whole(rng, 4, 9), whole(rng, 4, 9)))
    inner = [(x, y) for x in range(width + 1) for y in range(height + 1) if 0 < x + y < width + height]
    closed = tuple(sorted(sample(rng, inner, level)))
    avoiding: list[int] = []  # ways to each closed point, and last to the goal, that meet no closed point before
    for x, y in (*closed, (width, height)):
        free = comb(x + y, x)
        for (left, low), ways in zip(closed, avoiding, strict=False):
            if left <= x and low <= y:
                free -= ways * comb(x - left + y - low, x - left)
        avoiding.append(free)
    points = ", ".join(map(str, closed))
    text = pick(
        rng,
        (
            (
                f"A path leads from (0, 0) to ({width}, {height}) by steps of 1 to the right or 1 upwards. How many "
                f"such paths do not pass through {points}?"
            ),
            (
                f"How many shortest ways are there along the lines of a square grid from (0, 0) to ({width}, "
                f"{height}), if no way may visit {points}?"
            ),
        ),
    )
    return Draft(text, str(avoiding[-1]), program(_WALK_GRID, width=width, height=height, closed=closed))


_TRY_COMMITTEES = """
from itertools import combinations

people = [("A", number) for number in range(first)] + [("B", number) for number in range(second)]
found = 0
for chosen in combinations(people, size):
    enough = sum(group == "A" for group, _ in chosen) >= least
    found += enough and not (rivals and ("A", 0) in chosen and ("B", 0) in chosen)
print(found * heads)
"""


def _committees(rng: random.Random, level: int) -> Draft:
    first, second, size = whole(rng, 4, 12), whole(rng, 4, 12), whole(rng, 3, 5)
    least = whole(rng, 1, min(size, first) - 1)
    rivals = level > 1
    total = sum([comb(first, k) * comb(second, size - k) for k in range(least, size + 1)])
    both = sum([comb(first - 1, k - 1) * comb(second - 1, size - k - 1) for k in range(max(least, 1), size)])
    groups = pick(rng, (("teachers", "pupils"), ("chemists", "poets"), ("doctors", "nurses")))
    rule = f" A certain one of the {groups[0]} and a certain one of the {groups[1]} never serve together." * rivals
    text = f"A committee of {size} is chosen from {first} {groups[0]} and {second} {groups[1]}, with at least {least} "
    text += f"of the {groups[0]}.{rule}"
    heads = size if level == 3 else 1
    text += " One of its members is then made its head." if level == 3 else ""
    text += f" How many {'outcomes' if level == 3 else 'committees'} are possible?"
    code = program(_TRY_COMMITTEES, first=first, second=second, size=size, least=least, rivals=int(rivals), heads=heads)
    return Draft(text, str((total - both * rivals) * heads), code)


_TURN_OVER = """
def cycles(places):
    seen, number = set(), 0
    for start in places:
        number += start not in seen
        while start not in seen:
            seen.add(start)
            start = places[start]
    return number

moves = [[(place + turn) % beads for place in range(beads)] for turn in range(beads)]
if flips:
    moves += [places[::-1] for places in moves]
print(sum(colours ** cycles(places) for places in moves) // len(moves))
"""


@cache
def _turns_by_cycles(beads: int) -> dict[int, int]:
    """How many turns of a ring have so many cycles."""
    turns: dict[int, int] = {}
    for turn in range(beads):
        cycles = gcd(turn, beads)
        turns[cycles] = turns.get(cycles, 0) + 1
    return turns


def _necklaces(rng: random.Random, level: int) -> Draft:
    beads = whole(rng, *{1: (3, 9), 2: (8, 20), 3: (4, 16)}[level])
    colours, flips = whole(rng, 2, 99 if level == 1 else 60), level == 3
    answer = sum([turns * colours**cycles for cycles, turns in _turns_by_cycles(beads).items()])
    if flips:
        answer += beads * (colours ** ((beads + 1) // 2) + colours ** (beads // 2 + 1)) // 2
    answer //= 2 * beads if flips else beads
    same = "turned or turned over" if flips else "turned, but not turned over"
    text = pick(
        rng,
        (
            (
                f"A ring is made of {beads} beads, each in one of {colours} colours. Rings count as the same if they "
                f"look alike when one is {same}. How many different rings are there?"
            ),
            (
                f"Each of {beads} places evenly spaced round a circle gets one of {colours} colours. How many "
                f"colourings are there, if those that match when one is {same} count once?"
            ),
        ),
    )
    return Draft(text, str(answer), program(_TURN_OVER, beads=beads, colours=colours, flips=int(flips)))


_LAY_TILES = """
from functools import cache

@cache
def ways(left, last):
    total = 0 if any(left) else 1
    for letter, number in enumerate(left):
        if number == 0 or (rule == "apart" and letter == 0 and last == 0):
            continue
        if rule == "begin" and last is None and letter != 0:
            continue
        if rule == "together" and letter != 0 and 0 < left[0] < counts[0]:
            continue  # the row of the first letter is not complete
        total += ways(left[:letter] + (number - 1,) + left[letter + 1 :], letter)
    return total

print(ways(counts, None))
"""


def _anagrams(rng: random.Random, level: int) -> Draft:
    letters = sample(rng, "ABCDEF", 4 if level == 1 else 5)
    rule = {1: "begin", 2: "together", 3: "apart"}[level]
    most = 7 if level == 1 else 6
    counts = [whole(rng, 2, most), *sorted([whole(rng, 1, most) for _ in letters[1:]])]
    first, rest = counts[0], sum(counts[1:])
    others = factorial(rest) // prod([factorial(count) for count in counts[1:]])
    answer = others * {1: comb(first - 1 + rest, rest), 2: rest + 1, 3: comb(rest + 1, first)}[level]
    told = ", ".join([f"{count} x {letter}" for count, letter in zip(counts, letters, strict=True)])
    wish = {
        "begin": f", if a tile with {letters[0]} comes first",
        "together": f", if all tiles with {letters[0]} stand side by side",
        "apart": f", if no two tiles with {letters[0]} stand side by side",
    }[rule]
    text = pick(
        rng,
        (
            f"A bag holds tiles with letters: {told}. How many different rows can be made of all the tiles{wish}?",
            f"All of these letter tiles are laid in a row: {told}. How many different strings can be read{wish}?",
        ),
    )
    return Draft(text, str(answer), program(_LAY_TILES, counts=tuple(counts), rule=rule))


FAMILIES = (
    Family(
        "bounded_sums",
        Topic.COUNTING,
        "stars and bars with bounds",
        Form.INTEGER,
        ("three lower bounds", "four lower bounds", "five ranges"),
        _bounded_sums,
    ),
    Family(
        "multiples",
        Topic.COUNTING,
        "inclusion and exclusion over common multiples",
        Form.INTEGER,
        ("two divisors", "three divisors", "four divisors"),
        _multiples,
    ),
    Family(
        "forbidden_seats",
        Topic.COUNTING,
        "permutations with forbidden places",
        Form.INTEGER,
        ("four people", "five people", "six people"),
        _forbidden_seats,
    ),
    Family(
        "lattice_paths",
        Topic.COUNTING,
        "paths that avoid points, by those that meet one",
        Form.INTEGER,
        ("one point", "two points", "three points"),
        _lattice_paths,
    ),
    Family(
        "committees",
        Topic.COUNTING,
        "choices by how many come from each group",
        Form.INTEGER,
        ("a least number of one group", "and two who do not meet", "and a head"),
        _committees,
    ),
    Family(
        "necklaces",
        Topic.COUNTING,
        "Burnside's lemma for turns and flips",
        Form.INTEGER,
        ("up to 9 beads, turned", "up to 20 beads, turned", "turned and turned over"),
        _necklaces,
    ),
    Family(
        "letter_tiles",
        Topic.COUNTING,
        "arrangements of things that repeat",
        Form.INTEGER,
        ("the first letter given", "equal letters together", "equal letters apart"),
        _anagrams,
    ),
)
