"""Why an episode of the trainer ends, and how it goes on from a turn."""

import random
from collections.abc import Sequence
from enum import StrEnum


class RolloutError(RuntimeError):
    """Rollouts can't go on; the message names the option that decides it."""


class StopReason(StrEnum):
    """Why a tree stopped growing.

    `PROMPT_TOO_LONG`: the next prompt would pass the limit; it is never cut, since a cut prompt is another task.
    `LOST`: infrastructure took every branch of a turn.
    """

    TERMINATED = "terminated"
    TRUNCATED = "truncated"
    PROMPT_TOO_LONG = "prompt_too_long"
    LOST = "lost"


class Select(StrEnum):
    """Which branch of a turn the episode goes on with."""

    GREEDY = "greedy"
    PROPORTIONAL = "proportional"
    UNIFORM = "uniform"


def choose(rewards: Sequence[float], select: Select, rng: random.Random) -> int:
    """The position of the branch to go on with.

    `greedy`: the best reward, ties broken by chance (a fixed rule would favour the first sibling); `proportional`:
    chance in proportion to the reward's height over the worst one; `uniform`: any.
    """
    if select is Select.UNIFORM:
        return rng.randrange(len(rewards))
    if select is Select.GREEDY:
        best = max(rewards)
        return rng.choice([position for position, reward in enumerate(rewards) if reward == best])
    worst = min(rewards)
    weights = [reward - worst for reward in rewards]
    if not any(weights):
        return rng.randrange(len(rewards))
    return rng.choices(range(len(rewards)), weights)[0]
