"""Players that are timed and counted."""

import inspect
import time
from collections.abc import Callable

from llm_envs.core.roles import role_of
from llm_envs.players import Env, Player
from llm_envs_bench.agents.base import UsagePlayer
from llm_envs_bench.attempts import Call

Gate = Callable[[], None]
Ledger = Callable[[Call], None]


class MeteredPlayer:
    """A player whose every reply is entered into a ledger, and that asks first whether it may."""

    def __init__(self, player: Player, may_ask: Gate, enter: Ledger) -> None:
        """Around `player`.

        Args:
            player: who answers.
            may_ask: raises where nothing more is to be asked, e.g. since a budget is used up.
            enter: told of each reply, and of each that failed.
        """
        self.name = player.name
        self.player = player
        self._may_ask = may_ask
        self._enter = enter

    async def act(self, env: Env, agent: str, observation: str) -> str:
        """The player's reply."""
        self._may_ask()
        begin = time.perf_counter()
        try:
            reply = self.player.act(env, agent, observation)
            return await reply if inspect.isawaitable(reply) else reply
        finally:
            usage = self.player.usage if isinstance(self.player, UsagePlayer) else None
            self._enter(Call(role_of(agent), round(time.perf_counter() - begin, 6), usage))
