"""The one place that turns an observation into chat messages; trainer, benchmarks, play and exports all call it."""

from typing import TypedDict


class Message(TypedDict):
    """One chat message in the form that chat templates and OpenAI-compatible servers take."""

    role: str
    content: str


def to_messages(observation: str) -> list[Message]:
    """The chat in which an agent acts: its observation, which is self-contained, as one user message."""
    return [{"role": "user", "content": str(observation)}]
