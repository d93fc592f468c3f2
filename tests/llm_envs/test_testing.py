"""The conformance kit passes a sound environment and says in words what is wrong with a broken one."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from pettingzoo import AECEnv

from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Split, Transition
from llm_envs.core.wrapper import OrderEnforcing
from llm_envs.sandbox.base import Outcome, Sandbox
from llm_envs.testing import CHECKS, ConformanceError, check_env
from tests.llm_envs.ladder import LadderTask, Rung, ladder


def maker(task: LadderTask, shell: type[TextAECEnv] = TextAECEnv) -> Callable[..., Any]:
    return lambda **options: OrderEnforcing(shell(task, name="ladder_v0", **options))


@pytest.mark.parametrize(
    "options", [{}, {"alpha": 0.3}, {"agents": {"climber": 2}, "turn_order": ("climber", "scout")}, {"max_cycles": 1}]
)
def test_a_sound_environment_passes(options: dict[str, Any], sandbox: Sandbox) -> None:
    check_env(maker(LadderTask()), {**options, "sandbox": sandbox})


class Chancy(LadderTask):
    def instance(self, split: Split, index: int) -> Rung:
        return Rung(f"ladder {random.random()} of {split}")


class OneSplit(LadderTask):
    def instance(self, split: Split, index: int) -> Rung:
        return Rung(f"ladder {index}")


class OneInstance(LadderTask):
    def instance(self, split: Split, index: int) -> Rung:
        return Rung(f"the only ladder of {split}")


class Disturbing(LadderTask):
    def observe(self, state: Rung, role: str, feedback: str) -> str:
        random.random()
        return super().observe(state, role, feedback)


class Talkative(LadderTask):
    def secrets(self, state: Rung) -> Sequence[str]:
        return (f"on {state.name}",)


class Generous(LadderTask):
    def apply(self, state: Rung, role: str, action: str, results: Sequence[Outcome]) -> Transition[Rung]:
        return super().apply(state, role, action, results)._replace(penalties={"bonus": 0.1})


class Overflowing(LadderTask):
    def potential(self, state: Rung) -> float:
        return state.height / 2


class EarlyGoal(LadderTask):
    def solved(self, state: Rung) -> bool:
        return state.height > 0


class Frail(LadderTask):
    def parse(self, state: Rung, role: str, text: str) -> str | Unparsed:
        return str(int(text))


class Speechless(LadderTask):
    def parse(self, state: Rung, role: str, text: str) -> str | Unparsed:
        parsed = super().parse(state, role, text)
        return Unparsed("") if isinstance(parsed, Unparsed) else parsed


class Helpless(LadderTask):
    players = ("random",)


class Clumsy(LadderTask):
    def reference(self, player: str, state: Rung, role: str, rng: random.Random) -> str:
        return "0" if player == "oracle" else super().reference(player, state, role, rng)


class Numerical(LadderTask):
    def apply(self, state: Rung, role: str, action: str, results: Sequence[Outcome]) -> Transition[Rung]:
        return super().apply(state, role, action, results)._replace(info={"array": np.arange(2)})


class Tuples(LadderTask):
    def apply(self, state: Rung, role: str, action: str, results: Sequence[Outcome]) -> Transition[Rung]:
        return super().apply(state, role, action, results)._replace(info={"pair": (1, 2)})


@dataclass
class Notebook:
    """A state that changes in place."""

    name: str
    heights: list[int] = field(default_factory=lambda: [0])
    note: str = ""

    @property
    def height(self) -> int:
        return self.heights[-1]


class Mutable(LadderTask):
    def instance(self, split: Split, index: int) -> Any:
        return Notebook(f"ladder {index} of {split}")

    def apply(self, state: Any, role: str, action: str, results: Sequence[Outcome]) -> Transition[Any]:
        if role == "climber":
            state.heights.append(max(0, min(5, state.height + int(action))))
        return Transition(replace(state))


class Unpicklable(LadderTask):
    def __init__(self) -> None:
        self.rule = lambda: None


class Mumbling(LadderTask):
    def observe(self, state: Rung, role: str, feedback: str) -> str:
        return super().observe(state, role, feedback) + ("x" * (1 << 17) if feedback else "")


class Unfinished(LadderTask):
    potential = None  # type: ignore[assignment]


class Outdated(LadderTask):
    def observe(self, state: Rung, role: str) -> str:  # type: ignore[override]
        return f"You are the {role} at rung {state.height}."


class Silent(LadderTask):
    def observe(self, state: Rung, role: str, feedback: str) -> str:
        super().observe(state, role, feedback)
        return None  # type: ignore[return-value]


class Forgetful(LadderTask):
    def parse(self, state: Rung, role: str, text: str) -> str | Unparsed:
        parsed = super().parse(state, role, text)
        return None if isinstance(parsed, Unparsed) else parsed  # type: ignore[return-value]


class AtTheTop(LadderTask):
    def instance(self, split: Split, index: int) -> Rung:
        return replace(super().instance(split, index), height=5)


class TwoFaults(OneSplit, Numerical):
    """What two checks find, each in its own words."""


BROKEN: dict[str, tuple[LadderTask, str]] = {
    "task": (Unfinished(), r"Unfinished.potential is missing: add potential\(state\)\. How near"),
    "task, parameters": (Outdated(), r"can't be called as observe\(state, role, feedback\)"),
    "task, no return": (Silent(), "Silent.observe, for scout, gives None: must return text"),
    "task, no answer": (Forgetful(), "Task.parse gives None for the reply '' of scout"),
    "task, parse": (Frail(), r"Task.parse raised ValueError.*: must give an action, or Unparsed\(why"),
    "task, solved": (AtTheTop(), "is solved at its start"),
    "instances": (Chancy(), "derive all chance"),
    "instances, again": (OneSplit(), "let a hash of the content decide"),
    "instances, too few": (OneInstance(), "gives 3 instances"),
    "global random state": (Disturbing(), "use a private generator"),
    "secrets": (Talkative(), "leave it out"),
    "ledger": (Generous(), "each must lie in"),
    "ledger, potential": (Overflowing(), r"must lie in \[0, 1\]"),
    "ledger, solved": (EarlyGoal(), "1 must mean solved"),
    "oracle": (Helpless(), "has no 'oracle'"),
    "oracle, weak": (Clumsy(), "does not solve"),
    "records": (Numerical(), "not JSON serializable"),
    "records, tuples": (Tuples(), "put only str, int, float"),
    "odd replies": (Frail(), "must give Unparsed"),
    "odd replies, reason": (Speechless(), "must be in words"),
    "odd replies, length": (Mumbling(), "outside its space"),
    "random replies": (Frail(), "must give Unparsed"),
    "forks": (Mutable(), "keep the state an immutable value"),
    "pickles": (Unpicklable(), "pickle"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_task_is_told_what_to_mend(case: str, sandbox: Sandbox) -> None:
    """Each check's negative control."""
    task, words = BROKEN[case]
    check = case.partition(",")[0]
    with pytest.raises(ConformanceError, match=words):
        check_env(maker(task), {"sandbox": sandbox}, only=(check,))
    check_env(maker(LadderTask()), {"sandbox": sandbox}, only=(check,))


