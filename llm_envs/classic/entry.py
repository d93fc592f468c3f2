"""What the ready-made classics share: how a game of PettingZoo becomes an environment of ours."""

import functools
from typing import Any, TypedDict, Unpack

import pettingzoo
from pettingzoo.env_registry.exceptions import PettingZooRegistryError

from llm_envs.core.foreign import Game
from llm_envs.wrappers.game_text import GameText
from llm_envs.wrappers.textualize import raw_textualized
from llm_envs.wrappers.textualized_env import TextualizedEnv


class PlayOptions(TypedDict, total=False):
    """The options that every classic takes beside its own; `llm_envs.wrappers.textualize` explains them."""

    focal: str | None
    observation: str
    on_invalid: str
    invalid_penalty: float
    opening: int
    split: str
    render_mode: str | None


def classic(
    game: str,
    text: GameText,
    *,
    name: str,
    roles: tuple[str, ...] | None,
    max_cycles: int,
    game_options: dict[str, Any] | None = None,
    **options: Unpack[PlayOptions],
) -> TextualizedEnv:
    """A classic without wrappers.

    Args:
        game: its name and version in PettingZoo, e.g. `tictactoe-v3`.
        text: its words.
        name: of the environment, e.g. `tictactoe_v0`.
        roles: a role for each of its agents.
        max_cycles: most turns of one agent.
        game_options: passed to PettingZoo's game.
        options: as in `textualize`.

    Raises:
        ImportError: the extra `classic` is not installed.
        UsageError: an option outside what is allowed.
    """
    drawn = {"render_mode": "rgb_array"} if options.get("render_mode") == "rgb_array" else {}
    make = functools.partial(make_game, game, **(game_options or {}), **drawn)
    return raw_textualized(make, text=text, name=name, roles=roles, max_cycles=max_cycles, **options)


def make_game(game: str, **options: Any) -> Game:
    """One of PettingZoo's classics.

    Raises:
        ImportError: a library that it needs is missing, with the extra that brings it.
    """
    try:
        return pettingzoo.make("aec", f"classic/{game}", **options)
    except (ImportError, PettingZooRegistryError) as error:
        raise ImportError(
            f"PettingZoo's classic/{game} can't be loaded ({error}). Install the extra: pip install 'llm-envs[classic]'"
        ) from error
