"""Forks of environments and of whole wrapper stacks."""

import copy
import io
import pickle
from typing import Any

import pytest
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, BaseWrapper, MultiEpisodeEnv, OrderEnforcingWrapper

from llm_envs import fork
from llm_envs.core.env import TextAECEnv
from llm_envs.core.fork import ForkError
from llm_envs.core.wrapper import OrderEnforcing, TextWrapper
from llm_envs.testing.copies import play_on, snapshot
from tests.llm_envs.ladder import ladder


class Diary(TextWrapper):
    """Keeps what was said, and the environment at the bottom under a second name."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.entries: list[str] = []
        self.bottom = env.unwrapped

    def step(self, action: Any) -> None:
        self.entries.append(action)
        super().step(action)


class ForeignDiary(BaseWrapper):
    """The same by an author who knows nothing of forks."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.entries: list[str] = []
        self.bottom = env.unwrapped

    def step(self, action: Any) -> None:
        self.entries.append(action)
        super().step(action)


STACKS = {
    "bare": ladder,
    "order": lambda: OrderEnforcing(ladder()),
    "PettingZoo's order": lambda: OrderEnforcingWrapper(ladder()),
    "PettingZoo's stack": lambda: OrderEnforcingWrapper(AssertOutOfBoundsWrapper(ladder())),
    "several episodes": lambda: MultiEpisodeEnv(ladder(), num_episodes=1),
    "ours inside theirs": lambda: OrderEnforcingWrapper(Diary(ladder())),
    "theirs inside ours": lambda: OrderEnforcing(Diary(ForeignDiary(ladder()))),
}


def begun(name: str) -> Any:
    env = STACKS[name]()
    env.reset(seed=1)
    env.step("0")
    env.step("1")
    return env


@pytest.mark.parametrize("name", STACKS)
def test_a_fork_goes_on_as_its_original_and_leaves_it_alone(name: str) -> None:
    env = begun(name)
    before = snapshot(env)
    twin = fork(env)
    assert type(twin) is type(env)
    assert snapshot(twin) == before
    played = play_on(twin, seed=0)
    assert snapshot(env) == before
    assert play_on(env, seed=0) == played


def test_a_shallow_copy_would_be_caught() -> None:
    """Negative control of the test above."""
    env = begun("order")
    before = snapshot(env)
    play_on(copy.copy(env), seed=0)
    assert snapshot(env) != before


def test_another_continuation_would_be_caught() -> None:
    """Negative control: equality of what follows is not equality of everything."""
    env = begun("bare")
    assert len({str(play_on(fork(env), seed)) for seed in range(8)}) > 1


@pytest.mark.parametrize("make", [Diary, ForeignDiary])
def test_a_wrapper_attributes_are_copied_and_lead_to_the_fork(make: Any) -> None:
    env = make(ladder())
    env.reset(seed=0)
    env.step("0")
    twin = fork(env)
    twin.step("1")
    assert (env.entries, twin.entries) == (["0"], ["0", "1"])
    assert env.bottom is env.unwrapped
    assert twin.bottom is twin.unwrapped
    assert twin.unwrapped is not env.unwrapped


def test_an_environment_that_was_not_reset_forks_too() -> None:
    env = ladder()
    twin = fork(env)
    twin.reset(seed=0)
    assert "snapshot" not in vars(env)


def test_forks_share_the_state_and_own_their_infos() -> None:
    env = begun("bare")
    twin = fork(env)
    assert twin.snapshot is env.snapshot
    twin.infos["scout_0"]["mark"] = 1
    assert "mark" not in env.infos["scout_0"]


def test_a_fork_resets_to_the_instances_its_original_would() -> None:
    env = ladder()
    env.reset(seed=5)
    twin = fork(env)
    env.reset()
    twin.reset()
    assert twin.snapshot == env.snapshot


def test_an_attribute_that_cannot_be_copied_is_named() -> None:
    env = ForeignDiary(ladder())
    env.log = io.BufferedReader(io.FileIO(0, closefd=False))
    env.reset(seed=0)
    with pytest.raises(ForkError, match=r"ForeignDiary\.log can't be copied"):
        fork(env)


def test_what_is_no_environment_is_refused_with_advice() -> None:
    with pytest.raises(ForkError, match="give it a fork"):
        fork(object())


def test_a_deep_copy_samples_on_its_own() -> None:
    env: TextAECEnv = begun("bare")
    env.action_space("scout_0").seed(0)
    twin = copy.deepcopy(env)
    samples = [twin.action_space("scout_0").sample() for _ in range(3)]
    assert samples == [env.action_space("scout_0").sample() for _ in range(3)]


def test_a_pickle_holds_the_name_of_its_sandbox_and_no_process() -> None:
    class Live:
        name = "unsafe"

        def __reduce__(self) -> Any:
            raise AssertionError("a live sandbox was pickled")

    env = ladder(sandbox=Live())
    env.reset(seed=0)
    twin = pickle.loads(pickle.dumps(OrderEnforcing(env)))
    assert twin.unwrapped.sandbox == "unsafe"
    assert snapshot(twin) == snapshot(env)
