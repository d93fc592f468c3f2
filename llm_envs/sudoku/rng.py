"""The random numbers of instances: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

Written out since compiled code must draw the same numbers: an instance may not depend on what is installed.
"""

_MASK = (1 << 64) - 1


class SplitMix64:
    """A stream of 64-bit numbers from a 64-bit seed; `state` is where it stands."""

    __slots__ = ("state",)

    def __init__(self, seed: int) -> None:
        self.state = seed & _MASK

    def next(self) -> int:
        """The next number in [0, 2**64)."""
        self.state = state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        return state ^ (state >> 31)

    def below(self, bound: int) -> int:
        """A number in [0, bound), for bounds far under 2**32 (the bias is under bound / 2**32)."""
        return (self.next() >> 32) * bound >> 32

    def shuffled(self, count: int) -> list[int]:
        """The numbers 0 to count - 1 in random order (Fisher-Yates from the end)."""
        order = list(range(count))
        for last in range(count - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order
