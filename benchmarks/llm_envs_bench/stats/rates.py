"""Rates: success, invalid replies, pass@k. Their intervals stay within [0, 1] and never shrink to a point."""

import math
from collections.abc import Callable

import numpy as np

from llm_envs_bench.stats.estimate import (
    CONFIDENCE,
    Clusters,
    Counts,
    Estimate,
    Scores,
    group,
    normal_quantile,
    t_quantile,
)


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> Estimate:
    """A success rate over `n` independent instances with the Wilson score interval (Wilson 1927).

    Unlike the Wald interval it stays within [0, 1] and does not collapse to a point at 0 or `n` successes.
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"successes={successes}, n={n}: must hold 0 <= successes <= n and n >= 1")
    rate = successes / n
    low, high = _score_interval(rate, n, normal_quantile(confidence))
    return Estimate(rate, low, high, n, math.sqrt(rate * (1 - rate) / (n - 1)) if n > 1 else math.nan)


def rate(scores: Scores, confidence: float = CONFIDENCE) -> Estimate:
    """A success rate over episodes, several of an instance being one cluster. Scores lie in [0, 1]."""
    return clustered_rate(Clusters.of(scores), confidence)


def share(counts: Counts, confidence: float = CONFIDENCE) -> Estimate:
    """How much of a whole, e.g. invalid turns of all turns, clustered by instance."""
    return clustered_rate(Clusters.of_counts(counts), confidence)


def clustered_rate(clusters: Clusters, confidence: float = CONFIDENCE, most: float | None = None) -> Estimate:
    """Wilson's interval with the effective number of episodes, and Student's t with one less than the instances.

    The effective number is that of independent episodes that would leave the same standard error: episodes divided by
    the design effect (Kish 1965), never more than `most`, as in Korn and Graubard (1998, Survey Methodology 24).
    Franco et al. (2019, J. Survey Stat. Methodol. 7) compare such intervals. Where every instance has one episode it
    is Wilson's own interval. Where all or no episodes succeed nothing shows how alike those of an instance are: then
    only instances count.

    Args:
        clusters: of scores in [0, 1].
        confidence: of the interval.
        most: episodes that the effective number can't exceed (default: all).
    """
    value, units, whole = clusters.value, len(clusters), float(clusters.sizes.sum())
    single = bool((clusters.sizes == 1).all()) and bool(np.isin(clusters.sums, (0.0, 1.0)).all())
    if single or value <= 0 or value >= 1:  # a sum of sizes may exceed a sum of parts by rounding only
        found = wilson(round(value * units), units, confidence)
        return Estimate(value, found.low, found.high, units, clusters.error)
    if units < 2:
        return Estimate(value, math.nan, math.nan, units)
    effective = whole if most is None else most
    if clusters.error > 0:
        effect = clusters.error**2 * (whole - 1) / (value * (1 - value))
        effective = min(effective, whole / effect)
    low, high = _score_interval(value, effective, t_quantile(confidence, units - 1))
    return Estimate(value, low, high, units, clusters.error)


def pass_at_k(scores: Scores, k: int, confidence: float = CONFIDENCE) -> Estimate | None:
    """The chance that at least one of `k` samples succeeds: the mean over the instances of 1 - C(n - c, k) / C(n, k).

    Unbiased (Chen et al. 2021, arXiv 2107.03374, equation 1). None where some instance has fewer than `k` samples.
    """
    return _of_samples(scores, k, lambda n, c: 1 - math.comb(n - c, k) / math.comb(n, k), confidence)


def pass_hat_k(scores: Scores, k: int, confidence: float = CONFIDENCE) -> Estimate | None:
    """pass^k, the chance that all of `k` samples succeed: the mean over the instances of C(c, k) / C(n, k).

    Unbiased (Yao et al. 2024, arXiv 2406.12045). None where some instance has fewer than `k` samples.
    """
    return _of_samples(scores, k, lambda n, c: math.comb(c, k) / math.comb(n, k), confidence)


def _of_samples(scores: Scores, k: int, estimator: Callable[[int, int], float], confidence: float) -> Estimate | None:
    """The mean over the instances of `estimator(samples, successes)`."""
    if k < 1:
        raise ValueError(f"k={k}: must be a whole number >= 1")
    groups = group(scores)
    if any(len(values) < k for values in groups.values()):
        return None
    found = np.array([estimator(len(values), round(sum(values))) for values in groups.values()])
    return clustered_rate(Clusters(found, np.ones(len(found))), confidence, most=float(len(scores)))


def _score_interval(value: float, n: float, quantile: float) -> tuple[float, float]:
    """Where the score test of a rate over `n` independent episodes does not reject (Wilson 1927)."""
    weight = quantile * quantile / n
    centre = (value + weight / 2) / (1 + weight)
    half = quantile / (1 + weight) * math.sqrt(value * (1 - value) / n + weight / (4 * n))
    # At the two ends the bound is exactly 0 or 1, which rounding may miss.
    return (0.0 if value == 0 else centre - half, 1.0 if value == 1 else centre + half)
