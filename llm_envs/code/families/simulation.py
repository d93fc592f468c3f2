"""Families that play a process step by step."""

import random
from typing import Any

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.shapes import size, words
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, whole


def counter_queue(jobs: list[list[int]], *, pause: int, short: bool) -> list[int]:
    """One counter; whenever it is free, the most urgent of those who wait is served to the end."""
    import heapq

    coming = sorted(range(len(jobs)), key=lambda job: jobs[job][0])
    waiting: list[tuple[int, int, int]] = []
    ends = [0] * len(jobs)
    free = 0
    while coming or waiting:
        if not waiting:
            free = max(free, jobs[coming[0]][0])
        while coming and jobs[coming[0]][0] <= free:
            job = coming.pop(0)
            arrival, duration, urgency = jobs[job]
            heapq.heappush(waiting, (-urgency, duration if short else arrival, job))
        job = heapq.heappop(waiting)[2]
        ends[job] = free + jobs[job][1]
        free = ends[job] + pause
    return ends


def _counter_queue_draw(rng: random.Random, level: int, _parameters: dict[str, Any]) -> tuple[Any, ...]:
    latest = pick(rng, (5, 10, 30))
    count = size(rng, level, 0, (6, 7, 9))
    return ([[whole(rng, 0, latest), whole(rng, 1, 6), whole(rng, 1, 3)] for _ in range(count)],)


COUNTER_QUEUE = Family(
    name="counter_queue",
    idea="simulation of events with a priority queue",
    arguments=(
        Argument(
            "jobs", Kind.ROWS, "up to 9 rows `a d u` of arrival, duration and urgency, 0 <= a <= 30, 1 <= d, u <= 6"
        ),
    ),
    result=Kind.INTS,
    solve=counter_queue,
    parameters=lambda rng, level: {"pause": whole(rng, 1, level), "short": rng.random() < 0.5},
    statement=lambda parameters: (
        "One counter serves jobs, one at a time and each without a break. After every job it pauses for "
        f"{parameters['pause']} units of time, then it is free. When it is free, it starts the job with the greatest "
        "urgency of those that have arrived (at that moment or earlier) and have not been started; of several the one "
        f"with the {'shortest duration' if parameters['short'] else 'earliest arrival'}, and of these the first in the "
        "list. If none has arrived, it waits for the next arrival and chooses then among all that arrive at that "
        "moment. It is free at time 0. For every job in turn give the time at which it is done."
    ),
    draw=_counter_queue_draw,
    mutants=(
        Mutant("breaks ties the other way", "if short", "if not short"),
        Mutant("serves the least urgent job", "(-urgency,", "(urgency,"),
        Mutant("lets in one job at a time", "while coming and jobs", "if coming and jobs"),
        Mutant("serves in the order of arrival", "heapq.heappop(waiting)[2]", "waiting.pop(0)[2]"),
        Mutant("forgets the pause", "free = ends[job] + pause", "free = ends[job]"),
        Mutant("goes back to the time of the next arrival", "max(free, jobs[coming[0]][0])", "jobs[coming[0]][0]"),
    ),
)


def cache_log(requests: list[int], *, room: int, policy: str) -> list[int]:
    """What is kept, the next to go first."""
    kept: list[int] = []
    dropped: list[int] = []
    hits = 0
    for page in requests:
        if page in kept:
            hits += 1
            if policy == "used":
                kept.remove(page)
                kept.append(page)
        else:
            if len(kept) == room:
                dropped.append(kept.pop(0))
            kept.append(page)
    return [hits, *dropped]


_POLICIES = {
    "used": "the kept page whose last request is longest ago",
    "came": "the page that has been kept for the longest time (requests for kept pages change nothing)",
}


