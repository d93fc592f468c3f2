"""Values of spaces as text: all of a value is shown, in a shape that can be read."""

import re
from typing import Any

import numpy as np
import pytest
from gymnasium import Space, spaces
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from llm_envs.core.errors import UsageError
from llm_envs.wrappers.space_text import array_text, value_text


@given(arrays(np.int64, array_shapes(max_dims=4, max_side=4), elements=st.integers(-99, 99)))
def test_every_number_of_an_array_is_shown_once(array: Any) -> None:
    shown = re.sub(r"\[\d+\]", "", array_text(array)).split()
    assert sorted(map(int, shown)) == sorted(array.flatten().tolist())


@pytest.mark.parametrize(
    ("space", "value", "text"),
    [
        (spaces.Discrete(4), 3, "3"),
        (spaces.Box(0, 1, (2, 3), np.int8), np.eye(2, 3, dtype=np.int8), "1 0 0\n0 1 0"),
        (spaces.Box(0, 1, (2,), np.float32), np.array([0.5, 1 / 3], np.float32), "0.5 0.3333"),
        (spaces.MultiBinary(3), np.array([1, 0, 1], np.int8), "1 0 1"),
        (spaces.Text(9), "hello", "hello"),
        (spaces.Tuple((spaces.Discrete(2), spaces.Text(5))), (1, "a"), "1: 1\n2: a"),
    ],
    ids=str,
)
def test_values_read_as_people_write_them(space: Space[Any], value: Any, text: str) -> None:
    assert value_text(space, value) == text


def test_the_channels_of_a_board_are_planes() -> None:
    """PettingZoo's boards are (rows, columns, channels); a plane a channel is what a board looks like."""
    board = np.zeros((3, 3, 2), np.int8)
    board[0, 2, 1] = 1
    assert array_text(board) == "[0]\n0 0 0\n0 0 0\n0 0 0\n[1]\n0 0 1\n0 0 0\n0 0 0"


def test_a_dict_names_its_entries_but_for_the_mask() -> None:
    space = spaces.Dict(
        action_mask=spaces.MultiBinary(2), board=spaces.Box(0, 1, (2, 2), np.int8), clock=spaces.Discrete(9)
    )
    value = {"action_mask": np.ones(2, np.int8), "board": np.eye(2, dtype=np.int8), "clock": 7}
    assert value_text(space, value) == "board:\n1 0\n0 1\nclock: 7"
    only = spaces.Dict(observation=spaces.Discrete(3), action_mask=spaces.MultiBinary(2))
    assert value_text(only, {"observation": 2, "action_mask": np.ones(2)}) == "2"


def test_what_has_no_form_is_refused_with_the_fix() -> None:
    with pytest.raises(UsageError, match="GameText"):
        value_text(spaces.Sequence(spaces.Discrete(2)), (1, 0))
