"""Families that need an order: sorting, merging, heaps and sweeps."""

import random

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.inputs import length, numbers, word_list
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole


def merge_intervals(intervals: list[list[int]], *, gap: int) -> list[list[int]]:
    """In the order of their starts, an interval can only join the last one of the result."""
    merged: list[list[int]] = []
    for start, end in sorted(intervals):
        if merged and start - merged[-1][1] <= gap:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


MERGE_INTERVALS = Family(
    name="merge_intervals",
    idea="sorting by start, then joining neighbours",
    arguments=(Argument("intervals", Kind.ROWS, "up to 28 rows `start end` with 0 <= start <= end <= 60"),),
    result=Kind.ROWS,
    solve=merge_intervals,
    parameters=lambda rng, level: {"gap": whole(rng, 1, 1 + level)},
    statement=lambda parameters: (
        "Two intervals can be joined if the one that starts later starts before the end of the other, at it, or at "
        f"most {parameters['gap']} after it; so can those with the same start. Join intervals until no two can be "
        "joined; the joined one reaches from the smallest start to the largest end. Give those that remain, in "
        "ascending order of their starts."
    ),
    draw=lambda rng, level, parameters: (_spans(rng, level, parameters["gap"]),),
    mutants=(
        Mutant("a gap of exactly that size keeps them apart", "<= gap", "< gap"),
        Mutant("intervals in between end the joined one", "max(merged[-1][1], end)", "end"),
        Mutant("does not sort", "in sorted(intervals)", "in intervals"),
        Mutant("forgets the gap", "- merged[-1][1] <= gap", "<= merged[-1][1]"),
        Mutant("sorts by the ends", "sorted(intervals)", "sorted(intervals, key=lambda row: row[1])"),
        Mutant(
            "joins one interval at most",
            "merged[-1][1] = max(merged[-1][1], end)",
            "merged[-1] = [start, max(merged[-1][1], end)]",
        ),
    ),
)


