"""Arithmetic: rates, percentages, clocks, mixtures, units, decimals."""

import random
from fractions import Fraction

from llm_envs.core.draws import pick, whole
from llm_envs.math.families import latex
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.programs import program

_FILL = """
from fractions import Fraction
from math import lcm

tank = lcm(*pipes, *drains)
level, hours = 0, Fraction(0)
while level < tank:
    gain = tank // pipes[0]
    if hours >= alone:
        gain += sum(tank // each for each in pipes[1:]) - sum(tank // each for each in drains)
    part = min(Fraction(1), Fraction(tank - level) / gain)
    level += gain * part
    hours += part
print(hours)
"""


def _work_rate(rng: random.Random, level: int) -> Draft:
    first, second = whole(rng, 4, 40), whole(rng, 4, 40)
    if level < 3:  # where it does not matter which is which
        first, second = sorted((first, second))
    drain = whole(rng, first + 1, 60) if level >= 2 else 0
    alone = whole(rng, 2, first - 2) if level == 3 else 0
    top = second * drain + first * drain - first * second if drain else first + second
    bottom = first * second * drain if drain else first * second
    answer = alone + Fraction((first - alone) * bottom, first * top)
    opening = pick(
        rng,
        (
            f"One pipe fills an empty tank in {first} hours, another one alone in {second} hours.",
            f"A pump alone fills a pool in {first} hours, and a second pump alone in {second} hours.",
        ),
    )
    leak = f" The outlet, when open, empties the full volume in {drain} hours." if drain else ""
    begin = (
        f" At first only the first of them runs, with the outlet closed. After {alone} hours the second is switched on "
        "as well and the outlet is opened."
        if alone
        else f" {'All three are' if drain else 'Both are'} opened at the same time."
    )
    text = f"{opening}{leak}{begin} How many hours after the start is it full?"
    drains = (drain,) if drain else ()
    return Draft(text, latex.number(answer), program(_FILL, pipes=(first, second), drains=drains, alone=alone))


_CHANGE = """
from fractions import Fraction

value = Fraction(price)
for change in changes:
    value += value * change / 100
print(value)
"""

_CHANGED_FROM = """
from fractions import Fraction

for price in range(1, 100000):
    value = price * 100 ** len(changes)
    for change in changes:
        value += value // 100 * change
    if value == final * 100 ** len(changes):
        print(price)
        break
"""


def _percent_chain(rng: random.Random, level: int) -> Draft:
    thing = pick(rng, ("bicycle", "coat", "painting", "telescope"))
    count = 3 if level == 2 else 2
    changes = tuple([5 * (whole(rng, 1, 12) if rng.random() < 0.5 else -whole(rng, 1, 12)) for _ in range(count)])
    told = ", then ".join([f"{'raised' if change > 0 else 'lowered'} by {abs(change)}%" for change in changes])
    price = 400 * whole(rng, 1, 60) if level == 3 else 10 * whole(rng, 3, 90)
    final = Fraction(price)
    for change in changes:
        final = final * (100 + change) / 100
    if level < 3:
        ask = pick(rng, ("What does it cost in the end, in euros?", "Find its last price in euros."))
        text = f"A {thing} costs {price} euros. Its price is {told}. {ask}"
        return Draft(text, latex.number(final), program(_CHANGE, price=price, changes=changes))
    ask = pick(rng, ("What did it cost at first, in euros?", "Find its first price in euros."))
    text = f"The price of a {thing} is {told}; after that it costs {final} euros. {ask}"
    return Draft(text, str(price), program(_CHANGED_FROM, final=int(final), changes=changes))


_ANGLE = """
from fractions import Fraction

hour_hand = minute_hand = 0  # in half degrees, moved on from twelve o'clock minute by minute
for _ in range(60 * hour + minute):
    hour_hand = (hour_hand + 1) % 720
    minute_hand = (minute_hand + 12) % 720
apart = abs(hour_hand - minute_hand)
print(Fraction(min(apart, 720 - apart), 2))
"""

_NEXT_ANGLE = """
from fractions import Fraction

for step in range(1, 1000):  # elevenths of a minute
    time = 60 * hour + minute + Fraction(step, 11)
    apart = abs(time / 2 % 360 - time * 6 % 360)
    if min(apart, 360 - apart) == angle:
        print(Fraction(step, 11))
        break
"""


