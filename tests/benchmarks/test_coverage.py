"""Intervals hold the truth as often as they say, and would not without their clusters."""

import math
import re

import numpy as np
import pytest

from llm_envs_bench.stats import average, bootstrap, mean, paired_difference, rate, wilson
from tests.architecture.paths import ROOT
from tests.benchmarks.coverage import ALLOWED, CELLS, SAMPLES, TRIALS, Cell, covered
from tests.scale import scaled

RUNS = scaled(fast=150, long=10_000)
PAGE = ROOT / "docs/statistics.md"
ROW = re.compile(r"\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+)%( \(outside\))? \|")


def slack(trials: int) -> float:
    """Five standard errors of a share of 95% over the trials: chance alone exceeds it once in a million."""
    return 5 * math.sqrt(0.95 * 0.05 / trials)


def documented() -> dict[Cell, float]:
    rows = ROW.findall(PAGE.read_text())
    return {Cell(int(n), float(rate), float(alike)): float(share) / 100 for n, rate, alike, share, _ in rows}


def test_the_page_lists_every_cell_and_marks_those_outside() -> None:
    assert list(documented()) == CELLS
    outside = [cell for cell, share in documented().items() if not ALLOWED[0] <= share <= ALLOWED[1]]
    assert len(outside) <= 2
    marked = [bool(mark) for *_, mark in ROW.findall(PAGE.read_text())]
    assert marked == [cell in outside for cell in CELLS]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_success_rates_are_covered_as_documented(cell: Cell) -> None:
    assert cell.coverage(RUNS) == pytest.approx(documented()[cell], abs=slack(RUNS) + slack(TRIALS))


@pytest.mark.parametrize("true", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("n", [100, 200])
def test_wilson_intervals_cover_the_rate(n: int, true: float) -> None:
    rng = np.random.default_rng(n)
    found = [wilson(int(successes), n) for successes in rng.binomial(n, true, RUNS)]
    assert covered(found, true) == pytest.approx(0.95, abs=0.02 + slack(RUNS))


def episodes_of(rng: np.random.Generator, cell: Cell, samples: int = SAMPLES) -> list[tuple[int, float]]:
    wins = cell.successes(rng, samples)
    return [(i, float(number < won)) for i, won in enumerate(wins) for number in range(samples)]


@pytest.mark.parametrize("alike", [0.0, 0.5])
def test_clustered_intervals_cover_the_mean(alike: float) -> None:
    rng = np.random.default_rng(1)
    found = [mean(episodes_of(rng, Cell(40, 0.5, alike))) for _ in range(RUNS)]
    assert covered(found, 0.5) == pytest.approx(0.95, abs=0.02 + slack(RUNS))


def test_ignoring_the_clusters_would_cover_far_less() -> None:
    """Negative control of the tests above."""
    rng = np.random.default_rng(1)
    runs = [episodes_of(rng, Cell(40, 0.5, 0.5)) for _ in range(RUNS)]
    naive = [rate([(number, win) for number, (_, win) in enumerate(run)]) for run in runs]
    assert covered(naive, 0.5) < 0.88


@pytest.mark.parametrize(("before", "after"), [(0.1, 0.8), (0.5, 0.2)])
def test_paired_intervals_cover_the_difference(before: float, after: float) -> None:
    """Half of the instances decide both runs by the same draw, as hard and easy instances do."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(RUNS):
        shared, own = rng.random(100), rng.random(100)
        other = np.where(rng.random(100) < 0.5, shared, own)
        first = [(i, float(draw < before)) for i, draw in enumerate(shared)]
        second = [(i, float(draw < after)) for i, draw in enumerate(other)]
        found.append(paired_difference(first, second, rates=True))
    assert covered(found, after - before) == pytest.approx(0.955, abs=0.02 + slack(RUNS))


def test_paired_intervals_cover_the_difference_with_several_episodes_an_instance() -> None:
    """Rates of the instances differ, and are the higher by a fifth of what was missing in the second run."""
    rng = np.random.default_rng(6)
    found = []
    for _ in range(RUNS):
        before = rng.beta(1, 1, 60)
        after = before + (1 - before) / 5
        runs = [rng.binomial(SAMPLES, rates) for rates in (before, after)]
        first, second = (
            [(i, float(number < won)) for i, won in enumerate(wins) for number in range(SAMPLES)] for wins in runs
        )
        found.append(paired_difference(first, second, rates=True))
    assert covered(found, 0.1) == pytest.approx(0.95, abs=0.02 + slack(RUNS))


def test_averages_over_entries_cover_theirs() -> None:
    """Entries from nearly hopeless to nearly solved; the sum of variances would take the outer ones for certain."""
    rng = np.random.default_rng(7)
    rates = (0.01, 0.3, 0.7, 0.99)
    runs = [[wilson(int(rng.binomial(40, one)), 40) for one in rates] for _ in range(RUNS)]
    assert covered(map(average, runs), float(np.mean(rates))) == pytest.approx(0.96, abs=0.02 + slack(RUNS))


def test_the_bootstrap_covers_a_skewed_mean() -> None:
    rng = np.random.default_rng(8)
    runs = scaled(fast=60, long=2_000)
    found = [bootstrap(list(enumerate(rng.exponential(size=60))), seed=n, resamples=1_000) for n in range(runs)]
    assert covered(found, 1.0) == pytest.approx(0.94, abs=0.03 + slack(runs))
