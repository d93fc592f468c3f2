"""A model behind an OpenAI-compatible endpoint, asked through the `openai` client."""

import asyncio
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from llm_envs.core.errors import UsageError
from llm_envs.core.messages import to_messages
from llm_envs.players import Env, Player
from llm_envs_bench.agents.base import PlainAgent
from llm_envs_bench.agents.errors import AgentError
from llm_envs_bench.agents.retries import Patience, ask
from llm_envs_bench.attempts import Event, Usage, is_count
from llm_envs_bench.spec import EpisodeKey

if TYPE_CHECKING:
    from openai import APIError, AsyncOpenAI

KEY = "OPENAI_API_KEY"
URL = "OPENAI_BASE_URL"
NEVER = {401, 403, 404}  # no retry mends a wrong key, URL or name of a model
LIMITS = ("max_tokens", "max_completion_tokens")  # names of one parameter; OpenAI's newer models refuse the first


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked.

    Attributes:
        model: its name there.
        url: base URL; None for OpenAI's own (or `OPENAI_BASE_URL`).
        key_variable: the environment variable with the key. The key itself is nowhere else, and never on the disk.
    """

    model: str
    url: str | None
    key_variable: str = KEY

    @property
    def base_url(self) -> str | None:
        return self.url or os.environ.get(URL)

    @property
    def key(self) -> str | None:
        return os.environ.get(self.key_variable)


@dataclass(frozen=True, slots=True)
class _Reply:
    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    events: tuple[Event, ...]


class OpenAIAgent(PlainAgent):
    """A served model. Its players see their observations and nothing of the environment."""

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        temperature: float | None,
        max_tokens: int | None,
        patience: Patience,
    ) -> None:
        """Check what can be checked before the first episode.

        Args:
            name: the specification, for records.
            endpoint: what to ask where.
            temperature, max_tokens: None leaves them to the server.
            patience: how long a reply is waited for.

        Raises:
            UsageError: the `openai` package is missing, there is no key for OpenAI's own endpoint or in a variable
                that was named, or one that no header can hold.
        """
        self.name = name
        self.model = endpoint.model
        self._endpoint = endpoint
        self._parameters = {} if temperature is None else {"temperature": temperature}
        self._max_tokens = max_tokens
        self._limit = LIMITS[0]
        self._patience = patience
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        _check(name, endpoint)

    def enter(self, key: EpisodeKey) -> Player:
        """See `Agent`."""
        return OpenAIPlayer(self.name, self)

    async def aclose(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.close()
        self._client = self._loop = None

    async def ask(self, observation: str, events: Counter[str]) -> _Reply:
        """One reply, after as many tries as it takes."""
        return await ask(lambda: self._request(observation), self._patience, events)

    async def _request(self, observation: str) -> _Reply:
        """One try. Raises `AgentError` where the endpoint gave no reply, `UsageError` where it never will."""
        from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

        create: Any = self._client_here().chat.completions.create
        limit = {} if self._max_tokens is None else {self._limit: self._max_tokens}
        try:
            completion = await create(model=self.model, messages=to_messages(observation), **self._parameters, **limit)
        except APITimeoutError as error:
            raise AgentError(Event.TIMEOUT, self._shown(error)) from error
        except APIConnectionError as error:
            raise AgentError(Event.CONNECTION, self._masked(f"{error.message} {error.__cause__!r}")) from error
        except APIStatusError as error:
            if error.status_code == 400 and limit and self._limit == LIMITS[0] and LIMITS[1] in str(error):
                self._limit = LIMITS[1]
                return await self._request(observation)
            raise self._refused(error.status_code, error, error.response.headers.get("retry-after")) from error
        except (APIError, ValueError) as error:  # ValueError: a body that is no JSON
            raise AgentError(Event.BAD_JSON, f"{type(error).__name__}: {self._shown(error)}") from error
        return _read(completion)

    def _refused(self, status: int, error: "APIError", retry_after: str | None) -> Exception:
        message = f"HTTP {status}: {self._shown(error)}"
        if status in NEVER:
            where = self._endpoint.base_url or "OpenAI"
            return UsageError(
                f"agent={self.name!r}: {where} refused: {message}. Check the model's name, the URL (it usually ends on "
                f"/v1) and the key in {self._endpoint.key_variable}."
            )
        event = Event.REJECTED
        if status == 429:
            event = Event.RATE_LIMITED
        elif status >= 500:
            event = Event.SERVER_ERROR
        return AgentError(event, message, _seconds(retry_after))

    def _shown(self, error: Exception) -> str:
        return self._masked(getattr(error, "message", str(error)))

    def _masked(self, text: str) -> str:
        """A text without the key, which some servers repeat."""
        key = self._endpoint.key
        return text.replace(key, "[key]") if key else text

    def _client_here(self) -> "AsyncOpenAI":
        """The client of the running event loop: its connections belong to the loop that opened them."""
        from openai import AsyncOpenAI

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = AsyncOpenAI(
                api_key=self._endpoint.key or "none",  # local servers ask for no key but the client insists on one
                base_url=self._endpoint.base_url,
                max_retries=0,  # retries are ours, and counted
                timeout=self._patience.timeout_s,
            )
            self._loop = loop
        return self._client


@dataclass(slots=True)
class OpenAIPlayer:
    """Answers an observation with one chat completion.

    An empty reply or one cut at its limit is the model's own doing and is passed on as it is.
    """

    name: str
    agent: OpenAIAgent
    usage: Usage = field(default_factory=Usage)

    async def act(self, env: Env, agent: str, observation: str) -> str:
        """One reply. Raises `AgentError` where the endpoint gave none, `UsageError` where it never will."""
        events: Counter[str] = Counter()
        try:
            reply = await self.agent.ask(observation, events)
        except AgentError:
            self.usage = Usage(events=dict(events))
            raise
        events.update(reply.events)
        self.usage = Usage(reply.prompt_tokens, reply.completion_tokens, dict(events))
        return reply.text


def _check(name: str, endpoint: Endpoint) -> None:
    try:
        import openai  # noqa: F401  a missing extra is told before the first episode
    except ImportError as error:
        raise UsageError(f"agent={name!r}: needs the openai package; pip install 'llm-envs[bench]'.") from error
    if endpoint.key is None and endpoint.key_variable != KEY:
        raise UsageError(
            f"agent={name!r}: --key-env names {endpoint.key_variable}, which is not set; export it, or leave it out."
        )
    if endpoint.base_url is None and endpoint.key is None:
        raise UsageError(
            f"agent={name!r}: needs a key in {endpoint.key_variable}, or the URL of another endpoint: openai:MODEL@URL."
        )
    key = endpoint.key or ""
    if not (key.isascii() and key.isprintable() and key == key.strip()):  # the client's error would quote it
        raise UsageError(
            f"agent={name!r}: the key in {endpoint.key_variable} must be printable ASCII without spaces around it (it "
            "is not shown here); the end of a line may have come along. Set it anew."
        )


def _read(completion: Any) -> _Reply:
    """The first choice; `AgentError` for what is no completion, since the client passes on any JSON there is."""
    try:
        choice = completion.choices[0]
        content, refusal, finish = choice.message.content, choice.message.refusal, choice.finish_reason
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise AgentError(
            Event.NO_CHOICES, f"the endpoint answered without choices: {str(completion)[:200]!r}"
        ) from error
    text = content or refusal or ""
    if not isinstance(text, str):
        raise AgentError(Event.NO_CHOICES, f"the endpoint answered with a reply that is no text: {str(text)[:200]!r}")
    usage = getattr(completion, "usage", None)
    counts = (getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))
    prompt, reply = (count if is_count(count) else None for count in counts)
    events = {
        Event.EMPTY: not text,
        Event.REFUSAL: not content and bool(refusal),
        Event.CUT: finish == "length",
        Event.USAGE_MISSING: prompt is None or reply is None,
    }
    return _Reply(text, prompt, reply, tuple(event for event, happened in events.items() if happened))


def _seconds(retry_after: str | None) -> float | None:
    """`Retry-After` in seconds; a date, which hardly any server sends, is left to the back-off."""
    return float(retry_after) if retry_after and retry_after.strip().isdigit() else None