def _spans(rng: random.Random, level: int, gap: int) -> list[list[int]]:
    """Intervals in random order, many of them at about the distance that decides, some within others."""
    rows: list[list[int]] = []
    here = whole(rng, 0, 9)
    for _ in range(length(rng, level) // 2):
        end = min(60, here + whole(rng, 0, 5))
        rows.insert(whole(rng, 0, len(rows)) if rng.random() < 0.3 else len(rows), [here, end])
        if rng.random() < 0.2 and end - here > 1:
            rows.append([here + 1, end - 1])
        here = min(60, end + whole(rng, 0, gap + 3))
    return rows


def stream_ranks(values: list[int], *, rank: int, smallest: bool) -> list[int]:
    """The heap holds the best so many, the worst of them on top."""
    import heapq

    sign = -1 if smallest else 1
    heap: list[int] = []
    found = []
    for value in values:
        heapq.heappush(heap, sign * value)
        if len(heap) > rank:
            heapq.heappop(heap)
        if len(heap) == rank:
            found.append(sign * heap[0])
    return found


STREAM_RANKS = Family(
    name="stream_ranks",
    idea="a heap of fixed size that holds the best values so far",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from -20 to 20"),),
    result=Kind.INTS,
    solve=stream_ranks,
    parameters=lambda rng, level: {"rank": whole(rng, 2, 2 + level), "smallest": pick(rng, (False, True))},
    statement=lambda parameters: (
        f"The values arrive one after the other. From value number {parameters['rank']} on, give after each arrival "
        f"the value with rank {parameters['rank']} among all that have arrived, where rank 1 is the "
        f"{'smallest' if parameters['smallest'] else 'largest'} and equal values have ranks of their own. If fewer "
        "values arrive, give an empty list."
    ),
    draw=lambda rng, level, _: (_trending(rng, length(rng, level)),),
    mutants=(
        Mutant(
            "equal values share a rank",
            "        heapq.heappush(heap, sign * value)",
            "        if sign * value not in heap:\n            heapq.heappush(heap, sign * value)",
        ),
        Mutant(
            "replaces the worst, also by a worse value",
            "heapq.heappush(heap, sign * value)",
            "heapq.heappush(heap, sign * value) if len(heap) < rank else heapq.heapreplace(heap, sign * value)",
        ),
        Mutant("gives the best value", "sign * heap[0]", "sign * max(heap)"),
        Mutant(
            "is silent unless the value gets a rank",
            "if len(heap) == rank:",
            "if len(heap) == rank and sign * value >= heap[0]:",
        ),
        Mutant("keeps one value too many", "if len(heap) > rank:", "if len(heap) > rank + 1:"),
        Mutant("takes the last value of a full list for the worst", "sign * heap[0]", "sign * heap[-1]"),
    ),
)


def _trending(rng: random.Random, count: int) -> list[int]:
    """Values in random, rising or falling order, now and then with many equal ones."""
    values = numbers(rng, count, *pick(rng, ((-20, 20), (-2, 2))))
    way = pick(rng, (0, 0, 1, 2))
    return sorted(values, reverse=way == 1) if way else values


def steep_inversions(values: list[int], *, factor: int) -> int:
    """Counted where two sorted halves are merged (merge sort): all that remain on the left are larger, too."""

    def sort(items: list[int]) -> tuple[list[int], int]:
        if len(items) < 2:
            return items, 0
        (left, some), (right, more) = sort(items[: len(items) // 2]), sort(items[len(items) // 2 :])
        found, place = some + more, 0
        for value in right:
            while place < len(left) and left[place] <= factor * value:
                place += 1
            found += len(left) - place
        return sorted(left + right), found

    return sort(values)[1]


STEEP_INVERSIONS = Family(
    name="steep_inversions",
    idea="counting pairs out of order while merging sorted halves",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from 0 to 20"),),
    result=Kind.INT,
    solve=steep_inversions,
    parameters=lambda rng, level: {"factor": whole(rng, 2, 1 + level)},
    statement=lambda parameters: (
        "How many pairs of places are there in which the value at the earlier place is more than "
        f"{parameters['factor']} times the value at the later place?"
    ),
    draw=lambda rng, level, parameters: (_ratios(rng, level, parameters["factor"]),),
    mutants=(
        Mutant("exactly so many times is enough", "left[place] <= factor", "left[place] < factor"),
        Mutant("more than the later value is enough", "<= factor * value", "<= value"),
        Mutant("forgets the pairs within the left half", "some + more", "more"),
        Mutant("counts later values once", "found += len(left) - place", "found += place < len(left)"),
        Mutant("0 is no value", "while place < len(left)", "while value and place < len(left)"),
        Mutant("looks at every value but the last", "sort(values)[1]", "sort(values[:-1])[1]"),
        Mutant("does not keep halves sorted", "sorted(left + right)", "left + right"),
    ),
)


def _ratios(rng: random.Random, level: int, factor: int) -> list[int]:
    """Rising or mixed values, among them some with the factor between them, or 0."""
    values: list[int] = []
    for _ in range(length(rng, level) // 2):
        value = whole(rng, 0, 20 // factor) if rng.random() < 0.7 else 0
        values += [min(20, factor * value + whole(rng, 0, 1)), value]
    return sorted(values) if rng.random() < 0.3 else values


def sort_by_length(words: list[str], *, longest_first: bool, backwards: bool) -> list[str]:
    """Sorted by the second key first, since sorting is stable."""
    ordered = sorted(words, reverse=backwards)
    return sorted(ordered, key=len, reverse=longest_first)


SORT_BY_LENGTH = Family(
    name="sort_by_length",
    idea="a stable sort by two keys in directions of their own",
    arguments=(Argument("words", Kind.LINES, "up to 14 words of the letters `a` to `c`, none of them empty"),),
    result=Kind.LINES,
    solve=sort_by_length,
    parameters=lambda rng, _level: {"longest_first": pick(rng, (False, True)), "backwards": pick(rng, (False, True))},
    statement=lambda parameters: (
        f"Sort the words by length, the {'longest' if parameters['longest_first'] else 'shortest'} first; words of "
        f"equal length in {'reverse alphabetical' if parameters['backwards'] else 'alphabetical'} order. Words that "
        "are there several times stay so."
    ),
    draw=lambda rng, level, _: (word_list(rng, length(rng, level) // 2, pick(rng, (2, 2 + level)), "abc"),),
    mutants=(
        Mutant("equal lengths stay in the order of the input", "sorted(words, reverse=backwards)", "list(words)"),
        Mutant("sorts by the alphabet only", "key=len, ", "key=str, "),
        Mutant(
            "words that are there several times are given once", "sorted(words, reverse", "sorted(set(words), reverse"
        ),
        Mutant("the wrong direction of lengths", "reverse=longest_first", "reverse=not longest_first"),
        Mutant("the wrong direction of the alphabet", "reverse=backwards", "reverse=not backwards"),
        Mutant(
            "compares the last letters first",
            "sorted(words, reverse=backwards)",
            "sorted(words, key=lambda word: word[::-1], reverse=backwards)",
        ),
    ),
)


def busiest_moment(intervals: list[list[int]], *, inclusive: bool, last: bool) -> list[int]:
    """A sweep over starts and ends; at the same moment, those come first that keep or make an interval open."""
    events = []
    for start, end in intervals:
        events.append((start, 0 if inclusive else 1, 1))
        events.append((end, 1 if inclusive else 0, -1))
    best, open_now = [0, 0], 0
    for moment, _, change in sorted(events):
        open_now += change
        if change == 1 and (open_now > best[1] or (last and open_now == best[1])):
            best = [moment, open_now]
    return best


BUSIEST_MOMENT = Family(
    name="busiest_moment",
    idea="a sweep over sorted starts and ends with a count of what is open",
    arguments=(Argument("intervals", Kind.ROWS, "up to 14 rows `start end` with 1 <= start < end <= 60"),),
    result=Kind.INTS,
    solve=busiest_moment,
    parameters=lambda rng, _level: {"inclusive": pick(rng, (False, True)), "last": pick(rng, (False, True))},
    statement=lambda parameters: (
        "A guest stays from `start` to `end` and is "
        f"{'still' if parameters['inclusive'] else 'no longer'} there at `end` itself. Of the moments at which a guest "
        "arrives, find the one at which most guests are there (those who arrive then included), and give it and their "
        f"number; of several such moments take the {'last' if parameters['last'] else 'first'}. Without guests give "
        "0 0."
    ),
    draw=lambda rng, level, _: (_visits(rng, level),),
    mutants=(
        Mutant("the end belongs to the other side", "end, 1 if inclusive else 0", "end, -1 if inclusive else 2"),
        Mutant("the wrong one of two moments", "(last and", "(not last and"),
        Mutant("does not look at the guest who comes last", "in intervals:", "in sorted(intervals)[:-1]:"),
        Mutant("looks in the order of the input", "in sorted(events)", "in events"),
        Mutant("guests never leave", "open_now += change", "open_now += max(change, 0)"),
        Mutant(
            "guests who arrive together count as one",
            "for start, end in intervals",
            "for start, end in dict(intervals).items()",
        ),
    ),
)


def _visits(rng: random.Random, level: int) -> list[list[int]]:
    """Stays among few moments, so that starts and ends meet."""
    rows = []
    for _ in range(length(rng, level) // 2):
        start = whole(rng, 1, 6 * level)
        rows.append([start, start + whole(rng, 1, 5)])
    return rows


def smallest_missing(values: list[int], *, first: int, rank: int) -> int:
    """No more numbers can be passed over than there are values."""
    present = set(values)
    candidate, left = first, rank
    while True:
        if candidate not in present:
            left -= 1
            if left == 0:
                return candidate
        candidate += 1


SMALLEST_MISSING = Family(
    name="smallest_missing",
    idea="marking which numbers of a range are present, then the first gaps",
    arguments=(Argument("values", Kind.INTS, "up to 28 whole numbers from -5 to 30"),),
    result=Kind.INT,
    solve=smallest_missing,
    parameters=lambda rng, level: {"first": whole(rng, -level, 0), "rank": whole(rng, 2, 1 + level)},
    statement=lambda parameters: (
        f"Of the whole numbers from {parameters['first']} upwards that are not in the list, which is number "
        f"{parameters['rank']} in ascending order? Number 1 is the smallest of them."
    ),
    draw=lambda rng, level, _: (_crowded(rng, length(rng, level)),),
    mutants=(
        Mutant(
            "leaves a number out after each that is missing",
            "candidate += 1",
            "candidate += 1 if candidate in present else 2",
        ),
        Mutant("begins one number later", "candidate, left = first, rank", "candidate, left = first + 1, rank"),
        Mutant(
            "begins at the smallest value of the list",
            "candidate, left = first,",
            "candidate, left = max(first, min(values, default=first)),",
        ),
        Mutant("drops signs", "set(values)", "set(map(abs, values))"),
        Mutant(
            "looks beyond the largest value only",
            "if candidate not in present:",
            "if candidate not in present and candidate > max(values, default=-9):",
        ),
        Mutant("0 is always missing", "if candidate not in present:", "if candidate not in present or not candidate:"),
    ),
)


def _crowded(rng: random.Random, count: int) -> list[int]:
    """Most of a range that begins near 0."""
    start = whole(rng, -4, 3)
    values = [start + place for place in range(count) if rng.random() < 0.7]
    return [pick(rng, values) if rng.random() < 0.2 else value for value in values]


FAMILIES = (MERGE_INTERVALS, STREAM_RANKS, STEEP_INVERSIONS, SORT_BY_LENGTH, BUSIEST_MOMENT, SMALLEST_MISSING)