def _cache_log_draw(rng: random.Random, level: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    pages = parameters["room"] + whole(rng, 0, 2)
    return ([whole(rng, 1, pages) for _ in range(size(rng, level, 0, (11, 16, 24)))],)


CACHE_LOG = Family(
    name="cache_log",
    idea="a cache that drops the page used or stored longest ago",
    arguments=(Argument("requests", Kind.INTS, "up to 24 whole numbers from 1 to 8, the pages asked for"),),
    result=Kind.INTS,
    solve=cache_log,
    parameters=lambda rng, level: {"room": whole(rng, 2, 3 + level), "policy": pick(rng, tuple(_POLICIES))},
    statement=lambda parameters: (
        f"A cache keeps at most {parameters['room']} pages and is empty at first. Pages are requested one after the "
        "other. A request for a kept page is a hit. Any other requested page is stored, and if the cache is full, a "
        f"page is dropped first: {_POLICIES[parameters['policy']]}. Give the number of hits and then the dropped pages "
        "in the order in which they were dropped."
    ),
    draw=_cache_log_draw,
    mutants=(
        Mutant("drops by the other rule", 'policy == "used"', 'policy != "used"'),
        Mutant("keeps one page too many", "len(kept) == room", "len(kept) > room"),
        Mutant("keeps one page too few", "len(kept) == room", "len(kept) == room - 1"),
        Mutant("drops the page that came last", "kept.pop(0)", "kept.pop()"),
        Mutant(
            "keeps nothing after it has dropped a page",
            "kept.pop(0))\n            kept",
            "kept.pop(0))\n            else:\n                kept",
        ),
        Mutant("takes the first request for a hit", "hits = 0", "hits = int(requests[:1] == requests[1:2])"),
        Mutant(
            "does not note that a page was dropped when it is asked for again",
            "dropped.append(kept.pop(0))",
            "dropped = [old for old in dropped if old != page] + [kept.pop(0)]",
        ),
    ),
)


def later_date(date: list[int], days: int, *, leap: int, skip: int) -> list[int]:
    """Month by month."""
    year, month, day = date
    while True:
        length = 30 if month in (4, 6, 9, 11) else 31
        if month == 2:
            length = 29 if year % leap == 0 and year % skip != 0 else 28
        if day + days <= length:
            return [year, month, day + days]
        days -= length - day + 1
        day, month = 1, month + 1
        if month > 12:
            year, month = year + 1, 1


def _leap_rule(rng: random.Random, level: int) -> dict[str, Any]:
    leap = whole(rng, 2, 3 + level)
    return {"leap": leap, "skip": leap * whole(rng, 3, 6)}


def _later_date_draw(rng: random.Random, level: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    leap, skip = parameters["leap"], parameters["skip"]
    latest = (99, 300, 999)[level - 1]
    year = pick(
        rng, (leap * whole(rng, 1, latest // leap), skip * whole(rng, 1, latest // skip), whole(rng, 1, latest))
    )
    month = pick(rng, (1, 2, 2, whole(rng, 1, 12), 12))
    day = whole(rng, 1, 28)
    days = pick(rng, (31 - day, 60 - day, whole(rng, 0, 40), *[whole(rng, 30, (90, 500, 1000)[level - 1])] * 3))
    return [year, month, day], days


LATER_DATE = Family(
    name="later_date",
    idea="calendar arithmetic month by month with a rule for leap years",
    arguments=(
        Argument("date", Kind.INTS, "year (1 to 999), month (1 to 12) and day (1 to 28)"),
        Argument("days", Kind.INT, "a whole number from 0 to 1000"),
    ),
    result=Kind.INTS,
    solve=later_date,
    parameters=_leap_rule,
    statement=lambda parameters: (
        "A calendar has twelve months with as many days as in our calendar. A year is a leap year, in which the second "
        f"month has 29 days and not 28, if its number is divisible by {parameters['leap']} but not by "
        f"{parameters['skip']}. Which date is `days` days after the given one (0 days after it is the date itself)? "
        "Give year, month and day."
    ),
    draw=_later_date_draw,
    mutants=(
        Mutant("forgets the exception to the rule of leap years", " and year % skip != 0", ""),
        Mutant("knows no leap years", "29 if year % leap == 0", "28 if year % leap == 0"),
        Mutant("looks at the next year's number", "year % leap == 0", "(year + 1) % leap == 0"),
        Mutant("never reaches the last day of a month", "day + days <= length", "day + days < length"),
        Mutant("the first of a month is one day late", "length - day + 1", "length - day"),
        Mutant("counts the months from 0", "(4, 6, 9, 11)", "(3, 5, 8, 10)"),
        Mutant("the year does not change", "year, month = year + 1, 1", "month = 1"),
    ),
)


def robot_walk(program: str, *, side: int, torus: bool) -> list[int]:
    """Place, heading and the fields seen."""
    x = y = side // 2
    across, up = 0, 1
    seen = {(x, y)}
    for letter in program:
        if letter == "L":
            across, up = -up, across
        elif letter == "R":
            across, up = up, -across
        else:
            x, y = x + across, y + up
            if torus:
                x, y = x % side, y % side
            else:
                x, y = min(max(x, 0), side - 1), min(max(y, 0), side - 1)
            seen.add((x, y))
    return [x, y, len(seen)]


ROBOT_WALK = Family(
    name="robot_walk",
    idea="a walk with turns on a bounded grid",
    arguments=(Argument("program", Kind.TEXT, "a text of up to 24 letters F, L and R"),),
    result=Kind.INTS,
    solve=robot_walk,
    parameters=lambda rng, level: {"side": 2 * whole(rng, 1, level) + 1, "torus": rng.random() < 0.5},
    statement=lambda parameters: (
        f"A robot stands in the middle of a board of {parameters['side']} x {parameters['side']} fields, whose x (to "
        "the right) and y (upward) count from 0, and looks upward. L turns it to the left and R to the right, by a "
        "quarter; F moves it to the next field in the direction in which it looks. At the border of the board "
        + ("it comes in again at the opposite border. " if parameters["torus"] else "F does not move it. ")
        + "Give the x and y where it ends, and on how many different fields it has been, the first one included."
    ),
    draw=lambda rng, level, _: (
        words(rng, pick(rng, ("FFFLR", "FFLR", "FFFFR", "FFFFL")), size(rng, level, 0, (9, 14, 24))),
    ),
    mutants=(
        Mutant("left and right mixed up", 'letter == "L"', 'letter == "R"'),
        Mutant("treats the border the other way", "if torus", "if not torus"),
        Mutant("turns round at R", "across, up = up, -across", "across, up = -across, -up"),
        Mutant("counts moves, not fields", "seen.add((x, y))", "seen.add((x, y, len(seen)))"),
        Mutant("does not count the first field", "seen = {(x, y)}", "seen: set[tuple[int, int]] = set()"),
        Mutant("looks to the right at first", "across, up = 0, 1", "across, up = 1, 0"),
    ),
)

FAMILIES = (COUNTER_QUEUE, CACHE_LOG, LATER_DATE, ROBOT_WALK)
