"""Instances: reachable, within the dials, disjoint by split, the same everywhere."""

import hashlib
import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.instances import split_of_content
from llm_envs.core.task import Split
from llm_envs.plan_path.generator import Dials, generate
from llm_envs.plan_path.moves import OUTSIDE
from tests.llm_envs.plan_path.strategies import dials
from tests.scale import scaled

COMMON = Dials(size=8, walls=0.2, min_path=4, max_path=160)


@given(dials(), st.sampled_from(Split), st.integers(0, 1 << 31))
def test_every_seed_gives_a_board_within_the_dials(dials: Dials, split: Split, index: int) -> None:
    board = generate(dials, split, index)
    assert board.size == dials.size
    assert dials.min_path <= board.length <= dials.max_path
    assert board.start not in board.blocked
    assert board.goal not in board.blocked


@pytest.mark.parametrize(
    "dials",
    [
        Dials(4, 0.0, 6, 6),
        Dials(4, 0.5, 6, 40),
        Dials(4, 0.5, 1, 1),
        Dials(16, 0.5, 30, 256),
        Dials(16, 0.0, 30, 30),
        Dials(8, 0.0, 8, 8),
        Dials(16, 0.5, 30, 30, weights=9),
        Dials(4, 0.5, 6, 6, weights=9),
        Dials(4, 0.0, 3, 3, diagonal=True),
        Dials(16, 0.5, 15, 15, diagonal=True),
        Dials(16, 0.5, 15, 15, weights=2, diagonal=True),
    ],
)
@pytest.mark.parametrize("split", Split)
def test_no_corner_of_the_dials_fails_a_seed(dials: Dials, split: Split) -> None:
    for index in range(scaled(fast=5, long=500)):
        board = generate(dials, split, index)
        assert dials.min_path <= board.length <= dials.max_path


def test_the_share_of_walls_is_the_one_asked_for() -> None:
    for index in range(20):
        board = generate(COMMON, Split.TRAIN, index)
        assert len(board.blocked - {OUTSIDE}) == round(0.2 * 64)


def test_splits_are_disjoint_by_content_whatever_the_dials() -> None:
    """UC-011."""
    options = [Dials(8, 0.2, 4, 160, diagonal=True), Dials(8, 0.2, 4, 160, weights=2), Dials(4, 0.1, 1, 160, 2, True)]
    some = [*options, COMMON, Dials(8, 0.2, 1, 160), Dials(8, 0.2, 4, 20), Dials(4, 0.0, 6, 160), Dials(4, 0.1, 1, 160)]
    count = scaled(fast=60, long=5000)
    texts = {split: {generate(dials, split, index).text for dials in some for index in range(count)} for split in Split}
    for one, other in itertools.combinations(Split, 2):
        assert not texts[one] & texts[other]


def test_the_content_decides_the_split() -> None:
    for split in Split:
        assert all(split_of_content(generate(COMMON, split, index).text.encode()) is split for index in range(30))


def test_without_the_rule_splits_would_overlap() -> None:
    """Negative control: on the smallest boards, drawing alone would give train and test the same ones."""
    tiny = Dials(4, 0.0, 6, 6)
    boards = {generate(tiny, Split.TRAIN, index).text for index in range(40)}
    assert len(boards) < 40, "boards repeat within a split, so they would repeat across splits"


def test_sixty_four_indices_give_different_boards() -> None:
    """UC-011."""
    assert len({generate(COMMON, Split.TRAIN, index).text for index in range(64)}) == 64


def test_a_horizon_that_does_not_bind_changes_no_instance() -> None:
    assert generate(COMMON, Split.TEST, 3) == generate(Dials(8, 0.2, 4, 100_000), Split.TEST, 3)


@pytest.mark.parametrize(
    ("split", "digest"),
    [("train", "02223eb581a660b7"), ("validation", "c56a08a59204a7b3"), ("test", "98b0f90d515206ff")],
)
def test_instances_are_those_of_version_zero(split: str, digest: str) -> None:
    """UC-022, for paths: a change of this list is a new version of the environment."""
    texts = [generate(COMMON, Split(split), index).text for index in range(20)]
    texts.append(generate(Dials(4, 0.5, 6, 40), Split(split), 0).text)
    assert hashlib.blake2b("\n\n".join(texts).encode(), digest_size=8).hexdigest() == digest


OPTIONS = {"weights": {"weights": 9}, "diagonal": {"diagonal": True}, "both": {"weights": 5, "diagonal": True}}


@pytest.mark.parametrize(
    ("options", "digest"),
    [("weights", "d83ac2626a844fb2"), ("diagonal", "074ac6db11a5728b"), ("both", "3b6c131a1259e2c0")],
)
def test_instances_with_options_are_those_of_version_zero(options: str, digest: str) -> None:
    """UC-022, as above."""
    dials = Dials(8, 0.2, 4, 160, **OPTIONS[options])
    texts = [generate(dials, split, index).text for split in Split for index in range(10)]
    assert hashlib.blake2b("\n\n".join(texts).encode(), digest_size=8).hexdigest() == digest


def test_costs_are_spread_over_the_whole_range_and_nobody_pays_for_start_and_goal() -> None:
    dials = Dials(8, 0.2, 4, 160, weights=4)
    found = Counter[int]()
    for index in range(40):
        board = generate(dials, Split.TRAIN, index)
        assert board.costs[board.start] == board.costs[board.goal] == 1
        found.update(board.costs[cell] for cell in range(64) if cell not in board.blocked)
    assert set(found) == {1, 2, 3, 4}
    assert min(found.values()) > 0.2 * found.total()


def test_an_option_gives_other_instances() -> None:
    """Negative control: what the options change is drawn anew, not painted over the plain instances."""
    walls = [generate(Dials(8, 0.2, 4, 160, **options), Split.TRAIN, 0).blocked for options in ({}, *OPTIONS.values())]
    assert len(set(walls)) == 4
