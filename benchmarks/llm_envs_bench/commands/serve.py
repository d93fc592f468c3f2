"""`llm-envs serve`: an environment over HTTP, for agents and trainers in other processes."""

import argparse
import asyncio
import ipaddress
import os
import secrets
import signal
from functools import partial
from typing import TYPE_CHECKING

import llm_envs
from llm_envs.commands.arguments import env_options, make_env
from llm_envs.core.errors import UsageError, require, whole_number
from llm_envs.core.spaces import TextSpace
from llm_envs.players import Env
from llm_envs.registry import normalise_id

if TYPE_CHECKING:
    from llm_envs_bench.exports.openenv.server import OpenEnvServer

HELP = "serve an environment over HTTP, as OpenEnv's clients speak it"
TOKEN = "LLM_ENVS_SERVE_TOKEN"  # noqa: S105  the name of a variable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is served, where, and how much at once."""
    parser.add_argument("--env", required=True, metavar="ID", help="an environment, e.g. plan_path_v0")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="option of the environment")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1, this machine)")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one (default: 8000)")
    parser.add_argument(
        "--token-env",
        default=TOKEN,
        metavar="VARIABLE",
        help=f"environment variable with infrastructure's token (default: {TOKEN}; where it is unset one is printed)",
    )
    parser.add_argument("--max-sessions", type=int, default=64, metavar="N", help="at once (default: 64)")
    parser.add_argument(
        "--idle", type=float, default=600.0, metavar="S", help="seconds until an unused session ends (default: 600)"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted (130) or terminated (0)."""
    whole_number("port", args.port, least=0, most=65535)
    whole_number("max_sessions", args.max_sessions, least=1)
    require(args.idle > 0, "idle", args.idle, "a number of seconds > 0")
    try:
        from llm_envs_bench.exports.openenv.server import About, OpenEnvServer
    except ImportError as error:
        raise UsageError(f"serve: needs {error.name}; pip install 'llm-envs[serve]'.") from error
    options = env_options(args.set)
    env_id = normalise_id(args.env)
    _check_text(make_env(env_id, options), env_id)
    token = os.environ.get(args.token_env)
    printed = token or secrets.token_urlsafe(32)
    about = About(env_id, f"{env_id} of llm-envs: text in, text out, one action a step")
    server = OpenEnvServer(
        partial(llm_envs.make, env_id, **options), about, printed, max_sessions=args.max_sessions, idle_s=args.idle
    )
    if not token:
        print(f"infrastructure's token (set {args.token_env} to choose it): {printed}", flush=True)
    if not _is_loopback(args.host):
        print(f"{args.host} can be reached from other machines, and nothing is encrypted here.", flush=True)
    try:
        asyncio.run(_serve(server, env_id, args.host, args.port))
    except OSError as error:
        raise UsageError(
            f"--host {args.host} --port {args.port}: {error.strerror or error}; --port 0 takes a free one."
        ) from error
    return 0


async def _serve(server: "OpenEnvServer", env_id: str, host: str, port: int) -> None:
    from llm_envs_bench.exports.openenv.server import start

    terminated = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminated.set)
    runner, port = await start(server.application(), host, port)
    try:
        shown = f"[{host}]" if ":" in host else host
        print(f"{env_id} at http://{shown}:{port} until Ctrl-C", flush=True)
        await terminated.wait()
    finally:
        await runner.cleanup()


def _check_text(env: Env, env_id: str) -> None:
    spaces = [env.action_space(agent) for agent in env.possible_agents]
    env.close()
    if not all(isinstance(space, TextSpace) for space in spaces):
        raise UsageError(f"env={env_id!r}: takes no text in this variant ({spaces[0]}); serve one that does.")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
