"""The suite's commands, as the `llm-envs` script calls them."""

from importlib import import_module
from pathlib import Path

import pytest

from llm_envs.core.errors import UsageError
from llm_envs_bench.store import load_run
from tests.architecture.paths import ROOT
from tests.benchmarks import corridor
from tests.benchmarks.calls import ENTRY_POINTS, call

OURS = {name: module for name, module in ENTRY_POINTS.items() if module.startswith("llm_envs_bench.")}


def evaluate(out: Path, *arguments: object, agent: str = "oracle") -> int:
    return call("eval", "--env", corridor.ENV_ID, "--instances", 4, "--agent", agent, "--out", out, *arguments)


def test_every_command_is_entered_in_the_project_file() -> None:
    modules = {path.stem for path in (ROOT / "benchmarks/llm_envs_bench/commands").glob("*.py")} - {"__init__"}
    assert {module.rpartition(".")[2] for module in OURS.values()} == modules
    for module in OURS.values():
        assert import_module(module).HELP


def test_eval_prints_a_table_and_leaves_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(tmp_path / "run") == 0
    out, err = capsys.readouterr()
    assert "100.0%" in out
    assert "oracle: 4/4 episodes, 4 solved" in err
    assert len(load_run(tmp_path / "run").episodes) == 4


def test_eval_takes_options_roles_and_a_range_of_instances(tmp_path: Path) -> None:
    options = ("--set", "max_cycles=2", "--set", 'agents={"scout": 2}')
    assert evaluate(tmp_path / "run", *options, "--role", "scout=silent", "--first", 10, "--split", "validation") == 0
    run = load_run(tmp_path / "run")
    assert run.spec.agents == {"scout": "silent", "walker": "oracle"}
    assert run.spec.options == {"max_cycles": 2, "agents": {"scout": 2}}
    assert [episode.index for episode in run.episodes] == [10, 11, 12, 13]
    assert not any(episode.success for episode in run.episodes)
    assert run.episodes[0].split == "validation"
    assert run.episodes[0].returns.keys() == {"scout_0", "scout_1", "walker_0"}


def test_eval_says_what_is_owed_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corridor.SANDBOX.is_down = lambda code: code == "3"
    assert evaluate(tmp_path / "run") == 1
    out, err = capsys.readouterr()
    assert "corridor-v0/3/0 is owed: sandbox: the engine is gone" in out
    assert "4/4 episodes, 3 solved, 1 owed" in err
    corridor.SANDBOX.is_down = lambda code: False
    assert evaluate(tmp_path / "run", "--resume") == 0
    assert "oracle: 1/1 episodes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--agent", "oracel"), "Did you mean 'oracle'"),
        (("--role", "walkr=idle"), "Did you mean 'walker'"),
        (("--role", "walker"), "must be NAME=VALUE"),
        (("--env", "plan_path_v9"), "Did you mean 'llm_envs/plan_path-v0'"),
        (("--env", "plan_path_v0", "--set", "sizes=6"), "Did you mean 'size'"),
        (("--instances", 0), "instances=0: must be a whole number >= 1"),
        (("--temperature", 0.5), "no agent is a model"),
        (("--reply-tokens", 5), "no agent takes it"),
        (("--agent", "checkpoint:nowhere"), "holds no adapter; name a checkpoint-<step> folder"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_eval_says_what_to_change(arguments: tuple[object, ...], message: str, tmp_path: Path) -> None:
    """UC-175, UC-178: nothing is ignored in silence."""
    with pytest.raises(UsageError, match=message):
        evaluate(tmp_path / "run", *arguments)
    assert not (tmp_path / "run").exists()


def test_report_compares_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(tmp_path / "a", agent="idle")
    evaluate(tmp_path / "b")
    capsys.readouterr()
    assert call("report", tmp_path / "a", tmp_path / "b") == 0
    assert "corridor-v0" in capsys.readouterr().out
    assert call("report", "--format", "markdown", tmp_path / "a", tmp_path / "b") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[0] for line in lines][:4] == ["| agent", "| ---", "| idle", "| oracle"]


def test_view_writes_a_page_of_one_run_or_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        evaluate(tmp_path / name)
    page = tmp_path / "pages" / "both.html"
    assert call("view", tmp_path / "a", tmp_path / "b", "--out", page) == 0
    assert str(page) in capsys.readouterr().out
    text = page.read_text()
    assert "<title>Corridor</title>" in text
    assert "oracle (a)" in text, "runs of the same agent are told apart by their folders"
    evaluate(tmp_path / "elsewhere" / "a")
    assert call("view", tmp_path / "a", tmp_path / "elsewhere" / "a", "--out", page) == 0
    text = page.read_text()
    assert all(f"oracle ({tmp_path / name})" in text for name in ("a", "elsewhere/a")), "or else by their paths"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a", "--label", "x", "--label", "y"), "must be one for each of the 1 runs"),
        (("a", "a"), "must be different ones; name each once"),
        (("a", "--episodes", "0"), "episodes=0: must be a whole number >= 1"),
    ],
)
def test_what_no_page_can_show_is_told(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate(tmp_path / "a")
    with pytest.raises(UsageError, match=message):
        call("view", *words)
    assert not (tmp_path / "page.html").exists()
