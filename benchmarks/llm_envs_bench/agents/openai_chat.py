"""A model behind an OpenAI-compatible endpoint, asked through the `openai` client."""

import asyncio
import os
from typing import TYPE_CHECKING, Any

from llm_envs.core.errors import UsageError
from llm_envs.core.messages import to_messages
from llm_envs.players import Env
from llm_envs_bench.agents.errors import AgentError
from llm_envs_bench.spec import Sampling

if TYPE_CHECKING:
    from openai import AsyncOpenAI

KEY = "OPENAI_API_KEY"
RETRIES = 5  # by the client itself, with backoff and `Retry-After`: on 429, 5xx, time-outs, conflicts, lost connections
TIMEOUT = 120.0  # seconds a request


class OpenAIPlayer:
    """Answers an observation with one chat completion.

    The model sees the observation and nothing of the environment. An empty reply or one cut at `max_tokens` is the
    model's own doing and is passed on as it is.
    """

    def __init__(self, name: str, *, model: str, url: str | None, sampling: Sampling) -> None:
        """Check what can be checked before the first episode.

        Args:
            name: the specification, for records.
            model, url: what to ask where; without a URL, OpenAI's (or `OPENAI_BASE_URL`).
            sampling: None fields are left to the server.

        Raises:
            UsageError: the `openai` package is missing, or there is no key for OpenAI's own endpoint.
        """
        self.name = name
        self._model = model
        self._url = url or os.environ.get("OPENAI_BASE_URL")
        given = {"temperature": sampling.temperature, "max_tokens": sampling.max_tokens}
        self._parameters = {key: value for key, value in given.items() if value is not None}
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        try:
            import openai  # noqa: F401  a missing extra is told before the first episode
        except ImportError as error:
            raise UsageError(f"agent={name!r}: needs the openai package; pip install 'llm-envs[bench]'.") from error
        if self._url is None and KEY not in os.environ:
            raise UsageError(f"agent={name!r}: needs a key in {KEY}, or the URL of another endpoint: openai:MODEL@URL.")

    def _client_here(self) -> "AsyncOpenAI":
        """The client of the running event loop: its connections belong to the loop that opened them."""
        from openai import AsyncOpenAI

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            # Local servers ask for no key but the client insists on one.
            key = os.environ.get(KEY, "none")
            self._client = AsyncOpenAI(api_key=key, base_url=self._url, max_retries=RETRIES, timeout=TIMEOUT)
            self._loop = loop
        return self._client

    async def act(self, env: Env, agent: str, observation: str) -> str:
        """One reply. Raises `AgentError` where the endpoint gave none, `UsageError` where it never will."""
        from openai import APIError, APIStatusError

        request: Any = self._client_here().chat.completions.create
        try:
            completion = await request(model=self._model, messages=to_messages(observation), **self._parameters)
        except APIStatusError as error:
            if error.status_code in {401, 403, 404}:
                raise UsageError(
                    f"agent={self.name!r}: {self._url or 'OpenAI'} refused: HTTP {error.status_code}, {error.message}. "
                    f"Check the model's name, the URL (it usually ends on /v1) and the key in {KEY}."
                ) from error
            raise AgentError(f"{self.name}: HTTP {error.status_code}: {error.message}") from error
        except (APIError, ValueError) as error:  # ValueError: a body that is no JSON
            raise AgentError(f"{self.name}: {type(error).__name__}: {error}") from error
        if not getattr(completion, "choices", None):
            raise AgentError(f"{self.name}: the endpoint answered without choices: {str(completion)[:200]!r}")
        message = completion.choices[0].message
        return message.content or message.refusal or ""

    async def aclose(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.close()
        self._client = self._loop = None
