"""Text as a PettingZoo space.

Gymnasium's `Text` enumerates its characters: an arbitrary reply of a language model would be out of bounds, and a space
that lists all of Unicode prints a megabyte. Here membership is a question of type and length; the character set only
serves `sample()`.
"""

import string
from typing import Any

import numpy as np
from gymnasium.spaces import Text

# A string and not a set: Gymnasium before 1.4 keeps a set's own order, which differs between processes.
SAMPLE_CHARSET = string.ascii_letters + string.digits + " .,:;()[]{}<>+-*/=\"'\n"
SAMPLE_LENGTH = 256  # random text is noise at any length; short noise keeps random players and PettingZoo's tests quick


class TextSpace(Text):
    """Any `str` of `min_length` to `max_length` characters, the empty string and all of Unicode included."""

    def __init__(self, max_length: int, *, min_length: int = 0, seed: int | None = None) -> None:
        super().__init__(max_length, min_length=min_length, charset=SAMPLE_CHARSET, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is None and probability is None:
            longest = max(self.min_length, min(self.max_length, SAMPLE_LENGTH))
            length = int(self.np_random.integers(self.min_length, longest + 1))
            return "".join(self.np_random.choice(self.character_list, size=length))
        return super().sample(mask=mask, probability=probability)

    def __repr__(self) -> str:
        return f"TextSpace({self.min_length}, {self.max_length})"


class TextObservation(str):
    """A plain `str` that also carries the `dtype` PettingZoo's `api_test` compares.

    `api_test` of PettingZoo 1.25 to 1.27 reads `observation.dtype`, which `str` lacks. This shim can go when that check
    accepts text. Copies, pickles and JSON hold plain strings.
    """

    __slots__ = ()
    dtype = np.dtype(str)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return (str, (str(self),))

    def __copy__(self) -> str:
        return str(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> str:
        return str(self)
