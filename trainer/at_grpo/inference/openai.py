"""OpenAI-compatible servers: as players of roles that are not trained, and, of those that can, for policies that are.

A player needs `/v1/chat/completions` alone: the observation goes out as a chat, text comes back, and nothing of it is
trained on. What is trained on must be token ids with their log-probabilities, of weights that the trainer has sent;
most servers give neither, and `check_trainable` says which part a server lacks.
"""

import os
from collections.abc import Mapping
from typing import Any

from at_grpo.inference.base import SamplerError, SamplingParams
from at_grpo.inference.endpoint import Endpoint, EndpointError
from at_grpo.seeds import derive_seed
from llm_envs.core.errors import UsageError
from llm_envs.core.messages import to_messages
from llm_envs.players import instance_mark

CHAT = "/chat/completions"
COMPLETIONS, LOAD = "/v1/completions", "/v1/load_lora_adapter"
PROMPT = [1, 2, 3]  # ids that every vocabulary has
REMEDY = (
    "Use vLLM as `at-grpo serve` starts it, or let this server play a role that is not trained: "
    "roles.<role>.player: {{url: {url}/v1, model: …}}."
)


def read_key(variable: str, path: str) -> str:
    """The key in an environment variable; empty where none is asked for.

    Args:
        variable: its name, or "".
        path: of the option that names it, for the error.

    Raises:
        UsageError: the variable is not set.
    """
    key = os.environ.get(variable, "") if variable else ""
    if variable and not key:
        raise UsageError(f"{path}={variable!r}: is not set; export {variable}=<the server's key>, or remove {path}.")
    return key


class ChatPlayer:
    """An llm_envs `Player`: one chat completion a turn.

    A reply that is empty or cut at its limit is the model's own doing and is passed on as it is. The seed of a request
    depends on (seed, state, agent, cycle) only; whether a server repeats itself by it is the server's business.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        params: SamplingParams,
        seed: int,
        *,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Nothing is sent yet.

        Args:
            endpoint: whose URL is the base URL, `/v1` included.
            model: what the server calls it; the name in records, too.
            params: how replies are drawn.
            seed: of the draws.
            options: further fields of the request; None leaves out one that would be sent.
        """
        self.name = model
        self._endpoint = endpoint
        self._params = params
        self._seed = seed
        self._options = dict(options or {})

    async def act(self, env: Any, agent: str, observation: str) -> str:
        """The reply to an observation. Raises `SamplerError` where the server gave none."""
        raw = env.unwrapped
        seed = derive_seed(self._seed, f"{instance_mark(raw)}{env.state()}", agent, int(raw.cycle))
        return await self.ask(observation, seed)

    async def ask(self, observation: str, seed: int) -> str:
        """See `act`."""
        try:
            answer = await self._endpoint.post(CHAT, self._body(observation, seed))
        except EndpointError as error:
            raise SamplerError(
                f"{error} Asked for the model {self.name!r}: check its name, the URL (it usually ends on /v1) and the "
                "variable with the key; a field that it does not know is left out by player.options: {field: null}."
            ) from error
        try:
            message = answer["choices"][0]["message"]
            return str(message["content"] or message.get("refusal") or "")
        except (KeyError, IndexError, TypeError) as error:
            raise SamplerError(
                f"{self._endpoint.url}{CHAT}: its answer is no chat completion ({type(error).__name__}: {error}). It "
                f"said {str(answer)[:300]}"
            ) from error

    def _body(self, observation: str, seed: int) -> dict[str, Any]:
        params = self._params
        body = {
            "model": self.name,
            "messages": to_messages(observation),
            "temperature": params.temperature,
            "max_tokens": params.max_tokens,
            "seed": seed % 2**31,  # servers differ in how large a seed may be; all take a positive 32-bit one
            **({"stop": list(params.stop)} if params.stop else {}),
            **self._options,
        }
        return {name: value for name, value in body.items() if value is not None}


async def check_trainable(endpoint: Endpoint, model: str) -> None:
    """See, by one short request and one that loads nothing, whether a server gives what training needs.

    Args:
        endpoint: the server.
        model: what it calls the base model.

    Raises:
        UsageError: it does not; the message says what is missing and what to do.
        SamplerError: it can't be reached.
    """
    body = {
        "model": model,
        "prompt": PROMPT,
        "max_tokens": 1,
        "temperature": 1.0,
        "logprobs": 0,
        "return_token_ids": True,
    }
    try:
        answer = await endpoint.post(COMPLETIONS, body)
        lacks = _lacks(answer, model)
    except EndpointError as error:
        lacks = f"it refuses a prompt of token ids ({error})"
    if not lacks and not await _loads_adapters(endpoint):
        lacks = f"it has no {LOAD}, by which the weights of every step would reach it"
    if lacks:
        remedy = REMEDY.format(url=endpoint.url)
        raise UsageError(f"inference.urls={endpoint.url!r}: can't be trained with: {lacks}. {remedy}")


def _lacks(answer: Any, model: str) -> str:
    """What a completion lacks that training needs; empty if nothing."""
    try:
        (choice,) = answer["choices"]
        named, token_ids = answer.get("model"), choice.get("token_ids")
        logprobs = (choice.get("logprobs") or {}).get("token_logprobs")
    except (KeyError, TypeError, ValueError, AttributeError):
        return f"its answer is no completion ({str(answer)[:200]})"
    if not token_ids:
        return "it returns no token ids (return_token_ids), and text that is encoded again gives other tokens"
    if not logprobs or len(logprobs) != len(token_ids) or None in logprobs:
        return "it returns no log-probability of each token (logprobs)"
    if named != model:
        return f"it does not say which weights answer: asked for {model!r}, it names {named!r}"
    return ""


async def _loads_adapters(endpoint: Endpoint) -> bool:
    """Whether adapters can be loaded while the server runs: where they can, a request without one is refused otherwise
    than with "not found".
    """
    try:
        await endpoint.post(LOAD, {})
    except EndpointError as error:
        return error.status not in {404, 405, 501}
    return True
