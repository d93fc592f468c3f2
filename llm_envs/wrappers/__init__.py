"""Wrappers: any PettingZoo game as a text environment, and additions to text environments.

| wrapper | what it does |
|---|---|
| `textualize` | any PettingZoo environment with text in and text out |
| `MessageHistory` | an agent sees all its earlier observations and replies too |
| `StripThinking` | reasoning is taken out of replies before anything else sees them |
| `RepromptInvalid` | a reply without an action is asked for again within the turn |
| `RecordEpisode` | every episode goes to a JSONL file |
| `Curriculum` | difficulty follows the success rate |

The innermost wrapper is the first that is applied and the last that sees a reply: `StripThinking(RecordEpisode(env,
path))` records replies without their reasoning, `RecordEpisode(StripThinking(env), path)` with it.
"""

from llm_envs.wrappers.curriculum import Course, Curriculum
from llm_envs.wrappers.game_text import GameText
from llm_envs.wrappers.message_history import MessageHistory
from llm_envs.wrappers.record_episode import RecordEpisode
from llm_envs.wrappers.reprompt_invalid import RepromptInvalid
from llm_envs.wrappers.strip_thinking import StripThinking
from llm_envs.wrappers.textualize import textualize

__all__ = [
    "Course",
    "Curriculum",
    "GameText",
    "MessageHistory",
    "RecordEpisode",
    "RepromptInvalid",
    "StripThinking",
    "textualize",
]
