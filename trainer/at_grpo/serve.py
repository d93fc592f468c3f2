"""`at-grpo serve`: one vLLM server by itself, started with what a run asks of it, until Ctrl-C."""

import argparse
import logging
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from at_grpo.config import TrainConfig
from at_grpo.inference.endpoint import UNIX
from at_grpo.inference.installed import require_vllm
from at_grpo.inference.keeper import descendants
from at_grpo.inference.listening import listens
from at_grpo.inference.plan import LORA_RANKS, ServerPlan, longest, lora_bound
from at_grpo.inference.server import POLL_S, end, launch
from at_grpo.inference.vitals import Health, health
from at_grpo.loading import load_config
from at_grpo.placement import visible_gpus
from at_grpo.pools import pools_of
from llm_envs.core.errors import UsageError

logger = logging.getLogger(__name__)

HELP = "start one vLLM server by itself, for runs that name it in inference.urls"
FAILURE = 1


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens: a port, or a socket of the file system.

    Attributes:
        url: as in `inference.urls`.
        options: as on vLLM's command line.
        port: the port, None for a socket.
    """

    url: str
    options: tuple[str, ...]
    port: int | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command; those of vLLM come after `--`."""
    parser.epilog = "Options of `vllm serve` come last, after --, e.g. -- --gpu-memory-utilization 0.9"
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument("--config", help="serve what a configuration asks for: a YAML file, or a bundled name")
    model.add_argument("--model", metavar="DIR", help="serve a base model: a folder or a hub id")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--port", type=int, default=8000, help="port on this machine (%(default)s)")
    where.add_argument("--uds", type=Path, metavar="PATH", help="a socket of the file system instead of a port")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (%(default)s)")
    parser.add_argument("--max-len", type=int, metavar="N", help="longest prompt and reply together, in tokens (8192)")
    parser.add_argument("--policies", type=int, metavar="N", help="adapters that a run publishes (4)")
    parser.add_argument("--max-rank", type=int, choices=LORA_RANKS, metavar="N", help="largest rank among them (32)")
    parser.add_argument("--gpus", type=int, nargs="+", default=[0], metavar="N", help="share the model among these (0)")
    parser.add_argument("--python", metavar="PATH", help="an interpreter that has vLLM, where this one has not")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value", help="values that win over the file's")


def run(args: argparse.Namespace, overrides: Sequence[str], options: Sequence[str]) -> int:
    """Serve until Ctrl-C (0), or until the server ends by itself (1).

    Raises:
        UsageError: no vLLM, no such model, or an address that is taken.
    """
    plan = plan_of(args, overrides, options)
    address = unix_socket(args.uds) if args.uds else port(args.host, args.port)
    require_vllm(plan.python)
    folder = Path(tempfile.mkdtemp(prefix="at-grpo-serve-"))
    with _ended_by_signals():
        process = launch(plan, address.options, folder)
        try:
            return _serve(process, plan, address)
        except KeyboardInterrupt:
            return 0
        finally:
            end(process, folder)
            shutil.rmtree(folder, ignore_errors=True)


def _serve(process: "subprocess.Popen[bytes]", plan: ServerPlan, address: Address) -> int:
    taken = False
    while process.poll() is None:
        if health(address.url) is Health.WELL:
            taken = not _is_ours(process, address)
            if not taken:
                break
        time.sleep(POLL_S)
    if process.poll() is None:
        use = f"at-grpo train ... inference.backend=vllm 'inference.urls=[{address.url}]'"
        print(f"Serving {plan.model} at {address.url}; train with: {use}; Ctrl-C ends it.", flush=True)
    process.wait()
    why = (
        f"--port={address.port} was taken by another program meanwhile; name a free one"
        if taken
        else "it says why above"
    )
    print(f"at-grpo serve: the server ended with status {process.returncode}; {why}.", file=sys.stderr)
    return FAILURE


def _is_ours(process: "subprocess.Popen[bytes]", address: Address) -> bool:
    """Whether what answers at a port is what was started, and not a program that was faster."""
    return address.port is None or listens(descendants(process.pid), address.port)


