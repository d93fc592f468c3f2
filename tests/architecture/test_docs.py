"""Every code block of the pages works as printed (UC-179)."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.chat_server import chat_server
from tests.architecture.markdown_blocks import Block, blocks, commands
from tests.architecture.paths import ROOT

PAGES = ("README.md", "CONTRIBUTING.md")
CONSOLE_SCRIPTS = {"llm-envs", "at-grpo"}
SURROUNDINGS = {"git", "cd", "pip", "source", "export", "pre-commit", "python3.11"}
MAKE_TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


def parameters(language: str) -> list[pytest.ParameterSet]:
    """The blocks of all pages, and a skip with its reason for a page that is not there."""
    present = [ROOT / name for name in PAGES if (ROOT / name).exists()]
    absent = [name for name in PAGES if not (ROOT / name).exists()]
    found = [pytest.param(block, id=str(block)) for page in present for block in blocks(page, language)]
    return found + [pytest.param(None, id=name, marks=pytest.mark.skip(f"{name} does not exist")) for name in absent]


@pytest.fixture(scope="module")
def chat_url() -> Iterator[str]:
    with chat_server() as url:
        yield url


@pytest.mark.parametrize("block", parameters("python"))
def test_a_python_block_runs_as_printed(block: Block, chat_url: str, tmp_path: Path) -> None:
    environment = os.environ | {"OPENAI_BASE_URL": chat_url, "OPENAI_API_KEY": "unused", "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-c", block.code],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{block}\n{block.code}\n{done.stderr}"


@cache
def help_of(*command: str) -> str:
    """What a console script says about itself; an unknown command fails here."""
    program = Path(sys.executable).parent / command[0]
    done = subprocess.run([str(program), *command[1:], "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)} --help: {done.stderr}"
    return done.stdout


def problems(words: list[str]) -> list[str]:
    """What is wrong with one shell command of a page; empty if nothing."""
    program, arguments = Path(words[0]).name, words[1:]
    if program == "make":
        return [f"no make target {word}" for word in arguments if "=" not in word and word not in MAKE_TARGETS]
    if program in CONSOLE_SCRIPTS:
        positional = arguments[:1] if arguments and not arguments[0].startswith("-") else []
        known = set(re.findall(r"--[a-z][\w-]*", help_of(program, *positional)))
        options = {word.split("=")[0] for word in arguments if word.startswith("--")}
        return [f"{program} {' '.join(positional)} has no {option}" for option in sorted(options - known)]
    return (
        [] if program in SURROUNDINGS else [f"{program} is neither a make target nor a console script of the project"]
    )


@pytest.mark.parametrize("block", parameters("bash"))
def test_a_shell_block_names_targets_commands_and_options_that_exist(block: Block) -> None:
    assert [problem for words in commands(block) for problem in problems(words)] == []


@pytest.mark.parametrize("line", ["make no-such-target", "curl -O x", "llm-envs list --no-such-option"])
def test_a_wrong_shell_line_would_be_seen(line: str) -> None:
    """Negative control of the test above."""
    block = Block("page", 1, "bash", f"# a comment\nNAME=value {line}\n")
    assert [problem for words in commands(block) for problem in problems(words)] != []
