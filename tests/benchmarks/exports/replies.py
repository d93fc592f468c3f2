"""One policy for all sides of a comparison: what it answers depends on the observation alone."""

import hashlib
from collections.abc import Sequence
from typing import Any

REPLIES = ("<answer>up right</answer>", "<answer>down</answer>", "<answer>left left up</answer>", "no answer at all")
OTHER_REPLIES = ("<answer>down</answer>", "no answer at all")


def reply_to(observation: str, replies: Sequence[str] = REPLIES) -> str:
    """One of the replies, the same for the same observation."""
    return replies[hashlib.sha256(observation.encode()).digest()[0] % len(replies)]


def reply_in_chat(request: dict[str, Any], replies: Sequence[str] = REPLIES) -> str:
    """The reply to a request for a chat completion, which must hold one user message."""
    ((role, content),) = [(message["role"], message["content"]) for message in request["messages"]]
    assert role == "user"
    return reply_to(text_of(content), replies)


def text_of(content: Any) -> str:
    """A message's content, which some clients send in parts."""
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
