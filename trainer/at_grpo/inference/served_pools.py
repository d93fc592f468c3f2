"""The vLLM servers of a run's pools: started together, checked, published to by pool."""

import asyncio
import functools
import logging
import re
import sys
from collections.abc import Iterable, MutableMapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llm_envs
from at_grpo.choices import Backend
from at_grpo.config import InferenceSection, TrainConfig
from at_grpo.inference.base import Sampler, SamplerError
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.installed import require_vllm
from at_grpo.inference.openai import check_trainable, read_key
from at_grpo.inference.plan import BASE, longest, server_plans
from at_grpo.inference.probe import PLANTED, ProbedPublisher
from at_grpo.inference.publishing import AdapterPublisher, Publication, unload_adapter
from at_grpo.inference.server import Server
from at_grpo.inference.trained import LocalPool, RemotePool
from at_grpo.inference.vllm import VLLMSampler
from at_grpo.inference.whole import WholePublisher
from at_grpo.placement import Placement
from at_grpo.pools import Pool
from at_grpo.tokenization import PromptEncoder
from llm_envs.core.errors import UsageError

logger = logging.getLogger(__name__)

LOGS = "servers"
OF_A_RUN = re.compile(rf"(?:[a-z][a-z0-9_]*-v\d+|{PLANTED})-[0-9a-f]{{8}}\Z")  # names that runs give adapters


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers of a pool: those that the run has started, or the endpoints of others."""

    started: tuple[Server, ...]
    endpoints: tuple[Endpoint, ...]


def start_servers(
    config: TrainConfig, pools: Sequence[Pool], placement: Placement, run: str, stack: ExitStack
) -> list[Servers]:
    """The servers of each pool; those that are started end with the stack. `run`: see `plan.served_name`.

    Raises:
        UsageError: vLLM is not installed.
        SamplerError: one does not start.
    """
    section, logs, found = config.inference, Path(config.run.output_dir) / LOGS, list[Servers]()
    for pool, place in zip(pools, placement.pools, strict=True):
        urls = pool.section.urls or section.urls
        if urls:
            found.append(Servers((), tuple(_endpoint(section, url) for url in urls)))
            continue
        require_vllm(section.python or sys.executable)
        started: list[Server] = []
        for plan in server_plans(config, pool, place, placement, run):
            number = sum(len(servers.started) for servers in found) + len(started)
            server = Server(
                plan,
                logs / f"vllm-{number}.log",
                make_endpoint=functools.partial(_endpoint, section),
                start_timeout_s=section.start_timeout_s,
                restarts=section.restarts,
                hang_s=section.hang_s,
            )
            started.append(server)
            stack.callback(server.close)
        found.append(Servers(tuple(started), tuple(server.endpoint for server in started)))
    starting = [server for servers in found for server in servers.started]
    if starting:
        logger.info("%d vLLM server(s) are starting; their logs are in %s", len(starting), logs)
    for server in starting:
        server.wait_ready()
    return found


def _endpoint(section: InferenceSection, url: str) -> Endpoint:
    return Endpoint(
        url,
        timeout_s=section.timeout_s,
        patience_s=section.patience_s,
        max_in_flight=section.max_in_flight,
        api_key=read_key(section.api_key_env, "inference.api_key_env"),
    )


def check_servers(config: TrainConfig, pools: Sequence[Pool], servers: Sequence[Servers]) -> None:
    """See that every server has the base model and room for the longest request, and one of unknown make all that
    training needs; unload what earlier runs left.

    Raises:
        UsageError: one serves something else, has too little room, or can't be trained with.
        SamplerError: one can't be asked.
    """

    async def check_all() -> None:
        for pool, own in zip(pools, servers, strict=True):
            if pool.full:
                continue  # the run has started them, and they have another name for the model
            for endpoint in own.endpoints:
                await _check(endpoint, longest(config, pool))
                if config.inference.backend == Backend.OPENAI:
                    await check_trainable(endpoint, BASE)

    asyncio.run(check_all())


async def _check(endpoint: Endpoint, needed: int) -> None:
    models: dict[str, Any] = {entry["id"]: entry for entry in (await endpoint.get("/v1/models"))["data"]}
    if BASE not in models:
        raise UsageError(
            f"{endpoint.url}: serves {', '.join(models)}; must serve the base model as {BASE!r} "
            f"(--served-model-name {BASE}), as `at-grpo serve` does."
        )
    room = models[BASE].get("max_model_len") or needed
    if room < needed:
        raise UsageError(
            f"{endpoint.url}: has room for {room} tokens, rollout.max_prompt_tokens and the largest max_tokens ask "
            f"for {needed}; lower them, or start the server with --max-model-len {needed}."
        )
    for name in filter(OF_A_RUN.match, models):
        logger.warning("%s: %s is left from another run; it is unloaded", endpoint.url, name)
        await unload_adapter(endpoint, name)


class ServedPool:
    """A pool's policies on its servers.

    Attributes:
        policies: which they are.
        sampler: samples from them.
        publication: gets their weights there, and proves it.
    """

    def __init__(
        self,
        config: TrainConfig,
        trained: LocalPool | RemotePool,
        servers: Servers,
        *,
        folder: Path,
        versions: MutableMapping[str, int],
        run: str,
    ) -> None:
        """Calibrate the probe; nothing is published yet.

        Args:
            config: of the run.
            trained: the policies.
            servers: which have been checked.
            folder: for what they load.
            versions: policy -> version that requests go to.
            run: part of the names of what is published.

        Raises:
            SamplerError: the servers' base model is not the trainer's, or they do not use adapters.
        """
        publisher: AdapterPublisher | WholePublisher
        if trained.pool.full:
            publisher = WholePublisher(trained.weights, servers.started, folder, versions, run)
        else:
            publisher = AdapterPublisher(
                trained.weights, servers.endpoints, folder, versions, run=run, staleness=config.rollout.staleness
            )
            for server in servers.started:
                server.prepare = publisher.prepare
        sample_from = functools.partial(VLLMSampler, versions=versions, stop_token_ids=trained.stop_token_ids, run=run)
        one_each = [sample_from([endpoint]) for endpoint in servers.endpoints]
        probed = ProbedPublisher(publisher, trained.weights, one_each)
        probed.calibrate(_probe_prompt(config, trained.encoder), folder)
        self.policies = tuple(trained.pool.policies)
        self.sampler: Sampler = sample_from(servers.endpoints)
        self.publication: Publication = probed
        self._publisher, self._stays = publisher, not servers.started

    def retire(self) -> None:
        """Take the policies off servers that go on running. Raises `SamplerError`."""
        if self._stays:
            self._publisher.retire()


def retire(pools: Iterable[ServedPool]) -> None:
    """The run has what it wanted, so a failure is only told."""
    for pool in pools:
        try:
            pool.retire()
        except SamplerError as error:
            logger.warning("the last adapters are left on a server: %s", error)


def _probe_prompt(config: TrainConfig, encoder: PromptEncoder) -> tuple[int, ...]:
    """What the first agent sees first: a prompt like those of the run."""
    env = llm_envs.make(config.env.id, **config.env.options)
    env.reset(options={"split": config.env.train_split, "index": 0})
    prompt_ids = encoder.encode(str(env.observe(env.agent_selection)))
    env.close()
    return prompt_ids[: config.rollout.max_prompt_tokens]
