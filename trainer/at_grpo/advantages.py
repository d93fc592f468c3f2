"""Group-relative advantages: a reply is as good as it was better than its siblings."""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum

from at_grpo.samples import Group

EPSILON = 1e-4  # the std's offset in GRPO as TRL computes it
CONSTANT = 1e-6  # rewards closer together than this, relative to their size, differ by float noise only


class Scale(StrEnum):
    """Whether a group's rewards are divided by their standard deviation (`group`, GRPO) or not (`none`, Dr. GRPO)."""

    GROUP = "group"
    NONE = "none"


def group_advantages(rewards: Sequence[float], *, scale: Scale = Scale.GROUP, factor: float = 1.0) -> list[float]:
    """Advantages of one group.

    A_k = factor * (r_k - mean) / (std + 1e-4), with the sample standard deviation; `Scale.NONE` leaves the division
    out. A constant group gets exact zeros: float noise must not become a signal. So does a group of one.
    Source: AT-GRPO, arXiv 2510.11062, Eq. 4; GRPO, arXiv 2402.03300.

    Raises:
        ValueError: an empty group, or a reward that is None, NaN or infinite: a missing reward has no place in a group.
    """
    if not rewards:
        raise ValueError("rewards=[]: a group needs at least one sample")
    for reward in rewards:
        if not isinstance(reward, (int, float)) or not math.isfinite(reward):
            raise ValueError(f"reward={reward!r}: must be a finite number; drop the sample, do not score it")
    mean = math.fsum(rewards) / len(rewards)
    centred = [reward - mean for reward in rewards]
    if max(map(abs, centred)) <= CONSTANT * max(1.0, abs(mean)):
        return [0.0] * len(rewards)
    if scale is Scale.NONE:
        return [factor * value for value in centred]
    std = math.sqrt(math.fsum(value * value for value in centred) / (len(rewards) - 1))
    return [factor * value / (std + EPSILON) for value in centred]


def score(groups: Iterable[Group], *, scale: Scale = Scale.GROUP, factor: float = 1.0) -> list[Group]:
    """Every group with its advantages.

    The samples of one sibling share a reward where an episode spans several turns (trajectory grouping); statistics
    are over siblings, so that an episode with more turns does not weigh more.
    """
    scored = []
    for group in groups:
        rewards = {sample.sibling: sample.reward for sample in group.samples}
        values = dict(zip(rewards, group_advantages(list(rewards.values()), scale=scale, factor=factor), strict=True))
        scored.append(group.with_advantages([values[sample.sibling] for sample in group.samples]))
    return scored
