"""From a configuration to whoever generates: this process, vLLM servers that the run starts, or servers that run."""

import asyncio
import functools
import logging
import re
import secrets
import sys
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peft import PeftModel

import llm_envs
from at_grpo.choices import Backend
from at_grpo.config import InferenceSection, TrainConfig
from at_grpo.inference.base import Sampler, SamplerError
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.installed import require_vllm
from at_grpo.inference.plan import BASE, ServerPlan, longest, server_plans
from at_grpo.inference.probe import PLANTED, ProbedPublisher
from at_grpo.inference.publishing import AdapterPublisher, InProcess, Publication, unload_adapter
from at_grpo.inference.server import Server
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.inference.vllm import VLLMSampler
from at_grpo.placement import Placement
from at_grpo.stopping import InterruptedRun
from at_grpo.tokenization import PromptEncoder, stop_token_ids
from llm_envs.core.errors import UsageError

logger = logging.getLogger(__name__)

SERVED = "served"  # where the run keeps what servers load
LOGS = "servers"
OF_A_RUN = re.compile(rf"(?:[a-z][a-z0-9_]*-v\d+|{PLANTED})-[0-9a-f]{{8}}\Z")  # names that runs give adapters


@dataclass(frozen=True, slots=True)
class Inference:
    """Who generates, and how the policies' weights get there."""

    sampler: Sampler
    publication: Publication


@contextmanager
def serving(
    config: TrainConfig,
    model: PeftModel,
    encoder: PromptEncoder,
    source: str,
    *,
    versions: MutableMapping[str, int],
    placement: Placement,
) -> Iterator[Inference]:
    """The inference of a run; servers that it starts end with the context.

    Args:
        config: of the run.
        model: the policies.
        encoder: of the base's tokenizer.
        source: folder or hub id of the base model.
        versions: policy -> version that samples are stamped with; kept up to date by the publication.
        placement: which GPUs the servers get.

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
    folder, section = Path(config.run.output_dir), config.inference
    with ExitStack() as stack:
        servers = []
        if not section.urls:
            require_vllm(section.python or sys.executable)
            servers = _start(server_plans(config, source, placement), section, folder / LOGS, stack)
        endpoints = [server.endpoint for server in servers] or [_endpoint(section, url) for url in section.urls]
        asyncio.run(_check(config, endpoints))
        run = secrets.token_hex(4)
        publisher = AdapterPublisher(model, endpoints, (folder / SERVED).resolve(), versions, run)
        for server in servers:
            server.prepare = publisher.prepare
        sample_from = functools.partial(VLLMSampler, versions=versions, stop_token_ids=stops, run=run)
        one_each = [sample_from([endpoint]) for endpoint in endpoints]
        probed = ProbedPublisher(publisher, model, one_each)
        probed.calibrate(_probe_prompt(config, encoder), (folder / SERVED).resolve())
        try:
            yield Inference(sample_from(endpoints), probed)
        except InterruptedRun:
            _leave(publisher, section)
            raise
        _leave(publisher, section)


def _leave(publisher: AdapterPublisher, section: InferenceSection) -> None:
    """Take the policies off servers that go on running. The run has what it wanted, so a failure is only told."""
    if section.urls:
        try:
            publisher.retire()
        except SamplerError as error:
            logger.warning("the last adapters are left on a server: %s", error)


def _start(plans: Sequence[ServerPlan], section: InferenceSection, logs: Path, stack: ExitStack) -> list[Server]:
    servers = []
    for number, plan in enumerate(plans):
        server = Server(
            plan,
            logs / f"vllm-{number}.log",
            make_endpoint=functools.partial(_endpoint, section),
            start_timeout_s=section.start_timeout_s,
            restarts=section.restarts,
        )
        servers.append(server)
        stack.callback(server.close)
    logger.info("%d vLLM server(s) are starting; their logs are in %s", len(servers), logs)
    for server in servers:
        server.wait_ready()
    return servers


def _endpoint(section: InferenceSection, url: str) -> Endpoint:
    return Endpoint(
        url, timeout_s=section.timeout_s, patience_s=section.patience_s, max_in_flight=section.max_in_flight
    )


async def _check(config: TrainConfig, endpoints: list[Endpoint]) -> None:
    """See that every server has the base model and room for the longest request; unload what earlier runs left."""
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
        for name in filter(OF_A_RUN.match, models):
            logger.warning("%s: %s is left from another run; it is unloaded", endpoint.url, name)
            await unload_adapter(endpoint, name)


def _probe_prompt(config: TrainConfig, encoder: PromptEncoder) -> tuple[int, ...]:
    """What the first agent sees first: a prompt like those of the run."""
    env = llm_envs.make(config.env.id, **config.env.options)
    env.reset(options={"split": config.env.train_split, "index": 0})
    prompt_ids = encoder.encode(str(env.observe(env.agent_selection)))
    env.close()
    return prompt_ids[: config.rollout.max_prompt_tokens]
