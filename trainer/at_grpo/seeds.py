"""Every random draw of a run has a seed of its own, derived from what the draw is for; so a run repeats in any
order.
"""

import hashlib


def derive_seed(*parts: int | str) -> int:
    """A 63-bit seed from (run seed, step, instance, node, agent, …); different parts give unrelated seeds."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def instance_indices(run_seed: int, step: int, count: int) -> list[int]:
    """The instances of one iteration: consecutive and never repeated within a run, from a start that differs between
    run seeds by far more than a run is long.
    """
    start = derive_seed(run_seed, "instances") >> 12
    return [start + step * count + position for position in range(count)]
