"""A script that answers each request by itself, as a server does: nobody waits for anybody."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from at_grpo.inference.base import Completion, SampleRequest
from at_grpo.inference.scripted import Script, ScriptedSampler
from at_grpo.tokenization import PromptEncoder

Pace = Callable[[SampleRequest], Awaitable[object]]


class ServedScript(ScriptedSampler):
    """`ScriptedSampler` without batches; `pace` says how long a request takes. A reply is of the version that was
    served when it was asked for.
    """

    def __init__(
        self,
        script: Script,
        encoder: PromptEncoder,
        versions: Mapping[str, int] | None = None,
        pace: Pace | None = None,
    ) -> None:
        super().__init__(script, encoder, versions)
        self._pace = pace

    def episode(self) -> Any:
        return nullcontext()

    async def sample(self, request: SampleRequest) -> Sequence[Completion]:
        self.check(request)
        version = self._versions[request.policy] if self._versions is not None else 0
        if self._pace is not None:
            await self._pace(request)
        return [replace(completion, version=version) for completion in self.generate([request])[0]]
