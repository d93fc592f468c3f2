"""Roles and the agents that play them: `planner` is a role, `planner_0` the first agent in it."""

import re
from collections.abc import Mapping, Sequence

from llm_envs.core.errors import require, unknown_choice, whole_number

ROLE_NAME = re.compile(r"[a-z]+\Z")
RESERVED = frozenset(
    {"all", "default", "ref", "base"}
)  # names that adapters, servers and the CLI give a meaning of their own


def check_role_name(role: str) -> None:
    """Raise `UsageError` unless the name is one lower-case word (PettingZoo's advice for `<word>_<number>` agents)."""
    require(isinstance(role, str) and bool(ROLE_NAME.match(role)), "role", role, "one word of the letters a-z")
    require(role not in RESERVED, "role", role, f"none of the reserved words {', '.join(sorted(RESERVED))}")


def role_of(agent: str) -> str:
    """`planner_0` -> `planner`."""
    return agent.rpartition("_")[0]


def expand_agents(
    roles: Sequence[str], counts: Mapping[str, int] | None, turn_order: Sequence[str] | None
) -> list[str]:
    """The agents in the order in which they act.

    Args:
        roles: the task's roles in their default order.
        counts: agents per role; a role that is not named has one.
        turn_order: a permutation of the roles, or None for the default order.

    Raises:
        UsageError: an unknown role, a count below 1, an order that leaves out or repeats a role.
    """
    for role in roles:
        check_role_name(role)
    require(not isinstance(turn_order, str), "turn_order", turn_order, f"a sequence of the roles {', '.join(roles)}")
    require(counts is None or isinstance(counts, Mapping), "agents", counts, 'a mapping, e.g. {"planner": 2}')
    order = list(roles if turn_order is None else turn_order)
    for role in order:
        if role not in roles:
            raise unknown_choice("turn_order", role, roles)
    require(sorted(order) == sorted(roles), "turn_order", tuple(order), f"each of {', '.join(roles)} exactly once")
    counts = counts or {}
    for role, count in counts.items():
        if role not in roles:
            raise unknown_choice("agents", role, roles)
        whole_number(f"agents[{role!r}]", count, least=1)
    return [f"{role}_{index}" for role in order for index in range(counts.get(role, 1))]
