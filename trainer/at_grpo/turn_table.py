"""A few turns of an iteration as a table: what each sibling said and earned, and which one the episode went on with."""

import random
from collections.abc import Sequence
from itertools import chain, zip_longest

from rich.table import Table
from rich.text import Text

from at_grpo.samples import Group

OBSERVATION_CHARS = 60
REPLY_CHARS = 60


def turn_table(step: int, groups: Sequence[Group], turns: int) -> Table:
    """`turns` groups drawn by chance (the same for the same step), alternating between roles; one row a branch."""
    table = Table(title=f"sampled turns of iteration {step}", title_justify="left")
    for column in ("role", "turn", "branch", "", "reward", "team", "local", "advantage"):
        table.add_column(column, justify="left" if column in {"role", ""} else "right", no_wrap=True)
    table.add_column("observation", ratio=1)
    table.add_column("reply", ratio=1)
    for group in _pick(step, groups, turns):
        for position, sample in enumerate(group.samples):
            table.add_row(
                Text(group.role if position == 0 else ""),
                str(group.key.cycle) if position == 0 else "",
                str(sample.sibling),
                "→" if sample.chosen else "",
                f"{sample.reward:+.3f}",
                _number(sample.info.get("team_reward")),
                _number(sample.info.get("local_reward")),
                f"{sample.advantage:+.3f}",
                Text(shorten(group.observation, OBSERVATION_CHARS) if position == 0 else ""),
                Text(shorten(sample.text, REPLY_CHARS)),
                end_section=position == len(group.samples) - 1,
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
