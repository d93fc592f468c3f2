"""A program of the user's as an agent: it reads a JSON line for each reply that is asked of it, and writes one.

    -> {"episode": "plan_path-v0/0/0", "agent": "planner_0", "role": "planner", "turn": 0, "observation": "…",
        "seed": 7}
    <- {"reply": "…"}

The answer may also hold `prompt_tokens` and `completion_tokens`, which are then counted. Each process has one episode
at a time, so a program may keep what it remembers in plain variables and forget it when `episode` changes; as many
processes run as episodes are played at once. What a program writes to its standard error is shown when it fails. A
program ends when its standard input does.
"""

import asyncio
import json
import shlex
import subprocess
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from llm_envs.core.errors import UsageError
from llm_envs.players import Env, Player
from llm_envs_bench.agents.base import Question, Questions
from llm_envs_bench.agents.errors import AgentError
from llm_envs_bench.attempts import Event, Usage, is_count
from llm_envs_bench.spec import EpisodeKey

LONGEST_LINE = 1 << 24  # bytes of an answer
LAST_WORDS = 10  # lines of standard error that a failure quotes
COUNTS = ("prompt_tokens", "completion_tokens")  # of an answer, where it has them


class CommandAgent:
    """The program, and the processes of it that run."""

    def __init__(self, name: str, command: str, *, seed: int, timeout_s: float) -> None:
        """Raises `UsageError` for a command that can't be read; whether it can be run shows with its first question."""
        self.name = name
        self._command = _words(command)
        self._seed = seed
        self._timeout_s = timeout_s
        self._idle: list[Worker] = []

    def enter(self, key: EpisodeKey) -> Player:
        """See `Agent`."""
        return CommandPlayer(self, Questions(key, self._seed))

    def leave(self, player: Player) -> None:
        """Keep the episode's process for another one."""
        if isinstance(player, CommandPlayer) and player.worker is not None:
            self._idle.append(player.worker)

    async def aclose(self) -> None:
        """End the processes."""
        idle, self._idle = self._idle, []
        for worker in idle:
            await worker.aclose()

    async def worker(self) -> "Worker":
        """A process that no episode has."""
        return self._idle.pop() if self._idle else await Worker.start(self.name, self._command)

    async def ask(self, worker: "Worker", question: Question) -> dict[str, Any]:
        """The program's answer. Raises `AgentError` where it gave none in time."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await worker.ask(question)
        except TimeoutError as error:
            raise AgentError(Event.TIMEOUT, f"{self.name}: no answer within {self._timeout_s:g} s") from error


class CommandPlayer:
    """The program in one episode."""

    def __init__(self, agent: CommandAgent, questions: Questions) -> None:
        self.name = agent.name
        self.usage = Usage()
        self.worker: Worker | None = None
        self._agent = agent
        self._questions = questions

    async def act(self, env: Env, agent: str, observation: str) -> str:
        """The program's reply."""
        worker, self.worker = self.worker or await self._agent.worker(), None
        try:
            answer = await self._agent.ask(worker, self._questions.next(agent, observation))
        except AgentError as error:
            self.usage = Usage(events={error.event: 1})
            raise
        else:
            self.worker = worker
        finally:
            if self.worker is None:  # whatever happened, it has lost its place and is not asked again
                await worker.aclose()
        prompt_tokens, completion_tokens = map(answer.get, COUNTS)
        self.usage = Usage(prompt_tokens, completion_tokens)
        return str(answer["reply"])


class Worker:
    """One process."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self._name = name
        self._process = process
        self._words: deque[str] = deque(maxlen=LAST_WORDS)
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, name: str, command: Sequence[str]) -> "Worker":
        """Run the program. Raises `UsageError` where there is no such program."""
        pipe = subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=pipe, stdout=pipe, stderr=pipe, limit=LONGEST_LINE
            )
        except OSError as error:
            raise UsageError(f"agent={name!r}: can't be run: {error}.") from error
        return cls(name, process)

    async def ask(self, question: Question) -> dict[str, Any]:
        """Write a line, read a line."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101  PT018  both were asked for
        try:
            stdin.write(json.dumps(asdict(question), ensure_ascii=False).encode() + b"\n")
            await stdin.drain()
            line = await stdout.readline()
        except (ConnectionError, ValueError) as error:  # ValueError: a line that is too long
            raise AgentError(Event.AGENT_FAILED, f"{self._name}: {error}{await self._said()}") from error
        if not line.endswith(b"\n"):
            raise AgentError(Event.AGENT_FAILED, f"{self._name}: ended without an answer{await self._said()}")
        return self._answer(line)

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        shown = line[:120].decode(errors="replace")
        if not isinstance(answer, dict) or not isinstance(answer.get("reply"), str):
            raise AgentError(
                Event.AGENT_FAILED, f'{self._name}: answered {shown!r}; an answer is {{"reply": "…"}} on one line'
            )
        if not all(answer.get(name) is None or is_count(answer[name]) for name in COUNTS):
            raise AgentError(
                Event.AGENT_FAILED, f"{self._name}: answered {shown!r}; {' and '.join(COUNTS)} are whole numbers >= 0"
            )
        return answer

    async def _listen(self) -> None:
        """Read standard error all the time: a pipe that fills up would stop the program."""
        stderr = self._process.stderr
        assert stderr is not None  # noqa: S101  it was asked for
        while True:
            try:
                line = await stderr.readline()
            except ValueError:  # longer than is kept, such as a bar of progress; it was dropped
                continue
            if not line:
                return
            self._words.append(line.decode(errors="replace"))

    async def _said(self) -> str:
        """The end of its standard error, all of it where it has ended."""
        await asyncio.wait([self._listening], timeout=1.0)
        return f"; its standard error: {''.join(self._words).strip()}" if self._words else ""

    async def aclose(self) -> None:
        """End the process: kindly, since its input ends, and after a second by force."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(1.0):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        self._listening.cancel()


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"agent='command:{command}': can't be read: {error}.") from error
    if not words:
        raise UsageError("agent='command:': must name a program, e.g. command:'python my_agent.py'.")
    return words
