"""Slow programs for families about lists and intervals, which try all that the statement speaks of."""

import itertools
from functools import cache

Rows = list[list[int]]


def parts(values: list[int]) -> list[tuple[int, int]]:
    """Start and end (exclusive) of every contiguous part of at least one value."""
    return [(start, end) for start in range(len(values)) for end in range(start + 1, len(values) + 1)]


def longest_run(values: list[int], *, slack: int, last: bool) -> list[int]:
    runs = [
        (end - start, start if last else -start, start + 1)
        for start, end in parts(values)
        if all(values[place] >= values[place - 1] - slack for place in range(start + 1, end))
    ]
    return [max(runs)[2], max(runs)[0]] if runs else [0, 0]


def circular_sum(values: list[int], *, fee: int) -> int:
    turns = [values[place:] + values[:place] for place in range(len(values))]
    return max(sum(turn[:size]) - fee * size for turn in turns for size in range(1, len(turn) + 1))


def frequent_values(values: list[int], *, share: int) -> list[int]:
    return [value for value in range(-4, 5) if values.count(value) / max(len(values), 1) > 1 / share + 1e-9]


def divisible_parts(values: list[int], *, modulus: int, remainder: int) -> int:
    return sum((sum(values[start:end]) - remainder) % modulus == 0 for start, end in parts(values))


def value_chain(values: list[int], *, step: int, largest: bool) -> list[int]:
    chains = [
        (size, first if largest else -first, first)
        for first in values
        for size in range(1, len(values) + 1)
        if all(first + step * place in values for place in range(size))
    ]
    return [max(chains)[2], max(chains)[0]] if chains else []


def range_updates(size: int, updates: Rows, *, growth: int) -> list[int]:
    cells = [0] * size
    for first, last, amount in updates:
        for place in range(first, last + 1):
            cells[place] += amount + growth * (place - first)
    return cells


def window_extremes(values: list[int], *, width: int, smallest: bool) -> list[int]:
    extreme = min if smallest else max
    return [extreme(values[start : start + width]) for start in range(len(values) - width + 1)]


def pair_sums(values: list[int], *, limit: int, inclusive: bool) -> int:
    return sum(sum(pair) < limit + inclusive for pair in itertools.combinations(values, 2))


def trapped_water(heights: list[int], *, most: int) -> int:
    total = 0
    for level in range(1, max(heights, default=0) + 1):
        for place, height in enumerate(heights):
            walled = max([0, *heights[:place]]) >= level and max([0, *heights[place + 1 :]]) >= level
            total += walled and height < level <= height + most
    return total


def merge_intervals(intervals: Rows, *, gap: int) -> Rows:
    rows = [list(row) for row in intervals]
    while pair := next(
        ((one, two) for one, two in itertools.permutations(rows, 2) if one[0] <= two[0] <= one[1] + gap),
        None,
    ):
        one, two = pair
        rows.remove(one)
        rows.remove(two)
        rows.append([one[0], max(one[1], two[1])])
    return sorted(rows)


def stream_ranks(values: list[int], *, rank: int, smallest: bool) -> list[int]:
    return [sorted(values[:end], reverse=not smallest)[rank - 1] for end in range(rank, len(values) + 1)]


def steep_inversions(values: list[int], *, factor: int) -> int:
    return sum(one > factor * two for one, two in itertools.combinations(values, 2))


def sort_by_length(words: list[str], *, longest_first: bool, backwards: bool) -> list[str]:
    lengths = sorted({len(word) for word in words}, reverse=longest_first)
    return [word for size in lengths for word in sorted(words, reverse=backwards) if len(word) == size]


def busiest_moment(intervals: Rows, *, inclusive: bool, last: bool) -> list[int]:
    best = [0, 0]
    for moment in sorted({start for start, _ in intervals}):
        there = sum(start <= moment < end + inclusive for start, end in intervals)
        if there > best[1] or (last and there == best[1]):
            best = [moment, there]
    return best


def smallest_missing(values: list[int], *, first: int, rank: int) -> int:
    return [number for number in range(first, 100) if number not in values][rank - 1]


