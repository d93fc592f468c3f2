"""Requests through the real sampler to a server in another process that says the same to everyone."""

import asyncio
import json
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import cast

from at_grpo.inference.base import SampleRequest, SamplingParams
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.plan import served_name
from at_grpo.inference.vllm import VLLMSampler

VERSION, CLIENTS, REQUESTS = 4, 64, 6400


@dataclass(frozen=True)
class Shape:
    """How long prompts and replies are."""

    prompt: int
    siblings: int
    tokens: int

    def answer(self) -> bytes:
        """vLLM's answer to a completion request, with all that it says of each token."""
        prompt_ids = list(range(1000, 1000 + self.prompt))
        answer = {
            "id": "cmpl-0123456789abcdef0123456789abcdef",
            "object": "text_completion",
            "model": served_name("tool", VERSION),
            "choices": [self._choice(sibling, prompt_ids) for sibling in range(self.siblings)],
            "usage": {"prompt_tokens": self.prompt, "completion_tokens": self.siblings * self.tokens},
        }
        return json.dumps(answer, separators=(",", ":")).encode()

    def _choice(self, sibling: int, prompt_ids: list[int]) -> dict[str, object]:
        token_ids = [1000 + sibling + place for place in range(self.tokens)]
        logprobs = [-0.123456789012 - sibling - place / 1000 for place in range(self.tokens)]
        names = [f"token_id:{token}" for token in token_ids]
        return {
            "index": sibling,
            "text": "word " * self.tokens,
            "logprobs": {
                "text_offset": list(range(0, 5 * self.tokens, 5)),
                "token_logprobs": logprobs,
                "tokens": names,
                "top_logprobs": [{name: logprob} for name, logprob in zip(names, logprobs, strict=True)],
            },
            "finish_reason": "stop",
            "stop_reason": None,
            "token_ids": token_ids,
            "prompt_token_ids": prompt_ids,
        }


class _Same(asyncio.Protocol):
    """Says one thing whenever a whole request has come, and keeps the connection."""

    def __init__(self, response: bytes) -> None:
        self._response, self._received = response, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, mark, body = self._received.partition(b"\r\n\r\n")
        if mark and len(body) >= int(head.lower().partition(b"content-length:")[2].split(maxsplit=1)[0]):
            self._received = b""  # one request at a time on a connection
            self._transport.write(self._response)


def _serve(ready: Connection, body: bytes) -> None:
    async def forever() -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        response = head.encode() + body
        server = await asyncio.get_running_loop().create_server(lambda: _Same(response), "127.0.0.1", 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


@contextmanager
def null_server(shape: Shape) -> Iterator[str]:
    """The server's URL."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, shape.answer()), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}"
    finally:
        process.kill()
        process.join()


def requests_a_cpu_second(shape: Shape, rounds: int) -> float:
    """Requests a CPU second of this process, routed between two endpoints, their answers parsed and checked; the best
    of some rounds, since other programs only take away from it.
    """
    request = SampleRequest(
        "tool", tuple(range(1000, 1000 + shape.prompt)), shape.siblings, 7, SamplingParams(max_tokens=shape.tokens)
    )

    async def measure(url: str) -> float:
        endpoints = [Endpoint(url, max_in_flight=CLIENTS) for _ in range(2)]
        sampler = VLLMSampler(endpoints, {"tool": VERSION}, stop_token_ids={2})

        async def client(count: int) -> None:
            for _ in range(count):
                completions = await sampler.sample(request)
                if [len(one.token_ids) for one in completions] != [shape.tokens] * shape.siblings:
                    raise SystemExit("the answer was not parsed")

        best = 0.0
        for number in range(rounds + 1):
            started = time.process_time()
            await asyncio.gather(*(client(REQUESTS // CLIENTS) for _ in range(CLIENTS)))
            if number:  # the first one connects
                best = max(best, REQUESTS / (time.process_time() - started))
        return best

    with null_server(shape) as url:
        return asyncio.run(measure(url))
