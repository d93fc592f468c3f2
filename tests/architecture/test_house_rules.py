"""Rules of the house that no linter knows."""

import re

import yaml

import llm_envs
from tests.architecture.paths import PACKAGES, ROOT, python_files, text_files

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|Users|home/[a-z]+)/")
LONGEST_FILE = 400


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in python_files()}
    assert {path: n for path, n in lengths.items() if n > LONGEST_FILE} == {}


def test_no_path_of_one_machine_is_written_anywhere() -> None:
    assert MACHINE_PATH.search(f'open("{"/"}root/x")'), "negative control"
    found = {str(path.relative_to(ROOT)) for path in text_files() if MACHINE_PATH.search(path.read_text())}
    assert found == set()


def test_the_citation_and_the_changelog_name_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == llm_envs.__version__
    headings = re.findall(r"^## \[?([^\]\s]+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert llm_envs.__version__ in headings


def test_every_package_says_that_it_is_typed() -> None:
    assert {name: (folder / "py.typed").exists() for name, folder in PACKAGES.items()} == dict.fromkeys(PACKAGES, True)
