"""Promises of the generator: the same question for the same arguments everywhere, and none in two splits."""

import hashlib
import os
import subprocess
import sys
from collections import Counter

import pytest

from llm_envs.core.errors import UsageError
from llm_envs.core.instances import split_of_content
from llm_envs.core.task import Split
from llm_envs.math.families.base import LEVELS
from llm_envs.math.families.generator import generate
from llm_envs.math.families.table import FAMILIES
from tests.scale import scaled

ALL = tuple(FAMILIES)
DIGEST = f"""
import hashlib
from llm_envs.core.task import Split
from llm_envs.math.families.generator import generate

questions = [generate({ALL!r}, level, split, index) for level in {LEVELS} for split in Split for index in range(40)]
print(hashlib.sha256(repr(questions).encode()).hexdigest())
"""


def _digest(count: int = 40) -> str:
    questions = [generate(ALL, level, split, index) for level in LEVELS for split in Split for index in range(count)]
    return hashlib.sha256(repr(questions).encode()).hexdigest()


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_another_process_generates_the_same_questions(hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIGEST],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == _digest()
    assert done.stdout.strip() != _digest(39), "negative control"


def test_questions_are_those_of_version_0() -> None:
    """Another digest means another version of the environment."""
    assert _digest() == "8768d0a52125e8db506c3726a60b892435d41cb1b22d2e0ef69b56e68c853a79"


@pytest.mark.parametrize("name", FAMILIES)
def test_no_question_is_in_two_splits_whatever_its_level_and_wording(name: str) -> None:
    count = scaled(fast=12, system=100, long=1000)
    programs = {
        split: {generate((name,), level, split, index).program for level in LEVELS for index in range(count)}
        for split in Split
    }
    assert sum(map(len, programs.values())) == len(set[str]().union(*programs.values()))
    assert all(len(found) > 1 for found in programs.values())


def test_a_split_by_wording_would_leak() -> None:
    """Negative control: the same question in other words lands elsewhere when its text decides."""
    splits: dict[str, set[Split]] = {}
    for index in range(4000):
        question = generate(("clock_hands",), 1, Split.TRAIN, index)
        splits.setdefault(question.program, set()).add(split_of_content(question.text.encode()))
    assert any(len(found) > 1 for found in splits.values())


def test_every_family_is_drawn_about_as_often_in_every_split() -> None:
    count = scaled(fast=20, long=200) * len(ALL)
    for split in Split:
        drawn = Counter(generate(ALL, 1, split, index).name for index in range(count))
        assert set(drawn) == set(ALL)
        assert max(drawn.values()) < 3 * count / len(ALL)


def test_only_the_families_asked_for_are_drawn() -> None:
    names = ("urn", "limit")
    assert {generate(names, 2, Split.TEST, index).name for index in range(40)} == set(names)


def test_a_question_is_a_text_that_ends_with_the_form_of_its_answer() -> None:
    for index in range(100):
        question = generate(ALL, 3, Split.VALIDATION, index)
        assert question.text.endswith(f" Give the answer as {FAMILIES[question.name].form}.")
        assert question.text.isascii()
        assert "  " not in question.text
        assert question.answer


def test_what_is_not_there_is_refused_in_words() -> None:
    with pytest.raises(UsageError, match=r"families=\(\): must be the names of at least one family"):
        generate((), 1, Split.TRAIN, 0)
    with pytest.raises(UsageError, match=r"families='urm'.*Did you mean 'urn'"):
        generate(("urm",), 1, Split.TRAIN, 0)
    for level in (0, 4, True, 1.5):
        with pytest.raises(UsageError, match=r"level=.*a whole number from 1 to 3"):
            generate(ALL, level, Split.TRAIN, 0)  # type: ignore[arg-type]
