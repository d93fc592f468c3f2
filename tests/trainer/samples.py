"""Groups of samples for tests that look at rewards, not at tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

from at_grpo.samples import Group, GroupKey, Sample


def sample(reward: float, sibling: int = 0, **fields: Any) -> Sample:
    values: dict[str, Any] = {
        "policy": "planner",
        "role": "planner",
        "prompt_ids": (1, 2),
        "completion_ids": (10 + sibling, 3),
        "logprobs": (-0.1, -0.2),
        "truncated": False,
        "version": 0,
        "info": {"role": "planner", "success": False, "invalid": None, "team_reward": 0.0, "local_reward": 0.0},
    }
    return Sample(reward=reward, sibling=sibling, **(values | fields))


def group(rewards: Sequence[float], *, siblings: Sequence[int] | None = None, **fields: Any) -> Group:
    """A group with one sample a reward; `fields` go to the key, the group, or every sample, whoever has them."""
    key_fields: Mapping[str, Any] = {"step": 0, "instance": 0, "node": "root", "agent": "planner_0", "cycle": 0}
    key = GroupKey(**{name: fields.pop(name, value) for name, value in key_fields.items()})
    own = {name: fields.pop(name) for name in ("observation", "lost") if name in fields}
    members = siblings if siblings is not None else range(len(rewards))
    samples = tuple(sample(reward, sibling, **fields) for reward, sibling in zip(rewards, members, strict=True))
    return Group(key, fields.get("role", "planner"), own.get("observation", "look"), samples, own.get("lost", 0))
