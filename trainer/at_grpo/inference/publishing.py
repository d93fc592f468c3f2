"""How policies get from the trainer to whoever generates: every version under a name of its own, on every server.

vLLM keeps prefix-cache blocks by the name of an adapter and serves those of the old weights when an adapter is loaded
again under its name (vllm-project/vllm#42125), so no name is ever used twice: it holds the version, and a word that is
new in every process, since a server may outlive the run that it served.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Protocol

from peft import PeftModel, get_peft_model_state_dict
from safetensors.torch import save_file

from at_grpo.inference.base import PolicyWeights, SamplerError
from at_grpo.inference.endpoint import Endpoint, EndpointError
from at_grpo.inference.plan import served_name

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
    one version longer than servers have it, since one that is restarted needs them. Adapters are sent and never merged
    weights, which are larger by far and would be rounded where the base has few bits.

    Attributes:
        endpoints: the servers.
        published: the version that is served now, None before the first.
        run: part of the names.
    """

    def __init__(
        self,
        weights: PolicyWeights,
        endpoints: Sequence[Endpoint],
        folder: Path,
        versions: MutableMapping[str, int],
        *,
        run: str = "",
        staleness: int = 0,
    ) -> None:
        """Publish nothing yet.

        Args:
            weights: the policies.
            endpoints: every server that samples for them.
            folder: for the files; servers read them there.
            versions: policy -> version that requests go to; changed when all servers have the new one. Policies that
                others publish may be in it, too.
            run: part of the names, see `served_name`.
            staleness: how many versions before the present one stay on the servers, see `rollout.staleness`: requests
                of iterations that began under them may still be on their way.
        """
        self._weights, self.endpoints, self._folder, self._versions = weights, tuple(endpoints), folder, versions
        self._staleness = staleness
        self.run = run
        self.published: int | None = None
        self._loaded: dict[int, list[str]] = {}  # version -> names
        self._wanted: dict[str, Path] = {}  # what every server must have now, be it a restarted one; name -> files
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier process, whose versions nobody asks for any more
        folder.mkdir(parents=True)

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies that are published."""
        return self._weights.policies

    def name(self, policy: str) -> str:
        """What servers call the policy's present version."""
        return served_name(policy, self._versions[policy], self.run)

    def publish(self, version: int) -> Mapping[str, float]:
        """See `Publication`: load the new, switch, unload what is too old."""
        if version == self.published:
            return {}
        names = [served_name(policy, version, self.run) for policy in self.policies]
        for policy, name in zip(self.policies, names, strict=True):
            self._weights.save(policy, self._folder / name)
        self.load({name: self._folder / name for name in names})
        self._loaded[version] = names
        self._versions.update(dict.fromkeys(self.policies, version))
        self.published = version
        before = [old for old in self._loaded if old < version - self._staleness]
        gone = [name for old in before for name in self._loaded.pop(old)]
        self.unload(gone)
        self._discard(keep={*gone, *(name for kept in self._loaded.values() for name in kept)})
        return {}

    def load(self, adapters: Mapping[str, Path]) -> None:
        """Have every server load adapters, and have them again after a restart; name -> files. Raises SamplerError."""
        self._wanted = {**self._wanted, **adapters}  # a new one each time: watchers of servers read it meanwhile
        asyncio.run(_each(self.endpoints, lambda endpoint: _load_all(endpoint, adapters)))

    def unload(self, names: Collection[str]) -> None:
        """Have every server forget adapters. Raises SamplerError."""
        self._wanted = {name: files for name, files in self._wanted.items() if name not in names}
        asyncio.run(_each(self.endpoints, lambda endpoint: _unload_all(endpoint, names)))

    def retire(self) -> None:
        """Have servers that go on running forget the policies. Raises SamplerError."""
        self.unload(list(self._wanted))

    def prepare(self, endpoint: Endpoint) -> None:
        """Give a restarted server all that it must have, while other requests to it wait. Comes from another thread."""
        asyncio.run(_load_all(endpoint, self._wanted, gated=False))

    def _discard(self, keep: Collection[str]) -> None:
        for path in self._folder.iterdir():
            if path.name not in keep:
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


async def load_adapter(endpoint: Endpoint, name: str, folder: Path, *, gated: bool = True) -> None:
    """Have a server load an adapter under a new name. Does nothing where it has loaded these files already: an answer
    may have been lost, or a restarted server been given them before. Raises SamplerError.
    """
    try:
        await endpoint.post("/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(folder)}, gated=gated)
    except EndpointError as error:
        if await _has_loaded(endpoint, name, folder, gated=gated):
            return
        raise SamplerError(
            f"publishing {name} from {folder}: {error} Does the server see that folder, and is it started with "
            "--enable-lora, a --max-lora-rank of at least the policies' rank and VLLM_ALLOW_RUNTIME_LORA_UPDATING=1, "
            "as `at-grpo serve` does?"
        ) from error
    except SamplerError as error:
        raise SamplerError(f"publishing {name} from {folder}: {error}") from error


async def _has_loaded(endpoint: Endpoint, name: str, folder: Path, *, gated: bool) -> bool:
    """Whether a server says that it has loaded these files under this name."""
    try:
        models = (await endpoint.get("/v1/models", gated=gated))["data"]
    except SamplerError:
        return False
    return any(entry["id"] == name and entry["root"] == str(folder) for entry in models)


async def unload_adapter(endpoint: Endpoint, name: str, *, gated: bool = True) -> None:
    """Have a server forget an adapter, which a restarted one has done already. Raises SamplerError."""
    try:
        await endpoint.post("/v1/unload_lora_adapter", {"lora_name": name}, gated=gated)
    except EndpointError as error:
        if error.status != 404:
            raise


async def _load_all(endpoint: Endpoint, adapters: Mapping[str, Path], *, gated: bool = True) -> None:
    for name, files in adapters.items():
        await load_adapter(endpoint, name, files, gated=gated)


async def _unload_all(endpoint: Endpoint, names: Collection[str]) -> None:
    for name in names:
        await unload_adapter(endpoint, name)


async def _each(endpoints: Sequence[Endpoint], action: Callable[[Endpoint], Awaitable[None]]) -> None:
    await asyncio.gather(*(action(endpoint) for endpoint in endpoints))
