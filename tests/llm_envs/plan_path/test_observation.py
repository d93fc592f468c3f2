"""Prompts: golden files, roles, secrets."""

import pytest

from llm_envs import plan_path_v0
from llm_envs.core.messages import to_messages
from llm_envs.plan_path.board import shortest_moves
from tests.llm_envs.golden_files import FOLDER, observations

OBSERVATIONS = observations()


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_prompts_read_as_agreed(name: str) -> None:
    """A change here is a new version of the environment; `python -m tests.llm_envs.golden_files` writes them anew."""
    assert OBSERVATIONS[name] + "\n" == (FOLDER / f"{name}.txt").read_text()


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("plan_path_*.txt")} == set(OBSERVATIONS)


def test_each_role_reads_its_own_rules_and_the_whole_grid() -> None:
    """UC-014."""
    env = plan_path_v0.raw_env()
    env.reset(seed=0)
    tool, planner = env.observe("tool_0"), env.observe("planner_0")
    assert "You are the tool" in tool
    assert "You are the planner" in planner
    assert "You are the tool" not in planner
    grid = env.state()
    assert grid in tool
    assert grid in planner


@pytest.mark.parametrize("view", ["full", "local"])
@pytest.mark.parametrize("roles", ["team", "single"])
def test_no_first_prompt_holds_the_solution(view: str, roles: str) -> None:
    """UC-014: over 100 instances with a path of at least six moves."""
    env = plan_path_v0.raw_env(observation=view, roles=roles, min_path=6)
    for index in range(100):
        env.reset(options={"index": index})
        solution = " ".join(shortest_moves(env.snapshot.board, env.snapshot.position, 20))
        for agent in env.agents:
            assert solution not in env.observe(agent)


def test_a_local_observation_is_a_few_words_in_fixed_places_joined_by_single_spaces() -> None:
    env = plan_path_v0.raw_env(observation="local")
    env.reset(seed=0)
    assert len(env.observe("tool_0").split(" ")) == 14
    assert len(env.observe("planner_0").split(" ")) == 16
    assert env.observe("planner_0").split(" ") == env.observe("planner_0").split()


def test_an_observation_becomes_one_user_message() -> None:
    env = plan_path_v0.raw_env()
    env.reset(seed=0)
    (message,) = to_messages(env.observe("tool_0"))
    assert message == {"role": "user", "content": str(env.observe("tool_0"))}
    assert type(message["content"]) is str
