"""What tokens cost: a TOML file of the user's, since prices change and differ.

["gpt-5"]        # the model's name as in the agent's specification
input = 1.25     # for a million tokens of prompts, in any currency
output = 10.0    # for a million tokens of replies
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from llm_envs.core.errors import UsageError

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens, going in and coming out."""

    input: float
    output: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What that many tokens cost."""
        return (prompt_tokens * self.input + completion_tokens * self.output) / MILLION


def read_prices(path: Path) -> dict[str, Price]:
    """Model -> price.

    Raises:
        UsageError: the file can't be read, or holds something else.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"prices={str(path)!r}: can't be read: {error}.") from error
    return {model: _price(path, model, entry) for model, entry in data.items()}


def _price(path: Path, model: str, entry: object) -> Price:
    if isinstance(entry, Mapping) and entry.keys() == {"input", "output"}:
        values = list(entry.values())
        if all(isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 for value in values):
            return Price(float(entry["input"]), float(entry["output"]))
    raise UsageError(f"prices={str(path)!r}: [{model!r}] must hold two numbers >= 0, input and output, and no more.")
