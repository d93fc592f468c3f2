"""Families in which the right local choice, or a search on the answer, is enough."""

import random

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.inputs import length, numbers
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, shuffled, whole


def most_bookings(bookings: list[list[int]], *, pause: int) -> int:
    """The booking that ends first leaves the most room for others."""
    count, free = 0, 0
    for start, end in sorted(bookings, key=lambda booking: booking[1]):
        if start >= free:
            count += 1
            free = end + pause
    return count


MOST_BOOKINGS = Family(
    name="most_bookings",
    idea="choosing intervals greedily by their ends",
    arguments=(Argument("bookings", Kind.ROWS, "up to 28 rows `start end` with 0 <= start < end <= 90"),),
    result=Kind.INT,
    solve=most_bookings,
    parameters=lambda rng, level: {"pause": whole(rng, 1, 1 + level)},
    statement=lambda parameters: (
        "A room is free from 0 on. How many of the bookings can be granted at most, if each that is granted has the "
        f"room for itself from its start to its end, and the next one starts {parameters['pause']} or more after that "
        "end?"
    ),
    draw=lambda rng, level, parameters: (_bookings(rng, level, parameters["pause"]),),
    mutants=(
        Mutant("takes those that start first", "booking[1]", "booking[0]"),
        Mutant("takes the shortest first", "booking[1]", "booking[1] - booking[0]"),
        Mutant("does not sort", "sorted(bookings, key=lambda booking: booking[1])", "bookings"),
        Mutant("forgets the pause", "free = end + pause", "free = end"),
        Mutant("the pause may not be exactly so long", "start >= free", "start > free or start == 0 == free"),
        Mutant("the pause also before the first", "count, free = 0, 0", "count, free = 0, pause"),
    ),
)


