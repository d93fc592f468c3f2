"""The server of `llm-envs serve` on a free port, and a client that keeps every answer."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from llm_envs_bench.exports.openenv.server import About, OpenEnvServer, start
from tests.benchmarks import corridor

INFRASTRUCTURE = "the-token-of-infrastructure"
Answer = tuple[int, dict[str, Any]]


@dataclass
class Client:
    """Sends what it is told to and keeps what comes back."""

    url: str
    http: aiohttp.ClientSession
    answers: list[str] = field(default_factory=list)

    async def ask(self, method: str, path: str, token: str | None = INFRASTRUCTURE, body: Any = None) -> Answer:
        """Status and answer; bytes are sent as they are, anything else as JSON."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with self.http.request(method, self.url + path, data=data, headers=headers) as response:
            text = await response.text()
            self.answers.append(text)
            return response.status, json.loads(text)

    async def reset(self, **asked: Any) -> dict[str, Any]:
        """A new session or episode; it must be one."""
        status, answer = await self.ask("POST", "/reset", body=asked)
        assert status == 200, answer
        return answer

    async def step(
        self, text: str, token: str = INFRASTRUCTURE, session_id: str | None = None, **action: Any
    ) -> Answer:
        body = {"action": {"text": text, **action}} | ({} if session_id is None else {"session_id": session_id})
        return await self.ask("POST", "/step", token, body)

    async def state(self, token: str = INFRASTRUCTURE, session_id: str | None = None) -> Answer:
        return await self.ask("GET", "/state" + (f"?session_id={session_id}" if session_id else ""), token)

    @asynccontextmanager
    async def connected(self, token: str = INFRASTRUCTURE) -> AsyncIterator[Callable[..., Any]]:
        """A connection: a function that sends a message and waits for the answer."""
        async with self.http.ws_connect(self.url + "/ws", headers={"Authorization": f"Bearer {token}"}) as socket:

            async def say(kind: str, data: Any = None) -> dict[str, Any]:
                await socket.send_json({"type": kind} | ({} if data is None else {"data": data}))
                text = await socket.receive_str(timeout=60)
                self.answers.append(text)
                return dict(json.loads(text))

            say.socket = socket  # type: ignore[attr-defined]  for messages that are none
            yield say


@asynccontextmanager
async def served(
    make_env: Callable[[], Any] = corridor.env, *, max_sessions: int = 8, idle_s: float = 60.0
) -> AsyncIterator[Client]:
    """Serve until the block ends."""
    server = OpenEnvServer(make_env, About("test", "a test"), INFRASTRUCTURE, max_sessions=max_sessions, idle_s=idle_s)
    runner, port = await start(server.application(), "127.0.0.1", 0)
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)) as http:
            yield Client(f"http://127.0.0.1:{port}", http)
    finally:
        await runner.cleanup()


def with_client(scenario: Callable[[Client], Any], make_env: Callable[[], Any] = corridor.env, **options: Any) -> Any:
    """Run a scenario against a server of its own."""

    async def play() -> Any:
        async with served(make_env, **options) as client:
            return await scenario(client)

    return asyncio.run(play())
