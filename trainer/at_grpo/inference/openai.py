"""A model behind an OpenAI-compatible server as a player: the observation goes out as a chat, text comes back.

Any server of `/v1/chat/completions` will do (vLLM, SGLang, a hosted one). Nothing that it says is trained on.
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
