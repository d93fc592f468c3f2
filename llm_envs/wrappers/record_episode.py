"""`RecordEpisode`: every episode that is played to its end goes to a JSONL file."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pettingzoo import AECEnv

from llm_envs.core.fork import fork
from llm_envs.core.stepping import astep, is_over
from llm_envs.core.wrapper import TextWrapper
from llm_envs.episode import Ending, Episode, Turn
from llm_envs.play import record_turn

CHUNK = 1 << 16  # bytes read at once while looking for the last newline

logger = logging.getLogger(__name__)


class RecordEpisode(TextWrapper):
    """Appends one line, an `llm_envs.episode.Episode`, when an episode ends; `read_episodes` and the viewer read the
    file.

    A line is on the disk before the step that ended the episode returns. What a crash left of a half-written line is
    cut off when the file is next opened here, so that no record is lost but those of episodes that were being played.
    An episode that `reset` or `close` breaks off leaves no record. A fork goes on with its original's turns and
    writes an episode of its own.
    """

    def __init__(
        self,
        env: AECEnv[str, str, str],
        path: str | Path,
        *,
        env_id: str = "",
        players: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Open the file.

        Args:
            env: the environment.
            path: JSONL file; new lines go to its end. Missing folders are made.
            env_id: registry id for the records (default: the environment's own name).
            players: role -> who plays it, for the records.
            options: how the environment was made, for the records.
        """
        super().__init__(env)
        self._path = Path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_line(self._path)
        self._env_id, self._players, self._options = env_id or str(env), dict(players or {}), dict(options or {})
        self._start = ""
        self._turns: tuple[Turn, ...] = ()
        self._returns: dict[str, float] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        self._start, self._turns = str(self.env.state()), ()
        self._returns = dict.fromkeys(self.env.possible_agents, 0.0)

    def step(self, action: str | None) -> None:
        before = self._before(action)
        super().step(action)
        self._after(before)

    async def astep(self, action: str | None) -> None:
        before = self._before(action)
        await astep(self.env, action)
        self._after(before)

    def _before(self, action: str | None) -> tuple[str, int, str, str] | None:
        """What a turn's record takes from before the step; None for a dead agent."""
        if not isinstance(action, str) or not self.env.agents:
            return None
        agent = self.env.agent_selection
        return agent, int(self.env.unwrapped.cycle), str(self.env.observe(agent)), action

    def _after(self, before: tuple[str, int, str, str] | None) -> None:
        if before is None:
            return
        agent = before[0]
        self._turns = (*self._turns, record_turn(self.env, *before))
        self._returns = {other: self._returns[other] + self.env.rewards.get(other, 0.0) for other in self._returns}
        if is_over(self.env):
            self._write(Ending.TERMINATED if self.env.terminations[agent] else Ending.TRUNCATED)

    def _write(self, ending: Ending) -> None:
        raw = self.env.unwrapped
        episode = Episode(
            env=self._env_id,
            players=self._players,
            options=self._options,
            split=str(raw.split),
            index=raw.index,
            start=self._start,
            turns=self._turns,
            returns=self._returns,
            success=bool(self.env.infos[self._turns[-1].agent]["success"]),
            ending=ending,
        )
        with self._path.open("a", encoding="utf-8") as file:
            file.write(episode.to_json() + "\n")
            file.flush()
            os.fsync(file.fileno())

    def fork(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)  # all of it is replaced, never changed, from step to step
        other.env = fork(self.env)
        return other


def _cut_torn_line(path: Path) -> None:
    """Cut off a last line without its newline, so that the next record begins a line."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        size = whole = file.seek(0, os.SEEK_END)
        while whole > 0:
            start = max(0, whole - CHUNK)
            file.seek(start)
            newline = file.read(whole - start).rfind(b"\n")
            if newline >= 0:
                whole = start + newline + 1
                break
            whole = start
        if whole < size:
            logger.warning("%s: cut off %d bytes of a record that was not written to its end", path, size - whole)
            file.truncate(whole)
