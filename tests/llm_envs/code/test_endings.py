"""What ends an episode, and what a single agent may do."""

import pytest

from llm_envs.sandbox.base import Sandbox
from tests.llm_envs.code.scenes import (
    ABSOLUTE,
    KILLS_NOTHING,
    NEGATIVE,
    NO_REPEATS,
    REFERENCE,
    REPEATED,
    WRONG_OUTPUT,
    block,
    cases,
    coder_first,
    game,
)


@pytest.mark.parametrize("stop", ["correct", "agreement", "budget"])
def test_what_ends_an_episode(stop: str, sandbox: Sandbox) -> None:
    env = game(sandbox, stop=stop)
    env.step(cases(REPEATED))
    env.step(block(ABSOLUTE))
    assert all(env.terminations.values()) is (stop == "agreement"), "a wrong program that passes all that is known"
    if stop == "agreement":
        assert not env.infos["coder_0"]["success"]
        return
    env.step(cases(WRONG_OUTPUT))
    env.step(block(REFERENCE))
    assert env.infos["coder_0"]["success"]
    assert all(env.terminations.values()) is (stop == "correct")


def test_no_agreement_without_a_case_or_with_a_failed_one(sandbox: Sandbox) -> None:
    env = coder_first(sandbox, stop="agreement", max_cycles=9)
    env.step(block(REFERENCE))
    env.step("no cases")
    env.step(block(REFERENCE))
    env.step(cases(WRONG_OUTPUT))
    env.step(block(REFERENCE))
    assert not any(env.terminations.values())
    env.step(cases(KILLS_NOTHING))
    assert all(env.terminations.values()), "new cases that the latest program passes"


def test_a_single_agent_agrees_with_its_cases_or_with_itself(sandbox: Sandbox) -> None:
    env = game(sandbox, roles="single", stop="agreement")
    env.step(block(NO_REPEATS))
    assert not any(env.terminations.values())
    env.step(block(NO_REPEATS))
    assert all(env.terminations.values())
    env = game(sandbox, roles="single", stop="agreement")
    env.step(cases(REPEATED))
    env.step(block(NO_REPEATS))
    assert not any(env.terminations.values())
    env.step(block(REFERENCE))
    assert all(env.terminations.values())


# ---- a single agent


def test_a_single_agent_tries_programs_out_without_handing_them_in(sandbox: Sandbox) -> None:
    env = game(sandbox, roles="single", stop="agreement")
    env.step(f"Let me see.\n{block(NO_REPEATS)}\n{cases(REPEATED)}")
    assert env.snapshot.program is None
    info = env.infos["solver_0"]
    assert info["team_reward"] == 0.0
    assert info["shortfall"] == pytest.approx(-2 / 3)
    seen = env.observe("solver_0")
    assert f"which is not handed in:\n```python\n{NO_REPEATS}" in seen
    assert "Example 1: passed." in seen
    assert "Result: wrong, the program gave:\n4" in seen
    env.step(f"{block(REFERENCE)}\n{cases(REPEATED)}")
    assert not any(env.terminations.values()), "what is tried out agrees with nothing"
    env.step(block(REFERENCE))
    assert env.infos["solver_0"]["success"]
    assert all(env.terminations.values())


def test_cases_of_a_single_agent_run_on_the_program_that_it_handed_in(sandbox: Sandbox) -> None:
    env = game(sandbox, roles="single")
    env.step(cases(REPEATED))
    assert "Result" not in env.observe("solver_0")
    env.step(block(NO_REPEATS))
    assert "Result: wrong" in env.observe("solver_0")
    env.step(cases(NEGATIVE))
    assert "Result: passed." in env.observe("solver_0")
    assert env.infos["solver_0"]["team_reward"] == 0.0
