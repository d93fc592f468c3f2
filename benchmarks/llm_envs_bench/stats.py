"""Estimates with their uncertainty; pure, no more than numpy.

Instances are the independent units: several episodes of one instance are a cluster and never count as so many instances
(Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
Scores = Sequence[tuple[int, float]]  # (instance, score), one pair an episode


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its confidence interval.

    Attributes:
        value: point estimate.
        low, high: ends of the interval; NaN where the data cannot give one (a mean of a single instance).
        n: independent units (instances) behind it.
    """

    value: float
    low: float
    high: float
    n: int


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> Estimate:
    """A success rate over `n` independent instances with the Wilson score interval (Wilson 1927).

    Unlike the Wald interval it stays within [0, 1] and does not collapse to a point at 0 or `n` successes.
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"successes={successes}, n={n}: must hold 0 <= successes <= n and n >= 1")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate, weight = successes / n, z * z / n
    centre = (rate + weight / 2) / (1 + weight)
    half = z / (1 + weight) * math.sqrt(rate * (1 - rate) / n + weight / (4 * n))
    # At the two ends the bound is exactly 0 or 1, which rounding may miss.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Estimate(rate, low, high, n)


def mean(scores: Scores, confidence: float = CONFIDENCE) -> Estimate:
    """The mean score with a t interval, clustered by instance; G - 1 degrees of freedom for G instances.

    Every episode weighs the same; the variance is that of a ratio estimator over the clusters' sums, which is the
    ordinary standard error where every instance has one episode.
    """
    totals = _cluster(scores)
    sums, sizes = totals[:, 0], totals[:, 1]
    value = float(sums.sum() / sizes.sum())
    return _t_interval(value, (sums - value * sizes) / sizes.mean(), confidence)


def paired_difference(first: Scores, second: Scores, *, rates: bool, confidence: float = CONFIDENCE) -> Estimate:
    """Mean of `second - first` over the same instances, and its interval.

    Each instance gives one difference of its mean scores, whatever the number of its episodes.

    Args:
        first, second: scores of two runs; both must cover the same instances.
        rates: the scores are successes (0 or 1). Two instances, one won and one lost outright, are then added for the
            interval, which is Bonett and Price's adjusted interval (2012, J. Educ. Behav. Stat. 37) where every
            instance has one episode: without them it would have no width when no instance changed.

    Raises:
        ValueError: runs over different instances.
    """
    ours, theirs = _instance_means(first), _instance_means(second)
    if ours.keys() != theirs.keys():
        odd = sorted(ours.keys() ^ theirs.keys())
        raise ValueError(f"the runs must cover the same instances; only one of them has {odd[:10]}")
    differences = np.array([theirs[instance] - ours[instance] for instance in sorted(ours)])
    value, n = float(differences.mean()), len(differences)
    if not rates:
        return _t_interval(value, differences - value, confidence)
    padded = np.append(differences, (-1.0, 1.0))
    half = NormalDist().inv_cdf((1 + confidence) / 2) * float(padded.std()) / math.sqrt(n + 2)
    centre = float(padded.mean())
    return Estimate(value, max(-1.0, centre - half), min(1.0, centre + half), n)


@lru_cache(maxsize=256)
def t_quantile(confidence: float, degrees: int) -> float:
    """The t with P(|T| <= t) = `confidence` for Student's T with a whole number of degrees of freedom."""
    low, high = 0.0, math.pi / 2  # of the angle atan(t / sqrt(degrees)), in which the distribution has a bounded domain
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_mass(middle, degrees) < confidence else (low, middle)
    return math.tan((low + high) / 2) * math.sqrt(degrees)


def _t_mass(angle: float, degrees: int) -> float:
    """P(|T| <= tan(angle) sqrt(degrees)), by the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    odd = degrees % 2
    k = np.arange(1, (degrees - odd) // 2)
    factors = 2 * k / (2 * k + 1) if odd else (2 * k - 1) / (2 * k)
    series = 1.0 + float(np.cumprod(factors * math.cos(angle) ** 2).sum())
    if not odd:
        return math.sin(angle) * series
    if degrees == 1:
        return 2 * angle / math.pi
    return 2 / math.pi * (angle + math.sin(angle) * math.cos(angle) * series)


def _t_interval(value: float, influences: NDArray[np.float64], confidence: float) -> Estimate:
    """`influences`: what each of the G units moves the mean by, times G; they sum to 0."""
    units = len(influences)
    if units < 2:
        return Estimate(value, math.nan, math.nan, units)
    error = math.sqrt(float((influences**2).sum()) / (units - 1) / units)
    half = t_quantile(confidence, units - 1) * error
    return Estimate(value, value - half, value + half, units)


def _cluster(scores: Scores) -> NDArray[np.float64]:
    """(instances, 2): sum and number of each instance's scores."""
    groups = _group(scores)
    return np.array([(sum(groups[instance]), len(groups[instance])) for instance in sorted(groups)], dtype=np.float64)


def _instance_means(scores: Scores) -> dict[int, float]:
    return {instance: sum(values) / len(values) for instance, values in _group(scores).items()}


def _group(scores: Iterable[tuple[int, float]]) -> dict[int, list[float]]:
    groups: dict[int, list[float]] = defaultdict(list)
    for instance, score in scores:
        groups[instance].append(score)
    if not groups:
        raise ValueError("scores: must hold at least one episode")
    return groups
