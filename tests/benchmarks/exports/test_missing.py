"""Without its package an export says what to install, and the suite works without any of them."""

import importlib
import sys

import pytest

from llm_envs.core.errors import UsageError
from tests.benchmarks.calls import call


def without(monkeypatch: pytest.MonkeyPatch, package: str, module: str) -> None:
    """As if a package were not installed and the module not loaded yet."""
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.parametrize(
    ("package", "module", "extra"),
    [("inspect_ai", "inspect_ai", "inspect"), ("verifiers.v1", "verifiers", "verifiers")],
)
def test_a_module_names_its_extra(monkeypatch: pytest.MonkeyPatch, package: str, module: str, extra: str) -> None:
    name = f"llm_envs_bench.exports.{module}"
    without(monkeypatch, package, name)
    with pytest.raises(ImportError, match=rf"pip install 'llm-envs\[{extra}\]'"):
        importlib.import_module(name)


def test_the_command_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "aiohttp", "llm_envs_bench.exports.openenv.server")
    with pytest.raises(UsageError, match=r"pip install 'llm-envs\[serve\]'"):
        call("serve", "--env", "plan_path_v0")


def test_the_suite_has_the_parts_of_a_plugin_by_name_only() -> None:
    import llm_envs_bench

    assert set(llm_envs_bench.__all__) == {"ChatHarness", "SuiteEnv", "SuiteTaskset"}
    with pytest.raises(AttributeError, match="no_such_part"):
        _ = llm_envs_bench.no_such_part
