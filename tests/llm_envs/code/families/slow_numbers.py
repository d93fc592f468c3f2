"""Slow programs for families about numbers, texts, points and games, by the words of the statement alone."""

import heapq
import itertools
import math
from datetime import date, timedelta
from fractions import Fraction
from functools import cache

Rows = list[list[int]]


def knapsack(items: Rows, capacity: int, *, copies: int, heavy: bool) -> list[int]:
    loads = {(0, 0)}
    for weight, value in items:
        loads = {
            (w + n * weight, v + n * value) for w, v in loads for n in range(copies + 1) if w + n * weight <= capacity
        }
    top = max(value for _, value in loads)
    return [top, (max if heavy else min)(weight for weight, value in loads if value == top)]


def product_order(sizes: list[int], *, fee: int, dearest: bool) -> int:
    def costs(chain: tuple[tuple[int, int, int], ...]) -> int:
        if len(chain) == 1:
            return 0
        options = []
        for place, ((p, q, m), (_, r, n)) in enumerate(itertools.pairwise(chain)):
            rest = (*chain[:place], (p, r, m + n), *chain[place + 2 :])
            options.append(p * q * r + fee * (m + n) + costs(rest))
        return max(options) if dearest else min(options)

    return costs(tuple((p, q, 1) for p, q in itertools.pairwise(sizes)))


def rising_choice(values: list[int], *, gap: int) -> list[int]:
    for length in range(len(values), 0, -1):
        chosen = itertools.combinations(values, length)
        count = sum(all(b - a >= gap for a, b in itertools.pairwise(choice)) for choice in chosen)
        if count:
            return [length, count]
    return [0, 0]


def shared_choice(one: str, other: str, *, last: bool) -> str:
    for length in range(min(len(one), len(other)), 0, -1):
        both = set(itertools.combinations(one, length)) & set(itertools.combinations(other, length))
        if both:
            return "".join(max(both) if last else min(both))
    return ""


