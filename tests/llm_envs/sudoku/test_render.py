"""Sudoku for people."""

import re

import pytest

from llm_envs import sudoku_v0
from llm_envs.sudoku.render import show
from llm_envs.sudoku.state import boxed, render
from tests.llm_envs.sudoku.test_task import game, planner


def test_ansi_is_the_state_as_text() -> None:
    env = planner("r1c2=3", game(render_mode="ansi", turn_order=("planner", "tool")))
    assert env.render() == env.state() == render(env.snapshot)


def test_human_writes_text_where_there_is_no_colour(capsys: pytest.CaptureFixture[str]) -> None:
    env = game(render_mode="human")
    assert env.render() is None
    assert capsys.readouterr().out == env.state() + "\n"


def test_colour_tells_clues_from_filled_cells(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llm_envs.sudoku.render.colour_wanted", lambda stream: True)
    state = planner("r1c2=3").snapshot
    show(state)
    out = capsys.readouterr().out
    assert re.sub(r"\x1b\[[\d;]*m", "", out) == boxed(state.grid) + "\n"
    assert "\x1b[1m1\x1b[0m" in out
    assert "\x1b[36m3\x1b[0m" in out


def test_the_discrete_variant_is_drawn_alike() -> None:
    env = sudoku_v0.raw_env(size=4, action_format="discrete", render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == render(env.snapshot)
