"""Every code block of the pages works as printed (UC-179)."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

from at_grpo.loading import load_config
from llm_envs.registry import ENVIRONMENTS
from tests.architecture.chat_server import chat_server
from tests.architecture.markdown_blocks import FENCE, Block, blocks, commands
from tests.architecture.paths import ROOT

PAGES = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")))
CONSOLE_SCRIPTS = {"llm-envs", "at-grpo"}
SURROUNDINGS = {"git", "cd", "pip", "source", "export", "pre-commit", "pytest", "python3.11"}
SURROUNDINGS |= {"inspect", "vf-eval"}  # which tests/benchmarks/exports run as printed
LINK = re.compile(r"\]\(([^)\s]+)\)")
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


@pytest.mark.parametrize("block", parameters("yaml"))
def test_a_yaml_block_is_a_configuration_that_the_trainer_takes(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(block.code)
    load_config(path)
    path.write_text(block.code.replace("rollout:", "rolout:"))
    with pytest.raises(ValueError, match="Did you mean 'rollout'"):  # negative control
        load_config(path)


def test_every_fenced_block_is_in_a_language_that_is_tested_or_is_no_code() -> None:
    fences = [match["language"] for page in PAGES for match in FENCE.finditer((ROOT / page).read_text())]
    excerpts = {"py"}  # of a file that is tested: see tests/llm_envs/test_new.py
    assert set(fences) <= {"python", "bash", "yaml", "text"} | excerpts
    openings = sum(line.startswith("```") for page in PAGES for line in (ROOT / page).read_text().splitlines())
    assert openings == 2 * len(fences), "a block without a language would not be tested"


def test_the_readme_lists_exactly_the_environments_that_are_registered() -> None:
    listed = re.findall(r"^\| `(llm_envs/[\w-]+)` \|", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert sorted(listed) == sorted(ENVIRONMENTS)


def test_the_readme_names_the_versions_that_are_pinned() -> None:
    """UC-182."""
    pins = re.findall(r'^  "([\w-]+)==([\d.]+)"', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)
    assert pins
    assert [pin for pin in pins if " ".join(pin) not in (ROOT / "README.md").read_text()] == []


def test_the_links_of_the_pages_lead_to_files_that_exist() -> None:
    links = [(page, link) for page in PAGES for link in LINK.findall((ROOT / page).read_text())]
    assert links
    assert [
        pair for pair in links if "://" not in pair[1] and not (ROOT / pair[0]).parent.joinpath(pair[1]).exists()
    ] == []


@cache
def help_of(*command: str) -> str:
    """What a console script says about itself; an unknown command fails here."""
    program = Path(sys.executable).parent / command[0]
    done = subprocess.run([str(program), *command[1:], "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)} --help: {done.stderr}"
    return done.stdout


def problems(words: list[str]) -> list[str]:
    """What is wrong with one shell command of a page; empty if nothing."""
    program, arguments = Path(words[0]).name, list(takewhile(lambda word: word != "--", words[1:]))
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
