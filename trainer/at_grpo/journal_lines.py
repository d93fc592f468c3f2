"""An instance as one line of a journal, and back: token ids, log-probabilities and rewards exactly as they were."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from at_grpo.rollouts.limits import StopReason
from at_grpo.rollouts.played import Played
from at_grpo.samples import Group, GroupKey, Sample
from llm_envs.episode import Episode

_KEY = ("step", "instance", "node", "agent", "cycle")
_SAMPLE = ("policy", "reward", "sibling", "truncated", "version", "advantage", "chosen", "text", "info")


def to_json(played: Played, weights: Mapping[int, str] | None = None) -> str:
    """One line without its end. Floats keep all their digits; infos that JSON has no word for become text.

    Args:
        played: the instance.
        weights: version -> id of its weights, for every version that sampled some of it.
    """
    entry = {
        "weights": {} if weights is None else {str(version): name for version, name in weights.items()},
        "index": played.index,
        "stop": played.stop,
        "lost": played.lost,
        "groups": [_group(group) for group in played.groups],
        "episode": asdict(played.episode),
    }
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"), default=_plain)


def from_json(line: str | bytes) -> Played:
    """The inverse of `to_json`. Raises ValueError for anything else."""
    try:
        data = json.loads(line)
        return Played(
            index=data["index"],
            groups=tuple(map(_read_group, data["groups"])),
            episode=Episode.from_json(json.dumps(data["episode"])),
            stop=StopReason(data["stop"]),
            lost=data["lost"],
        )
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"no instance: {type(error).__name__}: {error}") from error


def weights_of(line: str | bytes) -> dict[int, str]:
    """Version -> id of its weights, for every version that sampled some of a line's instance. Raises ValueError."""
    try:
        return {int(version): str(name) for version, name in json.loads(line)["weights"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no instance: {type(error).__name__}: {error}") from error


def _group(group: Group) -> dict[str, Any]:
    """Siblings mostly share their prompt, which is the longest part: each prompt is written once."""
    prompts = list(dict.fromkeys(sample.prompt_ids for sample in group.samples))
    return {
        "key": [getattr(group.key, name) for name in _KEY],
        "role": group.role,
        "observation": group.observation,
        "lost": group.lost,
        "prompts": prompts,
        "samples": [
            {
                "prompt": prompts.index(sample.prompt_ids),
                "ids": sample.completion_ids,
                "logprobs": sample.logprobs,
                **{name: getattr(sample, name) for name in _SAMPLE},
            }
            for sample in group.samples
        ],
    }


def _read_group(data: dict[str, Any]) -> Group:
    prompts = [tuple(prompt) for prompt in data["prompts"]]
    samples = [
        Sample(
            role=data["role"],
            prompt_ids=prompts[sample["prompt"]],
            completion_ids=tuple(sample["ids"]),
            logprobs=tuple(sample["logprobs"]),
            **{name: sample[name] for name in _SAMPLE},
        )
        for sample in data["samples"]
    ]
    return Group(GroupKey(*data["key"]), data["role"], data["observation"], tuple(samples), data["lost"])


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else repr(value)