def _clock_hands(rng: random.Random, level: int) -> Draft:
    hour, minute = whole(rng, 1, 12), whole(rng, 0, 59)
    shown = f"{hour}:{minute:02d}"
    twice = (60 * hour - 11 * minute) % 720  # how far the hour hand is ahead, in half degrees
    if level == 1:
        answer = Fraction(min(twice, 720 - twice), 2)
        text = pick(
            rng,
            (
                f"A clock shows {shown}. How many degrees is the smaller angle between its hour hand and minute hand?",
                f"Find the smaller angle, in degrees, between the hands of a clock at {shown}.",
            ),
        )
        return Draft(text, latex.number(answer), program(_ANGLE, hour=hour, minute=minute))
    angle = 0 if level == 2 else whole(rng, 10, 170)
    waits = [(twice - target) % 720 or 720 for target in (2 * angle, -2 * angle)]
    place = f"form an angle of {angle} degrees" if angle else "point in exactly the same direction"
    text = pick(
        rng,
        (
            f"A clock shows {shown}. After how many minutes do its hour hand and minute hand next {place}?",
            f"It is {shown}. How many minutes pass until the hour hand and the minute hand of a clock next {place}?",
        ),
    )
    answer = Fraction(min(waits), 11)
    return Draft(text, latex.number(answer), program(_NEXT_ANGLE, hour=hour, minute=minute, angle=angle))


_MIX = """
from fractions import Fraction

acid = litres = 0
for amount, percent in parts:
    for _ in range(amount):
        acid += Fraction(percent, 100)
        litres += 1
print(100 * acid / litres)
"""

_MIX_IN = """
from fractions import Fraction

def missing(litres):
    return (amount + litres) * wanted - amount * weak - litres * strong

print(Fraction(missing(0), missing(0) - missing(1)))  # the missing acid falls evenly with each litre
"""

_REPLACE = """
from fractions import Fraction

acid = Fraction(volume * percent, 100)
for _ in range(times):
    acid -= acid * drawn / volume
print(acid)
"""


