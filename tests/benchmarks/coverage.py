"""How often 95% intervals hold the truth, on episodes whose true success is known.

`python -m tests.benchmarks.coverage` prints the table of docs/statistics.md.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from llm_envs_bench.stats import Clusters, Estimate, clustered_rate

SAMPLES = 4
INSTANCES, RATES, ALIKE = (30, 100, 500), (0.2, 0.5, 0.9), (0.0, 0.5)
TRIALS = 20_000  # of the documented table: its figures are then good to 0.15 points (one standard error)
ALLOWED = (0.93, 0.97)


@dataclass(frozen=True)
class Cell:
    """Runs of some number of instances, true success, and intra-class correlation of an instance's episodes."""

    instances: int
    rate: float
    alike: float

    def successes(self, rng: np.random.Generator, samples: int = SAMPLES) -> NDArray[np.int64]:
        """Successful episodes of each instance of a run: binomial, of a rate that is beta-distributed if `alike`."""
        if self.alike == 0:
            return rng.binomial(samples, self.rate, self.instances)
        scale = 1 / self.alike - 1  # a + b, since the correlation is 1 / (a + b + 1)
        return rng.binomial(samples, rng.beta(scale * self.rate, scale * (1 - self.rate), self.instances))

    def coverage(self, trials: int) -> float:
        """Of the interval that the suite reports."""
        rng = np.random.default_rng([self.instances, round(10 * self.rate), round(10 * self.alike)])
        sizes = np.full(self.instances, float(SAMPLES))
        runs = (clustered_rate(Clusters(self.successes(rng).astype(float), sizes)) for _ in range(trials))
        return covered(runs, self.rate)


CELLS = [Cell(*values) for values in product(INSTANCES, RATES, ALIKE)]


def covered(estimates: Iterable[Estimate], truth: float) -> float:
    """The share of the intervals that hold the truth."""
    return float(np.mean([one.low <= truth <= one.high for one in estimates]))


def table_rows(trials: int) -> Iterator[str]:
    """Rows of the markdown table, those outside of what is allowed marked."""
    for cell in CELLS:
        found = cell.coverage(trials)
        mark = "" if ALLOWED[0] <= found <= ALLOWED[1] else " (outside)"
        yield f"| {cell.instances} | {cell.rate} | {cell.alike:g} | {100 * found:.1f}%{mark} |"


if __name__ == "__main__":
    sys.stdout.writelines(f"{row}\n" for row in table_rows(TRIALS))
