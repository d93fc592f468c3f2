"""Rooms: solvable by the plan they carry, within the dials, disjoint by split, the same everywhere."""

import hashlib
import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_envs.core.errors import UsageError
from llm_envs.core.task import Split
from llm_envs.sokoban.board import Board, cells, walk
from llm_envs.sokoban.deadlocks import assess
from llm_envs.sokoban.generator import Dials, Level, content, generate, split_of
from llm_envs.sokoban.layouts import Shape, interior
from llm_envs.sokoban.levels import parse_level
from llm_envs.sokoban.presets import PRESETS, make_dials
from tests.llm_envs.sokoban.reference import Room, fewest_pushes, play, reach
from tests.llm_envs.sokoban.strategies import dials
from tests.scale import scaled

HORIZON = 160  # the text variant's: 8 cycles of 20 moves
KINDS = [make_dials(difficulty=name, max_moves=HORIZON) for name in PRESETS]
SHORT = [make_dials(size=size, boxes=boxes, max_moves=HORIZON) for size, boxes in ((6, 2), (8, 1), (9, 2), (10, 1))]
STORED = Path(__file__).with_name("rooms_v0.txt")


def expect_sound(level: Level, wanted: Dials) -> None:
    """UC-023, in the words of the tests' own Sokoban: one player, boxes == goals, all in reach, unsolved, solvable."""
    room = Room(level.start.text)
    assert len(room.boxes) == len(room.goals) == wanted.boxes
    assert not room.boxes & room.goals
    area = reach(room, frozenset(), room.player)
    assert room.boxes | room.goals <= area
    assert all(0 < row < wanted.rows - 1 and 0 < col < wanted.cols - 1 for row, col in area)
    assert len(level.moves) <= wanted.max_moves
    boxes, _, pushes = play(level.start.text, level.moves)
    assert boxes == room.goals
    assert wanted.min_pushes <= level.bounds.lower <= level.bounds.upper == pushes
    assert parse_level(level.start.text) == level.start


def test_every_room_is_solved_by_the_plan_it_carries() -> None:
    """UC-023: 2,000 rooms at full size."""
    for number in range(scaled(fast=100, long=2000)):
        wanted = KINDS[number % len(KINDS)]
        expect_sound(generate(wanted, list(Split)[number % 3], number), wanted)


def test_the_smallest_number_of_pushes_is_the_one_that_another_search_finds() -> None:
    """Rooms up to 10x10 with one or two boxes; with one box the generator's own bounds are exact."""
    for number in range(scaled(fast=24, long=2000)):
        wanted = SHORT[number % len(SHORT)]
        level = generate(wanted, Split.TRAIN, number)
        fewest = fewest_pushes(level.start.text)
        assert fewest is not None
        assert level.bounds.lower <= fewest <= level.bounds.upper
        if wanted.boxes == 1:
            assert level.bounds.optimal == fewest


def test_a_plan_with_a_move_left_out_is_noticed() -> None:
    """Negative control of replaying."""
    level = generate(KINDS[1], Split.TRAIN, 0)
    assert not walk(level.start, level.moves[:-1]).end.solved


@given(dials(), st.sampled_from(Split), st.integers(0, 1 << 31))
@settings(max_examples=scaled(fast=25, long=1000))
def test_every_seed_gives_a_room_within_the_dials(wanted: Dials, split: Split, index: int) -> None:
    level = generate(wanted, split, index)
    expect_sound(level, wanted)
    assert split_of(level.start) is split
    assert assess(level.start.room, level.start.boxes).deadlock is None


@pytest.mark.parametrize(
    "options",
    [
        {"size": 6, "boxes": 1, "min_pushes": 4, "walls": 0.6},
        {"size": 6, "boxes": 1, "min_pushes": 1, "walls": 0.0},
        {"size": 6, "boxes": 2, "min_pushes": 5, "walls": 0.6, "shape": "scattered"},
        {"size": (6, 16), "boxes": 1, "min_pushes": 14, "walls": 0.0},
        {"size": 16, "boxes": 1, "min_pushes": 24, "walls": 0.3},
        {"size": 16, "boxes": 6, "min_pushes": 10, "walls": 0.6},
    ],
)
def test_no_corner_of_the_dials_fails_a_seed(options: dict) -> None:
    wanted = make_dials(**options, max_moves=400)
    for number in range(scaled(fast=2, long=50)):
        expect_sound(generate(wanted, list(Split)[number % 3], number), wanted)


@pytest.mark.long
def test_ten_thousand_seeds_never_fail() -> None:
    for number in range(10_000):
        wanted = KINDS[number % len(KINDS)]
        expect_sound(generate(wanted, list(Split)[number % 3], 10_000 + number), wanted)


