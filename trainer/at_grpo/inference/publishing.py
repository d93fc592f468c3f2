"""How policies get from the trainer to whoever generates: every version under a name of its own, on every server.

vLLM keeps prefix-cache blocks by the name of an adapter and serves those of the old weights when an adapter is loaded
again under its name (vllm-project/vllm#42125), so no name is ever used twice.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Protocol

from peft import PeftModel, get_peft_model_state_dict
from safetensors.torch import save_file

from at_grpo.inference.base import SamplerError
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.vllm import served_name

WEIGHTS = "adapter_model.safetensors"


class Publication(Protocol):
    """Makes the present weights what the sampler samples from."""

    def publish(self, version: int) -> Mapping[str, float]:
        """Serve the present weights of every policy as `version`; returns what was measured on the way.

        Publishing a version again does nothing: weights change with the version only.

        Raises:
            SamplerError: not every server serves them.
        """
        ...


class InProcess:
    """The sampler reads the trainer's own weights: there is nothing to move."""

    def __init__(self, versions: MutableMapping[str, int]) -> None:
        self._versions = versions

    def publish(self, version: int) -> Mapping[str, float]:
        """See `Publication`."""
        self._versions.update(dict.fromkeys(self._versions, version))
        return {}


class AdapterPublisher:
    """Writes adapters to files and has servers load them.

    A folder is written under another name and renamed, so that none is read half-written. The files of a version stay
    until the next but one, since a server that is restarted needs them.

    Attributes:
        endpoints: the servers.
        published: the version that is served now, None before the first.
    """

    def __init__(
        self, model: PeftModel, endpoints: Sequence[Endpoint], folder: Path, versions: MutableMapping[str, int]
    ) -> None:
        """Publish nothing yet.

        Args:
            model: the policies.
            endpoints: every server that samples for them.
            folder: for the files; servers read them there.
            versions: policy -> version that requests go to; changed when all servers have the new one.
        """
        self._model, self.endpoints, self._folder, self._versions = model, tuple(endpoints), folder, versions
        self.published: int | None = None
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier process, whose versions nobody asks for any more
        folder.mkdir(parents=True)

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies that are published."""
        return tuple(self._versions)

    def name(self, policy: str) -> str:
        """What servers call the policy's present version."""
        return served_name(policy, self._versions[policy])

    def publish(self, version: int) -> Mapping[str, float]:
        """See `Publication`: load the new, switch, unload the old."""
        if version == self.published:
            return {}
        for policy in self._versions:
            save_adapter(self._model, policy, self._folder / served_name(policy, version))
        before = dict(self._versions) if self.published is not None else {}
        asyncio.run(_all([self._load(endpoint, version) for endpoint in self.endpoints]))
        self._versions.update(dict.fromkeys(self._versions, version))
        self.published = version
        asyncio.run(_all([self._unload(endpoint, before) for endpoint in self.endpoints]))
        self._discard(keep={version, *before.values()})
        return {}

    def prepare(self, endpoint: Endpoint) -> None:
        """Give a restarted server what is published."""
        if self.published is not None:
            asyncio.run(self._load(endpoint, self.published))

    async def _load(self, endpoint: Endpoint, version: int) -> None:
        for policy in self._versions:
            name = served_name(policy, version)
            await load_adapter(endpoint, name, self._folder / name)

    @staticmethod
    async def _unload(endpoint: Endpoint, versions: Mapping[str, int]) -> None:
        for policy, version in versions.items():
            await unload_adapter(endpoint, served_name(policy, version))

    def _discard(self, keep: set[int]) -> None:
        kept = {served_name(policy, version) for policy in self._versions for version in keep}
        for path in self._folder.iterdir():
            if path.name not in kept:
                shutil.rmtree(path)


def save_adapter(model: PeftModel, policy: str, folder: Path) -> None:
    """One policy's adapter as PEFT and vLLM load it; the folder is there when it is whole."""
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    state = get_peft_model_state_dict(model, adapter_name=policy)
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}, partial / WEIGHTS)
    model.peft_config[policy].save_pretrained(str(partial))
    partial.rename(folder)


async def load_adapter(endpoint: Endpoint, name: str, folder: Path) -> None:
    """Have a server load an adapter under a new name. Raises SamplerError."""
    try:
        await endpoint.post("/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(folder)}, gated=False)
    except SamplerError as error:
        raise SamplerError(
            f"publishing {name}: {error} Is the server started with --enable-lora, a --max-lora-rank of at least the "
            "policies' rank and VLLM_ALLOW_RUNTIME_LORA_UPDATING=1, as `at-grpo serve` does?"
        ) from error


async def unload_adapter(endpoint: Endpoint, name: str) -> None:
    """Have a server forget an adapter. Raises SamplerError."""
    await endpoint.post("/v1/unload_lora_adapter", {"lora_name": name}, gated=False)


async def _all(actions: Sequence[Awaitable[None]]) -> None:
    await asyncio.gather(*actions)
