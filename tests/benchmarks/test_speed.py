"""The scripts of benchmarks/speed run, check the work before they time it, and leave out peers that are not there."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from llm_envs.sandbox.base import Outcome, Program, Status
from tests.architecture.paths import ROOT

SPEED = ROOT / "benchmarks" / "speed"
GRID = "@..G\n.##.\n....\n...."


def run(script: str, *arguments: str, peers: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PEERS": peers, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, str(SPEED / script), *arguments], env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What compares shortest paths, importable as the scripts import it."""
    monkeypatch.syspath_prepend(str(SPEED))
    import harness.beside_reasoning_gym

    return harness.beside_reasoning_gym


@pytest.fixture
def floor(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What compares with the null environment."""
    monkeypatch.syspath_prepend(str(SPEED))
    import harness.beside_null

    return harness.beside_null


def test_turns_forks_resets_and_instances_are_put_into_one_table() -> None:
    done = run("envs.py", "--rounds", "1", "--markdown")
    assert done.returncode == 0, done.stderr
    assert "no --peers: textarena_games.py is left out" in done.stdout
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    assert {len(row) for row in rows} == {5}
    for game in ("Plan-Path 8x8", "Sokoban 10x10", "Sudoku 4x4", "Sudoku 9x9", "Sudoku 16x16"):
        measured = [row[0].removeprefix(f"| {game}: ") for row in rows if game in row[0]]
        assert measured == ["turn", "turn, new games", "fork", "reset, instance at hand", "new instance"]
    assert " cores, Python 3.11" in done.stdout


def test_a_peer_that_is_not_there_is_left_out_by_name(tmp_path: Path) -> None:
    """This project's own environment has no textarena."""
    assert "left out: textarena_rooms.py: ModuleNotFoundError" in run("sokoban.py", peers=sys.executable).stdout
    assert f"left out: {tmp_path}/python: " in run("sokoban.py", peers=f"{tmp_path}/python").stdout


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType]:
    """What compares cages, and what compares judges of answers."""
    monkeypatch.syspath_prepend(str(SPEED))
    import harness.answers
    import harness.cages

    return harness.cages, harness.answers


@pytest.mark.parametrize(
    ("grid", "moves", "fault"),
    [
        (GRID, "right right right", ""),
        (GRID, "down up right right right", "is no shortest path, which has 3 moves"),
        (GRID, "right right", "is no shortest path"),
        (GRID, "right down right up right", "leads into a wall"),
        (GRID, "", "is no shortest path"),
        (GRID.replace("..G", ".#G").replace("##.", "###"), "", ""),
        (GRID.replace("..G", ".#G").replace("##.", "###"), "right", "can't be reached"),
        ("@G", "right", "is for a grid that is not 4x4"),
    ],
)
def test_a_path_that_is_not_shortest_is_told_from_one_that_is(
    grid: str, moves: str, fault: str, paths: ModuleType
) -> None:
    found = paths.path_fault(grid, moves.split(), 4)
    assert fault in found
    assert bool(fault) == bool(found)


@pytest.mark.parametrize("answer", ["nonsense", "<answer>G9=1</answer>"])
def test_an_answer_that_does_nothing_is_not_timed(answer: str, floor: ModuleType) -> None:
    game = floor.GAMES[-1]
    env = game.begin()
    floor.check(env, game.answers(env)[:4])
    with pytest.raises(SystemExit, match="does nothing"):
        floor.check(env, [answer])


class AlwaysFour:
    """A sandbox that runs nothing."""

    name, guarantees = "four", frozenset[str]()

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        return [Outcome(Status.OK, 0, "4\n") for _ in programs]


def test_an_arm_that_judges_otherwise_is_not_timed(judging: tuple[ModuleType, ModuleType]) -> None:
    cages, _ = judging
    cages.check_verdicts("python -I each", cages.InterpreterEach("python -I each"))
    with pytest.raises(SystemExit, match="four: verdicts"):
        cages.check_verdicts("four", AlwaysFour())


def test_a_judge_that_misses_right_answers_is_not_timed(judging: tuple[ModuleType, ModuleType]) -> None:
    _, answers = judging
    given = [("5", "5"), ("5", "5\\%"), ("7", "7 dollars")]
    answers.check(given, [True, False, True], [True, True, False])
    with pytest.raises(SystemExit, match="says right and we do not"):
        answers.check(given, [False, False, True], [True, True, False])


def test_the_runner_is_put_beside_a_bare_loop_and_a_busy_sandbox() -> None:
    done = run("runner.py", "--rounds", "1", "--episodes", "8", "--memory", "40", "--markdown")
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| runner: ")]
    assert [row[2] for row in rows] == ["bare loop", "sandbox alone"]
    assert "MB after 40;" in done.stdout


def test_an_arm_that_does_not_do_its_work_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SPEED))
    import harness.runs

    harness.runs.check([True, True])
    with pytest.raises(SystemExit, match="does not do its work"):
        harness.runs.check([True, False])