def next_greater(values: list[int], *, strict: bool, leftwards: bool) -> list[int]:
    found = []
    for place, value in enumerate(values):
        others = values[:place][::-1] if leftwards else values[place + 1 :]
        found.append(next((way for way, other in enumerate(others, 1) if other > value - (not strict)), 0))
    return found


def widest_rectangle(heights: list[int], *, widest: int) -> int:
    return max(
        (min(heights[start:end]) * (end - start) for start, end in parts(heights) if end - start <= widest), default=0
    )


def most_bookings(bookings: Rows, *, pause: int) -> int:
    ordered = sorted(bookings)

    @cache
    def most(place: int, free: int) -> int:
        if place == len(ordered):
            return 0
        start, end = ordered[place]
        without = most(place + 1, free)
        return max(without, 1 + most(place + 1, end + pause)) if start >= free else without

    return most(0, 0)


def merge_cost(sizes: list[int], *, most: int, fee: int) -> int:
    @cache
    def cost(heaps: tuple[int, ...]) -> int:
        if len(heaps) < 2:
            return 0
        options = []
        for count in range(2, min(most, len(heaps)) + 1):
            for chosen in itertools.combinations(range(len(heaps)), count):
                merged = sum(heaps[place] for place in chosen)
                rest = [size for place, size in enumerate(heaps) if place not in chosen]
                options.append(merged + fee + cost(tuple(sorted([*rest, merged]))))
        return min(options)

    return cost(tuple(sorted(sizes)))


def fewest_jumps(reaches: list[int], *, bonus: int) -> int:
    reached = {0}
    for jumps in range(len(reaches)):
        if len(reaches) - 1 in reached:
            return jumps
        reached |= {
            place + way
            for place in reached
            if place < len(reaches) and reaches[place]
            for way in range(1, reaches[place] + (bonus if place == 0 else 0) + 1)
        }
    return -1


def fair_shares(marks: list[int], *, least: int) -> int:
    shares = [least] * len(marks)
    for _ in marks:
        for one, two in itertools.permutations(range(len(marks)), 2):
            if abs(one - two) == 1 and marks[one] > marks[two]:
                shares[one] = max(shares[one], shares[two] + 1)
    return sum(shares)


def round_trip(gains: list[int], costs: list[int], *, reserve: int) -> int:
    count = len(gains)
    for start in range(count):
        tank, enough = 0, True
        for place in range(start, start + count):
            tank += gains[place % count] - costs[place % count]
            enough = enough and tank >= reserve
        if enough:
            return start
    return -1


def even_split(values: list[int], *, parts: int) -> int:
    count = len(values)
    cuts = itertools.combinations_with_replacement(range(count + 1), parts - 1)
    return min(max(sum(values[a:b]) for a, b in itertools.pairwise([0, *cut, count])) for cut in cuts)


def best_schedule(jobs: Rows, *, first_day: int) -> int:
    def feasible(chosen: tuple[list[int], ...]) -> bool:
        return all(deadline >= day for day, (deadline, _) in enumerate(sorted(chosen), start=first_day))

    subsets = itertools.chain.from_iterable(itertools.combinations(jobs, size) for size in range(len(jobs) + 1))
    return max(sum(pay for _, pay in subset) for subset in subsets if feasible(subset))


def lonely_value(values: list[int], *, times: int) -> int:
    return next(value for value in values if values.count(value) == 1 != times)


def greatest_xor(values: list[int], *, ignored: int) -> int:
    return max(((one ^ two) >> ignored << ignored for one, two in itertools.combinations(values, 2)), default=0)


def gray_codes(values: list[int], *, decode: bool) -> list[int]:
    codes = [number ^ number // 2 for number in range(1024)]
    return [codes.index(value) if decode else codes[value] for value in values]


def xor_basis(values: list[int], *, target: int) -> list[int]:
    sums = {0}
    for value in values:
        sums |= {value ^ other for other in sums}
    return [len(sums), min(target ^ value for value in sums)]


def reversed_bits(values: list[int], *, width: int) -> list[int]:
    texts = [f"{value:016b}" for value in values]
    return [int(text[:-width] + text[-width:][::-1], 2) for text in texts]


def best_rest(digits: str, *, removed: int, largest: bool) -> str:
    rests = ["".join(kept) for kept in itertools.combinations(digits, max(0, len(digits) - removed))]
    return max(rests) if largest else min(rests)
