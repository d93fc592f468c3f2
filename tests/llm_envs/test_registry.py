"""Environments by id."""

import subprocess
import sys
import warnings
from importlib.metadata import EntryPoint

import pettingzoo
import pytest
from pettingzoo import AECEnv, ParallelEnv

import llm_envs
from llm_envs import plan_path_v0, registry
from llm_envs.core.errors import UsageError
from llm_envs.registry import MODULES, make, normalise_id, register_all


@pytest.mark.parametrize("name", ["plan_path_v0", "plan_path-v0", "llm_envs/plan_path-v0"])
def test_an_environment_is_made_by_any_of_its_names(name: str) -> None:
    assert normalise_id(name) == "llm_envs/plan_path-v0"
    assert str(make(name)) == "plan_path_v0"


@pytest.mark.parametrize("env_id", MODULES)
def test_pettingzoo_makes_every_environment(env_id: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(pettingzoo.make("aec", env_id), AECEnv)
        assert isinstance(pettingzoo.make("parallel", env_id), ParallelEnv)


def test_an_unknown_environment_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'llm_envs/plan_path-v0'"):
        make("plan_pth_v0")


def test_registering_twice_is_harmless() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_all()


def test_modules_load_on_first_use() -> None:
    """UC-028: importing the package loads neither a game nor the template engine."""
    program = (
        "import sys, llm_envs; print('llm_envs.plan_path_v0' in sys.modules, 'jinja2' in sys.modules); "
        "print(llm_envs.plan_path_v0.__name__, llm_envs.fork.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "llm_envs.plan_path_v0", "fork"]


def test_playing_loads_nothing_heavy() -> None:
    """UC-028."""
    program = (
        "import sys; from llm_envs import plan_path_v0; env = plan_path_v0.env(roles='single'); env.reset(seed=0); "
        "env.last(); env.step('<answer>up</answer>'); "
        "print(sorted({'torch', 'transformers', 'vllm', 'openai', 'docker', 'pygame', 'sympy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_attribute_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'chess_v9'"):
        _ = llm_envs.chess_v9
    assert plan_path_v0 is llm_envs.plan_path_v0


def offer(monkeypatch: pytest.MonkeyPatch, env_id: str, module: str) -> None:
    """Register an environment as another distribution's entry point; PettingZoo's registries are restored."""
    entry = EntryPoint(env_id, module, registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    for table in (pettingzoo.aec_registry, pettingzoo.parallel_registry):
        monkeypatch.setitem(table, env_id, None)  # makes it vanish at the end
        del table[env_id]
    register_all()


def test_another_distribution_adds_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "other_game-v3", "llm_envs.plan_path_v0")
    assert registry.environments()["other_game-v3"] == "llm_envs.plan_path_v0"
    for name in ("other_game-v3", "other_game_v3"):
        assert str(make(name, size=5)) == "plan_path_v0"
    assert isinstance(pettingzoo.make("parallel", "other_game-v3"), ParallelEnv)
    with pytest.raises(UsageError, match="Did you mean 'other_game-v3'"):
        make("other_gam-v3")


def test_an_id_of_another_distribution_takes_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "plan_path-v0", "no_such_module")
    assert str(make("plan_path_v0")) == "plan_path_v0"


def test_an_id_that_pettingzoo_refuses_is_left_out_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    offer(monkeypatch, "not an id", "llm_envs.plan_path_v0")
    assert "not an id = llm_envs.plan_path_v0 of the group llm_envs.environments is left out" in caplog.text
    assert "not an id" not in pettingzoo.aec_registry


def test_a_module_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "lost_game-v0", "no_such_module")
    with pytest.raises(ImportError, match="no_such_module"):
        make("lost_game-v0")
