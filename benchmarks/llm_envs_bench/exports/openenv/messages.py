"""The messages of OpenEnv: reading what clients send, and what they are told."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_envs.core.env import MAX_ACTION
from llm_envs.core.errors import UsageError, require, unknown_option, whole_number
from llm_envs.core.roles import role_of
from llm_envs_bench.exports.openenv.refusal import Code, Refusal
from llm_envs_bench.exports.openenv.session import Position, Session
from llm_envs_bench.exports.openenv.sessions import Caller

LONGEST_NAME = 255  # of an episode, as in OpenEnv
_CHOICES = ("split", "index")  # go to the environment
RESET_KEYS = ("seed", "episode_id", "session_id", *_CHOICES)
STEP_KEYS = ("action", "session_id")
ACTION_KEYS = ("text", "agent", "metadata")


@dataclass(frozen=True, slots=True)
class ResetRequest:
    """What `reset` asks for."""

    episode_id: str
    session_id: str | None
    seed: int | None
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Action:
    """What `step` asks for; `agent` is None where whose turn it is shall act."""

    text: str
    agent: str | None


def read_json(text: str | bytes) -> dict[str, Any]:
    """A JSON object; `Refusal` for anything else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refusal(Code.INVALID_JSON, f"the message must be JSON ({type(error).__name__}: {error}).") from error
    if not isinstance(data, dict):
        raise Refusal(Code.INVALID_JSON, f"the message must be a JSON object, not {type(data).__name__}.")
    return data


def as_object(key: str, data: Any) -> dict[str, Any]:
    """A part of a message that must be an object; `Refusal` for anything else."""
    if not isinstance(data, dict):
        raise Refusal(Code.VALIDATION_ERROR, f"{key}: must be a JSON object, not {type(data).__name__}.")
    return data


def read_reset(data: Mapping[str, Any]) -> ResetRequest:
    """The fields of a reset; `Refusal` for one that does not exist or has a value that is not allowed."""
    try:
        _check_keys("reset", data, RESET_KEYS)
        seed, index = data.get("seed"), data.get("index")
        options = {
            "split": _text(data, "split"),
            "index": None if index is None else whole_number("index", index, least=0),
        }
        return ResetRequest(
            episode_id=_text(data, "episode_id", LONGEST_NAME) or uuid.uuid4().hex,
            session_id=_text(data, "session_id"),
            seed=None if seed is None else whole_number("seed", seed, least=0),
            options={key: value for key, value in options.items() if value is not None},
        )
    except UsageError as error:
        raise Refusal(Code.VALIDATION_ERROR, str(error)) from error


def read_step(data: Mapping[str, Any]) -> tuple[Action, str | None]:
    """Action and session id of a step over HTTP; `Refusal` as in `read_action`."""
    try:
        _check_keys("step", data, STEP_KEYS)
        return read_action(data.get("action")), _text(data, "session_id")
    except UsageError as error:
        raise Refusal(Code.VALIDATION_ERROR, str(error)) from error


def read_action(data: Any) -> Action:
    """An action; `Refusal` where it has no text, or a field that does not exist."""
    try:
        _check_keys("action", as_object("action", data), ACTION_KEYS)
        if not isinstance(data.get("text"), str):
            raise UsageError("action: must have the field 'text', a string: what the agent says.")
        return Action(data["text"], _text(data, "agent"))
    except UsageError as error:
        raise Refusal(Code.VALIDATION_ERROR, str(error)) from error


def observation(session: Session, position: Position, caller: Caller, *, fresh: bool = False) -> dict[str, Any]:
    """What a reset or a step is answered with.

    Args:
        session: whose episode it is.
        position: where it stands.
        caller: who is told: an agent what it sees, infrastructure what whose turn it is sees, and what was earned.
        fresh: whether this answers a reset, which hands out the agents' tokens.
    """
    agent = caller.agent or position.to_act
    seen = {
        "text": "" if agent is None else position.observations[agent],
        "agent": agent,
        "role": None if agent is None else role_of(agent),
        "to_act": position.to_act,
    }
    if not caller.is_infrastructure:
        return {"observation": seen | {"metadata": {}}, "reward": None, "done": position.done}
    metadata = {
        "session_id": session.id,
        "episode_id": position.episode_id,
        "success": position.success,
        "invalid": position.invalid,
        "rewards": dict(position.rewards),
        "returns": dict(position.returns),
    }
    if fresh:
        metadata["agents"] = dict(session.tokens)
    return {
        "observation": seen | {"metadata": metadata},
        "reward": position.reward,
        "done": position.done,
        "metadata": metadata,
    }


def state(session: Session, caller: Caller) -> dict[str, Any]:
    """Where the episode stands, as far as the caller may know."""
    position = session.position
    if position is None:
        return {"episode_id": None, "step_count": 0, "done": False, "to_act": None}
    told = {
        "episode_id": position.episode_id,
        "step_count": position.steps,
        "done": position.done,
        "to_act": position.to_act,
    }
    if caller.agent is not None:
        return told | {"agent": caller.agent, "observation": position.observations[caller.agent]}
    return told | {
        "session_id": session.id,
        "split": position.split,
        "index": position.index,
        "cycle": position.cycle,
        "agents": list(session.tokens),
        "success": position.success,
        "returns": dict(position.returns),
    }


def schema() -> dict[str, Any]:
    """JSON schemas of actions, observations and states."""
    text, maybe = {"type": "string"}, {"type": ["string", "null"]}
    return {
        "action": _object(
            {"text": text | {"maxLength": MAX_ACTION}, "agent": maybe, "metadata": {"type": "object"}}, "text"
        ),
        "observation": _object(
            {"text": text, "agent": maybe, "role": maybe, "to_act": maybe, "metadata": {"type": "object"}}, "text"
        ),
        "state": _object(
            {"episode_id": maybe, "step_count": {"type": "integer"}, "done": {"type": "boolean"}, "to_act": maybe},
            "step_count",
        ),
    }


def _object(properties: Mapping[str, Any], required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": [required]}


def _check_keys(owner: str, data: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    for key in data:
        if key not in allowed:
            raise unknown_option(owner, key, allowed)


def _text(data: Mapping[str, Any], key: str, longest: int = LONGEST_NAME) -> str | None:
    value = data.get(key)
    good = value is None or (isinstance(value, str) and 0 < len(value) <= longest)
    require(good, key, value, f"text of 1 to {longest} characters")
    return value
