"""Reads one job a line from standard input and writes one result a line, until the input ends."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

Job = Callable[[Any], tuple[float, Any]]  # takes plain data; CPU seconds of what counts, and plain data


def serve(jobs: Mapping[str, Job]) -> None:
    """Say that all is imported, then work."""
    out, sys.stdout = sys.stdout, sys.stderr  # what a library prints must not get between the results
    print("true", file=out, flush=True)
    for line in sys.stdin:
        name, argument = json.loads(line)
        print(json.dumps(jobs[name](argument)), file=out, flush=True)
