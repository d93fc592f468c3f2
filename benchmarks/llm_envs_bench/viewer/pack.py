"""Packs what an episode shows, so that a thousand of them fit into one file that opens at once.

Episodes are compressed in groups, since their prompts repeat; the page unpacks a group when it is looked at.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llm_envs.episode import Episode, Turn

GROUP_BYTES = 400_000  # of JSON; unpacked within a blink


@dataclass(slots=True)
class Packed:
    """Groups of episodes as text, and how many of the episodes they hold."""

    groups: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    @property
    def episodes(self) -> int:
        """How many are in."""
        return sum(self.sizes)


def pack(episodes: Iterable[list[Episode]], limit: int) -> Packed:
    """Pack episodes, each a list of its plays, in order, until `limit` characters are used.

    A group that would exceed the limit is left out, and what comes after it.
    """
    packed, waiting, waiting_bytes, used = Packed(), list[str](), 0, 0
    for plays in (*episodes, None):
        if plays is not None:
            waiting.append(compact([play_data(play) for play in plays]))
            waiting_bytes += len(waiting[-1])
        if waiting and (plays is None or waiting_bytes >= GROUP_BYTES):
            text = base64.b64encode(zlib.compress(f"[{','.join(waiting)}]".encode(), 9)).decode()
            used += len(text)
            if used > limit:
                break
            packed.groups.append(text)
            packed.sizes.append(len(waiting))
            waiting, waiting_bytes = [], 0
    return packed


def compact(value: Any) -> str:
    """JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def play_data(episode: Episode) -> Mapping[str, Any]:
    """What the page shows of one playing of an instance."""
    return {
        "start": episode.start,
        "returns": dict(episode.returns),
        "players": dict(episode.players),
        "error": episode.error,
        "turns": [_turn_data(turn) for turn in episode.turns],
    }


def _turn_data(turn: Turn) -> Mapping[str, Any]:
    return {
        "cycle": turn.cycle,
        "agent": turn.agent,
        "role": turn.role,
        "saw": turn.observation,
        "said": turn.reply,
        "reward": turn.reward,
        "team": turn.team_reward,
        "local": turn.local_reward,
        "invalid": turn.invalid,
        "info": dict(turn.info),
        "state": turn.state,
    }
