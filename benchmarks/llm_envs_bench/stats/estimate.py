"""What every estimate is, the clusters it is made from, and the quantiles of its interval."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Self

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
Scores = Sequence[tuple[int, float]]  # (instance, score), one pair an episode
Counts = Sequence[tuple[int, float, float]]  # (instance, how much, of how much), e.g. invalid turns and turns
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its confidence interval.

    Attributes:
        value: point estimate.
        low, high: ends of the interval; NaN where the data cannot give one (a mean of a single instance).
        n: independent units (instances) behind it.
        error: standard error, clustered by instance; NaN where there is none.
    """

    value: float
    low: float
    high: float
    n: int
    error: float = math.nan


@dataclass(frozen=True, slots=True)
class Clusters:
    """Sums over the episodes of each instance; the estimate is the ratio of their totals.

    Attributes:
        sums: (instances,) of the scores.
        sizes: (instances,) of what the scores are shares of; the number of episodes for a mean over episodes.
    """

    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, scores: Scores) -> Self:
        """Clusters of scores, each episode with the weight 1; `ValueError` where there is none."""
        return cls.of_counts([(instance, score, 1.0) for instance, score in scores])

    @classmethod
    def of_counts(cls, counts: Counts) -> Self:
        """Clusters of pairs of counts; `ValueError` where there is none or their whole is 0."""
        parts: dict[int, list[float]] = defaultdict(list)
        wholes: dict[int, list[float]] = defaultdict(list)
        for instance, part, whole in counts:
            parts[instance].append(part)
            wholes[instance].append(whole)
        if not any(any(found) for found in wholes.values()):
            raise ValueError("scores: must hold at least one episode")
        # `fsum` is exact, so that the order of episodes changes nothing, not even by rounding.
        sums, sizes = ([math.fsum(found[instance]) for instance in sorted(found)] for found in (parts, wholes))
        return cls(np.array(sums), np.array(sizes))

    def __len__(self) -> int:
        return len(self.sums)

    @property
    def value(self) -> float:
        """The ratio of the totals."""
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def influences(self) -> Floats:
        """(instances,) what each moves the ratio by, times their number; they sum to 0."""
        moved: Floats = (self.sums - self.value * self.sizes) / self.sizes.mean()
        return moved

    @property
    def error(self) -> float:
        """Standard error of the ratio (linearised, Cochran 1977, section 6.4); NaN for a single instance."""
        units = len(self)
        if units < 2:
            return math.nan
        return math.sqrt(float((self.influences**2).sum()) / (units - 1) / units)


def group(scores: Iterable[tuple[int, float]]) -> dict[int, list[float]]:
    """Instance -> its scores; `ValueError` where there is none."""
    groups: dict[int, list[float]] = defaultdict(list)
    for instance, score in scores:
        groups[instance].append(score)
    if not groups:
        raise ValueError("scores: must hold at least one episode")
    return groups


def instance_means(scores: Scores) -> dict[int, float]:
    """Instance -> the mean of its scores; `ValueError` where there is none."""
    return {instance: sum(values) / len(values) for instance, values in group(scores).items()}


def normal_quantile(confidence: float) -> float:
    """The z with P(|Z| <= z) = `confidence` for a standard normal Z."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


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
