"""Environments by id."""

import subprocess
import sys
import warnings

import pettingzoo
import pytest
from pettingzoo import AECEnv, ParallelEnv

import llm_envs
from llm_envs import plan_path_v0
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
