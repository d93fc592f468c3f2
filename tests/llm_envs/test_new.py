"""`llm-envs new`: the environment that it writes works, and the kit says in words what breaks it."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from llm_envs.cli import main
from llm_envs.core.errors import UsageError
from llm_envs.scaffold import LONGEST, scaffold
from llm_envs.testing import ConformanceError, check_env
from tests.architecture.markdown_blocks import blocks
from tests.architecture.paths import ROOT

PAGE = ROOT / "docs" / "new_environment.md"
MOST_LINES = 150
POTENTIAL = """\
    def potential(self, state: State) -> float:
        return 1.0 if state.opened else 1.0 - math.log(state.high - state.low, self.top)
"""
LONGEST_NAME = "a_name_of_20_letters"
USE_IT = """
import pettingzoo, llm_envs
from llm_envs.cli import main

parallel = pettingzoo.make("parallel", "my_env-v0")
print(pettingzoo.make("aec", "my_env-v0"), parallel.possible_agents, llm_envs.make("my_env_v0", digits=2))
assert main(["list"]) == main(["show", "my_env_v0"]) == main(["play", "my_env_v0"]) == 0
assert main(["new", "my_env"]) == 2
"""
RETURN_NUMBER = 'return Unparsed(f"it holds no number of {self.digits} digits") if number is None else number'
RETURN_LOW = "            return Transition(replace(state, low=max(state.low, action)), penalties)"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The generated module."""
    (module, *_) = scaffold("my_env", tmp_path_factory.mktemp("new"))
    return module.read_text()


