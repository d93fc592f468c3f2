"""Rewards and roles of the programming environment."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.code.problem import Case
from llm_envs.sandbox.base import Sandbox
from tests.llm_envs.code.problems import DIVISOR, SUM_FUNCTION, SUM_STDIO
from tests.llm_envs.code.scenes import (
    ABSOLUTE,
    ALL_AT_ONCE,
    COPY,
    KILLS_NOTHING,
    LONG,
    NEGATIVE,
    NO_REPEATS,
    REFERENCE,
    REPEATED,
    SHARE,
    SHORT,
    WRONG_OUTPUT,
    block,
    cases,
    coder_first,
    game,
)


@pytest.mark.parametrize(
    ("code", "rung", "verdict"),
    [
        (REFERENCE, (1.0, 0.0, 0.0), "pass"),
        (NO_REPEATS, (0.5, 0.0, 0.0), "wrong"),
        ("print(6)", (0.0, 0.0, -0.5), "wrong"),
        ("print(20)", (0.25, 0.0, -1.0), "wrong"),
        ("numbers = input()", (0.0, 0.0, -1.0), "wrong"),
        ("print(", (0.0, -1.0, -1.0), "error"),
        ("while True: pass", (0.0, -1.0, -1.0), "timeout"),
        ("while True: print('x' * 10_000)", (0.0, -1.0, -1.0), "output"),
        ("raise SystemExit(0)", (0.0, 0.0, -1.0), "wrong"),
    ],
)
def test_a_coder_reaches_each_rung_of_its_ladder(
    code: str, rung: tuple[float, float, float], verdict: str, sandbox: Sandbox
) -> None:
    """UC-086: a rung is the team reward, `program` and `visible`."""
    team, program, visible = rung
    env = coder_first(sandbox, replace(SUM_STDIO, cpu_s=0.3))
    env.step(block(code))
    info = env.infos["coder_0"]
    assert (info["team_reward"], info["program"], info["visible"]) == (team, program, visible)
    assert info["local_reward"] == max(-1.0, program + visible)
    assert info["verdict"] == verdict
    assert info["success"] is (team == 1.0)
    assert env.rewards["tester_0"] == team


@pytest.mark.parametrize(
    ("pairs", "shortfall", "valid", "killed"),
    [
        ([ALL_AT_ONCE], 0.0, 1, 3),
        ([REPEATED, NEGATIVE, LONG], 0.0, 3, 3),
        ([REPEATED, NEGATIVE], -1 / 3, 2, 2),
        ([REPEATED], -2 / 3, 1, 1),
        ([ALL_AT_ONCE, WRONG_OUTPUT], -0.5, 1, 3),
        ([ALL_AT_ONCE, COPY], -0.5, 1, 3),
        ([ALL_AT_ONCE, ALL_AT_ONCE], -0.5, 1, 3),
        ([ALL_AT_ONCE, KILLS_NOTHING], 0.0, 2, 3),
        ([REPEATED, WRONG_OUTPUT], -5 / 6, 1, 1),
        ([KILLS_NOTHING], -1.0, 1, 0),
        ([COPY], -1.0, 0, 0),
        ([("1  2  3 \n\n", "6")], -1.0, 0, 0),
        ([("1 2 3\n0", "6")], -1.0, 0, 0),
        ([("1 02 +3", "6")], -1.0, 0, 0),
        ([("8 8 -3 4000", "1"), ("08 8 -3 4000", "4013")], -1.0, 0, 0),
        ([WRONG_OUTPUT], -1.0, 0, 0),
        ([("no numbers", "0")], -1.0, 0, 0),
    ],
)
def test_a_tester_reaches_each_rung_of_its_ladder(
    pairs: list[tuple[str, str]], shortfall: float, valid: int, killed: int, sandbox: Sandbox
) -> None:
    """UC-085, UC-086: the share of cases that count times the share of wrong programs found out, less 1."""
    env = game(sandbox)
    env.step(cases(*pairs))
    info = env.infos["tester_0"]
    assert info["shortfall"] == info["local_reward"] == pytest.approx(shortfall)
    assert (info["cases"], info["valid"], info["killed"], info["suspects"]) == (len(pairs), valid, killed, 3)
    assert info["team_reward"] == 0.0


def test_cases_of_a_function_are_copies_whatever_their_form(sandbox: Sandbox) -> None:
    env = game(sandbox, SUM_FUNCTION)
    env.step(cases(("[1,2,  3]", "6"), ("[3, 3, -4, 1000]", "1002"), ("[3,3,-4,1000]", "1002"), ("not JSON", "1")))
    assert (env.infos["tester_0"]["valid"], env.infos["tester_0"]["killed"]) == (1, 3)


def test_cases_are_judged_by_the_problems_own_checker(sandbox: Sandbox) -> None:
    env = game(sandbox, replace(DIVISOR, mutants=("print(2)",)))
    env.step(cases(("9", ""), ("7", "")))
    assert env.infos["tester_0"]["shortfall"] == -0.5, "9 finds print(2) out; 7 has no divisor"


def test_the_team_reward_follows_the_latest_program_down_as_well(sandbox: Sandbox) -> None:
    env = coder_first(sandbox, stop="budget")
    rewards = []
    for code in (NO_REPEATS, REFERENCE, "print(6)", REFERENCE):
        env.step(block(code))
        rewards.append(env.infos["coder_0"]["team_reward"])
        env.step(cases(KILLS_NOTHING))
    assert rewards == [0.5, 0.5, -1.0, 1.0]
    assert env.infos["coder_0"]["success"]


def test_wrong_programs_of_the_episode_are_among_those_to_be_found_out(sandbox: Sandbox) -> None:
    plausible = "numbers = input().split()\nprint(sum(map(int, numbers[:3])))"
    env = coder_first(sandbox, max_cycles=9)
    suspects = []
    for code in (plausible, plausible, NO_REPEATS, "print(", "print(-1)", plausible + "#2", plausible + "#3"):
        env.step(block(code))
        env.step(cases(ALL_AT_ONCE))
        suspects.append(env.infos["tester_0"]["suspects"])
    assert suspects == [4, 4, 4, 4, 4, 5, 6], "repeated, hopeless and known ones are left out"
    env.step(block(plausible + "#4"))
    env.step(cases(ALL_AT_ONCE, ("1 1 1 1", "4")))
    assert env.infos["tester_0"]["suspects"] == 6, "the last three"
    assert env.infos["tester_0"]["shortfall"] == 0.0


def test_a_case_that_no_wrong_program_of_the_episode_fails_is_worth_less_than_before(sandbox: Sandbox) -> None:
    env = coder_first(sandbox)
    env.step(block("numbers = input().split()\nprint(sum(map(int, numbers)) if len(numbers) != 2 else 6)"))
    env.step(cases(ALL_AT_ONCE))
    assert env.infos["tester_0"]["shortfall"] == pytest.approx(3 / 4 - 1)


def test_the_coder_sees_the_testers_cases_of_this_very_cycle_and_the_tester_the_latest_program(
    sandbox: Sandbox,
) -> None:
    """UC-020."""
    env = game(sandbox)
    env.step(cases(REPEATED))
    assert "The tester's case 1:\n<input>\n4 4\n</input>\n<output>\n8\n</output>" in env.observe("coder_0")
    env.step(block(NO_REPEATS))
    seen = env.observe("tester_0")
    assert NO_REPEATS in seen
    assert "Result: wrong, the program gave:\n4" in seen
    env.step(cases(NEGATIVE))
    seen = env.observe("coder_0")
    assert "9 -9" in seen
    assert "4 4" not in seen, "cases older than the program are replaced"
    assert "Result: passed." in seen
    env.step(block(ABSOLUTE))
    assert ABSOLUTE in env.observe("tester_0")
    assert NO_REPEATS not in env.observe("tester_0")


def test_testers_of_one_cycle_add_to_one_anothers_cases(sandbox: Sandbox) -> None:
    env = game(sandbox, agents={"tester": 2})
    env.step(cases(REPEATED, LONG))
    env.step(cases(LONG, NEGATIVE))
    assert env.snapshot.cases == tuple(Case(f"{stdin}\n", f"{out}\n") for stdin, out in (REPEATED, LONG, NEGATIVE))
    env.step(block(NO_REPEATS))
    assert [report.verdict for report in env.snapshot.on_cases] == ["wrong", "pass", "pass"]
    env.step(cases(ALL_AT_ONCE))
    env.step(cases(NEGATIVE))
    assert [report.case.stdin for report in env.snapshot.on_cases] == ["8 8 -3 4000\n", "9 -9\n"]


def test_an_error_on_a_test_that_is_shown_is_told_by_its_last_line(sandbox: Sandbox) -> None:
    """UC-077."""
    env = coder_first(sandbox)
    env.step(block("a, b = input(), input()"))
    assert "Example 1: the program failed (error: EOFError: EOF when reading a line)." in env.observe("coder_0")


def test_an_error_on_a_hidden_test_is_told_to_nobody(sandbox: Sandbox) -> None:
    """UC-077."""
    env = coder_first(sandbox)
    env.step(block("line = input()\nif '-' in line: raise ValueError('hidden: ' + line)\n" + "print(6)"))
    assert env.infos["coder_0"]["verdict"] == "error"
    for agent in env.agents:
        assert "ValueError('hidden" in env.observe(agent), "the program itself is shown"
        assert "ValueError: hidden" not in env.observe(agent)
        assert "10 -20 30" not in env.observe(agent)


def test_a_reply_without_an_action_changes_nothing(sandbox: Sandbox) -> None:
    env = game(sandbox)
    before = env.snapshot
    env.step("I have no idea.")
    assert env.snapshot is before
    assert env.rewards["tester_0"] == -1.0
    assert "no test case in <input> and <output> tags." in env.observe("tester_0")
    env.step("<input>1</input><output>1</output>")
    assert env.rewards["coder_0"] == -1.0
    assert "holds no Python program." in env.observe("coder_0")


# ---- problems without a reference or mutants


def test_without_a_reference_cases_are_neither_paid_nor_punished(sandbox: Sandbox) -> None:
    env = game(sandbox, replace(SUM_STDIO, reference=""))
    env.step(cases(WRONG_OUTPUT))
    info = env.infos["tester_0"]
    assert (info["local_reward"], info["valid"], info["killed"]) == (0.0, None, None)
    env.step(block(REFERENCE))
    assert env.infos["coder_0"]["success"]


def test_without_wrong_programs_the_share_of_cases_that_count_stands_alone(sandbox: Sandbox) -> None:
    env = game(sandbox, replace(SUM_STDIO, mutants=()))
    env.step(cases(REPEATED, WRONG_OUTPUT))
    assert env.infos["tester_0"]["shortfall"] == -0.5


def test_a_problem_without_visible_tests_is_played_like_any_other(sandbox: Sandbox) -> None:
    env = coder_first(sandbox, replace(SUM_STDIO, visible=()))
    env.step(block("print(20)"))
    assert env.rewards == {"coder_0": 0.25, "tester_0": 0.25}
    env.step(cases(COPY))
    assert env.infos["tester_0"]["suspects"] == 4


# ---- whatever is said

REPLIES = st.one_of(
    st.sampled_from([block(code) for code in SHARE]),
    st.lists(
        st.sampled_from([REPEATED, NEGATIVE, LONG, ALL_AT_ONCE, COPY, WRONG_OUTPUT, KILLS_NOTHING]), max_size=6
    ).map(lambda pairs: cases(*pairs)),
    st.tuples(st.sampled_from([NO_REPEATS, SHORT]), st.sampled_from([REPEATED, WRONG_OUTPUT])).map(
        lambda both: f"{block(both[0])}\n{cases(both[1])}"
    ),
    st.sampled_from(["", "nothing"]),
)


@given(
    alpha=st.sampled_from([0.01, 1.0, 10.0]),
    roles=st.sampled_from(["team", "single"]),
    stop=st.sampled_from(["correct", "agreement", "budget"]),
    replies=st.lists(REPLIES, min_size=1, max_size=8),
)
def test_every_unsolved_episode_returns_less_than_the_oracle(
    alpha: float, roles: str, stop: str, replies: list[str], sandbox: Sandbox
) -> None:
    """Whatever is said, for every agent; and success is what the latest program passes."""
    env = game(sandbox, alpha=alpha, roles=roles, stop=stop)
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for reply in replies:
        if any(env.terminations.values()) or any(env.truncations.values()):
            break
        env.step(reply)
        returns = {agent: value + env.rewards[agent] for agent, value in returns.items()}
    code = env.snapshot.program
    solved = code is not None and SHARE[code.strip()] == 1.0
    assert all(info["success"] is solved for info in env.infos.values())
    oracle = alpha  # all hidden tests, and no penalty
    assert all(value <= oracle + 1e-9 for value in returns.values())
    if not solved:
        assert all(value < oracle - 1e-9 for value in returns.values())
