"""A few turns of an iteration as a table: what each sibling said and earned, and which one the episode went on with."""

import random
from collections.abc import Sequence
from itertools import chain, zip_longest

from rich.box import SIMPLE
from rich.console import Group as Stack
from rich.table import Table
from rich.text import Text

from at_grpo.samples import Group

OBSERVATION_CHARS = 160
REPLY_CHARS = 160


def turn_tables(step: int, groups: Sequence[Group], turns: int) -> Stack:
    """`turns` groups drawn by chance (the same for the same step), alternating between roles: what the agent saw above
    a table of its branches.
    """
    parts: list[Text | Table] = [Text(f"Sampled turns of iteration {step}", style="bold")]
    for group in _pick(step, groups, turns):
        head = f"{group.role}, turn {group.key.cycle}: {shorten(group.observation, OBSERVATION_CHARS)}"
        parts += [Text(head), _branches(group)]
    return Stack(*parts)


def _branches(group: Group) -> Table:
    """One row a sibling; the arrow marks the one that the episode went on with."""
    table = Table(box=SIMPLE, pad_edge=False)
    for column in ("", "reward", "team", "local", "advantage"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("reply", no_wrap=True, overflow="ellipsis")
    for sample in group.samples:
        table.add_row(
            f"→ {sample.sibling}" if sample.chosen else str(sample.sibling),
            f"{sample.reward:+.3f}",
            _number(sample.info.get("team_reward")),
            _number(sample.info.get("local_reward")),
            f"{sample.advantage:+.3f}",
            Text(shorten(sample.text, REPLY_CHARS)),
        )
    return table


def _pick(step: int, groups: Sequence[Group], turns: int) -> list[Group]:
    shuffled = random.Random(step).sample(list(groups), len(groups))
    by_role: dict[str, list[Group]] = {}
    for group in shuffled:
        by_role.setdefault(group.role, []).append(group)
    alternating = [group for group in chain.from_iterable(zip_longest(*by_role.values())) if group is not None]
    return sorted(alternating[:turns], key=lambda group: (group.key.instance, group.key.cycle, group.key.agent))


def _number(value: object) -> str:
    return f"{value:+.3f}" if isinstance(value, (int, float)) else ""


def shorten(text: str, limit: int) -> str:
    """One printable line of at most `limit` characters: its end is kept, where current state and answer stand. Escape
    sequences in a reply must not reach the terminal.
    """
    line = "".join("⏎" if char == "\n" else char if char.isprintable() else "·" for char in text)
    return line if len(line) <= limit else "…" + line[len(line) - limit + 1 :]
