"""Proof that servers serve the weights that are trained: log-probabilities of served tokens beside the trainer's own.

A version counter can go up although no weights were sent, and a cache can answer for weights that are gone. So after
every publication each policy samples a few tokens of one prompt from every server, and the trainer scores the same
tokens. What gap is noise is measured when the run starts; what gap a wrong adapter would make, too.
"""

import asyncio
import logging
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from safetensors.torch import load_file, save_file

from at_grpo.inference.base import Completion, PolicyWeights, SampleRequest, SamplerError, SamplingParams
from at_grpo.inference.plan import BASE
from at_grpo.inference.publishing import WEIGHTS, AdapterPublisher, Publication
from at_grpo.inference.vllm import VLLMSampler

logger = logging.getLogger(__name__)

TOKENS = 16  # sampled by a probe
FLOOR = 1e-4  # nat; float32 servers and trainers differ by 1e-5
MARGIN = 4.0  # times the gap that the base model shows
LARGEST_NOISE = 1.0  # nat; between half-precision kernels it is a tenth of that
PLANTED = "probe"  # begins the name of an adapter that is no policy's
PLANTED_STD = 1.0  # of its B


@dataclass(frozen=True, slots=True)
class Reading:
    """Tokens that a server sampled, and the trainer's log-probabilities of them."""

    completion: Completion
    scores: list[float]

    @property
    def gap(self) -> float:
        """Largest difference between the server's log-probabilities and the trainer's, in nat."""
        return max(abs(served - own) for served, own in zip(self.completion.logprobs, self.scores, strict=True))


class Publisher(Publication, Protocol):
    """A `Publication` whose versions have names on servers.

    Attributes:
        published: the version that is served now, None before the first.
        run: part of the names.
    """

    published: int | None
    run: str

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies that are published."""
        ...

    def name(self, policy: str) -> str:
        """What servers call the policy's present version."""
        ...


