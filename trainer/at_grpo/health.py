"""Warnings about a run that goes on but no longer learns. Each is given once, with what to do."""

import logging
from collections import Counter
from collections.abc import Mapping

from at_grpo.metrics import roles_of

logger = logging.getLogger(__name__)

CONSTANT_SHARE = 0.9
CONSTANT_STEPS = 10
IDENTICAL_SHARE = 0.9
REPEATED_SHARE = 0.2

_ADVICE = {
    "constant_groups": "of its groups have equal rewards, {steps} iterations in a row now: they teach nothing. "
    "Make the task easier or the reward finer, raise rollout.k, or, where the environment pays later, compare whole "
    "episodes (rollout.grouping=trajectory).",
    "identical_groups": "of its groups hold K equal replies: the tree has no diversity. "
    "Raise roles.{role}.temperature, or look at its entropy: the policy may have collapsed.",
    "repeated_token": "of its replies are one token over and over: the policy is collapsing. Go back to an earlier "
    "checkpoint with a lower learning rate or a KL penalty (policies.<name>.beta).",
}


class HealthMonitor:
    """Looks at the metrics of each iteration (`metrics.step_metrics`) for the signs of a run without a signal."""

    def __init__(self, constant_steps: int = CONSTANT_STEPS) -> None:
        """A monitor that has seen nothing yet.

        Args:
            constant_steps: iterations in a row without a signal before the warning.
        """
        self._constant_steps = constant_steps
        self._in_a_row: Counter[str] = Counter()
        self._given: set[tuple[str, str]] = set()

    def check(self, step: int, metrics: Mapping[str, float]) -> None:
        """Warn where a sign shows for the first time."""
        for role in roles_of(metrics):
            self._in_a_row[role] += 1
            if metrics[f"{role}/constant_groups"] <= CONSTANT_SHARE:
                self._in_a_row[role] = 0
            signs = {
                "constant_groups": self._in_a_row[role] >= self._constant_steps,
                "identical_groups": metrics[f"{role}/identical_groups"] > IDENTICAL_SHARE,
                "repeated_token": metrics[f"{role}/repeated_token"] > REPEATED_SHARE,
            }
            for sign in (sign for sign, shown in signs.items() if shown and (role, sign) not in self._given):
                self._given.add((role, sign))
                advice = _ADVICE[sign].format(role=role, steps=self._constant_steps)
                logger.warning("step %d, role %s: %.0f%% %s", step, role, 100 * metrics[f"{role}/{sign}"], advice)
