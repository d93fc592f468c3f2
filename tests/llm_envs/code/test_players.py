"""The reference players do what they are documented to do, on every family."""

import random
from dataclasses import replace

import pytest

from llm_envs import code_v0
from llm_envs.code.families.table import FAMILIES
from llm_envs.code.jobs import WeighCases
from llm_envs.code.judging import judge
from llm_envs.code.replies import Cases
from llm_envs.code.task import LEVELS, CodeTask
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Split
from llm_envs.core.tool_use import Script
from llm_envs.play import play
from llm_envs.players import ReferencePlayer
from llm_envs.sandbox.base import Sandbox
from tests.llm_envs.code.problems import PROBLEMS, SUM_STDIO
from tests.scale import scaled

INDICES = range(scaled(fast=1, long=5))
DIFFICULTIES = scaled(fast=["easy"], long=list(LEVELS))
STYLES = ["stdio", "function"]


def of_family(family: str) -> str:
    """One style a family in the fast tier, both elsewhere."""
    return STYLES[sorted(FAMILIES).index(family) % 2]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_oracle_solves_every_family_and_a_random_player_none(family: str, sandbox: Sandbox) -> None:
    for difficulty in DIFFICULTIES:
        for style in scaled(fast=[of_family(family)], long=STYLES):
            env = code_v0.env(families=family, difficulty=difficulty, style=style, sandbox=sandbox)
            for index in INDICES:
                for split in scaled(fast=[Split.TEST], long=list(Split)):
                    best = play(env, {"all": ReferencePlayer("oracle")}, split=split, index=index)
                    assert best.success
                    assert best.returns == {"tester_0": 1.0, "coder_0": 1.0}, "the tester's cases find out every mutant"
                    assert not play(env, {"all": ReferencePlayer("random")}, split=split, index=index).success


@pytest.mark.parametrize("family", FAMILIES)
def test_every_mutant_is_judged_wrong_and_passes_a_visible_test(family: str, sandbox: Sandbox) -> None:
    """By the judge itself, out of the process that generated the problem."""
    for difficulty in DIFFICULTIES:
        for style in scaled(fast=[of_family(family)], long=STYLES):
            problem = CodeTask(families=family, difficulty=difficulty, style=style).instance(Split.TRAIN, 0).problem
            assert len(problem.mutants) >= 5
            for mutant in problem.mutants:
                judgement = judge(problem, mutant, sandbox)
                assert not judgement.passed
                assert "pass" in judgement.visible


@pytest.mark.parametrize("player", CodeTask.players)
@pytest.mark.parametrize("style", PROBLEMS)
@pytest.mark.parametrize("roles", ["team", "single"])
def test_every_reply_of_a_reference_player_is_valid(player: str, style: str, roles: str) -> None:
    task = CodeTask(roles=roles)
    kinds = set()
    for problem in (PROBLEMS[style], replace(PROBLEMS[style], visible=(), mutants=(), spare=())):
        for program in (None, problem.reference):
            state = task.load(problem)._replace(program=program)
            for role in task.roles:
                for seed in range(12):
                    action = task.parse(state, role, task.reference(player, state, role, random.Random(seed)))
                    assert not isinstance(action, Unparsed)
                    kinds.add(type(action))
    assert kinds == ({Script} if player == "oracle" and roles == "single" else {Script, Cases})


@pytest.mark.parametrize("style", PROBLEMS)
def test_the_greedy_coder_passes_the_visible_tests_and_no_more(style: str, sandbox: Sandbox) -> None:
    task = CodeTask()
    reply = task.reference("greedy", task.load(PROBLEMS[style]), "coder", random.Random(0))
    judgement = judge(PROBLEMS[style], reply.removeprefix("```python\n").removesuffix("\n```"), sandbox)
    assert set(judgement.visible) == {"pass"}
    assert "pass" not in judgement.hidden


def test_spare_cases_are_neither_shown_nor_hidden_and_few() -> None:
    for family in FAMILIES:
        problem = CodeTask(families=family).instance(Split.TRAIN, 0).problem
        assert 1 <= len(problem.spare) <= 5
        assert not {case.stdin for case in problem.spare} & {case.stdin for case in (*problem.visible, *problem.hidden)}


def test_the_weak_player_is_an_oracle_now_and_then() -> None:
    task = CodeTask()
    state = task.load(SUM_STDIO)
    draws = scaled(fast=400, long=4000)
    replies = [task.reference("weak", state, "coder", random.Random(seed)) for seed in range(draws)]
    assert sum(SUM_STDIO.reference in reply for reply in replies) / draws == pytest.approx(0.3, abs=0.08)
    assert {mutant for mutant in SUM_STDIO.mutants if any(mutant in reply for reply in replies)} == set(
        SUM_STDIO.mutants
    )


def test_the_oracle_tester_finds_out_every_mutant_with_cases_that_count(sandbox: Sandbox) -> None:
    for problem in PROBLEMS.values():
        worth = WeighCases(problem, problem.spare, problem.mutants).run(lambda: sandbox)
        assert worth.valid == (True,)
        assert worth.killed == (True,) * 3
