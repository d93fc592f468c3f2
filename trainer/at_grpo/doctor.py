"""`at-grpo doctor`: whether this machine can train, and how to get what is missing."""

import argparse
import asyncio
import importlib.metadata
import platform
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import llm_envs
from at_grpo import versions
from at_grpo.choices import Backend
from at_grpo.config import PlayerSection, PolicySection, TrainConfig, describe_player
from at_grpo.inference.base import SamplerError
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.frozen import chat_player
from at_grpo.inference.installed import HOW, TESTED, installed_vllm
from at_grpo.inference.openai import check_trainable, read_key
from at_grpo.inference.plan import BASE
from at_grpo.loading import load_config
from at_grpo.memory import plan_memory, show_bytes
from at_grpo.placement import place, visible_gpus
from at_grpo.pools import base_of, pools_of
from llm_envs.commands.doctor import Finding, run_a_program
from llm_envs.commands.output import print_table
from llm_envs.core.errors import UsageError
from llm_envs.sandbox import SandboxError

HELP = "say whether this machine can train, or run a certain configuration, and how to get what is missing"
FAILURE = 1
LEAST_FREE = 2**30  # bytes; a run of small models takes less, and a full disk ends any
ANSWER_S = 10.0
LOOPBACK = "127.0.0.1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """A configuration to look at in particular."""
    parser.add_argument("--config", help="check what this one needs, too: a YAML file, or a bundled name")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value", help="values that win over the file's")


def run(args: argparse.Namespace, overrides: Sequence[str]) -> int:
    """Print the report; 1 if something fails that training, or the configuration, needs.

    Raises:
        UsageError: a configuration that is none.
    """
    if args.config is None and overrides:
        raise UsageError(f"{overrides[0]}: has no effect without --config.")
    config = load_config(args.config, overrides) if args.config else None
    found = list(findings(config))
    print_table(("what", "state", "detail"), [(finding.name, finding.state, finding.detail) for finding in found])
    return FAILURE if any(finding.state == "FAILS" for finding in found) else 0


def findings(config: TrainConfig | None) -> Iterator[Finding]:
    """All checks: the machine first, then what the configuration needs of it."""
    yield Finding("python", True, f"{platform.python_version()}, {platform.system()}, llm-envs {llm_envs.__version__}")
    libraries = [_library(name) for name in versions.TESTED]
    yield from libraries
    if libraries[0].works:
        yield _gpus()
    yield _vllm(config)
    yield _attempt("sandbox", partial(run_a_program, config.rollout.sandbox if config else "auto"))
    yield _ports()
    yield _disk(Path(config.run.output_dir) if config else Path.cwd())
    if config is None or not all(library.works for library in libraries):
        return
    yield _attempt("base model", partial(_base_model, config))
    urls = dict.fromkeys(url for pool in pools_of(config) for url in pool.section.urls or config.inference.urls)
    yield from (_attempt(f"server {url}", partial(_server, config, url)) for url in urls)
    if not config.inference.urls:
        yield _attempt("placement", partial(_placement, config))
    for role, player in config.frozen.items():
        yield _attempt(f"player of {role}", partial(_player, config, role, player))


def _attempt(name: str, check: Callable[[], str]) -> Finding:
    """A check that may fail with a typed error."""
    try:
        return Finding(name, True, check())
    except (UsageError, SandboxError, SamplerError) as error:
        return Finding(name, False, str(error))


def _library(name: str) -> Finding:
    problem = versions.problem(name, versions.TESTED[name])
    if problem:
        return Finding(name, False, f"{problem} {versions.FIX}.")
    return Finding(name, True, importlib.metadata.version(name))


def _gpus() -> Finding:
    import torch

    names = [torch.cuda.get_device_properties(number) for number in range(len(visible_gpus()))]
    if names:
        listed = ", ".join(f"{number}: {gpu.name}, {show_bytes(gpu.total_memory)}" for number, gpu in enumerate(names))
        return Finding("GPUs", True, listed)
    build = f"torch {torch.__version__} is built for CUDA {torch.version.cuda}" if torch.version.cuda else "a CPU build"
    return Finding("GPUs", False, f"none is visible ({build}): training runs on the CPU", needed=False)


def _vllm(config: TrainConfig | None) -> Finding:
    """vLLM serves, if it is there; it is needed where the configuration has it started."""
    section = config.inference if config else None
    needed = section is not None and section.backend == Backend.VLLM and not section.urls
    python = section.python if section and section.python else sys.executable
    try:
        found = installed_vllm(python)
    except UsageError as error:
        return Finding("vLLM", False, str(error), needed)
    if found is None:
        return Finding("vLLM", False, f"rollouts by servers need it. {HOW}", needed)
    tested = "" if found.split()[1].startswith(TESTED) else f"; tested is {TESTED}"
    return Finding("vLLM", True, f"{found}{tested}", needed)


def _disk(folder: Path) -> Finding:
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    detail = f"{show_bytes(free)} free for {folder}"
    return Finding("disk", free >= LEAST_FREE, detail if free >= LEAST_FREE else f"{detail}: make room")


def _base_model(config: TrainConfig) -> str:
    found = []
    for pool in pools_of(config):
        memory = plan_memory(config, pool)
        made = config.model.warm_start is not None and pool.base == base_of(config, PolicySection())
        named = "made by model.warm_start" if made else pool.base
        found.append(f"{named}: {memory.base_parameters:,} parameters, {show_bytes(memory.base)}")
    return "; ".join(found)


def _ports() -> Finding:
    """Servers and update workers find free ports by themselves; what they need is that this machine gives some."""
    try:
        with socket.create_server((LOOPBACK, 0)) as server:
            socket.create_connection(server.getsockname(), ANSWER_S).close()
            return Finding("ports", True, f"{LOOPBACK} gives free ones, e.g. {server.getsockname()[1]}")
    except OSError as error:
        advice = "see `ip address show lo` and the limit of open files (`ulimit -n`)"
        return Finding(
            "ports", False, f"none is to be had on {LOOPBACK} ({error}), by which servers are reached: {advice}"
        )


def _server(config: TrainConfig, url: str) -> str:
    key = read_key(config.inference.api_key_env, "inference.api_key_env")
    endpoint = Endpoint(url, timeout_s=ANSWER_S, patience_s=0.0, api_key=key)
    models = asyncio.run(endpoint.get("/v1/models"))
    if config.inference.backend == Backend.OPENAI:
        asyncio.run(check_trainable(endpoint, BASE))
    return f"serves {', '.join(entry['id'] for entry in models['data'])}"


def _player(config: TrainConfig, role: str, player: PlayerSection) -> str:
    """Who plays, and of a model behind a server that it answers."""
    if not player.url:
        return describe_player(player)
    reply = asyncio.run(chat_player(config, role, player).ask("Reply with one word.", 0))
    return f"{describe_player(player)} answers {reply[:40]!r}"


def _placement(config: TrainConfig) -> str:
    placement = place(config, visible_gpus())
    if placement.trainer is None:
        return "everything on the CPU"
    trainers = [gpu for pool in placement.pools for gpu in pool.ranks if gpu]
    servers = [f"server {number} on {', '.join(gpus)}" for number, gpus in enumerate(placement.servers)]
    return "; ".join([f"trainer on GPU {', '.join(trainers)}", *servers])
