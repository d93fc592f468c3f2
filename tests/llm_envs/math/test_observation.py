"""Prompts: golden files, roles, secrets."""

import random
from dataclasses import replace
from typing import Any

import pytest

from llm_envs import math_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.core.messages import to_messages
from llm_envs.core.task import Split
from llm_envs.math.state import State
from llm_envs.math.task import MathTask
from llm_envs.sandbox.base import Sandbox
from llm_envs.testing import ConformanceError, check_env
from tests.llm_envs.math.golden import FOLDER, observations
from tests.llm_envs.math.scenes import PROGRAM, SUM, UNDECIDABLE, Echoes, Prints, boxed, game, tool_says
from tests.scale import scaled

OBSERVATIONS = observations()
CANARY = "60221407607182"  # no question, rule or reply of the tests below holds it


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_prompts_read_as_agreed(name: str) -> None:
    """A change here is a new version of the environment; `python -m tests.llm_envs.math.golden` writes them anew."""
    assert OBSERVATIONS[name] + "\n" == (FOLDER / f"{name}.txt").read_text()


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("math_*.txt")} == set(OBSERVATIONS)


def test_each_role_reads_its_own_rules_and_the_whole_question() -> None:
    """UC-014."""
    env = game()
    tool, reasoner = env.observe("tool_0"), env.observe("reasoner_0")
    assert "You are the tool" in tool
    assert "You are the reasoner" in reasoner
    assert "You are the tool" not in reasoner
    assert SUM["text"] in tool
    assert SUM["text"] in reasoner


@pytest.mark.parametrize("view", ["full", "local"])
def test_the_reasoner_sees_the_output_of_this_very_cycle(view: str) -> None:
    """UC-020."""
    env = tool_says("41", observation=view)
    assert "41" in env.observe("reasoner_0")
    env.step(boxed("40"))
    assert "40" in env.observe("tool_0")
    env.sandbox = Prints("39")
    env.step(PROGRAM)
    assert "39" in env.observe("reasoner_0")
    assert "41" not in env.observe("reasoner_0")


def test_an_observation_becomes_one_user_message() -> None:
    env = game()
    (message,) = to_messages(env.observe("tool_0"))
    assert message == {"role": "user", "content": str(env.observe("tool_0"))}


def test_a_local_observation_is_one_line() -> None:
    env = game({"text": "Two\nlines and\ttabs.", "answer": "1"}, observation="local")
    assert env.observe("reasoner_0") == "reasoner Two lines and tabs. output none answer none"
    assert env.observe("tool_0") == "tool Two lines and tabs. answer none"


# ---- the right answer is shown to nobody


class Leaky(MathTask):
    """Tells the right answer once something was answered."""

    def observe(self, state: State, role: str, feedback: str) -> str:
        seen = super().observe(state, role, feedback)
        return seen if state.answer is None else f"{seen} (but it is {state.question.answer})"


def with_answer(env: TextAECEnv, index: int, answer: str | None = None) -> TextAECEnv:
    """A fork of the environment at the start of an instance, whose right answer may be another one."""
    env = env.fork()
    env.reset(options={"index": index})
    if answer is not None:
        env.snapshot = env.snapshot._replace(question=replace(env.snapshot.question, answer=answer))
    return env


def replies(role: str, gold: str, rng: random.Random) -> str:
    """Right, wrong, undecidable and invalid replies."""
    answer = (gold, str(int(rng.random() * 100)), UNDECIDABLE, "x")[int(rng.random() * 4)]
    if rng.random() < 0.1:
        return "I do not know."
    program = role == "tool" or (role == "solver" and rng.random() < 0.5)
    return f"```python\n{answer}\n```" if program else boxed(answer)


def differences(env: TextAECEnv, episodes: int) -> int:
    """How many observations depend on what the right answer is, over episodes with the same replies."""
    found = 0
    for index in range(episodes):
        rng = random.Random(index)
        one, other = with_answer(env, index), with_answer(env, index, CANARY)
        while not any(one.truncations.values()):
            for agent in one.possible_agents:
                found += one.observe(agent) != other.observe(agent) or CANARY in other.observe(agent)
            reply = replies(one.roles[one.agent_selection], one.snapshot.question.answer, rng)
            one.step(reply)
            other.step(reply)
    return found


@pytest.mark.parametrize("options", [{}, {"roles": "single"}, {"observation": "local"}])
def test_no_observation_depends_on_the_right_answer(options: dict[str, Any]) -> None:
    """UC-014. Not even on whether an answer was right: it reads the same with another gold answer."""
    env = math_v0.raw_env(stop="budget", max_cycles=3, sandbox=Echoes(), **options)
    assert differences(env, scaled(fast=40, long=500)) == 0


def test_an_observation_that_depends_on_the_right_answer_would_be_seen() -> None:
    """Negative control of the test above."""
    env = TextAECEnv(Leaky(stop="budget"), name="leaky_v0", max_cycles=3, sandbox=Echoes())
    assert differences(env, 3) > 0


@pytest.mark.parametrize("options", [{}, {"roles": "single"}, {"observation": "local", "stop": "agreement"}])
def test_no_observation_holds_the_right_answer_before_an_agent_has_found_it(
    options: dict[str, Any], sandbox: Sandbox
) -> None:
    """UC-014: searched for in every observation of episodes of a noisy oracle, a weak player and others."""
    check_env(math_v0.env, {**options, "sandbox": sandbox}, episodes=scaled(fast=10, long=500), only=("secrets",))


def test_a_right_answer_in_an_observation_would_be_found(sandbox: Sandbox) -> None:
    """Negative control of the test above."""

    def leaky(render_mode: str | None = None) -> TextAECEnv:
        return TextAECEnv(Leaky(stop="budget"), name="leaky_v0", max_cycles=3, sandbox=sandbox, render_mode=render_mode)

    with pytest.raises(ConformanceError, match="holds the secret"):
        check_env(leaky, episodes=5, only=("secrets",))


def test_most_right_answers_can_be_searched_for() -> None:
    """The others stand in their question by chance, such as a 7 in "17"."""
    task = MathTask(difficulty="hard")
    starts = [task.instance(Split.TEST, index) for index in range(100)]
    assert sum(task.secrets(state) == (state.question.answer,) for state in starts) > 60


def test_what_an_agent_has_come_to_is_no_secret() -> None:
    env = tool_says("41")
    assert env.task.secrets(env.snapshot) == ("42",)
    env.step(boxed("42"))
    assert env.task.secrets(env.snapshot) == ()
    env = tool_says("42")
    assert env.task.secrets(env.snapshot) == ()