def spaced_sum(values: list[int], *, gap: int, must: bool) -> int:
    sums = [
        sum(values[place] for place in chosen)
        for count in range(int(must), len(values) // (gap + 1) + 2)
        for chosen in itertools.combinations(range(len(values)), count)
        if all(b - a > gap for a, b in itertools.pairwise(chosen))
    ]
    return max(sums)


def sum_rests(values: list[int], *, divisor: int, rest: int) -> int:
    choices = itertools.product((0, 1), repeat=len(values))
    return sum(sum(itertools.compress(values, choice)) % divisor == rest for choice in choices)


def coin_ways(coins: list[int], amount: int, *, ordered: bool, modulus: int) -> int:
    def ways(left: int, usable: list[int]) -> int:
        if left == 0:
            return 1
        return sum(
            ways(left - coin, usable if ordered else usable[place:])
            for place, coin in enumerate(usable)
            if coin <= left
        )

    return ways(amount, coins) % modulus


def arrangement_rank(word: str, *, first: int, backward: bool) -> int:
    return sorted(set(itertools.permutations(word)), reverse=backward).index(tuple(word)) + first


def later_arrangement(values: list[int], *, steps: int, backward: bool) -> list[int]:
    arrangements = sorted(set(itertools.permutations(values)), reverse=backward)
    return list(arrangements[(arrangements.index(tuple(values)) + steps) % len(arrangements)])


def multiples_count(divisors: list[int], limit: int, *, asked: str) -> int:
    hits = [sum(number % divisor == 0 for divisor in divisors) for number in range(1, limit + 1)]
    return sum({"some": hit > 0, "none": hit == 0, "one": hit == 1}[asked] for hit in hits)


def common_meeting(clocks: Rows, *, least: int) -> int:
    period = math.prod(modulus for _, modulus in clocks)
    fits = (n for n in range(least, least + period) if all((n - rest) % modulus == 0 for rest, modulus in clocks))
    return next(fits, -1)


def totients(numbers: list[int], *, times: int) -> list[int]:
    for _ in range(times):
        numbers = [sum(math.gcd(number, other) == 1 for other in range(1, number + 1)) for number in numbers]
    return numbers


def factor_count(low: int, high: int, *, factors: int, repeated: bool) -> list[int]:
    def primes(number: int) -> list[int]:
        least = next((prime for prime in range(2, number + 1) if number % prime == 0), None)
        return [] if least is None else [least, *primes(number // least)]

    return [n for n in range(low, high + 1) if len(primes(n) if repeated else set(primes(n))) == factors]


def negative_base(numbers: list[int], *, base: int) -> list[str]:
    """By reading: `int` knows no negative base, so the digits are weighed."""
    written: dict[int, str] = {}
    for length in range(1, 5):
        for digits in itertools.product(range(base), repeat=length):
            number = sum(digit * (-base) ** power for power, digit in enumerate(reversed(digits)))
            written.setdefault(number, "".join(map(str, digits)))
    return [written[number] for number in numbers]


def convex_hull(points: Rows, *, border: bool) -> Rows:
    """A point is no corner if it lies in a triangle or between two of the others."""

    def turn(a: list[int], b: list[int], c: list[int]) -> int:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    sides = [(a, b) for a in points for b in points if a != b and all(turn(a, b, c) >= 0 for c in points)]
    if len(points) == 1 or all(turn(*three) == 0 for three in itertools.combinations(points, 3)):
        ordered = sorted(points)
        return ordered if border else ordered[:: max(1, len(ordered) - 1)]
    on_border = [c for c in points if any(turn(a, b, c) == 0 for a, b in sides)]
    between = [c for c in on_border if any(turn(a, b, c) == 0 and min(a, b) < c < max(a, b) for a, b in sides)]
    kept = on_border if border else [c for c in on_border if c not in between]
    middle = [Fraction(sum(axis), len(points)) for axis in zip(*points, strict=True)]
    kept.sort(key=lambda c: math.atan2(c[1] - middle[1], c[0] - middle[0]))
    start = kept.index(min(kept))
    return kept[start:] + kept[:start]


def crossings(segments: Rows, *, touching: bool) -> list[int]:
    """By solving for the point of crossing in fractions."""

    def meet(one: list[int], other: list[int]) -> bool:
        (a, b, c, d), (e, f, g, h) = one, other
        across = (c - a) * (h - f) - (d - b) * (g - e)
        if across:
            s = Fraction((e - a) * (h - f) - (f - b) * (g - e), across)
            t = Fraction((e - a) * (d - b) - (f - b) * (c - a), across)
            return 0 <= s <= 1 and 0 <= t <= 1 if touching else 0 < s < 1 and 0 < t < 1
        if not touching or (e - a) * (d - b) != (f - b) * (c - a):
            return False
        first, second = sorted([(a, b), (c, d)]), sorted([(e, f), (g, h)])
        return max(first[0], second[0]) <= min(first[1], second[1])

    return [sum(meet(one, other) for other in segments if other is not one) for one in segments]


def later_date(day: list[int], days: int, *, leap: int, skip: int) -> list[int]:
    year, month, number = day
    for _ in range(days):
        is_leap = year % leap == 0 and year % skip != 0
        after = date(2000 if is_leap else 2001, month, number) + timedelta(days=1)
        year, month, number = year + (after.month < month), after.month, after.day
    return [year, month, number]


def winning_take(heaps: list[int], *, most: int, banned: int) -> list[int]:
    known: dict[tuple[int, ...], list[int]] = {}

    def win(heaps: tuple[int, ...]) -> list[int]:
        if heaps not in known:
            moves = (
                [place, taken]
                for place, heap in enumerate(heaps)
                for taken in range(1, min(most, heap) + 1)
                if taken != banned and not win((*heaps[:place], heap - taken, *heaps[place + 1 :]))
            )
            known[heaps] = next(moves, [])
        return known[heaps]

    return win(tuple(heaps))


def number_splits(digits: str, *, most: int) -> int:
    count = 0
    for cuts in itertools.product((False, True), repeat=max(0, len(digits) - 1)):
        pieces, start = [], 0
        for end, cut in enumerate([*cuts, True], 1):
            if cut:
                pieces.append(digits[start:end])
                start = end
        count += all(piece == str(int(piece or "1")) and int(piece) in range(1, most + 1) for piece in pieces if digits)
    return count


def edit_cost(old: str, new: str, *, insert: int, delete: int, replace: int) -> int:
    """Dearer and dearer texts, until the wanted one turns up."""
    best = {old: 0}
    queue = [(0, old)]
    while queue[0][1] != new:
        cost, text = heapq.heappop(queue)
        for place in range(len(text) + 1):
            before, after = text[:place], text[place:]
            changed = [(insert, before + letter + after) for letter in "abc" if len(text) <= max(len(old), len(new))]
            if after:
                changed += [(delete, before + after[1:]), *((replace, before + letter + after[1:]) for letter in "abc")]
            for more, other in changed:
                if cost + more < best.get(other, cost + more + 1):
                    best[other] = cost + more
                    heapq.heappush(queue, (cost + more, other))
    return queue[0][0]


def row_game(values: list[int], *, most: int, poor: bool) -> int:
    @cache
    def lead(row: tuple[int, ...]) -> int:
        cuts = range(1, min(most, len(row)) + 1)
        options = [
            sum(part) - lead(rest) for cut in cuts for part, rest in ((row[:cut], row[cut:]), (row[-cut:], row[:-cut]))
        ]
        return (min if poor else max)(options, default=0)

    return lead(tuple(values))


def spots_inside(corners: Rows, spots: Rows, *, border: bool) -> str:
    """By the turns of a line from the spot along the border: a whole one inside, none outside."""
    answer = ""
    for spot in spots:
        angle = 0.0
        on_border = False
        for one, other in itertools.pairwise([*corners, corners[0]]):
            (a, b), (c, d) = ((x - spot[0], y - spot[1]) for x, y in (one, other))
            turn, along = a * d - b * c, a * c + b * d
            on_border |= turn == 0 and along <= 0
            angle += math.atan2(turn, along)
        answer += "i" if (border if on_border else abs(angle) > math.pi) else "o"
    return answer
