"""Options by name: signatures, defaults, refusals."""

import inspect
from typing import Any, Unpack

import pettingzoo
import pytest

import llm_envs
from llm_envs import plan_path_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import UsageError, whole_number
from llm_envs.core.options import ShellOptions, named_options, options_of

MAKERS = {
    "the module": plan_path_v0.env,
    "the bare module": plan_path_v0.raw_env,
    "the parallel module": plan_path_v0.parallel_env,
    "our make": lambda **options: llm_envs.make("plan_path-v0", **options),
    "PettingZoo's make": lambda **options: pettingzoo.make("aec", "llm_envs/plan_path-v0", **options),
    "PettingZoo's parallel make": lambda **options: pettingzoo.make("parallel", "llm_envs/plan_path-v0", **options),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_an_unknown_option_is_refused_with_the_nearest_name(maker: str) -> None:
    with pytest.raises(UsageError, match=r"plan_path_v0 has no option 'wals'.*Did you mean 'walls'\?"):
        MAKERS[maker](wals=0.1)


@pytest.mark.parametrize("maker", MAKERS)
def test_options_of_the_game_and_of_the_shell_are_taken(maker: str) -> None:
    env = MAKERS[maker](size=5, agents={"tool": 2}, alpha=0.5, max_cycles=3)
    assert env.unwrapped.possible_agents == ["tool_0", "tool_1", "planner_0"]
    assert env.unwrapped.alpha == 0.5
    assert env.unwrapped.max_cycles == 3
    env.close()


def test_the_shell_options_are_those_of_the_shell() -> None:
    shell = set(inspect.signature(TextAECEnv).parameters) - {"task", "name", "renderers", "max_cycles"}
    assert set(ShellOptions.__annotations__) == shell


def test_a_signature_lists_all_options_with_their_defaults() -> None:
    """`help()` and the command line read it."""
    found = options_of(plan_path_v0.env)
    assert found["max_moves"] == 20
    assert found["alpha"] == 1.0
    assert found["max_cycles"] is None  # 8, or 200 in the discrete format: its page says so
    assert "shell" not in found
    assert options_of(plan_path_v0.parallel_env) == options_of(plan_path_v0.raw_env) == found
    assert plan_path_v0.env.__name__ == "env"


def test_an_option_of_the_game_wins_over_one_of_the_shell() -> None:
    @named_options
    def make(*, split: str = "test", **shell: Unpack[ShellOptions]) -> dict[str, Any]:
        return {"split": split, **shell}

    assert options_of(make)["split"] == "test"
    assert list(options_of(make)).count("split") == 1


@pytest.mark.parametrize("value", [None, "3", 3.0, True, 0, 11])
def test_what_is_no_whole_number_within_bounds_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match=r"count=.*a whole number from 1 to 10"):
        whole_number("count", value, least=1, most=10)
