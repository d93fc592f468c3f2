"""Curricula: the schedule is a pure function of outcomes, and the environment played is that of the level."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pettingzoo.test import api_test

import llm_envs
from llm_envs.core.errors import UsageError
from llm_envs.wrappers import Course, Curriculum, textualize
from tests.llm_envs.wrappers.games import Tally

START = Course(levels=3, window=4, up=0.75, down=0.25)


def after(outcomes: list[bool], course: Course = START) -> Course:
    for outcome in outcomes:
        course = course.after(outcome)
    return course


def test_the_level_rises_and_falls_with_the_success_rate() -> None:
    assert after([True] * 3).level == 0, "the window is not full"
    assert after([True, True, True, False]).level == 1
    assert after([True] * 8).level == 2
    assert after([True] * 40).level == 2, "there is no harder level"
    assert after([True] * 8 + [False] * 4).level == 1
    assert after([False] * 40).level == 0, "there is no easier level"
    assert after([True, False] * 20).level == 0, "a rate between the bounds changes nothing"


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 5), st.integers(1, 6))
def test_the_level_stays_on_the_ladder_and_moves_by_one(outcomes: list[bool], levels: int, window: int) -> None:
    course = Course(levels, window, up=0.7, down=0.3)
    for outcome in outcomes:
        following = course.after(outcome)
        assert abs(following.level - course.level) <= 1
        assert 0 <= following.level < levels
        assert following.level == course.level or following.outcomes == ()
        assert len(following.outcomes) <= window
        assert course.after(outcome) == following, "the same outcomes give the same level"
        course = following


def ladder(**options: Any) -> Curriculum:
    def make(goal: int) -> Any:
        return textualize(lambda: Tally(goal=goal), roles=("hero", "rival"), name=f"tally_{goal}")

    return Curriculum(make, [{"goal": 1}, {"goal": 3}, {"goal": 6}], **{"window": 2, "up": 1.0, "down": 0.0} | options)


def win(env: Any) -> None:
    """Play so that the first agent wins: it makes big steps, the other small ones."""
    env.reset(seed=1)
    while not all(env.terminations.values()):
        env.step("2" if env.agent_selection == "hero_0" else "0")
    while env.agents:
        env.step(None)


def test_each_reset_plays_the_level_that_the_outcomes_earned() -> None:
    env = ladder()
    goals = []
    for _ in range(6):
        win(env)
        goals.append(env.unwrapped.game.goal)
    assert goals == [1, 1, 3, 3, 6, 6]
    assert env.course.level == 2


def test_what_is_broken_off_or_played_on_a_fork_does_not_count() -> None:
    env = ladder()
    for _ in range(10):
        env.reset(seed=1)
    assert env.course.outcomes == ()
    env.reset(seed=1)
    twin = llm_envs.fork(env)
    twin.step("2")
    assert twin.course.outcomes == (True,)
    assert env.course.outcomes == ()
    for _ in range(2):
        win(twin)
    assert (twin.course.level, env.course.level) == (1, 0)
    twin.reset(seed=1)
    assert twin.unwrapped.game.goal == 3
    assert env.unwrapped.game.goal == 1


def test_it_falls_back_when_it_was_too_early() -> None:
    env = ladder(window=1)
    win(env)
    assert env.course.level == 1
    env.reset(seed=1)
    for reply in ("0", "2"):
        env.step(reply)
    assert env.infos["rival_0"]["won"] is True
    assert env.course.level == 0


def test_a_saved_course_goes_on() -> None:
    env = ladder()
    env.course = replace(env.course, level=2)
    env.reset(seed=1)
    assert env.unwrapped.game.goal == 6


def test_ids_of_the_registry_will_do() -> None:
    env = Curriculum("plan_path_v0", [{"size": 4, "min_path": 2}, {"size": 6}])
    env.reset(seed=0)
    assert env.unwrapped.task.dials.size == 4
    env.course = replace(env.course, level=1)
    env.reset(seed=0)
    assert env.unwrapped.task.dials.size == 6
    api_test(env, num_cycles=10)


def test_levels_must_go_together() -> None:
    with pytest.raises(UsageError, match="at least one"):
        Curriculum("plan_path_v0", [])
    with pytest.raises(UsageError, match="0 <= down < up <= 1"):
        Curriculum("plan_path_v0", [{}], up=0.2, down=0.3)
    env = Curriculum("plan_path_v0", [{}, {"roles": "single"}])
    env.course = replace(env.course, level=1)
    with pytest.raises(UsageError, match="solver_0; all levels must have tool_0, planner_0"):
        env.reset(seed=0)
