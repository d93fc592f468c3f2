"""Probability: dice, urns, evidence, ruin, waiting, contests, meetings, expected counts."""

import random
from fractions import Fraction
from math import comb, gcd, prod

from llm_envs.core.draws import pick, sample, whole
from llm_envs.math.families import latex
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.programs import program


def draw_chance(rng: random.Random, most: int) -> tuple[int, int]:
    """A probability between 0 and 1 in lowest terms, its denominator at most `most`."""
    bottom = whole(rng, 2, most)
    top = whole(rng, 1, bottom - 1)
    common = gcd(top, bottom)
    return top // common, bottom // common


_ROLL_ALL = """
from fractions import Fraction
from itertools import product

sums = [sum(roll) for roll in product(*[range(1, faces + 1) for faces in dice])]
print(Fraction(sum(least <= total <= most for total in sums), len(sums)))
"""


def _ways_at_most(dice: tuple[int, ...], most: int) -> int:
    """In how many ways the dice show a sum of at most `most` (inclusion and exclusion over faces that are too high)."""
    count, total = len(dice), 0
    for high in range(1 << count):
        left = most - sum([faces for place, faces in enumerate(dice) if high >> place & 1])
        if left >= count:
            total += (-1) ** high.bit_count() * comb(left, count)
    return total


def _dice_sum(rng: random.Random, level: int) -> Draft:
    dice = tuple(sorted([whole(rng, 4, 20 if level < 3 else 12) for _ in range(2 if level < 3 else 3)]))
    least = whole(rng, len(dice) + 2, sum(dice) - 2)
    most = least if level == 1 else whole(rng, least + 1, sum(dice) - 1)
    outcomes = 1
    for faces in dice:
        outcomes *= faces
    answer = Fraction(_ways_at_most(dice, most) - _ways_at_most(dice, least - 1), outcomes)
    told = f"{', '.join(map(str, dice[:-1]))} and {dice[-1]} faces"
    wish = f"is {least}" if level == 1 else f"is at least {least} and at most {most}"
    text = pick(
        rng,
        (
            (
                f"Fair dice with {told}, each numbered from 1 upwards, are rolled together. How likely is it that "
                f"their sum {wish}?"
            ),
            f"One rolls fair dice that have {told}, numbered from 1. Find the probability that the sum {wish}.",
        ),
    )
    return Draft(text, latex.number(answer), program(_ROLL_ALL, dice=dice, least=least, most=most))


_DRAW_ONE_BY_ONE = """
from fractions import Fraction

states = {(0,) * len(urn): Fraction(1)}  # how likely it is to have drawn so many of each colour
for drawn in range(sum(wanted)):
    following = {}
    for state, chance in states.items():
        for colour, number in enumerate(urn):
            after = tuple(taken + (place == colour) for place, taken in enumerate(state))
            likely = chance * Fraction(number - state[colour], sum(urn) - drawn)
            following[after] = following.get(after, 0) + likely
    states = following
print(states[wanted])
"""


def _urn(rng: random.Random, level: int) -> Draft:
    colours = ("red", "blue", "green", "white")[: level + 1]
    urn, wanted = zip(*sorted([(whole(rng, 3, 15), whole(rng, 1, 3)) for _ in colours]), strict=True)
    ways = 1
    for number, taken in zip(urn, wanted, strict=True):
        ways *= comb(number, taken)
    answer = Fraction(ways, comb(sum(urn), sum(wanted)))
    (holds, wish) = (
        ", ".join([f"{number} {colour}" for number, colour in zip(numbers, colours, strict=True)])
        for numbers in (urn, wanted)
    )
    text = pick(
        rng,
        (
            (
                f"An urn holds these balls: {holds}. One draws {sum(wanted)} of them without putting any back. How "
                f"likely are exactly these: {wish}?"
            ),
            (
                f"From a bag with these marbles: {holds}, a handful of {sum(wanted)} is taken at random. Find the "
                f"probability that it is made up of: {wish}."
            ),
        ),
    )
    return Draft(text, latex.number(answer), program(_DRAW_ONE_BY_ONE, urn=urn, wanted=wanted))


_COUNT_PEOPLE = """
from fractions import Fraction

ill = tested_ill = 0  # in a town where every share comes out in whole people
for group, (share, likely) in enumerate(groups):
    people = share * 100**times
    for _ in range(times):
        people = people * likely // 100
    tested_ill += people
    ill += people if group == 0 else 0
print(Fraction(ill, tested_ill))
"""


def _evidence(rng: random.Random, level: int) -> Draft:
    count, times = (3, 1) if level == 2 else (2, 1 if level == 1 else whole(rng, 2, 3))
    cuts = sorted(sample(rng, range(5, 96, 5), count - 1))
    shares = [high - low for low, high in zip([0, *cuts], [*cuts, 100], strict=True)]
    groups = [(share, whole(rng, 2, 60)) for share in shares]
    groups[1:] = sorted(groups[1:])
    weights = [share * likely**times for share, likely in groups]
    names, verb = ("A", "B", "C")[:count], "makes" if times == 1 else "fills"
    made = ", ".join([f"machine {name} {verb} {share}%" for name, (share, _) in zip(names, groups, strict=True)])
    faulty = ", ".join([f"{likely}% from {name}" for name, (_, likely) in zip(names, groups, strict=True)])
    if times == 1:
        seen = pick(rng, ("A part picked at random is faulty.", "One part is drawn from the stock and found faulty."))
        text = f"In a factory, {made} of the parts. The share of faulty parts is: {faulty}. {seen}"
        ask = "How likely is it to come from machine A?"
    else:
        seen = pick(
            rng,
            (
                f"{times} parts are taken from a crate that one machine alone has filled, and all are faulty.",
                f"From one crate, filled by one machine alone, {times} parts are tested: every one of them is faulty.",
            ),
        )
        text = f"In a factory, {made} of the crates. Each part is faulty on its own, with the chance: {faulty}. {seen}"
        ask = "How likely is it that machine A has filled the crate?"
    return Draft(
        f"{text} {ask}",
        latex.number(Fraction(weights[0], sum(weights))),
        program(_COUNT_PEOPLE, groups=tuple(groups), times=times),
    )


