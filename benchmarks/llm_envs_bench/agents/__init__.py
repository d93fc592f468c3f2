"""Agent specifications, the strings users write, and the agents they stand for.

- `oracle`, `greedy`, `random`, …: a reference player of the environment.
- `openai:MODEL@URL` or `MODEL@URL`: any OpenAI-compatible endpoint; `openai:MODEL` is OpenAI's own.
- `checkpoint:FOLDER`: a checkpoint or an adapter of the trainer, in this process.
- `command:PROGRAM …`: any program, asked over its standard input and output (`agents.command`).
- `python:MODULE:FACTORY`: a function (`agents.python_factory`).
- `human`: whoever sits at the terminal.
"""

from llm_envs_bench.agents.base import Agent
from llm_envs_bench.agents.cast import Asking, Cast, build_cast, build_casts, plan_run
from llm_envs_bench.agents.errors import AgentError
from llm_envs_bench.agents.names import assign_roles

__all__ = ["Agent", "AgentError", "Asking", "Cast", "assign_roles", "build_cast", "build_casts", "plan_run"]
