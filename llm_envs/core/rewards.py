"""How rewards are mixed. This is the only place that knows the rule."""

from collections.abc import Mapping


def local_reward(penalties: Mapping[str, float]) -> float:
    """The acting agent's local reward: the sum of its penalties, floored at -1 (0 = perfect).

    Raises:
        ValueError: a penalty above 0, which would let an agent earn by taking more turns.
    """
    total = 0.0
    for value in penalties.values():
        if not -1.0 <= value <= 0.0:
            raise ValueError(f"penalties={dict(penalties)}: each must lie in [-1, 0]")
        total += value
    return max(-1.0, total)


def agent_reward(*, alpha: float, team: float, local: float) -> float:
    """Reward of one agent for one step: alpha * team + local (the mixed reward of AT-GRPO, arXiv 2510.11062)."""
    return alpha * team + local