def plan_of(args: argparse.Namespace, overrides: Sequence[str], options: Sequence[str]) -> ServerPlan:
    """What is started: a configuration's values, then those of the command line, then vLLM's own options.

    Raises:
        UsageError: a value that can't be, a configuration whose base is not made yet.
    """
    for name in ("max_len", "policies"):
        if (value := getattr(args, name)) is not None and value < 1:
            raise UsageError(f"--{name.replace('_', '-')}={value}: must be at least 1.")
    if args.config is None and overrides:
        raise UsageError(f"{overrides[0]}: has no effect without --config.")
    config = load_config(args.config, overrides) if args.config else None
    plan = ServerPlan(args.model, "auto", 8192, 4, 32) if config is None else _plan_of_config(config)
    asked = {
        "max_model_len": args.max_len,
        "policies": args.policies,
        "max_rank": args.max_rank,
        "python": args.python,
    }
    plan = replace(plan, **{name: value for name, value in asked.items() if value is not None})
    return replace(plan, gpus=_gpus(args.gpus), options={**plan.options, **parse_options(options)})


def _plan_of_config(config: TrainConfig) -> ServerPlan:
    pools = pools_of(config)
    if len(pools) > 1:
        bases = ", ".join(f"{pool.base} for {', '.join(pool.policies)}" for pool in pools)
        raise UsageError(
            f"--config: has {len(pools)} pools, and a server has one base model ({bases}); start one for each by "
            "--model."
        )
    (pool,) = pools
    if pool.full:
        raise UsageError(
            f"policies.{pool.name}.weights='full': its run starts its own servers, once for every version; there is "
            "nothing to serve for it. A finished policy is served by --model DIR."
        )
    made = Path(pool.base)
    if config.model.warm_start and not made.is_dir():
        raise UsageError(
            f"model.warm_start: the base is made when a run starts, and {made} is not there yet; serve a finished one "
            "by --model DIR."
        )
    return ServerPlan(
        model=pool.base,
        dtype=config.model.dtype,
        max_model_len=longest(config, pool),
        policies=len(pool.policies),
        max_rank=lora_bound(pool.policies.values()),
        python=config.inference.python or sys.executable,
        options=config.inference.options,
        staleness=config.rollout.staleness,
    )


def _gpus(numbers: Sequence[int]) -> tuple[str, ...]:
    visible = visible_gpus()
    if not visible:
        return ()
    absent = [number for number in numbers if not 0 <= number < len(visible)]
    if absent:
        raise UsageError(f"--gpus={absent[0]}: must be among the {len(visible)} that are visible, counted from 0.")
    return tuple(visible[number] for number in numbers)


def parse_options(words: Sequence[str]) -> dict[str, object]:
    """vLLM's options as on its command line: name -> value, True for a flag. Raises `UsageError` for a stray word."""
    options: dict[str, object] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, mark, value = word.removeprefix("--").partition("=")
            options[name] = value if mark else True
            name = "" if mark else name
        elif name:
            options[name], name = word, ""
        else:
            raise UsageError(f"{word!r}: after -- come options of vLLM, as --name value or --name.")
    return options


# ---- addresses


def port(host: str, number: int) -> Address:
    """An address of the network. Raises `UsageError` where it is taken or can't be."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, number))
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"--port={number}: can't listen at {host} ({reason}); name a free port.") from error
    return Address(f"http://{host}:{number}", ("--host", host, "--port", str(number)), number)


def unix_socket(path: Path) -> Address:
    """A socket of the file system; one that a dead server left is removed. Raises `UsageError` where it is taken."""
    path = path.absolute()
    if path.exists():
        if not path.is_socket():
            raise UsageError(f"--uds={path}: is a file already; name a path that is free.")
        with socket.socket(socket.AF_UNIX) as probe, suppress(ConnectionRefusedError):
            probe.connect(str(path))
            raise UsageError(f"--uds={path}: another program listens there; end it, or name another path.")
        path.unlink()
    return Address(f"{UNIX}{path}", ("--uds", str(path)))


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends the command as Ctrl-C does, which a shell forbids to commands that it puts into the background."""
    before = [(number, signal.signal(number, signal.default_int_handler)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
