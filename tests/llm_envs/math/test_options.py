"""Options and page of the math environment."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from llm_envs import math_v0
from llm_envs.core.errors import UsageError
from llm_envs.core.options import options_of
from llm_envs.core.task import Split
from llm_envs.math.families.base import Topic
from llm_envs.math.families.table import FAMILIES
from llm_envs.math.task import MathTask
from tests.llm_envs.math.scenes import UNDECIDABLE, answered, game, tool_says


def rewards_of_the_page() -> dict[str, float]:
    """The table of rewards: the name in its first column -> the number that its third begins with."""
    found: dict[str, float] = {}
    page = (math_v0.__doc__ or "").split("### Rewards")[1].split("### Options")[0]
    for row in re.findall(r"^\| (.+?) \| .+? \| (-?[0-9.]+)\b.*\|$", page, flags=re.MULTILINE):
        found[row[0].replace("`", "")] = float(row[1])
    return found


def after(stdout: str) -> float:
    return tool_says(stdout).infos["tool_0"]["local_reward"]


def team(*answers: str) -> float:
    return answered(*answers).infos["reasoner_0"]["team_reward"]


def invalid() -> float:
    env = game()
    env.step("no program")
    return env.rewards["tool_0"]


MEASURED: dict[str, Callable[[], float]] = {
    "team, right": lambda: team("41", "42"),
    "team, no longer right": lambda: team("42", "41"),
    "team, else": lambda: team("41", "40"),
    "format": invalid,
    "program": lambda: after(""),
    "shortfall, wrong": lambda: after("41"),
    "shortfall, right": lambda: after("42"),
    "shortfall, undecided": lambda: after(UNDECIDABLE),
}


def test_the_page_tells_every_reward_as_it_is() -> None:
    """UC-058."""
    assert rewards_of_the_page() == {name: measure() for name, measure in MEASURED.items()}


def test_the_page_lists_every_option_with_its_default() -> None:
    rows = [line for line in (math_v0.__doc__ or "").splitlines() if line.startswith("| `")]
    for name, default in options_of(math_v0.env).items():
        (row,) = [row for row in rows if row.startswith(f"| `{name}` |")]
        if name not in {"agents", "turn_order"}:
            shown = f'"{default}"' if isinstance(default, str) else str(default)
            assert row.split("|")[2].strip() == shown


def test_the_page_names_every_topic() -> None:
    for topic in Topic:
        assert topic in (math_v0.__doc__ or "")


# ---- options


def test_topics_and_families_choose_where_questions_come_from() -> None:
    some = [name for name, family in FAMILIES.items() if family.topic is Topic.ARITHMETIC][:2]
    for options, names in (
        ({}, set(FAMILIES)),
        ({"topics": "arithmetic"}, {name for name in FAMILIES if FAMILIES[name].topic is Topic.ARITHMETIC}),
        ({"families": some}, set(some)),
        ({"families": some[0], "topics": ["arithmetic", "counting"]}, {some[0]}),
    ):
        task = MathTask(**options)
        assert set(task.families) == names
        assert {task.instance(Split.TRAIN, index).question.name for index in range(60)} <= names


def test_the_order_in_which_families_are_named_is_no_matter() -> None:
    first, second, *_ = FAMILIES
    one, other = MathTask(families=[first, second]), MathTask(families=[second, first])
    assert one.instance(Split.TEST, 3) == other.instance(Split.TEST, 3)


def test_difficulties_are_levels() -> None:
    questions = [MathTask(difficulty=name).instance(Split.TRAIN, 0).question for name in ("easy", "medium", "hard")]
    assert len(set(questions)) == 3
    assert [MathTask(difficulty=name).level for name in ("easy", "medium", "hard")] == [1, 2, 3]


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("difficulty", "herd", "Did you mean 'hard'"),
        ("topics", "algebr", "Did you mean 'algebra'"),
        ("topics", [], "a name, several names, or None"),
        ("topics", 3, "a name, several names, or None"),
        ("families", ["wrok_rate"], "Did you mean 'work_rate'"),
        ("stop", "agree", "Did you mean 'agreement'"),
        ("observation", "global", "full, local"),
        ("roles", "duo", "single, team"),
    ],
)
def test_options_with_wrong_values_are_refused_in_words(option: str, value: Any, words: str) -> None:
    with pytest.raises(UsageError, match=f"{option}=.*{words}"):
        MathTask(**{option: value})


def test_topics_and_families_without_a_family_in_both_are_refused() -> None:
    with pytest.raises(UsageError, match="no family is in both"):
        MathTask(topics="counting", families="work_rate")


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("What is 1 + 1?", '"text": ..., "answer": ...'),
        ({"text": "What is 1 + 1?"}, "'answer'.*text, and not empty"),
        ({"text": "What is 1 + 1?", "answer": ""}, "'answer'.*text, and not empty"),
        ({"text": " ", "answer": "2"}, "'text'.*text, and not empty"),
        ({"text": "What is 1 + 1?", "answer": 2}, "'answer'.*text, and not empty"),
        ({"text": "What is 1 + 1?", "answers": "2"}, "Did you mean 'answer'"),
        ({"text": "What is 1 + 1?", "answer": "..."}, "an answer that the judge can read"),
    ],
)
def test_a_task_that_is_no_question_is_refused(task: Any, words: str) -> None:
    """UC-053: also one whose answer could never be given."""
    with pytest.raises(UsageError, match=words):
        game(task)
