"""Actions in words: what an agent may answer, and what its answer means.

An answer is matched whole: a word inside a sentence is never an action (the "right" in "upright" moves nobody).
"""

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from llm_envs.core.parsing import Unparsed
from llm_envs.wrappers.space_text import number_text

QUOTED = 40  # characters of an answer that a reason repeats
WIDEST = 1e6  # random numbers of an unbounded range stay within this
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}\Z")
_DECIMAL = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})([eE][+-]?[0-9]{1,2})?\Z")


class Choices(Protocol):
    """The actions that are legal at one moment."""

    def describe(self) -> str:
        """What an answer must be, to follow the words "Answer with"."""
        ...

    def brief(self) -> str:
        """The same in as few words as possible."""
        ...

    def parse(self, answer: str) -> Any:
        """The action, or `Unparsed` with the reason."""
        ...

    def sample(self, rng: random.Random) -> str:
        """A legal answer, by chance."""
        ...


@dataclass(frozen=True)
class Labels:
    """One of several words or phrases. Case and spacing of an answer do not matter.

    Attributes:
        actions: label -> action.
        known: labels of the game, among them some that are not legal now.
    """

    actions: Mapping[str, Any]
    known: frozenset[str] = frozenset()

    def describe(self) -> str:
        return f"one of: {', '.join(self.actions)}"

    def brief(self) -> str:
        return ", ".join(self.actions) if any(" " in label for label in self.actions) else " ".join(self.actions)

    def parse(self, answer: str) -> Any:
        wanted = folded(answer)
        for label, action in self.actions.items():
            if folded(label) == wanted:
                return action
        known = any(folded(label) == wanted for label in self.known)
        return Unparsed(f"{_quoted(answer)} is {'not legal now' if known else 'none of the actions'}")

    def sample(self, rng: random.Random) -> str:
        return rng.choice(list(self.actions))


@dataclass(frozen=True)
class Entry:
    """What one number of an action may be: inclusive bounds, or the whole numbers that alone are legal."""

    low: float
    high: float
    legal: tuple[int, ...] | None = None

    def describe(self) -> str:
        if self.legal is not None:
            return f"one of {' '.join(map(str, self.legal))}"
        return f"{number_text(self.low)} to {number_text(self.high)}"

    def allows(self, value: float) -> bool:
        """Whether a number is legal."""
        return self.low <= value <= self.high if self.legal is None else value in self.legal


@dataclass(frozen=True)
class Numbers:
    """A fixed count of numbers, separated by spaces or commas.

    Attributes:
        entries: one for each number of the flattened action.
        shape, dtype: of the action; a single number where the shape is `()`.
    """

    entries: tuple[Entry, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def whole(self) -> bool:
        """Whether the numbers must be whole."""
        return self.dtype.kind in "iub"

    def describe(self) -> str:
        kind = "whole number" if self.whole else "number"
        ranges = [entry.describe() for entry in self.entries]
        if len(ranges) == 1:
            return f"a {kind}, {ranges[0]}"
        each = f"each {ranges[0]}" if len(set(ranges)) == 1 else "; ".join(ranges)
        return f"{len(ranges)} {kind}s separated by spaces, {each}"

    def brief(self) -> str:
        return "; ".join(entry.describe() for entry in self.entries)

    def parse(self, answer: str) -> Any:
        parts = answer.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
        if len(parts) != len(self.entries):
            return Unparsed(f"{_quoted(answer)} holds {len(parts)} parts, not {len(self.entries)} numbers")
        values: list[float] = []
        for part, entry in zip(parts, self.entries, strict=True):
            if not (_WHOLE if self.whole else _DECIMAL).match(part):
                return Unparsed(f"{_quoted(part)} is not a {'whole ' if self.whole else ''}number")
            value = int(part) if self.whole else float(part)
            if not entry.allows(value):
                return Unparsed(f"{part} is not {entry.describe()}")
            values.append(value)
        array = np.asarray(values).astype(self.dtype).reshape(self.shape)
        return array if self.shape else array.item()

    def sample(self, rng: random.Random) -> str:
        return " ".join(self._one(entry, rng) for entry in self.entries)

    def _one(self, entry: Entry, rng: random.Random) -> str:
        if entry.legal is not None:
            return str(rng.choice(entry.legal))
        low, high = max(entry.low, -WIDEST), min(entry.high, WIDEST)
        return str(rng.randint(int(low), int(high))) if self.whole else f"{rng.uniform(low, high):.6f}"


@dataclass(frozen=True)
class Several:
    """Several actions at once, as a JSON object, or as a JSON array where they have no names."""

    parts: tuple[Choices, ...]
    names: tuple[str, ...] | None

    def describe(self) -> str:
        if self.names is None:
            return "a JSON array of: " + "; ".join(part.describe() for part in self.parts)
        named = zip(self.names, self.parts, strict=True)
        return "a JSON object with " + "; ".join(f'"{name}": {part.describe()}' for name, part in named)

    def brief(self) -> str:
        return " | ".join(part.brief() for part in self.parts)

    def parse(self, answer: str) -> Any:
        try:
            data = json.loads(answer)
        except (ValueError, RecursionError):
            return Unparsed(f"{_quoted(answer)} is not JSON")
        if self.names is not None:
            if not isinstance(data, dict) or set(data) != set(self.names):
                return Unparsed(f"the answer must be a JSON object with exactly {', '.join(self.names)}")
            data = [data[name] for name in self.names]
        if not isinstance(data, list) or len(data) != len(self.parts):
            return Unparsed(f"the answer must be a JSON array of {len(self.parts)} entries")
        values: list[Any] = []
        for part, item in zip(self.parts, data, strict=True):
            value = part.parse(item if isinstance(item, str) else json.dumps(item))
            if isinstance(value, Unparsed):
                return value
            values.append(value)
        return tuple(values) if self.names is None else dict(zip(self.names, values, strict=True))

    def sample(self, rng: random.Random) -> str:
        samples = [part.sample(rng) for part in self.parts]
        return json.dumps(samples if self.names is None else dict(zip(self.names, samples, strict=True)))


@dataclass(frozen=True)
class FreeText:
    """Any text within bounds of length; the whole answer is the action."""

    least: int
    most: int
    charset: frozenset[str]

    def describe(self) -> str:
        return f"a text of {self.least} to {self.most} characters"

    def brief(self) -> str:
        return "text"

    def parse(self, answer: str) -> Any:
        if not self.least <= len(answer) <= self.most:
            return Unparsed(f"the answer has {len(answer)} characters, not {self.least} to {self.most}")
        strange = sorted(set(answer) - self.charset)
        return Unparsed(f"the answer must not hold {_quoted(strange[0])}") if strange else answer

    def sample(self, rng: random.Random) -> str:
        letters = sorted(self.charset)
        return "".join(rng.choice(letters) for _ in range(rng.randint(self.least, min(self.most, self.least + QUOTED))))


def folded(text: str) -> str:
    """What of a label matters: not its case, not how it is spaced."""
    return " ".join(text.split()).casefold()


def _quoted(text: str) -> str:
    return repr(text if len(text) <= QUOTED else f"{text[:QUOTED]}…")
