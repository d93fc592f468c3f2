"""Rewards, roles and endings of the math environment."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs import math_v0
from llm_envs.sandbox.base import Outcome, Sandbox, Status
from tests.llm_envs.math.scenes import (
    PROGRAM,
    ROOTS,
    SUM,
    UNDECIDABLE,
    Echoes,
    Prints,
    answered,
    boxed,
    game,
    tool_says,
)

FAILURES = {
    "error": Outcome(Status.ERROR, 1, "42", "Traceback\nNameError: name 'x' is not defined"),
    "time": Outcome(Status.TIMEOUT, None, "42"),
    "memory": Outcome(Status.MEMORY, None, "42"),
    "too much output": Outcome(Status.OUTPUT, None, "42 " * 9999),
    "silence": Outcome(Status.OK, 0, ""),
    "two lines": Outcome(Status.OK, 0, "The answer:\n42"),
    "a long line": Outcome(Status.OK, 0, "42 " * 300),
}


# ---- answers


@pytest.mark.parametrize("answer", ["42", "42.0", "$42$", r"\frac{84}{2}"])
def test_a_right_answer_in_any_form_earns_everything_and_ends_the_episode(answer: str) -> None:
    env = tool_says("1")
    env.step(boxed(answer))
    assert env.rewards == {"tool_0": 1.0, "reasoner_0": 1.0}
    assert all(env.terminations.values())
    assert env.infos["reasoner_0"] == {
        "role": "reasoner",
        "success": True,
        "invalid": None,
        "team_reward": 1.0,
        "local_reward": 0.0,
        "verdict": "right",
        "undecided": False,
        "undecided_so_far": 0,
    }


@pytest.mark.parametrize("answer", ["41", "-42", "forty-two, or so", "x", r"\{42, 43\}", "(42, 43)"])
def test_a_wrong_answer_earns_and_costs_nothing(answer: str) -> None:
    env = tool_says("42")
    env.step(boxed(answer))
    assert env.rewards == {"tool_0": 0.0, "reasoner_0": 0.0}
    assert not env.infos["reasoner_0"]["success"]
    assert not any(env.terminations.values())


def test_types_of_answers_are_kept_apart() -> None:
    r"""UC-040: (-3, 3) is not \{-3, 3\}."""
    for answer, right in ((r"\{3, -3\}", True), ("(-3, 3)", False), ("3", False)):
        env = tool_says("1", ROOTS)
        env.step(boxed(answer))
        assert env.infos["reasoner_0"]["success"] is right


def test_the_team_is_paid_for_the_latest_answer() -> None:
    env = answered()
    rewards = []
    for answer in ("41", "42", "43", "44", "42", "42"):
        env.step(boxed(answer))
        rewards.append(env.rewards["reasoner_0"])
        assert env.infos["reasoner_0"]["success"] is (answer == "42")
        env.step("nothing")
    assert rewards == [0.0, 1.0, -1.0, 0.0, 1.0, 0.0]


def test_an_undecided_answer_is_neither_paid_nor_punished_but_counted() -> None:
    """After a wrong answer, after a right one, and by itself."""
    for before in ((), ("41",), ("42",)):
        env = answered(*before, UNDECIDABLE)
        info = env.infos["reasoner_0"]
        assert (info["verdict"], info["undecided"], info["undecided_so_far"]) == ("undecided", True, 1)
        assert env.rewards == {"reasoner_0": 0.0, "tool_0": 0.0}
        assert info["success"] is (before == ("42",))
        env.step("nothing")
        env.step(boxed(UNDECIDABLE))
        assert env.infos["reasoner_0"]["undecided_so_far"] == 2


# ---- programs


@pytest.mark.parametrize(
    ("stdout", "shortfall", "verdict"),
    [("42", 0.0, "right"), ("84/2\n", 0.0, "right"), ("41", -1.0, "wrong"), (UNDECIDABLE, -1.0, "undecided")],
)
def test_a_tool_is_paid_for_what_its_output_would_be_as_an_answer(stdout: str, shortfall: float, verdict: str) -> None:
    env = tool_says(stdout)
    info = env.infos["tool_0"]
    assert info["shortfall"] == info["local_reward"] == shortfall
    assert info["team_reward"] == 0.0
    assert (info["verdict"], info["undecided"]) == (verdict, verdict == "undecided")
    assert info["tool_useful"] is (verdict == "right")
    assert info["program_ran"] is True
    assert not any(env.terminations.values()), "a tool does not answer"


def test_an_undecided_output_costs_what_none_costs_but_nothing_while_the_team_is_right() -> None:
    """Were it free, a tool would do better by noise than by an honest mistake."""
    silent, noisy = tool_says("").infos["tool_0"], tool_says(UNDECIDABLE).infos["tool_0"]
    assert silent["local_reward"] == noisy["local_reward"] == -1.0
    for stdout, shortfall in ((UNDECIDABLE, 0.0), ("42", 0.0), ("41", -1.0)):
        env = answered("42")
        env.sandbox = Prints(stdout)
        env.step(PROGRAM)
        assert env.infos["tool_0"]["shortfall"] == shortfall


@pytest.mark.parametrize("failure", FAILURES)
def test_a_program_that_fails_or_prints_no_answer_costs_everything(failure: str) -> None:
    outcome = FAILURES[failure]
    env = game(sandbox=Prints(outcome.stdout, outcome.status, outcome.stderr))
    env.step(PROGRAM)
    info = env.infos["tool_0"]
    assert info["local_reward"] == info["program"] == -1.0
    assert info["tool_useful"] is False
    assert info["program_ran"] is (outcome.status is Status.OK)
    assert "verdict" not in info
    assert env.snapshot.output is None
    assert "There is no output of the tool." in env.observe("reasoner_0")


def test_the_author_of_a_program_is_told_what_it_did() -> None:
    env = game(sandbox=Prints("", Status.ERROR, "NameError: name 'x' is not defined"))
    env.step(PROGRAM)
    assert "The last program failed (error: NameError: name 'x' is not defined)." in env.observe("tool_0")
    assert "NameError" not in env.observe("reasoner_0")
    assert r"The last program printed 2 lines, which is no answer: '41\n42'." in tool_says("41\n42").observe("tool_0")
    assert "The last program printed: 41" in tool_says("41").observe("tool_0")


def test_an_output_goes_with_the_next_program_and_not_with_an_invalid_reply() -> None:
    env = tool_says("41", stop="budget")
    env.step("no box")
    env.step("no program")
    assert env.snapshot.output == "41"
    env.step("no box")
    env.sandbox = Prints("", Status.ERROR)
    env.step(PROGRAM)
    assert env.snapshot.output is None


def test_a_single_agent_runs_programs_and_answers(sandbox: Sandbox) -> None:
    env = game(sandbox=sandbox, roles="single")
    assert env.possible_agents == ["solver_0"]
    env.step("Let me compute.\n```python\nprint(17 + 25)\n```")
    assert env.rewards == {"solver_0": 0.0}
    assert env.infos["solver_0"]["tool_useful"]
    assert "The last program printed: 42" in env.observe("solver_0")
    env.step(r"\boxed{42}")
    assert env.rewards == {"solver_0": 1.0}
    assert all(env.terminations.values())


class Forbidden:
    """A sandbox that nobody may use."""

    name = "unsafe"

    def run(self, programs: Any) -> None:
        raise AssertionError(f"a program was run: {programs}")


@pytest.mark.parametrize("roles", ["team", "single"])
def test_noise_starts_no_program(roles: str) -> None:
    """UC-004: 500 samples of the action space, each an invalid reply."""
    env = math_v0.raw_env(roles=roles, sandbox=Forbidden(), max_cycles=500)
    env.reset(seed=0)
    for agent in env.possible_agents:
        env.action_space(agent).seed(0)
    for _ in range(500):
        agent = env.agent_selection
        env.step(env.action_space(agent).sample())
        assert env.infos[agent]["invalid"]
        assert env.rewards[agent] == -1.0


# ---- endings


def scripted(stop: str, roles: str, *replies: str, answer: str = "42") -> tuple[int, bool]:
    """How many of these replies were taken before the episode ended by itself, and whether it did."""
    env = game({**SUM, "answer": answer}, Echoes(), stop=stop, roles=roles, max_cycles=20)
    for number, reply in enumerate(replies, start=1):
        env.step(reply)
        if any(env.terminations.values()):
            return number, True
    return len(replies), False


def prints(answer: str) -> str:
    return f"```python\n{answer}\n```"


@pytest.mark.parametrize(
    ("roles", "replies", "ends_at"),
    [
        ("team", [prints("42"), boxed("42")], 2),
        ("team", [prints("41"), boxed("41")], 2),
        ("team", [prints("41"), boxed("82/2")], 2),
        ("team", [prints("41"), boxed("42"), prints("42")], 3),
        ("team", [prints("41"), boxed("42"), prints("43"), boxed("42")], None),
        ("team", [prints("41"), boxed("42"), prints("43"), boxed("41")], None),
        ("team", ["nothing", boxed("42"), "nothing", boxed("42")], None),
        ("single", [boxed("41"), boxed("41")], 2),
        ("single", [boxed("41"), boxed("82/2")], 2),
        ("single", [prints("42"), boxed("42")], 2),
        ("single", [boxed("42"), prints("42")], 2),
        ("single", [prints("42"), prints("42")], None),
        ("single", [boxed("41"), boxed("42"), boxed("41")], None),
        ("single", [boxed(UNDECIDABLE), boxed(UNDECIDABLE)], 2),
    ],
)
def test_agreement_ends_an_episode_whatever_the_right_answer(
    roles: str, replies: list[str], ends_at: int | None
) -> None:
    """Right answers included: nothing tells an agent that it is right."""
    assert scripted("agreement", roles, *replies) == (ends_at or len(replies), ends_at is not None)


def test_agreement_takes_no_gold_answer() -> None:
    """The same replies end at the same turn whatever the right answer is."""
    replies = [prints("41"), boxed("40"), prints("42"), boxed("41"), prints("41")]
    ends = set()
    for gold in ("40", "41", "42", "43", r"\{1\}"):
        env = game({**SUM, "answer": gold}, Echoes(), stop="agreement")
        ends.add(
            next(number for number, reply in enumerate(replies) if env.step(reply) or any(env.terminations.values()))
        )
    assert ends == {4}


def test_a_right_answer_ends_nothing_but_under_correct() -> None:
    replies = [prints("1"), boxed("42"), prints("2"), boxed("41")]
    ends = {stop: scripted(stop, "team", *replies) for stop in ("correct", "agreement", "budget")}
    assert ends == {"correct": (2, True), "agreement": (4, False), "budget": (4, False)}


def test_the_horizon_truncates_under_every_rule_and_success_is_the_state_s() -> None:
    env = answered("42", max_cycles=1)
    env.step("nothing")
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    assert all(info["success"] for info in env.infos.values())


# ---- what holds for every episode

REPLIES = st.one_of(
    st.sampled_from(["42", "41", "x", r"\{42\}", UNDECIDABLE]).flatmap(
        lambda answer: st.sampled_from([boxed(answer), prints(answer)])
    ),
    st.sampled_from(["", "42", "<think>" + boxed("42"), "print(42)"]),
)


@given(
    alpha=st.sampled_from([0.01, 0.5, 1.0, 10.0]),
    roles=st.sampled_from(["team", "single"]),
    stop=st.sampled_from(["correct", "agreement", "budget"]),
    replies=st.lists(REPLIES, min_size=1, max_size=10),
)
def test_every_unsolved_episode_returns_less_than_the_oracle(
    alpha: float, roles: str, stop: str, replies: list[str]
) -> None:
    """Whatever is said, for every agent; and success is what the latest decided answer says."""
    env = game(sandbox=Echoes(), alpha=alpha, roles=roles, stop=stop)
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for reply in replies:
        if any(env.terminations.values()) or any(env.truncations.values()):
            break
        env.step(reply)
        returns = {agent: value + env.rewards[agent] for agent, value in returns.items()}
    right = env.snapshot.right
    assert all(info["success"] is right for info in env.infos.values())
    assert all(value <= alpha + 1e-9 for value in returns.values())
    if not right:
        assert all(value < alpha - 1e-9 for value in returns.values())
