"""Progress is a bar on a terminal and a few plain lines elsewhere."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from llm_envs_bench.grid import FILE_WIDTH, output_console
from llm_envs_bench.progress import LINES, follow
from tests.benchmarks import corridor
from tests.benchmarks.conftest import Play


def watched(play: Play, *, terminal: bool, instances: int = 50) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    play("oracle", instances, watch=lambda owed: follow("who [b]plays", owed, console))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_elsewhere_a_run_takes_a_few_plain_lines(play: Play) -> None:
    lines = watched(play, terminal=False).splitlines()
    assert len(lines) == LINES
    assert lines[-1] == "who [b]plays: 50/50 episodes, 50 solved"
    assert not any("\x1b" in line for line in lines)


def test_on_a_terminal_a_bar_counts_up(play: Play) -> None:
    shown = watched(play, terminal=True)
    assert "\x1b[" in shown
    assert "50/50" in shown
    assert "who [b]plays" in shown, "a name is never read as markup"


def test_what_is_owed_is_counted_apart(play: Play) -> None:
    corridor.SANDBOX.is_down = lambda code: code in {"1", "2", "3"}
    assert "50/50 episodes, 47 solved, 3 owed" in watched(play, terminal=False)


def test_nothing_to_play_says_nothing(play: Play) -> None:
    play("oracle")
    console = Console(file=io.StringIO())
    with follow("x", 0, console):
        pass
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]


def test_a_table_in_a_file_is_not_folded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file:
        monkeypatch.setattr("sys.stdout", file)
        assert output_console().width == FILE_WIDTH
