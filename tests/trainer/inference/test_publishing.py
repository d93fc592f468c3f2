"""What servers are told to load and to forget, when answers are lost and servers start anew.

The real server is in `test_vllm_server`; here one of ours keeps a list of names as vLLM does.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from peft import PeftModel
from safetensors.torch import load_file
from transformers import Qwen3ForCausalLM

from at_grpo.config import PolicySection
from at_grpo.inference.base import SamplerError
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.publishing import WEIGHTS, AdapterPublisher
from at_grpo.inference.weights import LocalWeights
from at_grpo.policies import build_policies
from tests.trainer.inference.http_server import serving

ROLES = ("tool", "planner")


@dataclass
class Shelf:
    """What a server has loaded, what it was asked, and which answers get lost."""

    loaded: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    lost_answers: int = 0
    refuses: bool = False

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/v1/models":
            return web.json_response({"data": [{"id": name, "root": root} for name, root in self.loaded.items()]})
        body: dict[str, Any] = await request.json()
        name, action = body["lora_name"], request.path.split("/")[-1].removesuffix("_lora_adapter")
        self.asked.append((action, name))
        status = self.change(action, name, body)
        if self.lost_answers:
            self.lost_answers -= 1
            request.transport.close()  # type: ignore[union-attr]
        return web.json_response({"error": {"message": f"no {action}"}} if status != 200 else {}, status=status)

    def change(self, action: str, name: str, body: dict[str, Any]) -> int:
        if action == "unload":
            return 404 if self.loaded.pop(name, None) is None else 200
        if self.refuses or name in self.loaded:
            return 400
        assert (Path(body["lora_path"]) / WEIGHTS).is_file(), "loaded before it is whole"
        self.loaded[name] = body["lora_path"]
        return 200


@pytest.fixture
def model(tiny_model: Qwen3ForCausalLM) -> PeftModel:
    return build_policies(tiny_model, {role: PolicySection(rank=4) for role in ROLES}, seed=0)


@contextmanager
def publisher(
    model: PeftModel, folder: Path, *shelves: Shelf, run: str = "", staleness: int = 0
) -> Iterator[AdapterPublisher]:
    """A publisher to servers that have these shelves."""

    def more(left: tuple[Shelf, ...], endpoints: list[Endpoint]) -> Iterator[AdapterPublisher]:
        if not left:
            versions = dict.fromkeys(ROLES, 0)
            yield AdapterPublisher(LocalWeights(model), endpoints, folder, versions, run=run, staleness=staleness)
            return
        with serving(left[0].handle) as url:
            yield from more(left[1:], [*endpoints, Endpoint(url, patience_s=5)])

    yield from more(shelves, [])


def names(version: int) -> set[str]:
    return {f"{role}-v{version}" for role in ROLES}


def test_new_versions_are_loaded_before_old_ones_are_unloaded_on_every_server(model: PeftModel, tmp_path: Path) -> None:
    one, other = Shelf(), Shelf()
    with publisher(model, tmp_path / "served", one, other) as publishing:
        for version in (0, 1, 2):
            publishing.publish(version)
            assert one.loaded.keys() == other.loaded.keys() == names(version)
            assert publishing.name("tool") == f"tool-v{version}"
        assert publishing.publish(2) == {}
    for shelf in (one, other):
        assert len(shelf.asked) == 2 * 3 + 2 * 2
        for version in (1, 2):
            loads = [shelf.asked.index(("load", name)) for name in names(version)]
            unloads = [shelf.asked.index(("unload", name)) for name in names(version - 1)]
            assert max(loads) < min(unloads)


def test_files_stay_one_version_longer_and_hold_what_the_model_has(model: PeftModel, tmp_path: Path) -> None:
    """UC-164: the adapter alone, nothing merged."""
    folder = tmp_path / "served"
    with publisher(model, folder, Shelf()) as publishing:
        for version in (0, 1, 2):
            publishing.publish(version)
    assert {path.name for path in folder.iterdir()} == names(1) | names(2)
    own = {name: value for name, value in model.state_dict().items() if ".tool." in name}
    saved = load_file(folder / "tool-v2" / WEIGHTS)
    assert saved.keys() == {name.replace(".tool.", ".") for name in own}
    assert all(bool((own[name] == saved[name.replace(".tool.", ".")]).all()) for name in own)


def test_versions_that_may_still_sample_stay_loaded_and_one_more_stays_on_the_disk(
    model: PeftModel, tmp_path: Path
) -> None:
    """UC-152: a request of an iteration that began two versions ago is answered by the weights that it names."""
    shelf, folder = Shelf(), tmp_path / "served"
    with publisher(model, folder, shelf, staleness=2) as publishing:
        for version in range(5):
            publishing.publish(version)
            assert shelf.loaded.keys() == set().union(*(names(old) for old in range(max(0, version - 2), version + 1)))
        shelf.loaded.clear()
        publishing.prepare(publishing.endpoints[0])
        assert shelf.loaded.keys() == names(2) | names(3) | names(4), "a restarted server gets them all"
    assert {path.name for path in folder.iterdir()} == names(1) | names(2) | names(3) | names(4)


def test_an_answer_that_is_lost_does_no_harm(model: PeftModel, tmp_path: Path) -> None:
    """The server has loaded it, and says so when it is asked again."""
    shelf = Shelf(lost_answers=2)
    with publisher(model, tmp_path / "served", shelf) as publishing:
        publishing.publish(0)
        shelf.lost_answers = 3
        publishing.publish(1)
    assert shelf.loaded.keys() == names(1)


def test_a_name_that_other_files_were_loaded_under_is_an_error(model: PeftModel, tmp_path: Path) -> None:
    """UC-149: the negative control of the test above; a name must never mean two adapters."""
    shelf = Shelf(loaded={"tool-v0": "elsewhere"})
    with (
        publisher(model, tmp_path / "served", shelf) as publishing,
        pytest.raises(SamplerError, match=r"publishing tool-v0 from .*--max-lora-rank"),
    ):
        publishing.publish(0)


def test_a_restarted_server_gets_what_is_served_now(model: PeftModel, tmp_path: Path) -> None:
    shelf = Shelf()
    with publisher(model, tmp_path / "served", shelf) as publishing:
        publishing.prepare(publishing.endpoints[0])
        assert shelf.loaded == {}
        publishing.publish(0)
        publishing.publish(1)
        shelf.loaded.clear()
        publishing.prepare(publishing.endpoints[0])
        assert shelf.loaded.keys() == names(1)
        publishing.prepare(publishing.endpoints[0])
        publishing.publish(2)
        assert shelf.loaded.keys() == names(2)


def test_a_server_that_restarts_while_a_version_is_published_gets_old_and_new(model: PeftModel, tmp_path: Path) -> None:
    """Between the acknowledgement of the new version and the switch, requests still go to the old one."""
    shelf = Shelf()
    with publisher(model, tmp_path / "served", shelf) as publishing:
        publishing.publish(0)
        shelf.refuses = True
        with pytest.raises(SamplerError):
            publishing.publish(1)
        shelf.refuses = False
        shelf.loaded.clear()
        publishing.prepare(publishing.endpoints[0])
        assert shelf.loaded.keys() == names(0) | names(1)


def test_a_run_leaves_nothing_on_a_server_that_goes_on_and_tells_its_names_from_another_s(
    model: PeftModel, tmp_path: Path
) -> None:
    shelf = Shelf()
    with publisher(model, tmp_path / "served", shelf, run="0123abcd") as publishing:
        publishing.publish(3)
        assert shelf.loaded.keys() == {f"{role}-v3-0123abcd" for role in ROLES}
        publishing.retire()
    assert shelf.loaded == {}