def test_splits_are_disjoint_by_content_whatever_the_dials() -> None:
    """UC-011: turned and mirrored rooms count as the same."""
    some = [KINDS[0], *(make_dials(size=6, walls=walls, min_pushes=1, max_moves=HORIZON) for walls in (0.0, 0.3, 0.6))]
    count = scaled(fast=40, long=3000)
    seen = {
        split: {content(generate(wanted, split, index).start) for wanted in some for index in range(count)}
        for split in Split
    }
    for one, other in itertools.combinations(Split, 2):
        assert not seen[one] & seen[other]
    assert len(seen[Split.TRAIN]) < len(some) * count, "rooms repeat in a split, so they would repeat across splits"


def turned(board: Board, *, mirror: bool) -> Board:
    rows = board.text.split("\n")
    rows = [row[::-1] for row in rows] if mirror else ["".join(column) for column in zip(*rows[::-1], strict=True)]
    return parse_level("\n".join(rows))


@pytest.mark.parametrize("kind", PRESETS)
def test_a_room_keeps_its_split_when_turned_mirrored_or_walked_in(kind: str) -> None:
    start = generate(make_dials(difficulty=kind, size=(8, 9), max_moves=HORIZON), Split.TEST, 4).start
    quarter, mirror = turned(start, mirror=False), turned(start, mirror=True)
    assert content(quarter) == content(mirror) == content(turned(quarter, mirror=True)) == content(start)
    area = reach(room := Room(start.text), room.boxes, room.player)
    for row, col in area:
        assert content(Board(start.room, start.boxes, row * start.room.cols + col)) == content(start)
    for cell in cells(start.boxes):
        other = Board(start.room, start.boxes & ~(1 << cell), start.player)
        assert content(other) != content(start), "negative control"


def test_sixty_four_indices_give_different_rooms() -> None:
    """UC-011."""
    assert len({generate(KINDS[0], Split.TRAIN, index).start.text for index in range(64)}) == 64


def test_a_horizon_that_does_not_bind_changes_no_room() -> None:
    wide = make_dials(max_moves=100_000)
    assert generate(KINDS[0], Split.TEST, 3) == generate(wide, Split.TEST, 3)


def digests() -> list[str]:
    """A hash of the room of each of the seeds 0 to 99, difficulties in turn."""
    texts = (generate(KINDS[index % len(KINDS)], Split.TRAIN, index).start.text for index in range(100))
    return [hashlib.blake2b(text.encode(), digest_size=4).hexdigest() for text in texts]


def test_rooms_are_those_of_version_zero() -> None:
    """UC-022: a change of this list is a new version of the environment."""
    assert digests() == STORED.read_text().split()


@pytest.mark.parametrize("shape", Shape)
def test_walls_are_the_share_that_is_asked_for(shape: Shape) -> None:
    """Up to the cell that a carving walk, two cells wide, cuts beyond."""
    inner = interior(10, 10).bit_count()
    for index in range(10):
        floor = generate(
            make_dials(size=10, shape=shape, walls=0.3, max_moves=HORIZON), Split.TRAIN, index
        ).start.room.floor
        share = 1 - floor.bit_count() / inner
        assert share == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"difficulty": "eas"}, "easy, expert, hard, medium"),
        ({"size": 5}, "from 6 to 16"),
        ({"size": 17}, "from 6 to 16"),
        ({"size": (6, 17)}, "from 6 to 16"),
        ({"size": (6, 6, 6)}, "a pair"),
        ({"size": "8"}, "a pair"),
        ({"size": 8.0}, "a pair"),
        ({"boxes": 0}, "from 1 to 6"),
        ({"size": 16, "boxes": 7}, "from 1 to 6"),
        ({"size": 6, "boxes": 3}, "at most 2 in a room of 6x6"),
        ({"shape": "round"}, "carved, scattered"),
        ({"walls": 0.7}, r"0 to 0\.6"),
        ({"walls": float("nan")}, r"0 to 0\.6"),
        ({"walls": "few"}, r"0 to 0\.6"),
        ({"min_pushes": 0}, "from 1 to 6"),
        ({"min_pushes": 7}, "from 1 to 6"),
        ({"difficulty": "expert", "max_moves": 60}, "at least 136"),
    ],
)
def test_dials_with_wrong_values_are_refused_in_words(options: dict, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make_dials(**{"max_moves": HORIZON, **options})


@pytest.mark.parametrize("difficulty", PRESETS)
def test_every_difficulty_fits_into_the_default_horizons(difficulty: str) -> None:
    """UC-023: a plan exists within the step limit."""
    for horizon in (HORIZON, 200):
        assert make_dials(difficulty=difficulty, max_moves=horizon).boxes == PRESETS[difficulty].boxes