_COUNT_ROUND = """
from fractions import Fraction
from itertools import product

first_hits = [0] * len(names)
for shots in product(*[range(of) for _, of in chances]):  # all equally likely courses of one round
    hits = [place for place, (shot, (hit, _)) in enumerate(zip(shots, chances)) if shot < hit]
    if hits:
        first_hits[hits[0]] += 1
print(Fraction(first_hits[names.index(asked)], sum(first_hits)))  # rounds without a hit are played again
"""


def _contest(rng: random.Random, level: int) -> Draft:
    names = ("Ada", "Ben", "Cleo")[: 2 if level == 1 else 3]
    chances = tuple([draw_chance(rng, 11) for _ in names])
    rounds = prod([bottom for _, bottom in chances])  # equally likely ones; of the last `missed` nobody has hit so far
    missed, hits = rounds, []
    for hit, bottom in chances:
        hits.append(missed // bottom * hit)
        missed -= hits[-1]
    answer = Fraction(hits[level - 1], rounds - missed)
    told = ", ".join([f"{name} with probability {hit}/{of}" for name, (hit, of) in zip(names, chances, strict=True)])
    text = pick(
        rng,
        (
            (
                f"{' and '.join(names)} shoot at a target in turns, in this order and again from the start, until one "
                f"hits. Each shot hits on its own: {told}. How likely is {names[level - 1]} to hit first?"
            ),
            (
                f"{' and '.join(names)} take turns, in this order, over and over. A turn succeeds independently: "
                f"{told}. Whoever succeeds first wins. Find the probability that {names[level - 1]} wins."
            ),
        ),
    )
    return Draft(
        text, latex.number(answer), program(_COUNT_ROUND, names=names, chances=chances, asked=names[level - 1])
    )


_SLICE = """
from fractions import Fraction

def meeting(x):  # how long a stretch of the second's times meets the first's time x
    return max(0, min(second, x + first_wait) - max(0, x - second_wait))

kinks = {0, first, second - first_wait, second_wait, second + second_wait}
kinks = sorted(x for x in kinks if 0 <= x <= first)
area = sum(Fraction(meeting(a) + meeting(b), 2) * (b - a) for a, b in zip(kinks, kinks[1:]))
print(area / (first * second))
"""


def _meeting(rng: random.Random, level: int) -> Draft:
    first = whole(rng, 20, 90)
    second = first if level < 3 else whole(rng, 12, first)
    first_wait = whole(rng, 3, second - 5)
    second_wait = first_wait if level == 1 else whole(rng, 3, second - 5)
    if level == 2:  # where it does not matter who is who
        first_wait, second_wait = sorted((first_wait, second_wait))
    below = Fraction((second - first_wait) ** 2, 2)
    rest = first - second_wait
    beyond = Fraction(rest * rest, 2) if rest <= second else second * rest - Fraction(second * second, 2)
    answer = 1 - (below + beyond) / (first * second)
    when = (
        f"Ada and Ben each come to a place at a random moment in the {first} minutes after noon"
        if level < 3
        else f"Ada comes to a place at a random moment in the {first} minutes after noon, Ben in the {second} minutes "
        "after noon"
    )
    text = (
        f"{when}, evenly distributed and independently. Ada waits for {first_wait} minutes, Ben for {second_wait} "
        "minutes, if need be beyond the end of that time. "
    ) + pick(rng, ("How likely are they to meet?", "Find the probability that they meet."))
    waits = {"first_wait": first_wait, "second_wait": second_wait}
    return Draft(text, latex.number(answer), program(_SLICE, first=first, second=second, **waits))


FAMILIES = (
    Family(
        "dice_sum",
        Topic.PROBABILITY,
        "equally likely outcomes with a given sum",
        Form.FRACTION,
        ("two dice, one sum", "two dice, a range", "three dice, a range"),
        _dice_sum,
    ),
    Family(
        "urn",
        Topic.PROBABILITY,
        "draws without replacement are a choice of a subset",
        Form.FRACTION,
        ("two colours", "three colours", "four colours"),
        _urn,
    ),
    Family(
        "evidence",
        Topic.PROBABILITY,
        "Bayes' theorem",
        Form.FRACTION,
        ("two sources", "three sources", "several observations"),
        _evidence,
    ),
    Family(
        "contest",
        Topic.PROBABILITY,
        "a round without a result starts the game anew",
        Form.FRACTION,
        ("the first of two", "the second of three", "the third of three"),
        _contest,
    ),
    Family(
        "meeting",
        Topic.PROBABILITY,
        "a probability as an area",
        Form.FRACTION,
        ("equal waits", "different waits", "different spans of time"),
        _meeting,
    ),
)
