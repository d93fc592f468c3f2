"""Which cages there are, which of them work here, and one shared instance of each for the whole process."""

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from llm_envs.sandbox.base import Sandbox, SandboxError

logger = logging.getLogger(__name__)

HOLDS = {
    "files": "no file of yours is read or written",
    "network": "no network, no socket of another program",
    "processes": "nothing but its own processes is reached, and none of them is left behind",
    "memory": "memory of each process",
    "memory_tree": "memory of all processes of a program together",
    "kernel": "the kernel is not shared with the host",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of cage; its module is imported when it is asked for."""

    name: str
    module: str
    factory: str
    automatic: bool  # a candidate for "auto", in the order of the table

    def unavailable(self) -> str | None:
        """Why it does not work here, and what would help; None where it does."""
        reason: str | None = import_module(self.module).unavailable()
        return reason

    def guarantees(self) -> frozenset[str]:
        """What it holds; see `HOLDS`."""
        guarantees: frozenset[str] = import_module(self.module).GUARANTEES
        return guarantees

    def remark(self) -> str:
        """What else one should know about it here."""
        remark: str = import_module(self.module).remark()
        return remark

    def create(self) -> Sandbox:
        """A new instance. Raises SandboxError where it does not work here."""
        factory: Callable[[], Sandbox] = getattr(import_module(self.module), self.factory)
        return factory()


KINDS = (
    Kind("docker", "llm_envs.sandbox.docker", "DockerSandbox", automatic=True),
    Kind("native", "llm_envs.sandbox.native", "NativeSandbox", automatic=True),
    Kind("locked", "llm_envs.sandbox.locked", "LockedSandbox", automatic=True),
    Kind("unsafe", "llm_envs.sandbox.unsafe", "UnsafeSandbox", automatic=False),
)


class _Shared:
    """The instances, and the lock that keeps two threads from making two of one."""

    def __init__(self) -> None:
        self.instances: dict[str, Sandbox] = {}
        self.renew_lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew_lock)

    def renew_lock(self) -> None:
        """In a forked process it may be held by a thread that is not there."""
        self.lock = threading.Lock()


_shared = _Shared()


def get_sandbox(name: str = "auto") -> Sandbox:
    """The process's shared sandbox of this name; `close()` it, or let it end with the process.

    "auto" is the first of `KINDS` that works here, and never one without a cage. Raises SandboxError where the one
    asked for does not work here, ValueError for an unknown name.
    """
    kind = _automatic() if name == "auto" else _named(name)
    with _shared.lock:
        sandbox = _shared.instances.get(kind.name)
        if sandbox is None or getattr(sandbox, "closed", False):
            sandbox = _shared.instances[kind.name] = kind.create()
            logger.info("sandbox %s", _line(kind))
        return sandbox


def describe() -> str:
    """A line for each kind of cage (does it work here, what does it hold, what not), then what the words mean."""
    return "\n".join([*map(_line, KINDS), *(f"{name}: {meaning}" for name, meaning in HOLDS.items())])


def _line(kind: Kind) -> str:
    if reason := kind.unavailable():
        return f"{kind.name}: not available: {reason}"
    held = kind.guarantees()
    holds = ", ".join(name for name in HOLDS if name in held) or "nothing"
    lacks = ", ".join(name for name in HOLDS if name not in held) or "nothing"
    return f"{kind.name}: works here ({kind.remark()}); holds {holds}; does not hold {lacks}"


def _named(name: str) -> Kind:
    for kind in KINDS:
        if kind.name == name:
            return kind
    allowed = ", ".join(["auto", *(kind.name for kind in KINDS)])
    raise ValueError(f"sandbox name={name!r}: must be one of {allowed}")


def _automatic() -> Kind:
    reasons = []
    for kind in KINDS:
        if kind.automatic:
            if (reason := kind.unavailable()) is None:
                return kind
            reasons.append(f"{kind.name}: {reason}")
    raise SandboxError(
        "no sandbox works here, and programs are not run without one. "
        + "; ".join(reasons)
        + ". For programs that you trust, ask for the sandbox 'unsafe' by name."
    )
