"""Estimates with their uncertainty; pure, no more than numpy.

Instances are the independent units: several episodes of one instance are a cluster and never count as so many instances
(Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640). `docs/statistics.md` has the formulas and their coverage.
"""

from llm_envs_bench.stats.bootstrap import bootstrap
from llm_envs_bench.stats.estimate import CONFIDENCE, Clusters, Counts, Estimate, Scores, instance_means, t_quantile
from llm_envs_bench.stats.means import average, mean, mean_difference, paired_difference, ratio
from llm_envs_bench.stats.rates import clustered_rate, pass_at_k, pass_hat_k, rate, share, wilson

__all__ = [
    "CONFIDENCE",
    "Clusters",
    "Counts",
    "Estimate",
    "Scores",
    "average",
    "bootstrap",
    "clustered_rate",
    "instance_means",
    "mean",
    "mean_difference",
    "paired_difference",
    "pass_at_k",
    "pass_hat_k",
    "rate",
    "ratio",
    "share",
    "t_quantile",
    "wilson",
]
