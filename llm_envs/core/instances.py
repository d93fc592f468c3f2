"""Which instance an episode plays, and which split a generated one belongs to."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from llm_envs.core.errors import unknown_choice, whole_number
from llm_envs.core.task import Split

INDEX_BITS = 31


def split_of_content(content: bytes) -> Split:
    """The split that a generated instance belongs to, decided by its content alone: 6 of 8 train, 1 validation, 1 test.

    A generator draws until one belongs to the split asked for, so that no content is in two splits, whatever the
    options. `content` is what makes two instances the same one, without what renaming or mirroring changes.
    """
    residue = hashlib.blake2b(content, digest_size=1).digest()[0] % 8
    return (Split.VALIDATION, Split.TEST)[residue] if residue < 2 else Split.TRAIN


@dataclass(frozen=True, slots=True)
class InstanceStream:
    """The instance that the caller of `reset` names, else the next of a private, seeded sequence; a value, so that
    forks of an environment share no chance.

    Attributes:
        entropy: what the sequence is a function of; None until it is seeded or first used.
        drawn: how many instances were picked since.
    """

    entropy: int | None = None
    drawn: int = 0

    def pick(self, seed: int | None, options: Mapping[str, Any], default: Split) -> tuple[Self, Split, int]:
        """The stream after this reset, the split and the index.

        Args:
            seed: starts another sequence; without it the present one goes on.
            options: `split` and `index`, where the caller wants a certain instance.
            default: the split where `options` names none.

        Raises:
            UsageError: a seed, split or index that is not allowed.
        """
        entropy, drawn = self.entropy, self.drawn
        if seed is not None or entropy is None:
            entropy = secrets.randbits(64) if seed is None else whole_number("seed", seed, least=0)
            drawn = 0
        split = options.get("split", default)
        if split not in set(Split):
            raise unknown_choice("options['split']", split, Split)
        index = options.get("index")
        if index is None:
            digest = hashlib.blake2b(f"{entropy}:{drawn}".encode(), digest_size=8).digest()
            index = int.from_bytes(digest, "big") >> (64 - INDEX_BITS)
        index = whole_number("options['index']", index, least=0)
        return type(self)(entropy, drawn + 1), Split(split), index
