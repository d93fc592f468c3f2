"""Pure Python serves wherever numba does not."""

import logging
import sys

import pytest

from llm_envs.core.errors import UsageError
from llm_envs.sudoku import engine
from llm_envs.sudoku.engine import PYTHON

get_engine = engine.get_engine.__wrapped__  # without its cache, since these tests change what is installed


def test_auto_takes_python_where_numba_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    assert get_engine("auto", 16) is PYTHON


def test_a_broken_numba_is_said_and_python_taken(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda name: "there")
    monkeypatch.setitem(sys.modules, "llm_envs.sudoku.fast", None)
    monkeypatch.delattr("llm_envs.sudoku.fast", raising=False)
    with caplog.at_level(logging.WARNING):
        assert get_engine("auto", 9) is PYTHON
    assert "numba is installed but can't be imported" in caplog.text


def test_asking_for_numba_without_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llm_envs.sudoku.fast", None)
    monkeypatch.delattr("llm_envs.sudoku.fast", raising=False)
    with pytest.raises(UsageError, match=r"install llm-envs\[fast\], or take 'python'"):
        get_engine("numba", 4)


def test_small_grids_do_not_wait_for_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda name: "there")
    assert get_engine("auto", 6) is get_engine("python", 9) is PYTHON


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean 'numba'"):
        get_engine("numbaa", 9)
