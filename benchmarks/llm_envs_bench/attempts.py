"""What playing took: one record for each attempt at an episode, failed ones included.

This is where everything lives that differs between two runs with the same replies. Costs add up over attempts, since a
failed one was paid for as well.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Self, TypeGuard

from llm_envs.core.errors import UsageError


class Event(StrEnum):
    """What an endpoint or a program of an agent may do; each is counted under its own name.

    The first group keeps an episode from being scored where it lasts (`CALLS_AGAIN` names what is worth another try).
    The second is the model's own doing, and is passed on to the environment as it is.
    """

    RATE_LIMITED = "rate_limited"  # HTTP 429
    SERVER_ERROR = "server_error"  # HTTP 5xx
    CONNECTION = "connection"  # refused, reset, cut
    TIMEOUT = "timeout"
    REJECTED = "rejected"  # another HTTP status
    BAD_JSON = "bad_json"  # a body that is no JSON, or cut
    NO_CHOICES = "no_choices"  # JSON that is no completion
    AGENT_FAILED = "agent_failed"  # a program or function of the user's ended, raised or broke the protocol
    SAMPLER_FAILED = "sampler_failed"  # a checkpoint could not be sampled from
    SANDBOX = "sandbox"
    BUDGET = "budget"

    EMPTY = "empty"
    REFUSAL = "refusal"
    CUT = "cut"  # at the limit of tokens
    USAGE_MISSING = "usage_missing"


CALLS_AGAIN = frozenset({Event.RATE_LIMITED, Event.SERVER_ERROR, Event.CONNECTION, Event.TIMEOUT})


@dataclass(frozen=True, slots=True)
class Usage:
    """What one reply took of a model.

    Attributes:
        prompt_tokens, completion_tokens: as the endpoint counts them; None where it does not say.
        events: name of an `Event` -> how often, faults that a retry mended included.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    events: Mapping[str, int] = field(default_factory=dict)


def is_count(value: Any) -> TypeGuard[int]:
    """Whether what others call a number of tokens is one."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


@dataclass(frozen=True, slots=True)
class Call:
    """One reply of a player.

    Attributes:
        role: of the agent that was asked.
        seconds: until the reply was there, retries and waiting included.
        usage: of a model; None for other players.
    """

    role: str
    seconds: float
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One time that an episode was begun.

    Attributes:
        id: the episode's.
        failure: name of the `Event` that kept it from a score, so that the episode is owed; None for a scored one.
        seconds: from the reset to the end.
        calls: every reply that was asked for, in order.
    """

    id: str
    failure: str | None
    seconds: float
    calls: tuple[Call, ...]

    def to_json(self) -> str:
        """One line of JSON, keys in a fixed order."""
        return json.dumps(asdict(self), separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> Self:
        """The inverse of `to_json`; `UsageError` for a line that is no attempt."""
        try:
            data = json.loads(line)
            return cls(data["id"], data["failure"], data["seconds"], tuple(map(_call, data["calls"])))
        except (ValueError, TypeError, KeyError) as error:
            raise UsageError(f"line={line[:80]!r}: must be one attempt as JSON ({error}).") from error


def count_events(attempts: Iterable[Attempt]) -> dict[str, int]:
    """Name of an event -> how often it happened, over all attempts; the most frequent first."""
    total: Counter[str] = Counter()
    for attempt in attempts:
        for call in attempt.calls:
            if call.usage is not None:
                total.update(call.usage.events)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def _call(data: Mapping[str, Any]) -> Call:
    usage = data["usage"]
    return Call(data["role"], data["seconds"], None if usage is None else Usage(**usage))