class ProbedPublisher:
    """A `Publication` that publishes and then probes.

    Attributes:
        tolerance: gap in nat from which on a served token counts as one of other weights.
    """

    def __init__(self, publisher: Publisher, weights: PolicyWeights, samplers: Sequence[VLLMSampler]) -> None:
        """Not calibrated yet.

        Args:
            publisher: does the publishing.
            weights: the policies, as they are trained.
            samplers: one for each server.
        """
        self._publisher, self._weights, self._samplers = publisher, weights, tuple(samplers)
        self._prompt_ids: tuple[int, ...] = ()
        self._last: dict[str, Reading] = {}
        self.tolerance = FLOOR

    def calibrate(self, prompt_ids: Sequence[int], folder: Path) -> None:
        """Measure the noise on the base model; where adapters are served, see that a planted one is told from it.

        Args:
            prompt_ids: the prompt of all probes; a long one also passes through the servers' prefix caches.
            folder: for the planted adapter; servers read it there.

        Raises:
            SamplerError: the servers' base model is not the trainer's, or the probe would not notice wrong weights.
        """
        self._prompt_ids = tuple(prompt_ids)
        adapters = self._publisher if isinstance(self._publisher, AdapterPublisher) else None
        policy = self._publisher.policies[0]
        if adapters is None:  # an untrained policy is the base model
            self._measure_noise(self._publisher.name(policy), policy)
        else:
            self._measure_noise(BASE, None)
            self._see_planted(adapters, policy, folder)
        logger.info("probe: other weights are noticed from %.1e nat on", self.tolerance)

    def _measure_noise(self, name: str, policy: str | None) -> None:
        """Set the tolerance by the gap of a model that the server and the trainer both have."""
        noise = max(self._read(sampler, name, 0, policy).gap for sampler in self._samplers)
        if not noise <= LARGEST_NOISE:
            raise SamplerError(
                f"the servers' base model differs from the trainer's by {noise:.3g} nat on a token: must be the same "
                "weights, dtype and tokenizer. Start the servers with the trainer's model.base and model.dtype."
            )
        self.tolerance = max(FLOOR, MARGIN * noise)

    def _see_planted(self, publisher: AdapterPublisher, policy: str, folder: Path) -> None:
        """Raise `SamplerError` where an adapter that is far from every policy changes nothing."""
        name = f"{PLANTED}-{publisher.run}"
        planted = plant(self._weights, policy, folder / name)
        publisher.load({name: planted})
        seen = min(self._read(sampler, name, 0, None).gap for sampler in self._samplers)
        publisher.unload([name])
        shutil.rmtree(planted)
        if seen <= self.tolerance:
            raise SamplerError(
                f"an adapter with large weights changed nothing at a server ({seen:.2g} nat, tolerance "
                f"{self.tolerance:.2g}): it loads adapters and does not use them. See whether it serves the modules "
                f"of policies.{policy}.target_modules."
            )

    def publish(self, version: int) -> Mapping[str, float]:
        """See `Publication`.

        Returns:
            for each policy `probe/<policy>/gap` (largest difference in nat), `probe/<policy>/change` (what the last
            step changed on the same prompt) and `probe/<policy>/inconclusive` (1 where that change is too small for
            stale weights to be noticed; freshness then rests on the names alone).

        Raises:
            SamplerError: a server serves other weights than the trainer's, or could not be published to.
        """
        if self._publisher.published == version:
            return {}
        self._publisher.publish(version)
        measured: dict[str, float] = {}
        for policy in self._publisher.policies:
            name = self._publisher.name(policy)
            readings = [self._read(sampler, name, version, policy) for sampler in self._samplers]
            measured[f"probe/{policy}/gap"] = gap = max(reading.gap for reading in readings)
            if not gap <= self.tolerance:  # NaN is a mismatch, too
                raise SamplerError(
                    f"policy {policy!r}, version {version}: served and trained log-probabilities differ by {gap:.3g} "
                    f"nat, noise is at most {self.tolerance:.1g}: a server samples from other weights. The run stops, "
                    "since its samples would be trained on as if they were the policy's own."
                )
            measured |= self._change(policy)
            self._last[policy] = readings[0]
        return measured

    def _read(self, sampler: VLLMSampler, name: str, version: int, policy: str | None) -> Reading:
        """A sample of what a server calls `name`, scored by a policy of the trainer or by its base model (None)."""
        request = SampleRequest(name, self._prompt_ids, 1, version, SamplingParams(max_tokens=TOKENS))
        (completion,) = asyncio.run(sampler.sample_as(name, version, request))
        return Reading(completion, self._scores(completion, policy))

    def _change(self, policy: str) -> dict[str, float]:
        """What the last step changed: the previous probe's tokens, scored by the weights of then and of now."""
        last = self._last.get(policy)
        if last is None:
            return {}
        now = self._scores(last.completion, policy)
        change = max(abs(one - other) for one, other in zip(last.scores, now, strict=True))
        return {
            f"probe/{policy}/change": change,
            f"probe/{policy}/inconclusive": float(change <= 2 * self.tolerance),
        }

    def _scores(self, completion: Completion, policy: str | None) -> list[float]:
        """The trainer's log-probabilities of a completion of the probe's prompt; None for the base model."""
        return self._weights.scores(policy, self._prompt_ids, completion.token_ids)


def plant(weights: PolicyWeights, policy: str, folder: Path) -> Path:
    """An adapter of the policy's shape that is far from every policy: its B is random and large."""
    weights.save(policy, folder)
    state = load_file(folder / WEIGHTS)
    generator = torch.Generator().manual_seed(0)
    for name, tensor in state.items():
        if "lora_B" in name:
            state[name] = (PLANTED_STD * torch.randn(tensor.shape, generator=generator)).to(tensor.dtype)
    save_file(state, folder / WEIGHTS)
    return folder
