"""Episode records: one schema for the trainer, the benchmarks and the viewer, stored as JSON lines."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from llm_envs.core.errors import UsageError


class Ending(StrEnum):
    """Why an episode has no further turn. `ERROR` is a failure of the infrastructure: such an episode has no score."""

    TERMINATED = "terminated"
    TRUNCATED = "truncated"
    BUDGET = "budget"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Turn:
    """One action.

    Attributes:
        cycle: from 0; one cycle is one action of every agent.
        observation: what the agent saw.
        reply: what it answered.
        reward: the acting agent's reward for this very step, already mixed.
        invalid: why the reply held no action, or None.
        info: the acting agent's further `infos` after the step.
        state: the full state as text after the step.
    """

    cycle: int
    agent: str
    role: str
    observation: str
    reply: str
    reward: float
    team_reward: float
    local_reward: float
    invalid: str | None
    info: Mapping[str, Any]
    state: str


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode from reset to its end.

    Attributes:
        env: registry id.
        split, index: which instance was played (index None where the caller gave a task of its own).
        players: role -> name of who played it.
        start: the full state as text before the first turn.
        returns: agent -> sum of its rewards.
        error: what failed, where `ending` is `error`.
        sample: which time the instance was played, from 0.
        id: unique within the file that holds the record, where its writer names records.
    """

    env: str
    split: str
    index: int | None
    players: Mapping[str, str]
    start: str
    turns: tuple[Turn, ...]
    returns: Mapping[str, float]
    success: bool
    ending: Ending
    options: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    sample: int = 0
    id: str = ""

    def to_json(self) -> str:
        """One line of JSON, keys in a fixed order."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> Self:
        """The inverse of `to_json`; `UsageError` for a line that is no episode."""
        try:
            data = json.loads(line)
            turns = tuple(Turn(**turn) for turn in data.pop("turns"))
            return cls(turns=turns, ending=Ending(data.pop("ending")), **data)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UsageError(f"line={line[:80]!r}: must be one episode as JSON ({error}).") from error


def write_episodes(path: Path, episodes: Iterable[Episode]) -> None:
    """Append episodes to a JSONL file, each line flushed when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for episode in episodes:
            file.write(episode.to_json() + "\n")
            file.flush()


def read_episodes(path: Path) -> Iterator[Episode]:
    """The episodes of a JSONL file. A last line without its newline is a torn write and is left out."""
    with path.open("rb") as file:  # a torn line may end within a character
        for line in file:
            if line.endswith(b"\n"):
                yield Episode.from_json(line.decode())
