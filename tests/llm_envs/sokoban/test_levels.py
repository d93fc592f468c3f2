"""Reading levels and files of levels."""

import pytest

from llm_envs.core.errors import UsageError
from llm_envs.sokoban.levels import parse_level, read_levels

LEVEL = "#####\n#@$.#\n#   #\n#####"

BOXOBAN = """; 0
#####
#@$.#
#   #
#####

; 1
#####
#+$ #
#   #
#####
"""

COLLECTION = """Title: A few rooms
Author: nobody

  ####
###  ####
#     $ #
# #  #$ #
# . .#@ #
#########

1
; a comment about the next one #4
####
#@ ####
#  $. #
#######
Title: second
"""


def test_boxoban_files_are_read() -> None:
    boards = list(read_levels(BOXOBAN))
    assert [board.text for board in boards] == [LEVEL, "#####\n#+$ #\n#   #\n#####"]


def test_collections_with_titles_and_short_rows_are_read() -> None:
    first, second = read_levels(COLLECTION)
    assert (first.room.rows, first.room.cols, first.boxes.bit_count()) == (6, 9, 2)
    assert first.text.splitlines()[0] == "  ####   "
    assert second.room.cols == 7
    assert parse_level(first.text) == first


def test_windows_line_ends_and_other_floors_are_read() -> None:
    assert parse_level(LEVEL.replace("\n", "\r\n")) == parse_level(LEVEL)
    assert parse_level(LEVEL.replace(" ", "-")) == parse_level(LEVEL)
    assert parse_level(LEVEL.replace(" ", "_") + "\n\n") == parse_level(LEVEL)
    assert len(list(read_levels(BOXOBAN.replace("\n", "\r\n")))) == 2


def test_a_room_of_the_largest_size_with_all_boxes_is_read() -> None:
    rows = ["#" * 16, "#@ $ $ $ $ $ $ #", "#  . . . . . . #", *["#" + " " * 14 + "#"] * 12, "#" * 16]
    board = parse_level("\n".join(rows))
    assert (board.room.rows, board.room.cols, board.boxes.bit_count()) == (16, 16, 6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#####\n#@$.#\n#  x#\n#####", "level symbols"),
        ("#####\n# $.#\n#   #\n#####", "players=0: must be 1"),
        ("#####\n#@$+#\n#   #\n#####", "players=2: must be 1"),
        ("#####\n#@ .#\n#   #\n#####", "boxes=0: must be 1 to 6"),
        ("#####\n#@$$#\n# . #\n#####", "goals=1: must be 2, one for each box"),
        ("#####\n#@$.#\n# . #\n#####", "goals=2: must be 1, one for each box"),
        ("###.#\n#@$ #\n#   #\n#####", "enclosed by walls"),
        ("#####\n#@$.#\n#    \n#####", "enclosed by walls"),
        ("@####\n# $.#\n#   #\n#####", "enclosed by walls"),
        ("#######\n#@$ #.#\n#   # #\n#######", "inside the player's walls"),
        ("#######\n#@  #*#\n# $. ##\n#######", "inside the player's walls"),
        ("\n".join(["#" * 17] * 17), "at most 16 a side"),
        ("", "players=0"),
    ],
)
def test_a_text_that_is_no_level_is_refused_in_words(text: str, words: str) -> None:
    """UC-023: boxes must equal goals. UC-026: a missing player is an error that says so."""
    with pytest.raises(UsageError, match=words):
        parse_level(text)


def test_a_bad_level_in_a_file_is_refused_and_not_skipped() -> None:
    with pytest.raises(UsageError, match="one for each box"):
        list(read_levels(BOXOBAN.replace("#+$ #", "#@$ #")))


def test_a_file_without_levels_gives_none() -> None:
    assert list(read_levels("Title: nothing\n\n")) == []
