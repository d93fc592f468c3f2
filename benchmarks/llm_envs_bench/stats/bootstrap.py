"""The clustered bootstrap: intervals that take no shape for granted, as a second opinion on the others."""

import math
from statistics import NormalDist

import numpy as np

from llm_envs_bench.stats.estimate import CONFIDENCE, Clusters, Estimate, Floats, Scores

RESAMPLES = 10_000
_BATCH = 1_000_000  # numbers drawn at once, for memory


def bootstrap(scores: Scores, *, seed: int, confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> Estimate:
    """The mean over episodes with a bias-corrected and accelerated interval (BCa: Efron 1987, JASA 82, 171-185).

    Whole instances are drawn, with replacement, and bring all of their episodes. Where all instances have the same
    mean it has no width, since what has not happened can't be drawn: `rates.rate` keeps its doubt there.

    Args:
        scores: (instance, score), one an episode.
        seed: of the draws; the same scores and seed give the same interval.
        confidence: of the interval.
        resamples: how often G instances are drawn.
    """
    clusters = Clusters.of(scores)
    value, units = clusters.value, len(clusters)
    if units < 2:
        return Estimate(value, math.nan, math.nan, units)
    drawn = _resampled(clusters, np.random.default_rng(seed), resamples)
    low, high = _bca(drawn, value, _jackknife(clusters), confidence)
    return Estimate(value, low, high, units, float(drawn.std(ddof=1)))


def _resampled(clusters: Clusters, rng: np.random.Generator, resamples: int) -> Floats:
    """(resamples,) means; how often each instance is drawn is multinomial."""
    units, batch = len(clusters), max(1, _BATCH // len(clusters))
    found = []
    for begin in range(0, resamples, batch):
        times = rng.multinomial(units, np.full(units, 1 / units), size=min(batch, resamples - begin))
        found.append((times @ clusters.sums) / (times @ clusters.sizes))
    return np.concatenate(found)


def _jackknife(clusters: Clusters) -> Floats:
    """(instances,) means without each instance in turn."""
    left: Floats = (clusters.sums.sum() - clusters.sums) / (clusters.sizes.sum() - clusters.sizes)
    return left


def _bca(drawn: Floats, value: float, jackknife: Floats, confidence: float) -> tuple[float, float]:
    """Percentiles of the resampled means, shifted for their bias and for a spread that grows with the mean."""
    normal = NormalDist()
    same = np.isclose(drawn, value, rtol=1e-12, atol=1e-12)
    below = float(((drawn < value) & ~same).mean()) + float(same.mean()) / 2
    if not 0 < below < 1 or np.ptp(jackknife) == 0:
        return float(drawn.min()), float(drawn.max())
    bias = normal.inv_cdf(below)
    gaps = jackknife.mean() - jackknife
    gaps /= np.abs(gaps).max()  # their shape is all that counts, and cubes of small ones would vanish
    acceleration = float((gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5))
    ends = []
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        shifted = bias + normal.inv_cdf(tail)
        ends.append(normal.cdf(bias + shifted / (1 - acceleration * shifted)))
    low, high = np.quantile(drawn, ends)
    return float(low), float(high)
