"""The reference players do what they are documented to do."""

import random

import pytest

from llm_envs import math_v0
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Split
from llm_envs.core.tool_use import Script
from llm_envs.math.families.table import FAMILIES
from llm_envs.math.players import NEAR, WEAK_RIGHT, greedy_answer, weak_answer
from llm_envs.math.question import Question
from llm_envs.math.task import LEVELS, MathTask
from llm_envs.play import play
from llm_envs.players import ReferencePlayer
from llm_envs.sandbox.base import Sandbox
from tests.scale import scaled

ORACLE, RANDOM = {"all": ReferencePlayer("oracle")}, {"all": ReferencePlayer("random")}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_oracle_solves_every_family_and_a_random_player_none(family: str, sandbox: Sandbox) -> None:
    """The oracle's tool runs the question's own program, whose output is judged right."""
    for difficulty in scaled(fast=("medium",), long=tuple(LEVELS)):
        env = math_v0.env(families=family, difficulty=difficulty, sandbox=sandbox, split="test")
        for index in range(scaled(fast=1, long=8)):
            best = play(env, ORACLE, index=index)
            assert best.success
            assert best.returns == {"tool_0": 1.0, "reasoner_0": 1.0}
            assert best.turns[0].info["tool_useful"]
            assert not play(env, RANDOM, index=index).success


@pytest.mark.parametrize("roles", ["team", "single"])
def test_a_random_player_solves_nothing(roles: str, sandbox: Sandbox) -> None:
    env = math_v0.env(roles=roles, sandbox=sandbox)
    episodes = [play(env, RANDOM, index=index) for index in range(scaled(fast=30, long=500))]
    assert not any(episode.success for episode in episodes)
    assert all(turn.invalid is None for episode in episodes for turn in episode.turns)


@pytest.mark.parametrize("player", MathTask.players)
@pytest.mark.parametrize("view", ["full", "local"])
@pytest.mark.parametrize("roles", ["team", "single"])
def test_every_reply_of_a_reference_player_is_valid(player: str, view: str, roles: str) -> None:
    task = MathTask(observation=view, roles=roles)
    kinds = set()
    for index in range(40):
        state = task.instance(Split.TRAIN, index)
        for role in task.roles:
            reply = task.reference(player, state, role, random.Random(index))
            action = task.parse(state, role, reply)
            assert not isinstance(action, Unparsed), reply
            kinds.add((role, type(action)))
            assert role == "solver" or isinstance(action, Script) == (role == "tool")
    assert roles == "team" or (("solver", Script) in kinds) == (player != "oracle")


def test_the_oracle_prints_the_answer_where_a_question_has_no_program() -> None:
    task = MathTask()
    state = task.load({"text": "How much is a half?", "answer": r"\frac{1}{2}"})
    assert task.reference("oracle", state, "tool", random.Random(0)) == "```python\nprint('\\\\frac{1}{2}')\n```"


def test_the_weak_player_is_right_as_often_as_it_says_and_else_near() -> None:
    rng = random.Random(0)
    question = Question("sum", "", "42")
    draws = scaled(fast=3000, long=100_000)
    answers = [weak_answer(question, rng) for _ in range(draws)]
    assert answers.count("42") / draws == pytest.approx(WEAK_RIGHT, abs=0.03)
    assert set(answers) == {"42", *(str(42 + away) for away in NEAR)}


@pytest.mark.parametrize(
    ("text", "answer"), [("What is 17 + 25?", "25"), ("How many?", "0"), (f"Halve {'9' * 40}.", "9" * 4)]
)
def test_the_greedy_player_answers_the_last_number_that_it_reads(text: str, answer: str) -> None:
    assert greedy_answer(Question("sum", text, "42"), random.Random(0)) == answer


def test_the_weak_player_names_a_digit_where_the_answer_is_no_whole_number() -> None:
    rng = random.Random(0)
    answers = {weak_answer(Question("half", "", r"\frac{1}{2}"), rng) for _ in range(300)}
    assert answers == {r"\frac{1}{2}", *map(str, range(10))}