def run(*command: str, cwd: Path, python_path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Python in a process of its own, which imports this checkout."""
    found = os.pathsep.join(str(path) for path in (ROOT, python_path) if path)
    environment = os.environ | {"PYTHONPATH": found}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_a_generated_environment_passes_its_own_tests(tmp_path: Path) -> None:
    scaffold("my_env", tmp_path)
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "my_env", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


@pytest.mark.parametrize("name", ["a", "my_env", LONGEST_NAME])
def test_a_generated_environment_is_short_and_clean(name: str, tmp_path: Path) -> None:
    assert len(LONGEST_NAME) == LONGEST
    files = scaffold(name, tmp_path)
    assert sum(len(file.read_text().splitlines()) for file in files) <= MOST_LINES
    for check in (("check",), ("format", "--check")):
        config = ("--config", str(ROOT / "pyproject.toml"), "--config", "lint.extend-ignore=['INP001']")  # no package
        done = run("-m", "ruff", *check, *config, str(files[0]), cwd=tmp_path)
        assert done.returncode == 0, done.stdout


def test_an_installed_environment_is_found_by_name_everywhere(tmp_path: Path) -> None:
    """The entry point serves the script, `llm_envs.make` and `pettingzoo.make`."""
    scaffold("my_env", tmp_path)
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    install = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", str(site))
    done = run(*install, str(tmp_path / "my_env"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    elsewhere.mkdir()
    done = run("-c", USE_IT, cwd=elsewhere, python_path=site)
    assert done.returncode == 0, done.stderr
    assert "my_env_v0 ['scout_0', 'guesser_0'] my_env_v0" in done.stdout
    assert "success after 1 cycle (terminated); returns: scout_0 +1.000, guesser_0 +1.000" in done.stdout
    assert "my_env-v0\tscout, guesser\tMy env: two agents find the code of a safe" in done.stdout
    assert "Version history" in done.stdout
    assert "--- what guesser_0 sees first" in done.stdout
    assert "is the name of an environment that is installed" in done.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("my-env", "joined by single underscores"),
        ("MyEnv", "letters a-z"),
        ("1st_env", "a letter first"),
        ("my__env", "single underscores"),
        ("my_env_", "single underscores"),
        ("../my_env", "letters a-z"),
        ("", "e.g. my_env"),
        ("a" * (LONGEST + 1), f"at most {LONGEST} characters"),
        ("my_env_v3", "without a version; write 'my_env', and the module is my_env_v0"),
        ("sudoku", "choose another"),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_the_rule(
    name: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", name, "--dir", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_exists_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my_env").mkdir()
    assert main(["new", "my_env", "--dir", str(tmp_path)]) == 2
    assert "exists already; choose another name" in capsys.readouterr().err
    assert list((tmp_path / "my_env").iterdir()) == []
    with pytest.raises(UsageError, match="must be a folder that exists"):
        scaffold("my_env", tmp_path / "nowhere")


def test_the_command_says_what_to_do_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "my_env", "--dir", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert {f"{tmp_path}/my_env/{file.name}" for file in (tmp_path / "my_env").iterdir()} <= set(shown.splitlines())
    assert "llm-envs play my_env_v0 --role guesser=human" in shown


# Words of the page's table -> the slip: parts of the generated file and what stands there instead.
SLIPS: dict[str, dict[str, str]] = {
    "MyEnvTask.potential is missing: add potential(state). How near the solution is, in [0, 1]": {POTENTIAL: ""},
    "MyEnvTask.observe, for scout, gives None: must return text.": {
        'return f"You are the {role}': '_ = f"You are the {role}'
    },
    "must give an action, or Unparsed(why, in words).": {RETURN_NUMBER: "return int(text)"},
    "an observation of scout_0 holds the secret": {"The code is above": "The code {state.code} is above"},
    "Task.potential is 2.0: must lie in [0, 1].": {"return 1.0 if state.opened": "return 2.0 if state.opened"},
    "each must lie in [-1, 0]": {'{"waste": 0.0 if': '{"bonus": 0.1, "waste": 0.0 if'},
    "derive all chance from (split, index)": {
        'random.Random(f"my_env-v0:{self.digits}:{split}:{index}")': "random.Random()"
    },
    "let a hash of the content decide the split": {
        "{Split.TEST: 0, Split.VALIDATION: 1, Split.TRAIN: rng.randint(2, 7)}[split]": "rng.randint(0, 7)"
    },
    "Task.apply changed the state that it was given": {
        "@dataclass(frozen=True)": "@dataclass",
        RETURN_LOW: "            state.low = action\n            return Transition(replace(state), penalties)",
    },
    "the oracle does not solve train 0 within max_cycles=8": {"number = state.code if": "number = 1 if"},
}


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """An empty module under the generated one's name, so that its classes pickle."""
    module = ModuleType("my_env_v0")
    monkeypatch.setitem(sys.modules, "my_env_v0", module)
    return module


@pytest.mark.parametrize("words", SLIPS)
def test_a_slip_is_told_in_words(words: str, source: str, loaded: ModuleType) -> None:
    """What `docs/new_environment.md` promises of each."""
    broken = source
    for right, wrong in SLIPS[words].items():
        assert right in source, "the slip is one in the generated file"
        broken = broken.replace(right, wrong)
    exec(compile(broken, "my_env_v0.py", "exec"), vars(loaded))
    with pytest.raises(ConformanceError) as caught:
        check_env(loaded.env, {"digits": 2} if "split" in words else {})
    assert words in str(caught.value)


def test_without_a_slip_nothing_is_told(source: str, loaded: ModuleType) -> None:
    """Negative control of the test above."""
    exec(compile(source, "my_env_v0.py", "exec"), vars(loaded))
    check_env(loaded.env)


def test_the_page_shows_the_generated_files_and_the_kits_words(tmp_path: Path) -> None:
    page = PAGE.read_text()
    written = "".join(file.read_text() for file in scaffold("my_env", tmp_path))
    excerpts = [block.code for block in blocks(PAGE, "text")]
    assert len(excerpts) == 6
    assert [excerpt for excerpt in excerpts if excerpt not in written] == []
    rows = page.partition("| slip |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(rows) == len(SLIPS)
    assert [words for words in SLIPS if words not in page] == []
