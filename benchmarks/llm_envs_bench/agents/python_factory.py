"""A function of the user's as an agent: `python:module:factory`.

The factory is called once for each role with the role's name and gives a function from a `Question` to a reply, plain
or asynchronous.
"""

import importlib
import inspect
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from llm_envs.core.errors import UsageError
from llm_envs.players import Env, Player
from llm_envs_bench.agents.base import PlainAgent, Question, Questions
from llm_envs_bench.agents.errors import AgentError
from llm_envs_bench.attempts import Event, Usage
from llm_envs_bench.spec import EpisodeKey

Answerer: TypeAlias = Callable[[Question], str | Awaitable[str]]


class PythonAgent(PlainAgent):
    """What the factory gave for a role."""

    def __init__(self, name: str, place: str, role: str, *, seed: int) -> None:
        """Import the module, from the working directory too, and call the factory.

        Raises:
            UsageError: no such module or factory, or a factory that gives no function.
        """
        self.name = name
        self._seed = seed
        self._answer = _make(name, place, role)

    def enter(self, key: EpisodeKey) -> Player:
        """See `Agent`."""
        return PythonPlayer(self.name, self._answer, Questions(key, self._seed))


class PythonPlayer:
    """The function in one episode."""

    def __init__(self, name: str, answer: Answerer, questions: Questions) -> None:
        self.name = name
        self.usage = Usage()
        self._answer = answer
        self._questions = questions

    async def act(self, env: Env, agent: str, observation: str) -> str:
        """The function's reply; the boundary at which a defect of the user's code becomes a failure with its name."""
        question = self._questions.next(agent, observation)
        try:
            reply: Any = self._answer(question)
            if inspect.isawaitable(reply):
                reply = await reply
        except Exception as error:
            self.usage = Usage(events={Event.AGENT_FAILED: 1})
            raise AgentError(Event.AGENT_FAILED, f"{self.name}: {type(error).__name__}: {error}") from error
        if not isinstance(reply, str):
            self.usage = Usage(events={Event.AGENT_FAILED: 1})
            raise AgentError(Event.AGENT_FAILED, f"{self.name}: gave {reply!r:.80}; a reply is a str")
        return reply


def _make(name: str, place: str, role: str) -> Answerer:
    module, _, factory = place.partition(":")
    if not module or not factory:
        raise UsageError(f"agent={name!r}: must be python:MODULE:FACTORY, e.g. python:my_agents:make.")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        make: Any = getattr(importlib.import_module(module), factory)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"agent={name!r}: {error}. It is looked for on the path and in {here}.") from error
    answer: Any = make(role)
    if not callable(answer):
        raise UsageError(f"agent={name!r}: {factory}({role!r}) gave {answer!r:.80}; it must give a function.")
    return answer  # type: ignore[no-any-return]  # whatever it takes and gives shows when it is called
