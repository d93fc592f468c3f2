"""Means of scores, their combination over parts of a suite, and differences between runs."""

import math
from collections.abc import Sequence

import numpy as np

from llm_envs_bench.stats.estimate import (
    CONFIDENCE,
    Clusters,
    Counts,
    Estimate,
    Scores,
    instance_means,
    normal_quantile,
    t_quantile,
)


def mean(scores: Scores, confidence: float = CONFIDENCE) -> Estimate:
    """The mean score with a t interval, clustered by instance; G - 1 degrees of freedom for G instances.

    Every episode weighs the same; the variance is that of a ratio estimator over the clusters' sums, which is the
    ordinary standard error where every instance has one episode.
    """
    return clustered_mean(Clusters.of(scores), confidence)


def ratio(counts: Counts, confidence: float = CONFIDENCE) -> Estimate:
    """How much for each of a whole, e.g. tokens an episode, with the interval of `mean`."""
    return clustered_mean(Clusters.of_counts(counts), confidence)


def clustered_mean(clusters: Clusters, confidence: float = CONFIDENCE) -> Estimate:
    """`mean` of what is summed up already."""
    value, units, error = clusters.value, len(clusters), clusters.error
    if units < 2:
        return Estimate(value, math.nan, math.nan, units)
    half = t_quantile(confidence, units - 1) * error
    return Estimate(value, value - half, value + half, units, error)


def average(parts: Sequence[Estimate]) -> Estimate:
    """The unweighted mean of independent estimates, such as those of a suite's entries.

    Its interval is recovered from theirs (MOVER: Zou and Donner 2008, Stat. Med. 27, 1693-1702), so that parts with
    nothing or everything solved keep their doubt, which a sum of variances would take for certainty.
    """
    if not parts:
        raise ValueError("parts: must hold at least one estimate")
    values, lows, highs, errors = (
        np.array([getattr(part, name) for part in parts]) for name in ("value", "low", "high", "error")
    )
    value, n = float(values.mean()), len(parts)
    below, above, error = (math.sqrt(float((gaps**2).sum())) / n for gaps in (values - lows, highs - values, errors))
    return Estimate(value, value - below, value + above, sum(part.n for part in parts), error)


def paired_difference(first: Scores, second: Scores, *, rates: bool, confidence: float = CONFIDENCE) -> Estimate:
    """Mean of `second - first` over the same instances, and its interval.

    Each instance gives one difference of its mean scores, whatever the number of its episodes.

    Args:
        first, second: scores of two runs; both must cover the same instances.
        rates: the scores are successes (0 or 1). Two instances, one with an episode won and one with an episode lost,
            are then added for the interval: without them it would have no width when no instance changed. Where every
            instance has one episode it is Bonett and Price's adjusted interval (2012, J. Educ. Behav. Stat. 37).
        confidence: of the interval.

    Raises:
        ValueError: runs over different instances.
    """
    ours, theirs = instance_means(first), instance_means(second)
    if ours.keys() != theirs.keys():
        odd = sorted(ours.keys() ^ theirs.keys())
        raise ValueError(f"the runs must cover the same instances; only one of them has {odd[:10]}")
    differences = [theirs[instance] - ours[instance] for instance in sorted(ours)]
    if rates:
        return mean_difference(differences, (len(first) + len(second)) / (2 * len(differences)), confidence)
    return mean(list(enumerate(differences)), confidence)


def mean_difference(differences: Sequence[float], samples: float, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of differences of rates, one an instance, with the interval that `paired_difference` describes.

    Args:
        differences: in [-1, 1].
        samples: episodes of an instance, on average.
        confidence: of the interval.
    """
    n = len(differences)
    clusters = Clusters(np.array(differences), np.ones(n))
    padded = np.append(clusters.sums, (-1 / samples, 1 / samples))
    # The variance of one episode an instance follows from its rates; that of several is estimated.
    quantile = normal_quantile(confidence) if samples == 1 or n == 1 else t_quantile(confidence, n - 1)
    centre, half = float(padded.mean()), quantile * float(padded.std()) / math.sqrt(n + 2)
    return Estimate(clusters.value, max(-1.0, centre - half), min(1.0, centre + half), n, clusters.error)
