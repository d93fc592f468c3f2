"""Wrappers: any PettingZoo game as a text environment, and additions to text environments.

| wrapper | what it does |
|---|---|
| `textualize` | any PettingZoo environment with text in and text out |

The first that is applied is the innermost.
"""

from llm_envs.wrappers.game_text import GameText
from llm_envs.wrappers.textualize import textualize

__all__ = ["GameText", "textualize"]
