"""The `docker` cage: containers of a Docker engine, here or on another machine, each with a warm runner inside.

Needs an engine with Linux containers that answers (DOCKER_HOST, else the socket of this machine), the extra `docker`,
and an image with Python 3.11 or newer: `python:3.11-slim`, or the one named in LLM_ENVS_SANDBOX_IMAGE. Asked for by
name, it downloads an image that is missing; as a part of "auto" it does not. Nothing is mounted and nothing is run by
`exec`: the runner comes in through the container's input, and programs through it, too, one at a time, each in a fork.

- `files`: a container sees its image, read-only, and a folder in memory of 64 MiB and 1,024 names, which is emptied
  after each program. None of it is yours.
- `network`: none but a loopback of its own.
- `processes`: a program sees the processes of its container: its own and the runner, which it can neither signal nor
  trace. They end with the program, and with the owner. Their number, threads included, is sampled every 50 ms and
  bounded by the engine.
- `memory`: the address space of each process is limited.
- `memory_tree`: a cgroup bounds all that is in a container, without swap, at what the largest program so far may have
  plus some 130 MiB for the folder and the runner; what each program's processes hold together is sampled every 50 ms.

Programs run as a user without privileges, with no capability and no way to gain one, and with one processor's worth of
time. On x86_64 the runner adds the system-call filter of `locked` and, where the engine's kernel has it, Landlock, so
that programs can do there what they can in `locked` and no more: not even start another program of the image. On other
processors the engine applies a wider filter, and programs of the image can be started.

Not held: `kernel`. The kernel is the engine's host's, and a hole in it is a way out, unless containers run under a
kernel of their own: `DockerSandbox(runtime="runsc")`, where the engine has gVisor. The clock, the load of the machine
and the kernel's version are visible.

A container is replaced after a program that ran out of time or memory, after 500 programs, and when it is lost; from
the first replacement on there is one more than slots, ready to take the place of the next. A container ends
with its owner, also when that is killed: its input ends then. One that was not yet started then is removed by the next
sandbox that starts on the same host. Containers carry the labels `llm-envs.sandbox`, `.host`, `.pid` and `.started`.

Programs are what they are in `locked`: Python without site-packages, with a fixed hash seed.
"""

import logging
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from llm_envs.sandbox.base import SandboxError
from llm_envs.sandbox.cage import CageLostError
from llm_envs.sandbox.docker.cage import DockerCage, Room
from llm_envs.sandbox.docker.container import reap
from llm_envs.sandbox.docker.engine import Engine, address, unreachable
from llm_envs.sandbox.docker.settings import Settings
from llm_envs.sandbox.pool import PooledSandbox

logger = logging.getLogger(__name__)

GUARANTEES = frozenset({"files", "network", "processes", "memory", "memory_tree"})
IMAGE = "python:3.11-slim"
IMAGE_VARIABLE = "LLM_ENVS_SANDBOX_IMAGE"
RECYCLE_AFTER = 500
_FILTERED = ("x86_64", "amd64")  # machines for which the runner has a system-call filter
_OWN_KERNEL = ("runsc",)


def unavailable() -> str | None:
    """Why there is no `docker` cage here, and what would help; None where there is one. Downloads nothing."""
    if reason := unreachable():
        return reason
    try:
        engine = Engine(patient=False)
        try:
            return _lacking(engine.info()) or _missing(engine, chosen_image())
        finally:
            engine.close()
    except CageLostError as error:
        return f"{error}: start an engine there, or name one in DOCKER_HOST"


def remark() -> str:
    """Which engine and which image."""
    return f"{chosen_image()} at {address()}"


def chosen_image() -> str:
    """The image of the environment variable, else the usual one."""
    return os.environ.get(IMAGE_VARIABLE) or IMAGE


class DockerSandbox(PooledSandbox):
    """Programs in containers. See the module for what that holds and what not."""

    def __init__(
        self,
        *,
        image: str | None = None,
        runtime: str | None = None,
        slots: int | None = None,
        recycle_after: int = RECYCLE_AFTER,
    ) -> None:
        """Remove what dead owners have left, and start nothing yet. Raises SandboxError where it cannot work.

        Args:
            image: with a `python3` of 3.11 or newer; `chosen_image()` by default. Downloaded where it is missing.
            runtime: one of the engine's runtimes by name, such as `runsc`; its default one if None.
            slots: containers at once; the number of the engine's cores by default.
            recycle_after: programs after which a container is replaced.
        """
        image = chosen_image() if image is None else image
        try:
            info = _prepare(image, runtime)
        except (SandboxError, CageLostError) as error:
            raise SandboxError(f"the sandbox 'docker' is not available: {error}") from error
        settings = Settings(image, runtime, filtered=info.get("Architecture") in _FILTERED)
        super().__init__(
            "docker",
            GUARANTEES | ({"kernel"} if runtime in _OWN_KERNEL else frozenset()),
            partial(DockerCage, settings, Room()),
            slots=max(1, info.get("NCPU", 1)) if slots is None else slots,
            recycle_after=recycle_after,
            spare=True,
        )


def _prepare(image: str, runtime: str | None) -> Mapping[str, Any]:
    """See that all is there that it takes; what the engine says of itself. Raises SandboxError, CageLostError."""
    if reason := unreachable():
        raise SandboxError(reason)
    engine = Engine()
    try:
        info = engine.info()
        if reason := _lacking(info):
            raise SandboxError(reason)
        runtimes = info.get("Runtimes") or {}
        if runtime is not None and runtime not in runtimes:
            raise SandboxError(f"runtime={runtime!r}: the engine has {', '.join(sorted(runtimes))}")
        if reason := _missing(engine, image):
            logger.warning("downloading the image %r, once", image)
            try:
                engine.pull(image)
            except SandboxError as error:
                raise SandboxError(f"{reason} ({error})") from error
        reap(engine)
    finally:
        engine.close()
    return info


def _lacking(info: Mapping[str, Any]) -> str | None:
    """What an engine cannot do that the guarantees rest on."""
    if (system := info.get("OSType")) != "linux":
        return f"the engine at {address()} runs {system} containers: switch it to Linux ones"
    if not (info.get("MemoryLimit") and info.get("PidsLimit")):
        return (
            f"the engine at {address()} cannot limit memory and processes: give it cgroups "
            "(a rootless one needs version 2, with `Delegate=cpu cpuset io memory pids`)"
        )
    return None


def _missing(engine: Engine, image: str) -> str | None:
    if engine.has(image):
        return None
    return f"the engine has no image {image!r}: docker pull {image}, or name one that it has in {IMAGE_VARIABLE}"
