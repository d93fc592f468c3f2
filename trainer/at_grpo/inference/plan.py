"""How vLLM servers are started: their command lines and environments. Needs neither vLLM nor torch."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from at_grpo.config import PolicySection, TrainConfig
from at_grpo.placement import VISIBLE, Placement, PoolPlacement
from at_grpo.pools import Pool

BASE = "base"  # what servers call the model without an adapter
# Adapters come and go while it runs; and its own statistics would ask the network.
_ENVIRONMENT = {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_DO_NOT_TRACK": "1"}
_CPU_ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
# A request with a seed whose prompt is read in chunks ends vLLM 0.31 on the CPU ("CPU Generator does not use offset").
CPU_OPTIONS: Mapping[str, object] = {"no-enable-chunked-prefill": True}
LORA_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)  # the bounds that vLLM 0.31 knows
UTILIZATION = "gpu-memory-utilization"


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """What a server is started with.

    Attributes:
        model: folder or hub id of the base model.
        dtype: of its weights.
        max_model_len: longest prompt and reply together, in tokens.
        policies: how many adapters are published; 0 where the model itself is (`whole.WholePublisher`).
        max_rank: bound on their ranks, one of `LORA_RANKS`.
        gpus: the devices it may use, as `CUDA_VISIBLE_DEVICES` names them; empty for the CPU.
        python: the interpreter that has vLLM.
        options: further command line options, name -> value; True for a flag.
        staleness: older versions of each policy that stay loaded, see `rollout.staleness`.
        name: what the model without an adapter is called.
        tokenizer: folder or hub id, where the model's folder has none.
    """

    model: str
    dtype: str
    max_model_len: int
    policies: int
    max_rank: int
    gpus: tuple[str, ...] = ()
    python: str = sys.executable
    options: Mapping[str, object] = field(default_factory=dict)
    staleness: int = 0
    name: str = BASE
    tokenizer: str = ""

    @property
    def slots(self) -> int:
        """Adapters on the device at once: the present version of each policy, the next one, which takes its place while
        both are loaded, and those before that still sample; and room for the probe's.
        """
        return (2 + self.staleness) * self.policies + 2 if self.policies else 0

    def command(self, address: Sequence[str]) -> list[str]:
        """The command line, with the options that say where to listen."""
        options: dict[str, object] = {
            "model": self.model,
            "served-model-name": self.name,
            **({"tokenizer": self.tokenizer} if self.tokenizer else {}),
            "dtype": self.dtype,
            "max-model-len": self.max_model_len,
            **(self._lora_options() if self.policies else {}),
            "logprobs-mode": "processed_logprobs",
            "return-tokens-as-token-ids": True,
            "generation-config": "vllm",
            **({} if self.gpus else CPU_OPTIONS),
            **({"tensor-parallel-size": len(self.gpus)} if len(self.gpus) > 1 else {}),
            **self.options,
        }
        words = [self.python, "-m", "vllm.entrypoints.openai.api_server", *address]
        for name, value in options.items():
            if value is not False:
                words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
        return words

    def _lora_options(self) -> dict[str, object]:
        return {
            "enable-lora": True,
            "max-loras": self.slots,
            "max-cpu-loras": 2 * self.slots,
            "max-lora-rank": self.max_rank,
        }

    def environment(self) -> dict[str, str]:
        """The environment of the process."""
        environment = {**os.environ, **_ENVIRONMENT}
        if self.gpus:
            environment[VISIBLE] = ",".join(self.gpus)
        else:
            environment = {**_CPU_ENVIRONMENT, **environment}
        return environment


def server_plans(
    config: TrainConfig, pool: Pool, place: PoolPlacement, everyone: Placement, run: str = ""
) -> tuple[ServerPlan, ...]:
    """How the servers of a pool are started. Where all weights are trained, the base is the policy's version 0.

    Args:
        config: of the run.
        pool: what they serve.
        place: which GPUs they get.
        everyone: and who else is there.
        run: part of the names of what is published.
    """
    section = config.inference
    return tuple(
        ServerPlan(
            model=pool.base,
            dtype=config.model.dtype,
            max_model_len=longest(config, pool),
            policies=0 if pool.full else len(pool.policies),
            max_rank=lora_bound(pool.policies.values()),
            gpus=gpus,
            python=section.python or sys.executable,
            options={**_share(everyone.share(gpus)), **section.options},
            staleness=config.rollout.staleness,
            name=served_name(pool.name, 0, run) if pool.full else BASE,
            tokenizer=pool.base if pool.full else "",
        )
        for gpus in place.servers
    )


def served_name(policy: str, version: int, run: str = "") -> str:
    """What a server calls a version of a policy; `run` tells runs apart that use one server after another."""
    return f"{policy}-v{version}-{run}" if run else f"{policy}-v{version}"


def _share(share: float | None) -> dict[str, object]:
    return {} if share is None else {UTILIZATION: share}


def longest(config: TrainConfig, pool: Pool) -> int:
    """Tokens of the longest prompt and reply of a pool's roles together."""
    return config.rollout.max_prompt_tokens + max(role.max_tokens for role in pool.roles.values())


def lora_bound(policies: Iterable[PolicySection]) -> int:
    """The smallest bound on ranks that vLLM knows and that holds all policies'."""
    largest = max(policy.rank for policy in policies)
    return next(bound for bound in LORA_RANKS if bound >= largest)
