"""A person at the terminal as a player."""

import sys
from typing import TextIO

from llm_envs.core.errors import UsageError
from llm_envs.players import Env

END = "."


class HumanPlayer:
    """Shows an observation and reads a reply, of any number of lines, up to a line that holds a single dot."""

    name = "human"

    def __init__(self, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._source = sys.stdin if source is None else source
        self._screen = sys.stdout if screen is None else screen

    def act(self, env: Env, agent: str, observation: str) -> str:
        """The reply that was typed.

        Raises:
            UsageError: the input ended before a reply began.
        """
        self._screen.write(
            f"\n--- {agent}\n{observation}\n--- your reply; end it with a line that holds a single dot\n"
        )
        self._screen.flush()
        lines: list[str] = []
        for line in self._source:
            text = line.rstrip("\r\n")
            if text.strip() == END:
                return "\n".join(lines)
            lines.append(text)
        if not lines:
            raise UsageError(f"input: ended before the reply of {agent}; end a reply with a line that holds a dot.")
        return "\n".join(lines)