def _bookings(rng: random.Random, level: int, pause: int) -> list[list[int]]:
    """Short ones one after the other with the pause between them, and longer ones across."""
    rows = []
    here = whole(rng, 0, 2)
    for _ in range(length(rng, level) // 2):
        end = here + whole(rng, 1, 4)
        rows.append([here, end])
        if rng.random() < 0.5:
            start = max(0, here - whole(rng, 0, 3))
            rows.append([start, end + whole(rng, 0, 4)])
        here = end + pause + whole(rng, -1, 1)
    return shuffled(rng, [[start, min(90, end)] for start, end in rows])[:28]


def merge_cost(sizes: list[int], *, most: int, fee: int) -> int:
    """Huffman's rule: the smallest are merged first; the first merge is smaller, so that all others are full."""
    import heapq

    heap = list(sizes)
    heapq.heapify(heap)
    total = 0
    count = (len(heap) - 2) % (most - 1) + 2
    while len(heap) > 1:
        merged = sum(heapq.heappop(heap) for _ in range(count))
        heapq.heappush(heap, merged)
        total += merged + fee
        count = most
    return total


MERGE_COST = Family(
    name="merge_cost",
    idea="merging the smallest first (Huffman), several at a time",
    arguments=(Argument("sizes", Kind.INTS, "up to 28 whole numbers from 1 to 40"),),
    result=Kind.INT,
    solve=merge_cost,
    parameters=lambda rng, level: {"most": whole(rng, 3, 2 + level), "fee": whole(rng, 1, 2 * level)},
    statement=lambda parameters: (
        f"Heaps of the given sizes are merged until one is left. A merge joins from 2 to {parameters['most']} heaps "
        "into one, whose size is the sum of theirs, and costs that sum; in addition, every merge costs "
        f"{parameters['fee']}. What is the least total cost? With fewer than two heaps it is 0."
    ),
    draw=lambda rng, level, _: (numbers(rng, length(rng, level), 1, pick(rng, (3, 40))),),
    mutants=(
        Mutant(
            "the first merge is full too", "count = (len(heap) - 2) % (most - 1) + 2", "count = min(most, len(heap))"
        ),
        Mutant("merges two at a time", "count = most", "count = 2"),
        Mutant("pays the fee once", "total += merged + fee", "total += merged + (fee if len(heap) == 1 else 0)"),
        Mutant(
            "the largest first", "heap = list(sizes)\n    heapq.heapify(heap)", "heap = sorted(sizes, reverse=True)"
        ),
        Mutant(
            "one heap costs the fee",
            "while len(heap) > 1:",
            "total = fee if len(heap) == 1 else 0\n    while len(heap) > 1:",
        ),
        Mutant("the first merge takes what is left over", "% (most - 1) + 2", "% most + 2"),
    ),
)


def fewest_jumps(reaches: list[int], *, bonus: int) -> int:
    """All that one more jump reaches is known when the end of the present reach is passed."""
    jumps, end, farthest = 0, 0, 0
    for place in range(len(reaches) - 1):
        if reaches[place] > 0:
            farthest = max(farthest, place + reaches[place] + (bonus if place == 0 else 0))
        if place == end:
            if farthest <= place:
                return -1
            jumps += 1
            end = farthest
    return jumps


FEWEST_JUMPS = Family(
    name="fewest_jumps",
    idea="jumping greedily by the farthest place that one more jump reaches",
    arguments=(Argument("reaches", Kind.INTS, "1 to 28 whole numbers from 0 to 6"),),
    result=Kind.INT,
    solve=fewest_jumps,
    parameters=lambda rng, level: {"bonus": whole(rng, 1, level)},
    statement=lambda parameters: (
        "You stand on the first of the places and want to get to the last one. From a place you may jump to the right, "
        "as far as its number says or less far; there is no jump from a place with 0. From the first place you may "
        f"jump {parameters['bonus']} farther than its number, unless that is 0. What is the least number of jumps? If "
        "the last place cannot be reached, give -1."
    ),
    draw=lambda rng, level, _: (_places(rng, length(rng, level, 1)),),
    mutants=(
        Mutant("forgets that the first jump goes farther", "bonus if place == 0 else 0", "0"),
        Mutant("every jump goes farther", "bonus if place == 0 else 0", "bonus"),
        Mutant("does not see that the way is blocked", "return -1", "return jumps"),
        Mutant(
            "jumps as far as it can",
            "max(farthest, place + reaches[place] + (bonus if place == 0 else 0))",
            "(place + reaches[place] + (bonus if place == 0 else 0) if place == end else farthest)",
        ),
        Mutant("a last jump beyond the end", "range(len(reaches) - 1)", "range(len(reaches))"),
        Mutant("the first place may be left with 0", "if reaches[place] > 0:", "if place == 0 or reaches[place] > 0:"),
    ),
)


def _places(rng: random.Random, count: int) -> list[int]:
    """Reaches that mostly lead on, and now and then a wide gap or a first place that cannot be left."""
    reaches = [pick(rng, (0, 1, 1, 2, 2, 3)) for _ in range(count)]
    if rng.random() < 0.15:
        reaches[0] = 0
    if rng.random() < 0.6:
        reaches = [max(1, reach) for reach in reaches]
    return [6 if rng.random() < 0.05 else reach for reach in reaches]


def fair_shares(marks: list[int], *, least: int) -> int:
    """One pass gives enough against the left neighbour, one against the right."""
    shares = [least] * len(marks)
    for place in range(1, len(marks)):
        if marks[place] > marks[place - 1]:
            shares[place] = shares[place - 1] + 1
    for place in range(len(marks) - 2, -1, -1):
        if marks[place] > marks[place + 1]:
            shares[place] = max(shares[place], shares[place + 1] + 1)
    return sum(shares)


FAIR_SHARES = Family(
    name="fair_shares",
    idea="two passes, one for each neighbour, of which the larger demand counts",
    arguments=(Argument("marks", Kind.INTS, "up to 28 whole numbers from 0 to 9"),),
    result=Kind.INT,
    solve=fair_shares,
    parameters=lambda rng, level: {"least": whole(rng, 1, 1 + level)},
    statement=lambda parameters: (
        f"Children stand in a row, each with a mark. Each gets at least {parameters['least']} sweets, and a child with "
        "a better (larger) mark than a child beside it gets more than that child; equal marks demand nothing. How many "
        "sweets are needed at least?"
    ),
    draw=lambda rng, level, _: (_marks(rng, length(rng, level)),),
    mutants=(
        Mutant(
            "the second pass undoes the first", "max(shares[place], shares[place + 1] + 1)", "shares[place + 1] + 1"
        ),
        Mutant(
            "equal marks demand more, too", "if marks[place] > marks[place - 1]", "if marks[place] >= marks[place - 1]"
        ),
        Mutant("forgets the right neighbour", "range(len(marks) - 2, -1, -1)", "range(0)"),
        Mutant(
            "forgets the first child in the second pass",
            "range(len(marks) - 2, -1, -1)",
            "range(len(marks) - 2, 0, -1)",
        ),
        Mutant("second pass in the wrong direction", "range(len(marks) - 2, -1, -1)", "range(len(marks) - 1)"),
        Mutant(
            "adds both demands up",
            "max(shares[place], shares[place + 1] + 1)",
            "shares[place] + (shares[place + 1] - shares[0]) + 1",
        ),
    ),
)


def _marks(rng: random.Random, count: int) -> list[int]:
    """Slopes, plateaus and mixed marks."""
    marks = numbers(rng, count, *pick(rng, ((0, 9), (0, 2))))
    way = pick(rng, (0, 0, 1, 2, 3))
    if way == 3:
        return [*sorted(marks[: count // 2]), *sorted(marks[count // 2 :], reverse=True)]
    return sorted(marks, reverse=way == 1) if way else marks


def round_trip(gains: list[int], costs: list[int], *, reserve: int) -> int:
    """Where the tank would fall below the reserve, no start before is any better."""
    start, tank = 0, 0
    for place in range(2 * len(gains)):
        if place - start == len(gains):
            return start
        here = place % len(gains)
        tank += gains[here]
        if tank - costs[here] < reserve:
            start, tank = place + 1, 0
            if start >= len(gains):
                return -1
        else:
            tank -= costs[here]
    return -1


ROUND_TRIP = Family(
    name="round_trip",
    idea="a start on a circle that moves on whenever the running sum falls too low",
    arguments=(
        Argument("gains", Kind.INTS, "1 to 14 whole numbers from 0 to 12"),
        Argument("costs", Kind.INTS, "as many whole numbers, from 0 to 12"),
    ),
    result=Kind.INT,
    solve=round_trip,
    parameters=lambda rng, level: {"reserve": whole(rng, 1, level)},
    statement=lambda parameters: (
        "Stations stand on a circle. At station i, counted from 0, you take in `gains[i]` litres, then drive to the "
        "next one, which takes `costs[i]`; from the last station you come to station 0. You start at a station with an "
        "empty tank, and want to drive the whole circle once. At no arrival, the last one included, may there be less "
        f"than {parameters['reserve']} litres in the tank. Give the smallest number of a station at which you can "
        "start, or -1."
    ),
    draw=lambda rng, level, parameters: _stations(rng, level, parameters["reserve"]),
    mutants=(
        Mutant("forgets the reserve", "< reserve:", "< 0:"),
        Mutant("more than the reserve is needed", "< reserve:", "<= reserve:"),
        Mutant(
            "what was in the tank is kept at a new start", "start, tank = place + 1, 0", "start, tank = place + 1, tank"
        ),
        Mutant("does not drive across the end of the list", "range(2 * len(gains))", "range(len(gains) + 1)"),
        Mutant("counts stations from 1", "return start", "return start + (start > 0)"),
    ),
)


def _stations(rng: random.Random, level: int, reserve: int) -> tuple[list[int], list[int]]:
    """Costs that are the gains of other stations, a little less in all."""
    count = max(1, length(rng, level, 1) // 2)
    gains = numbers(rng, count, 0, 9)
    costs = shuffled(rng, gains)
    if rng.random() < 0.3:
        best = gains.index(max(gains))
        costs[best] = min(12, gains[best] + whole(rng, 0, 2))
    for _ in range(reserve + pick(rng, (-1, 0, 0, 1, 2))):
        place = whole(rng, 0, count - 1)
        costs[place] = max(0, costs[place] - 1)
    return gains, costs


def even_split(values: list[int], *, parts: int) -> int:
    """Binary search on the answer: a bound is enough if a greedy split into parts within it needs no more parts."""
    low, high = max(values, default=0), sum(values)
    while low < high:
        bound = (low + high) // 2
        needed, total = 1, 0
        for value in values:
            if total + value > bound:
                needed, total = needed + 1, 0
            total += value
        if needed <= parts:
            high = bound
        else:
            low = bound + 1
    return low


EVEN_SPLIT = Family(
    name="even_split",
    idea="binary search on the answer, with a greedy check",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from 0 to 40"),),
    result=Kind.INT,
    solve=even_split,
    parameters=lambda rng, level: {"parts": whole(rng, 2, 2 + level)},
    statement=lambda parameters: (
        f"Cut the list into at most {parameters['parts']} contiguous parts so that the largest sum of a part is as "
        "small as possible, and give that sum; for an empty list it is 0."
    ),
    draw=lambda rng, level, _: (_loads(rng, length(rng, level)),),
    mutants=(
        Mutant("a part may exceed the bound by its last value", "if total + value > bound:", "if total > bound:"),
        Mutant("one part too many", "needed, total = 1, 0\n", "needed, total = 0, 0\n"),
        Mutant(
            "the value that did not fit is lost",
            "            total += value",
            "            else:\n                total += value",
        ),
        Mutant(
            "the bound starts at the mean, not at the largest value",
            "max(values, default=0), sum",
            "sum(values) // parts, sum",
        ),
        Mutant("exactly the bound is too much", "total + value > bound", "total + value >= bound"),
        Mutant("uses one part less", "if needed <= parts", "if needed < parts"),
    ),
)


def _loads(rng: random.Random, count: int) -> list[int]:
    """Values of one size, or with one that is larger than all others together."""
    values = numbers(rng, count, 0, pick(rng, (3, 12, 40)))
    if values and rng.random() < 0.3:
        values[whole(rng, 0, count - 1)] = 40
    return values


def best_schedule(jobs: list[list[int]], *, first_day: int) -> int:
    """By deadline; a job for which there is no day left replaces the least paid one, if it pays more."""
    import heapq

    taken: list[int] = []
    for deadline, pay in sorted(jobs):
        heapq.heappush(taken, pay)
        if len(taken) > deadline - first_day + 1:
            heapq.heappop(taken)
    return sum(taken)


BEST_SCHEDULE = Family(
    name="best_schedule",
    idea="a heap of jobs taken, in which a better job replaces the worst one",
    arguments=(Argument("jobs", Kind.ROWS, "up to 14 rows `deadline pay` with 1 <= deadline <= 12, 1 <= pay <= 30"),),
    result=Kind.INT,
    solve=best_schedule,
    parameters=lambda rng, level: {"first_day": whole(rng, 2, 2 + level // 2)},
    statement=lambda parameters: (
        "Each job takes one day and is paid if it is done on the day of its deadline or before; one job can be done a "
        f"day, and the first day of work is day {parameters['first_day']}. What is the most that can be earned?"
    ),
    draw=lambda rng, level, _: (
        [[whole(rng, 1, 2 + 3 * level), whole(rng, 1, 10 * level)] for _ in range(length(rng, level) // 2)],
    ),
    mutants=(
        Mutant("not on the day of the deadline", "deadline - first_day + 1", "deadline - first_day"),
        Mutant("the first day is day 1", "deadline - first_day + 1", "deadline"),
        Mutant("by pay, not by deadline", "sorted(jobs)", "sorted(jobs, key=lambda job: -job[1])"),
        Mutant("keeps the jobs taken first", "            heapq.heappop(taken)", "            taken.remove(pay)"),
        Mutant("in the order of the input", "sorted(jobs)", "jobs"),
        Mutant(
            "counts jobs that pay the same once",
            "heapq.heappush(taken, pay)",
            "pay in taken or heapq.heappush(taken, pay)",
        ),
    ),
)

FAMILIES = (MOST_BOOKINGS, MERGE_COST, FEWEST_JUMPS, FAIR_SHARES, ROUND_TRIP, EVEN_SPLIT, BEST_SCHEDULE)
