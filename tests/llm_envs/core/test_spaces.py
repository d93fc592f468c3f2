"""Text spaces and observations."""

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.spaces import SAMPLE_LENGTH, TextObservation, TextSpace


@given(st.text(alphabet=st.characters(), max_size=50))
def test_any_text_within_the_length_is_a_member(text: str) -> None:
    """UC-002: white space, all of Unicode and the empty text included."""
    assert text in TextSpace(50)
    assert (text in TextSpace(10)) == (len(text) <= 10)


@pytest.mark.parametrize("thing", [None, 3, b"up", ["up"], np.array("up")])
def test_what_is_no_text_is_no_member(thing: object) -> None:
    assert thing not in TextSpace(10)


def test_the_least_length_holds() -> None:
    assert "" not in TextSpace(5, min_length=1)
    assert "a" in TextSpace(5, min_length=1)


def test_samples_are_short_members_and_repeat_with_the_seed() -> None:
    """UC-004: at the largest length a sample stays short."""
    one, two = TextSpace(1 << 20, seed=3), TextSpace(1 << 20, seed=3)
    samples = [one.sample() for _ in range(200)]
    assert samples == [two.sample() for _ in range(200)]
    assert all(sample in one and len(sample) <= SAMPLE_LENGTH for sample in samples)


def test_samples_do_not_depend_on_the_hash_seed() -> None:
    """UC-010."""
    program = "from llm_envs.core.spaces import TextSpace; print(repr(TextSpace(99, seed=1).sample()))"
    runs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(runs) == 1


def test_the_repr_does_not_flood_a_log() -> None:
    """UC-002."""
    assert len(repr(TextSpace(1 << 20))) < 40


def test_an_observation_has_the_dtype_that_the_api_test_reads_and_its_copies_are_plain_text() -> None:
    """UC-001."""
    seen = TextObservation("über □")
    assert seen.dtype == TextSpace(9).dtype
    assert seen == "über □"
    for twin in (copy.copy(seen), copy.deepcopy(seen), pickle.loads(pickle.dumps(seen)), copy.deepcopy([seen])[0]):
        assert type(twin) is str
        assert twin == seen
    assert json.loads(json.dumps({"seen": seen})) == {"seen": "über □"}
