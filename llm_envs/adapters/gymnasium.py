"""One role of a text environment as a Gymnasium environment; fixed players play the other roles.

    from llm_envs import plan_path_v0
    from llm_envs.adapters.gymnasium import SingleRoleEnv
    from llm_envs.players import ReferencePlayer

    env = SingleRoleEnv(plan_path_v0.env(), "planner", {"tool": ReferencePlayer("oracle")})

Observations and actions are text. A step is one turn of the role and all turns of others up to its next one; its
reward is the sum of what the role's agent was paid meanwhile. `options` of `reset` go to the environment.

Gymnasium has no way to say that an episode ended before the first action. Where others end it before the role's first
turn, `info["over"]` is True after `reset`, and the first step, whatever it says, changes nothing, pays and ends it.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import gymnasium

from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.core.roles import role_of
from llm_envs.core.stepping import is_over
from llm_envs.players import Env, Player


class SingleRoleEnv(gymnasium.Env[str, str]):
    """A text environment seen from one role.

    Attributes:
        agent: the agent that plays the role.
    """

    def __init__(self, env: Env, role: str, players: Mapping[str, Player] | None = None) -> None:
        """Seat the players.

        Args:
            env: a text environment; it is this object's from now on.
            role: whose actions `step` takes; one agent must play it.
            players: role -> player of every other role; `all` serves those that are not named.

        Raises:
            UsageError: an unknown role, a role of several agents, another role without a player.
        """
        roles = dict.fromkeys(map(role_of, env.possible_agents))
        mine = [agent for agent in env.possible_agents if role_of(agent) == role]
        if not mine:
            raise unknown_choice("role", role, roles)
        if len(mine) > 1:
            raise UsageError(f"role={role!r}: is played by {', '.join(mine)}; make the environment with one of them.")
        players = players or {}
        for name in players.keys() - roles.keys() - {"all"}:
            raise unknown_choice("players", name, roles)
        missing = [other for other in roles if other != role and other not in players and "all" not in players]
        if missing:
            raise UsageError(f"players={sorted(players)}: no player for {', '.join(missing)}; name one, or give 'all'.")
        self.agent = mine[0]
        self.observation_space = env.observation_space(self.agent)
        self.action_space = env.action_space(self.agent)
        self.metadata = {**env.metadata, "render_modes": list(env.metadata["render_modes"])}
        self.render_mode = env.render_mode
        self._env = env
        self._players = dict(players)
        self._paid = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self._env.reset(seed=seed, options=options)
        self._paid = 0.0
        self._play_others()
        return self._observation(), self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if not is_over(self._env):
            self._act(action)
            self._play_others()
        reward, self._paid = self._paid, 0.0
        terminated, truncated = self._env.terminations[self.agent], self._env.truncations[self.agent]
        return self._observation(), reward, terminated, truncated, self._info()

    def render(self) -> Any:
        return self._env.render()

    def close(self) -> None:
        self._env.close()

    def _observation(self) -> str:
        return str(self._env.observe(self.agent))

    def _info(self) -> dict[str, Any]:
        return {**self._env.infos[self.agent], "over": is_over(self._env)}

    def _act(self, action: str | None) -> None:
        self._env.step(action)
        self._paid += float(self._env.rewards.get(self.agent, 0.0))

    def _play_others(self) -> None:
        """All turns up to the role's next one, or up to the end."""
        env = self._env
        while not is_over(env) and env.agent_selection != self.agent:
            agent = env.agent_selection
            if env.terminations[agent] or env.truncations[agent]:
                self._act(None)  # how a dead agent leaves in PettingZoo
                continue
            role = role_of(agent)
            self._act(_answer(self._players[role if role in self._players else "all"], env, agent))


def _answer(player: Player, env: Env, agent: str) -> str:
    """A player's reply, waited for where it takes time; an environment of Gymnasium can't be awaited itself."""
    reply = player.act(env, agent, str(env.observe(agent)))
    return reply if isinstance(reply, str) else asyncio.run(_awaited(reply))


async def _awaited(reply: Any) -> str:
    return str(await reply)
