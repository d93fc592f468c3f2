"""What one turn leaves for training: samples, the groups they are compared in, and the tensors they become."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

TEAM_RETURN = "team_return"  # in the infos of a sample of a whole episode: what the team earned in it


@dataclass(frozen=True, slots=True, order=True)
class GroupKey:
    """What the siblings of a group share. Rewards are compared within a key and never across (arXiv 2510.11062, Alg.
    1).

    Attributes:
        step: training iteration.
        instance: index of the instance in the training split.
        node: id of the tree node that was branched ("" for whole-episode groups).
        agent: the agent that acted.
        cycle: its turn.
    """

    step: int
    instance: int
    node: str
    agent: str
    cycle: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One sampled reply and what it earned.

    Attributes:
        prompt_ids, completion_ids: token ids exactly as sampled.
        logprobs: the sampler's log-probability of each completion id.
        reward: the acting agent's reward of that very step (turn grouping) or its episode return (trajectory grouping).
        sibling: position in the group; with trajectory grouping, the episode it belongs to.
        advantage: set by `advantages`, NaN before.
        chosen: whether the tree went on from this branch.
        version: version of the policy that sampled it.
        info: the agent's infos after the step, for logs.
        text: the reply as text, for logs.
        old_logprobs: the trainer's own log-probability of each completion id before the version's first optimizer step;
            None where there is only one, whose forward pass gives them.
    """

    policy: str
    role: str
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    reward: float
    sibling: int
    truncated: bool
    version: int
    advantage: float = math.nan
    chosen: bool = False
    text: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)
    old_logprobs: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Samples whose rewards are comparable. `lost` counts siblings that infrastructure failures took."""

    key: GroupKey
    role: str
    observation: str
    samples: tuple[Sample, ...]
    lost: int = 0

    def with_advantages(self, values: Sequence[float]) -> "Group":
        """The group with one advantage a sample."""
        pairs = zip(self.samples, values, strict=True)
        return replace(self, samples=tuple(replace(sample, advantage=value) for sample, value in pairs))


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Rows of one policy that share a forward pass."""

    policy: str
    role: str
    samples: tuple[Sample, ...]

    @property
    def tokens(self) -> int:
        """Trained tokens: every completion token, the stop token included, zero-advantage rows too."""
        return sum(len(sample.completion_ids) for sample in self.samples)

    def tensors(self, pad_id: int) -> dict[str, torch.Tensor]:
        """The batch as TRL's loss takes it: prompts padded left, completions right.

        Returns:
            prompt_ids, prompt_mask: (B, P) long; completion_ids, completion_mask: (B, T) long;
            advantages: (B,) float; sampling_per_token_logps: (B, T) float, 0 where padded;
            old_per_token_logps: the same of the trainer's old ones, where all rows have them.
        """
        prompts_B = [torch.tensor(sample.prompt_ids) for sample in self.samples]
        completions_B = [torch.tensor(sample.completion_ids) for sample in self.samples]
        logps_B = [torch.tensor(sample.logprobs) for sample in self.samples]
        old_B = [torch.tensor(sample.old_logprobs) for sample in self.samples if sample.old_logprobs is not None]
        frozen = {"old_per_token_logps": _pad(old_B, 0.0, "right")} if len(old_B) == len(self.samples) else {}
        ones = torch.ones_like
        return {
            "prompt_ids": _pad(prompts_B, pad_id, "left"),
            "prompt_mask": _pad([ones(row) for row in prompts_B], 0, "left"),
            "completion_ids": _pad(completions_B, pad_id, "right"),
            "completion_mask": _pad([ones(row) for row in completions_B], 0, "right"),
            "advantages": torch.tensor([sample.advantage for sample in self.samples]),
            "sampling_per_token_logps": _pad(logps_B, 0.0, "right"),
            **frozen,
        }


@dataclass(frozen=True, slots=True)
class Iteration:
    """What the trainer needs of one policy version: its micro-batches, which end when it is sealed, and the metrics of
    their collection, which are complete then.
    """

    micro_batches: Iterable[MicroBatch]
    metrics: Mapping[str, float]


def _pad(rows: Sequence[torch.Tensor], value: float, side: str) -> torch.Tensor:
    return torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True, padding_value=value, padding_side=side)
