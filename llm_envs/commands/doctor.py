"""`llm-envs doctor`: what this machine has, and how to get what is missing."""

import argparse
import importlib.util
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import llm_envs
import llm_envs.sandbox
from llm_envs.commands.output import print_table
from llm_envs.play import play
from llm_envs.players import ReferencePlayer
from llm_envs.registry import MODULES, make
from llm_envs.sandbox import Program, SandboxError, Status, describe
from llm_envs.sandbox.registry import HOLDS

HELP = "say what works on this machine and how to get what is missing"

# extra that something here uses -> (module that shows whether it is installed, what it is for)
EXTRAS = {
    "train": ("trl", "training"),
    "bench": ("openai", "evaluating models behind a server"),
    "inspect": ("inspect_ai", "suites as tasks of Inspect"),
    "serve": ("aiohttp", "environments over HTTP"),
    "docker": ("docker", "programs in containers"),
    "math": ("math_verify", "judging answers that exact comparison leaves open"),
    "data": ("datasets", "reading data sets from the hub"),
    "classic": ("rlcard", "PettingZoo's classic games"),
    "video": ("moviepy", "videos of episodes"),
    "fast": ("numba", "compiled generators and solvers"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `needed` findings that fail make the command fail."""

    name: str
    works: bool
    detail: str
    needed: bool = True

    @property
    def state(self) -> str:
        """One word."""
        if self.works:
            return "ok"
        return "FAILS" if self.needed else "absent"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(args: argparse.Namespace) -> int:  # noqa: ARG001  # the protocol's signature
    """Print the report; 1 if something that every user needs does not work."""
    found = list(findings())
    print_table(("what", "state", "detail"), [(finding.name, finding.state, finding.detail) for finding in found])
    return 1 if any(finding.state == "FAILS" for finding in found) else 0


def findings() -> Iterator[Finding]:
    """All checks, the cheap ones first."""
    yield Finding("llm-envs", True, f"{llm_envs.__version__}, Python {platform.python_version()}, {platform.system()}")
    for library in ("pettingzoo", "gymnasium", "numpy"):
        yield Finding(library, True, version(library))
    for line in describe().splitlines():
        name, _, detail = line.partition(": ")
        what = f"to hold {name}" if name in HOLDS else f"cage {name}"
        yield Finding(what, not detail.startswith("not available"), detail, needed=False)
    yield _attempt("sandbox", run_a_program)
    for env_id in MODULES:
        yield _attempt(env_id, partial(_play_an_episode, env_id))
    for extra, (module, purpose) in EXTRAS.items():
        found = importlib.util.find_spec(module) is not None
        detail = purpose if found else f"{purpose}: pip install 'llm-envs[{extra}]'"
        yield Finding(f"extra {extra}", found, detail, needed=False)


def _attempt(name: str, check: Callable[[], str]) -> Finding:
    """A check that may fail with a typed error."""
    try:
        return Finding(name, True, check())
    except (SandboxError, ValueError, OSError) as error:
        return Finding(name, False, str(error))


def run_a_program(cage: str = "auto") -> str:
    """See a cage at work. Raises `SandboxError`, or `UsageError` for an unknown one."""
    sandbox = llm_envs.sandbox.get_sandbox(cage)
    (outcome,) = sandbox.run([Program("print(6 * 7)")])
    if outcome.status is not Status.OK or outcome.stdout.strip() != "42":
        raise SandboxError(f"the cage {sandbox.name!r} gave {outcome}")
    return f"{sandbox.name} ran a program"


def _play_an_episode(env_id: str) -> str:
    episode = play(make(env_id), {"all": ReferencePlayer("oracle")}, env_id=env_id)
    if episode.error is not None:
        raise SandboxError(episode.error)
    return f"the oracle played {len(episode.turns)} turns"
