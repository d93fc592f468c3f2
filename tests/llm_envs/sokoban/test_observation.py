"""Prompts: golden files, roles, secrets."""

import pytest

from llm_envs import sokoban_v0
from llm_envs.core.messages import to_messages
from tests.llm_envs.sokoban.golden import FOLDER, observations

OBSERVATIONS = observations()


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_prompts_read_as_agreed(name: str) -> None:
    """A change here is a new version of the environment; `python -m tests.llm_envs.sokoban.golden` writes them anew."""
    assert OBSERVATIONS[name] + "\n" == (FOLDER / f"{name}.txt").read_text()


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("sokoban_*.txt")} == set(OBSERVATIONS)


def test_each_role_reads_its_own_rules_and_the_whole_room() -> None:
    """UC-014."""
    env = sokoban_v0.raw_env()
    env.reset(seed=0)
    tool, planner = env.observe("tool_0"), env.observe("planner_0")
    assert "You are the tool" in tool
    assert "You are the planner" in planner
    assert "You are the tool" not in planner
    room = env.state()
    assert f"The room now:\n{room}" in tool
    assert f"The room now:\n{room}" in planner


def test_the_legend_explains_every_symbol() -> None:
    """UC-026."""
    text = OBSERVATIONS["sokoban_player_on_goal"]
    for symbol in ("# wall", "@ you", "+ you on a goal", "$ box", "* box on a goal", ". goal"):
        assert symbol in text


@pytest.mark.parametrize("roles", ["team", "single", "planners"])
def test_no_first_prompt_holds_the_plan(roles: str) -> None:
    """UC-014: over 100 rooms."""
    env = sokoban_v0.raw_env(roles=roles)
    for index in range(100):
        env.reset(options={"index": index})
        plan = env.snapshot.level.moves
        for agent in env.agents:
            seen = env.observe(agent)
            assert " ".join(plan) not in seen
            assert " ".join(plan[:6]) not in seen


def test_an_observation_becomes_one_user_message() -> None:
    env = sokoban_v0.raw_env()
    env.reset(seed=0)
    (message,) = to_messages(env.observe("tool_0"))
    assert message == {"role": "user", "content": str(env.observe("tool_0"))}