class DoublePay(TextAECEnv):
    def _settle(self, *args: Any) -> None:
        super()._settle(*args)
        self._cumulative_rewards = {agent: 2 * reward for agent, reward in self._cumulative_rewards.items()}


class Undead(TextAECEnv):
    def _plan(self, action: Any) -> Any:
        if any(self.terminations.values()):
            action = None
        return super()._plan(action)


class Reluctant(TextAECEnv):
    def _next_turn(self, over: bool) -> None:
        super()._next_turn(over=False)


class OddSpaces(TextAECEnv):
    def action_space(self, agent: str) -> Any:
        return type(self.action_spaces[agent])(10)


class ColouredAnsi(TextAECEnv):
    def render(self) -> Any:
        return ["a list of lines"]


class Outside(TextAECEnv):
    def state(self) -> Any:
        return "x" * (1 << 18)


class Seedless(TextAECEnv):
    def _pick_instance(self, seed: int | None, options: Any) -> Any:
        return super()._pick_instance(None, options)


SHELLS: dict[str, tuple[type[TextAECEnv], str]] = {
    "api": (OddSpaces, "exact same space object"),
    "seeds": (Seedless, "Incorrect observation"),
    "render": (ColouredAnsi, "render_test"),
    "state": (Outside, "outside of it's state space"),
    "ledger": (DoublePay, "accumulate each step's rewards once"),
    "ending": (Undead, "must raise a ValueError"),
    "ending, late": (Reluctant, "must terminate"),
}


@pytest.mark.parametrize("case", SHELLS)
def test_a_broken_shell_is_told_what_to_mend(case: str, sandbox: Sandbox) -> None:
    shell, words = SHELLS[case]
    with pytest.raises(ConformanceError, match=words):
        check_env(maker(LadderTask(), shell), {"sandbox": sandbox}, only=(case.partition(",")[0],))


def test_every_failure_is_reported_at_once(sandbox: Sandbox) -> None:
    with pytest.raises(ConformanceError) as caught:
        check_env(maker(TwoFaults()), {"sandbox": sandbox})
    assert "\n- instances: " in str(caught.value)
    assert "\n- records: " in str(caught.value)


def test_what_fails_many_checks_is_said_once(sandbox: Sandbox) -> None:
    with pytest.raises(ConformanceError) as caught:
        check_env(maker(Generous()), {"sandbox": sandbox})
    assert str(caught.value).count("each must lie in") == 1
    assert "ledger, ending, oracle" in str(caught.value)


def test_a_task_that_lacks_a_method_hears_of_nothing_else(sandbox: Sandbox) -> None:
    with pytest.raises(ConformanceError) as caught:
        check_env(maker(Unfinished()), {"sandbox": sandbox})
    assert str(caught.value).startswith(f"1 of {len(CHECKS)} checks fail (the others wait for it):\n- task: ")


def test_an_environment_that_is_not_built_on_the_shell_is_told_so() -> None:
    with pytest.raises(ConformanceError, match="is no TextAECEnv"):
        check_env(lambda **options: AECEnv(), only=("api",))


def test_an_unknown_check_is_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean 'ledger'"):
        check_env(maker(LadderTask()), only=("ledgers",))


def test_every_check_has_a_negative_control() -> None:
    tried = {case.partition(",")[0] for case in (*BROKEN, *SHELLS)}
    assert tried == set(CHECKS) - {"parallel"}, "the parallel view is the kit's own"


def test_an_unsolved_episode_that_earns_more_is_reported(sandbox: Sandbox) -> None:
    class Begging(LadderTask):
        """The oracle first goes down, which costs; doing nothing at all would have cost less."""

        def reference(self, player: str, state: Rung, role: str, rng: random.Random) -> str:
            if player == "random":
                return "0"
            if role == "scout":
                return "0"
            return "-9" if state.note == "0" and state.height < 4 and rng.random() < 0.5 else "1"

    with pytest.raises(ConformanceError, match="pay progress by the potential only"):
        check_env(maker(Begging()), {"sandbox": sandbox, "alpha": 0.1, "max_cycles": 40}, only=("oracle",))


def test_the_toy_is_what_the_tests_think() -> None:
    env = ladder()
    env.reset(options={"index": 0})
    assert env.state() == "ladder 0 of train at rung 0, note "
