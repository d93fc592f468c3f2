"""Which modules programs import, so that a fresh cage has the usual ones ready.

A module that a runner has imported before it forks costs every program a few percent more time for the fork; one that
it has not costs 1 to 15 ms in each program that imports it. What is usual depends on the task, so it is counted.
"""

import re
from collections import Counter

USUAL_SHARE = 0.03  # of programs, from which on it pays for all that a module is there
_FIRST_WINDOW, _LAST_WINDOW = 16, 512  # programs between two looks; doubled from one to the next
# pure libraries: importing one neither shows, nor starts, nor remembers anything
_ELIGIBLE = frozenset(
    [
        "array",
        "bisect",
        "calendar",
        "cmath",
        "collections",
        "contextlib",
        "copy",
        "csv",
        "dataclasses",
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "heapq",
        "io",
        "itertools",
        "json",
        "math",
        "numbers",
        "operator",
        "queue",
        "random",
        "re",
        "statistics",
        "string",
        "struct",
        "textwrap",
        "threading",
        "traceback",
        "types",
        "typing",
        "unicodedata",
    ]
)
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w. \t,]+))", re.MULTILINE)


def imported(code: str) -> set[str]:
    """The modules that a program names in import statements, as far as they are worth importing beforehand."""
    names: set[str] = set()
    for origin, listed in _IMPORT.findall(code):
        names.add(origin)
        names.update(name.split(".")[0].split()[0] for name in listed.split(",") if name.strip(" \t."))
    return names & _ELIGIBLE


class Imports:
    """Counts imports by windows of programs. Not safe from several threads at once: its caller holds a lock."""

    def __init__(self) -> None:
        """Nothing is usual yet."""
        self.usual: frozenset[str] = frozenset()
        self._counts: Counter[str] = Counter()
        self._programs = 0
        self._window = _FIRST_WINDOW

    def note(self, code: str) -> None:
        """Count a program; at the end of a window, what is usual may change."""
        self._counts.update(imported(code))
        self._programs += 1
        if self._programs >= self._window:
            least = USUAL_SHARE * self._programs
            self.usual = frozenset(name for name, count in self._counts.items() if count >= least)
            self._counts.clear()
            self._programs = 0
            self._window = min(2 * self._window, _LAST_WINDOW)
