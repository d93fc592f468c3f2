"""Actions in words: every legal action has an answer, and nothing else is one."""

import json
import random
from typing import Any

import numpy as np
import pytest
from gymnasium import Space, spaces
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.errors import UsageError
from llm_envs.core.parsing import Unparsed
from llm_envs.wrappers.space_choices import choices_of

FLAT = (
    spaces.Discrete(3),
    spaces.Discrete(5, start=-2),
    spaces.Discrete(1000),
    spaces.MultiDiscrete([3, 2, 4]),
    spaces.MultiDiscrete(np.array([[2, 3], [4, 5]]), start=np.array([[1, 0], [-3, 2]])),
    spaces.MultiBinary(4),
    spaces.MultiBinary([2, 2]),
    spaces.Box(-1.0, 2.0, (3,)),
    spaces.Box(np.array([0.0, -np.inf]), np.array([np.inf, 1.0]), dtype=np.float64),
    spaces.Box(0, 255, (2, 2), np.uint8),
    spaces.Text(5, min_length=1),
)
ALL = (
    *FLAT,
    spaces.Dict(move=spaces.Discrete(3), power=spaces.Box(0.0, 1.0, (2,))),
    spaces.Tuple((spaces.Discrete(2), spaces.Dict(deep=spaces.MultiBinary(2)))),
)


@pytest.mark.parametrize("space", ALL, ids=str)
@given(seed=st.integers(0, 2**32))
def test_every_sampled_answer_means_an_action_of_the_space(space: Space[Any], seed: int) -> None:
    choices = choices_of(space)
    action = choices.parse(choices.sample(random.Random(seed)))
    assert space.contains(action), action


@pytest.mark.parametrize("space", ALL, ids=str)
@given(text=st.text(max_size=60))
def test_no_text_raises_or_leads_out_of_the_space(space: Space[Any], text: str) -> None:
    """UC-002, UC-004: whatever is said is an action of the space, or not valid for a stated reason."""
    action = choices_of(space).parse(text)
    assert isinstance(action, Unparsed) or space.contains(action)
    if isinstance(action, Unparsed):
        assert action.reason
        assert len(action.reason) < 300


@pytest.mark.parametrize(
    "text",
    ["nan", "inf", "1e999", "1_0", "٣", "9" * 5000, "0x1", "--1", "1 2", "", "[" * 10_000, "true", "[1]]", "1;"],
)
@pytest.mark.parametrize("space", [spaces.Discrete(1000), spaces.Box(-5.0, 5.0, ()), ALL[-1]], ids=str)
def test_odd_numbers_are_not_valid(space: Space[Any], text: str) -> None:
    assert isinstance(choices_of(space).parse(text), Unparsed)


@given(number=st.integers(-20, 30))
def test_bounds_are_inclusive_and_kept(number: int) -> None:
    action = choices_of(spaces.Box(-3, 7, (1,), np.int16)).parse(str(number))
    assert isinstance(action, np.ndarray) == (-3 <= number <= 7)


def test_ordinary_words_are_never_actions() -> None:
    """UC-016: an answer is matched whole, never by a word inside it."""
    choices = choices_of(spaces.Discrete(4), ["up", "down", "left", "right"])
    for text in ("upright", "gathered", "I go up", "up right", "up.", "uplift", "u", ""):
        assert isinstance(choices.parse(text), Unparsed), text
    assert choices.parse(" UP\n") == 0
    assert choices.parse("right") == 3


def test_only_what_the_mask_leaves_is_legal() -> None:
    choices = choices_of(spaces.Discrete(3, start=1), ["red", "light  green", "blue"], np.array([1, 1, 0], np.int8))
    assert choices.describe() == "one of: red, light  green"
    assert choices.parse("Light green") == 2
    illegal, unknown = choices.parse("blue"), choices.parse("white")
    assert illegal == Unparsed("'blue' is not legal now")
    assert unknown == Unparsed("'white' is none of the actions")


@given(seed=st.integers(0, 2**32))
def test_masks_of_several_numbers_are_kept(seed: int) -> None:
    space = spaces.MultiDiscrete([3, 2], start=[0, 5])
    mask = (np.array([0, 1, 1], np.int8), np.array([1, 0], np.int8))
    choices = choices_of(space, mask=mask)
    first, second = choices.parse(choices.sample(random.Random(seed)))
    assert first in {1, 2}
    assert second == 5
    assert isinstance(choices.parse("0 5"), Unparsed)
    assert isinstance(choices.parse("1 6"), Unparsed)


def test_a_json_answer_may_hold_lists_and_numbers() -> None:
    choices = choices_of(spaces.Dict(move=spaces.Discrete(3), power=spaces.Box(0.0, 1.0, (2,))))
    action = choices.parse(json.dumps({"power": [0.5, 1], "move": 2}))
    assert action["move"] == 2
    assert action["power"].tolist() == [0.5, 1.0]
    for wrong in ({"move": 2}, {"move": 2, "power": [0.5, 1], "more": 0}, {"move": True, "power": [0, 0]}, [2, [0, 0]]):
        assert isinstance(choices.parse(json.dumps(wrong)), Unparsed)


def test_descriptions_say_what_an_answer_must_be() -> None:
    described = {str(space): choices_of(space).describe() for space in FLAT}
    assert described["Discrete(3)"] == "one of: 0, 1, 2"
    assert described["Discrete(1000)"] == "a whole number, 0 to 999"
    assert described["MultiDiscrete([3 2 4])"] == "3 whole numbers separated by spaces, 0 to 2; 0 to 1; 0 to 3"
    assert described["MultiBinary(4)"] == "4 whole numbers separated by spaces, each 0 to 1"
    assert described["Box(-1.0, 2.0, (3,), float32)"] == "3 numbers separated by spaces, each -1 to 2"


def test_what_has_no_words_is_refused_with_the_fix() -> None:
    with pytest.raises(UsageError, match="GameText"):
        choices_of(spaces.Sequence(spaces.Discrete(2)))
    with pytest.raises(UsageError, match="2 names"):
        choices_of(spaces.Discrete(2), ["one"])
    with pytest.raises(UsageError, match="Discrete"):
        choices_of(spaces.MultiBinary(2), ["one", "two"])
    with pytest.raises(UsageError, match="differ"):
        choices_of(spaces.Discrete(2), ["Go", "go "])
