"""The turns of roles that are not trained: they act, and leave nothing to train on."""

import inspect
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from at_grpo.rollouts.limits import StopReason
from llm_envs import fork
from llm_envs.core.roles import role_of
from llm_envs.core.stepping import astep
from llm_envs.players import Player
from llm_envs.sandbox.base import SandboxError

if TYPE_CHECKING:
    from at_grpo.rollouts.tree import Tree

logger = logging.getLogger(__name__)


async def frozen_turn(env: Any, agent: str, players: Mapping[str, Player], tree: "Tree") -> Any:
    """The one reply of a role that is not trained: no branches, no sample, no group.

    Args:
        env: in which the agent must answer; it is left as it was.
        agent: of a role in `players`.
        players: role -> who plays it.
        tree: gets the turn.

    Returns:
        The fork that the reply acted on; None, with the reason set, where infrastructure took it.
    """
    observation, after = str(env.observe(agent)), fork(env)
    reply = players[role_of(agent)].act(after, agent, observation)
    text = await reply if inspect.isawaitable(reply) else reply
    try:
        await astep(after, text)
    except SandboxError as error:
        logger.warning("the turn of %s is lost: %s", agent, error)
        tree.stop = StopReason.LOST
        return None
    tree.follow(after, agent, observation, text)
    return after
