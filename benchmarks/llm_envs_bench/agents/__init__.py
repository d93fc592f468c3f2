"""Agent specifications, the strings users write, and the players they stand for.

- `oracle`, `greedy`, `random`, …: a reference player of the environment.
- `openai:MODEL@URL`: any OpenAI-compatible endpoint; `@URL` may be left out for OpenAI's own.
- `checkpoint:FOLDER`: a checkpoint of the trainer, in this process.
"""

from llm_envs_bench.agents.cast import Cast, assign_roles, build_cast, plan_run
from llm_envs_bench.agents.errors import AgentError

__all__ = ["AgentError", "Cast", "assign_roles", "build_cast", "plan_run"]