def _mixture(rng: random.Random, level: int) -> Draft:
    if level == 1:
        parts = tuple(sorted([(whole(rng, 2, 30), whole(rng, 5, 95)) for _ in range(2)]))
        answer = Fraction(sum([amount * percent for amount, percent in parts]), parts[0][0] + parts[1][0])
        told = " with ".join([f"{amount} litres of {percent}% acid" for amount, percent in parts])
        ask = pick(rng, ("How many percent acid is the mixture?", "Find the strength of the mixture in percent."))
        return Draft(f"A chemist mixes {told}. {ask}", latex.number(answer), program(_MIX, parts=parts))
    if level == 2:
        amount, weak = whole(rng, 2, 40), whole(rng, 3, 40)
        wanted = whole(rng, weak + 1, weak + 25)
        strong = whole(rng, wanted + 1, 99)
        answer = Fraction(amount * (wanted - weak), strong - wanted)
        ask = pick(rng, ("How many litres", "What volume in litres"))
        text = f"{ask} of {strong}% acid must be added to {amount} litres of {weak}% acid to make {wanted}% acid?"
        code = program(_MIX_IN, amount=amount, weak=weak, wanted=wanted, strong=strong)
        return Draft(text, latex.number(answer), code)
    volume, percent, times = whole(rng, 6, 40), 5 * whole(rng, 2, 19), whole(rng, 2, 4)
    drawn = whole(rng, 2, volume // 2)
    answer = Fraction(volume * percent, 100) * Fraction(volume - drawn, volume) ** times
    text = (
        f"A barrel holds {volume} litres of {percent}% acid. {drawn} litres are drawn off and replaced by water, and "
        f"the barrel is stirred. This is done {times} times in all. "
    ) + pick(rng, ("How many litres of pure acid are left in it?", "Find the litres of pure acid that remain in it."))
    code = program(_REPLACE, volume=volume, percent=percent, drawn=drawn, times=times)
    return Draft(text, latex.number(answer), code)


_CARRY = """
crowns = groats = pence = 0
for _ in range(times):
    pence += amount[2]
    groats += amount[1]
    crowns += amount[0]
    while pence >= pence_per_groat:
        pence, groats = pence - pence_per_groat, groats + 1
    while groats >= groats_per_crown:
        groats, crowns = groats - groats_per_crown, crowns + 1
pence -= paid[2]
groats -= paid[1]
crowns -= paid[0]
while pence < 0:
    pence, groats = pence + pence_per_groat, groats - 1
while groats < 0:
    groats, crowns = groats + groats_per_crown, crowns - 1
print((crowns, groats, pence))
"""


def _mixed_units(rng: random.Random, level: int) -> Draft:
    large, small, unit = pick(rng, (("crowns", "groats", "pence"), ("stars", "moons", "specks")))
    per_large, per_small = whole(rng, 4, 25), whole(rng, 4, 25)
    amount = (whole(rng, 3, 20), whole(rng, 2, per_large - 1), whole(rng, 2, per_small - 1))
    times = whole(rng, 2, 4) if level == 1 else whole(rng, 5, 40)
    paid = (whole(rng, 2, amount[0]), whole(rng, 2, per_large - 1), whole(rng, 2, per_small - 1))
    if level < 3:
        paid = (0, 0, 0)
    (have, pay) = ((each[0] * per_large + each[1]) * per_small + each[2] for each in (amount, paid))
    rest, pence = divmod(times * have - pay, per_small)
    answer = (*divmod(rest, per_large), pence)
    (have_text, pay_text) = (f"{a} {large}, {b} {small} and {c} {unit}" for a, b, c in (amount, paid))
    text = (
        f"A land has coins such that {per_large} {small} make one of the {large} and {per_small} {unit} make one of "
        f"the {small}. {times} merchants put together {have_text} each."
        + (f" From that they pay {pay_text}." if level == 3 else "")
        + f" Write what they have then with as few coins as possible: how many {large}, {small} and {unit}, in this "
        "order?"
    )
    code = program(_CARRY, groats_per_crown=per_large, pence_per_groat=per_small, times=times, amount=amount, paid=paid)
    return Draft(text, latex.ordered(answer), code)


_FIND_FRACTION = """
from fractions import Fraction
from itertools import count

digits = int(str(integer_part) + (before + repeated * 30)[:30])  # to 30 places
for bottom in count(1):
    top = -(-digits * bottom // 10**30)
    if top * 10**30 - digits * bottom < bottom:  # the first 30 places of top / bottom are those digits
        print(Fraction(top, bottom))
        break
"""


def _repeating_decimal(rng: random.Random, level: int) -> Draft:
    before = "" if level == 1 else str(whole(rng, 0, 9))
    period = 3 if level == 3 else 2
    repeated = str(whole(rng, 1, 10**period - 2)).zfill(period)
    integer_part = whole(rng, 0, 9)
    whole_number = int(f"{integer_part}{before}{repeated}") - int(f"{integer_part}{before}")
    answer = Fraction(whole_number, 10 ** len(before) * (10**period - 1))
    shown = rf"{integer_part}.{before}\overline{{{repeated}}}"
    text = pick(
        rng,
        (
            f"Write the repeating decimal ${shown}$ as a fraction; the bar stands over the digits that repeat.",
            f"Which rational number has the decimal expansion ${shown}$, where the digits under the bar repeat?",
        ),
    )
    code = program(_FIND_FRACTION, integer_part=integer_part, before=before, repeated=repeated)
    return Draft(text, latex.number(answer), code)


FAMILIES = (
    Family(
        "work_rate",
        Topic.ARITHMETIC,
        "rates of filling and draining add up",
        Form.FRACTION,
        ("two pipes", "and an outlet", "and one pipe ahead of the other"),
        _work_rate,
    ),
    Family(
        "percent_chain",
        Topic.ARITHMETIC,
        "each percentage is taken of what the last one left",
        Form.FRACTION,
        ("two changes", "three changes", "back to the first price"),
        _percent_chain,
    ),
    Family(
        "clock_hands",
        Topic.ARITHMETIC,
        "the hands of a clock turn at 1/2 and 6 degrees a minute",
        Form.FRACTION,
        ("the angle at a time", "when the hands next meet", "when they next form an angle"),
        _clock_hands,
    ),
    Family(
        "mixture",
        Topic.ARITHMETIC,
        "what is dissolved is kept when liquids are mixed",
        Form.FRACTION,
        ("two liquids", "how much to add", "drawn off and refilled several times"),
        _mixture,
    ),
    Family(
        "mixed_units",
        Topic.ARITHMETIC,
        "carries between units of different sizes",
        Form.TRIPLE,
        ("times 2 to 4", "times 5 to 40", "and less a payment"),
        _mixed_units,
    ),
    Family(
        "repeating_decimal",
        Topic.ARITHMETIC,
        "a shift by the period cancels the repeating digits",
        Form.FRACTION,
        ("period 2", "one digit before it", "one digit before a period of 3"),
        _repeating_decimal,
    ),
)
