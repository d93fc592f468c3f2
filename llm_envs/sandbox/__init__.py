"""Where programs written by models run: `get_sandbox().run([Program("print(1)")])`.

What each cage holds is told by its `guarantees`, in the docstring of its module, and by `describe()`.
"""

from llm_envs.sandbox.base import Outcome, Program, Sandbox, SandboxError, Status
from llm_envs.sandbox.registry import describe, get_sandbox

__all__ = ["Outcome", "Program", "Sandbox", "SandboxError", "Status", "describe", "get_sandbox"]
