"""Probability: walks, waiting times, expected numbers."""

import random
from fractions import Fraction
from math import comb, gcd

from llm_envs.core.draws import pick, whole
from llm_envs.math.families import latex
from llm_envs.math.families.base import Draft, Family, Form, Topic
from llm_envs.math.families.probability import draw_chance
from llm_envs.math.families.programs import program

_SOLVE_WALK = """
from fractions import Fraction

up = Fraction(wins, games)
low, high = Fraction(0), Fraction(1)  # shoot: guess the value at 1, walk up by the rule, compare with the goal
ends = []
for guess in (low, high):
    before, here = Fraction(at_zero), guess
    path = [before, here]
    for _ in range(goal - 1):
        before, here = here, (here - step - (1 - up) * before) / up
        path.append(here)
    ends.append(path)
(first, second) = ends
share = (at_goal - first[goal]) / (second[goal] - first[goal])
print(first[start] + share * (second[start] - first[start]))
"""


_UNFAIR = tuple([(wins, games) for games in range(3, 9) for wins in range(1, games) if gcd(wins, games) == 1])


def _ruin(rng: random.Random, level: int) -> Draft:
    goal = whole(rng, 20, 60) if level == 1 else whole(rng, 4, 11)
    start = whole(rng, 2, goal - 1)
    wins, games = (1, 2) if level == 1 else pick(rng, _UNFAIR)
    ratio = Fraction(games - wins, wins)
    reach = Fraction(start, goal) if ratio == 1 else (1 - ratio**start) / (1 - ratio**goal)
    rounds = level == 3 or (level == 1 and rng.random() < 0.5)
    if not rounds:
        answer = reach
    else:
        answer = (
            Fraction(start * (goal - start)) if ratio == 1 else (start - goal * reach) / (1 - 2 * Fraction(wins, games))
        )
    ask = (
        "How many rounds does the game last on average?"
        if rounds
        else f"How likely is it that the player reaches {goal}?"
    )
    text = pick(
        rng,
        (
            (
                f"A player starts with {start} coins. Each round wins a coin with probability {wins}/{games} and loses "
                f"one otherwise. The game ends at 0 or at {goal} coins. {ask}"
            ),
            (
                f"With {start} coins in hand, a player bets one coin a round and wins it with probability "
                f"{wins}/{games}, until there are 0 or {goal} coins. {ask}"
            ),
        ),
    )
    ends = {"at_zero": 0, "at_goal": int(not rounds), "step": int(rounds)}
    return Draft(
        text, latex.number(answer), program(_SOLVE_WALK, start=start, goal=goal, wins=wins, games=games, **ends)
    )


_SOLVE_STATES = """
from fractions import Fraction

def after(state, side):  # how much of the pattern is there
    seen = pattern[:state] + side
    return next(size for size in range(len(pattern), -1, -1) if seen.endswith(pattern[:size]))

size = len(pattern)
rows = []
for state in range(size):  # expected tosses from here: one, and those from the state after it
    row = [Fraction(int(state == other)) for other in range(size)] + [Fraction(1)]
    for side, likely in (("H", Fraction(heads, tosses)), ("T", 1 - Fraction(heads, tosses))):
        if after(state, side) < size:
            row[after(state, side)] -= likely
    rows.append(row)
for pivot in range(size):
    swap = next(k for k in range(pivot, size) if rows[k][pivot])
    rows[pivot], rows[swap] = rows[swap], rows[pivot]
    rows[pivot] = [each / rows[pivot][pivot] for each in rows[pivot]]
    for k in range(size):
        if k != pivot:
            rows[k] = [each - rows[k][pivot] * base for each, base in zip(rows[k], rows[pivot])]
print(rows[0][size])
"""


def _pattern_waiting(rng: random.Random, level: int) -> Draft:
    pattern = "H" + "".join([pick(rng, "HT") for _ in range(level if level > 1 else whole(rng, 1, 2))])
    heads, tosses = draw_chance(rng, 24)
    answer, chance = Fraction(0), Fraction(1)
    for size, side in enumerate(pattern, start=1):
        chance *= Fraction(heads if side == "H" else tosses - heads, tosses)
        if pattern.endswith(pattern[:size]):  # Conway's rule: every overlap of the pattern with itself adds to the wait
            answer += 1 / chance
    text = pick(
        rng,
        (
            (
                f"A coin shows heads (H) with probability {heads}/{tosses}, else tails (T). It is tossed until the "
                f"pattern {pattern} appears in successive tosses. What is the expected number of tosses?"
            ),
            (
                f"How many tosses does it take on average until {pattern} has come up in a row, if each toss is H with "
                f"probability {heads}/{tosses} and T otherwise?"
            ),
        ),
    )
    return Draft(text, latex.number(answer), program(_SOLVE_STATES, pattern=pattern, heads=heads, tosses=tosses))


_FILL_FLOORS = """
from fractions import Fraction

states = {(): Fraction(1)}  # how many have chosen each floor that somebody has chosen, sorted
for _ in range(people):
    following = {}
    for state, chance in states.items():
        choices = [(state + (1,), floors - len(state))]
        choices += [(state[:k] + (number + 1,) + state[k + 1 :], 1) for k, number in enumerate(state)]
        for after, ways in choices:
            after = tuple(sorted(after))
            following[after] = following.get(after, 0) + chance * Fraction(ways, floors)
    states = following
print(sum(chance * sum(least <= number <= most for number in state) for state, chance in states.items()))
"""


def _expected_floors(rng: random.Random, level: int) -> Draft:
    people, floors = whole(rng, 3, 7), whole(rng, 4, 120)
    least, most = {1: (1, people), 2: (1, 1), 3: (2, 2 if rng.random() < 0.5 else people)}[level]
    ways = sum([comb(people, number) * (floors - 1) ** (people - number) for number in range(least, most + 1)])
    answer = Fraction(ways, floors ** (people - 1))
    wish = f"exactly {least}" if least == most else f"at least {least}"
    text = pick(
        rng,
        (
            (
                f"{people} people enter a lift, and each leaves on one of {floors} floors, chosen at random and "
                f"independently. On how many floors do {wish} of them leave on average?"
            ),
            (
                f"{people} balls are thrown into {floors} boxes, each ball into any box with the same chance. What is "
                f"the expected number of boxes that hold {wish} of the balls?"
            ),
        ),
    )
    code = program(_FILL_FLOORS, people=people, floors=floors, least=least, most=most)
    return Draft(text, latex.number(answer), code)


FAMILIES = (
    Family(
        "ruin",
        Topic.PROBABILITY,
        "the gambler's ruin: a walk between two ends",
        Form.FRACTION,
        ("a fair game", "an unfair game", "how long an unfair game lasts"),
        _ruin,
    ),
    Family(
        "pattern_waiting",
        Topic.PROBABILITY,
        "overlaps of a pattern with itself lengthen the wait",
        Form.FRACTION,
        ("2 or 3 tosses", "3 tosses", "4 tosses"),
        _pattern_waiting,
    ),
    Family(
        "expected_floors",
        Topic.PROBABILITY,
        "expectation adds up over indicators",
        Form.FRACTION,
        ("at least one", "exactly one", "two, or at least two"),
        _expected_floors,
    ),
)
