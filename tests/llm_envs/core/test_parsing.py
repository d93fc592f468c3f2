"""Reading replies: tags, thoughts, fences, broken Unicode."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.parsing import clean_text, last_answer, last_code_block, strip_thinking

PIECES = st.lists(st.sampled_from(["<think>", "</think>", "<answer>", "</answer>", "a", "b", "\n", "```", "~~~", "py"]))


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("up", "up"),
        ("<think>left</think>up", "up"),
        ("a<think>x</think>b<think>y</think>c", "abc"),
        ("left</think>up", "up"),
        ("up<think>left", "up"),
        ("<think>a<think>b</think>up", "up"),
        ("<think>a</think>b</think>up", "up"),
        ("I think> so", "I think> so"),
    ],
)
def test_thoughts_are_no_part_of_a_reply(reply: str, kept: str) -> None:
    assert strip_thinking(reply) == kept


@given(PIECES)
def test_no_thinking_tag_survives(pieces: list[str]) -> None:
    assert "<think>" not in strip_thinking("".join(pieces))
    assert "</think>" not in strip_thinking("".join(pieces))


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("no tag", None),
        ("<answer> up </answer>", "up"),
        ("<ANSWER>up</Answer>", "up"),
        ("<answer>up</answer> no, <answer>left</answer>", "left"),
        ("<answer>up</answer> no, <answer>le", "up"),
        ("<answer>a<answer>b</answer>", "b"),
        ("up</answer>", None),
        ("<answer></answer>", ""),
        ("I considered going right, but upon reflection: <answer>left</answer>", "left"),
    ],
)
def test_the_last_closed_answer_counts(reply: str, answer: str | None) -> None:
    """UC-016, UC-017."""
    assert last_answer(reply) == answer


@given(PIECES)
def test_an_answer_holds_no_tag(pieces: list[str]) -> None:
    answer = last_answer("".join(pieces))
    assert answer is None or ("<answer>" not in answer and "</answer>" not in answer)


FENCED = [
    ("print(1)", None),
    ("```python\nprint(1)\n```", "print(1)\n"),
    ("```py\na\n```\ntext\n```\nb\n```", "a\n"),
    ("```\na\n```\n```\nb\n```", "b\n"),
    ("```python\na\n```\n```python\nb\n```", "b\n"),
    ("~~~python\na\n~~~", "a\n"),
    ("```python\na", "a"),
    ("```python\nprint(1)```", "print(1)"),
    ("````python\ntext = '''\n```\ninner\n```\n'''\n````", "text = '''\n```\ninner\n```\n'''\n"),
    ("```python\na\n```\nthen\n```text\noutput", "a\n"),
    ("  ```python\r\nprint(1)\r\n  ```", "print(1)\r\n"),
]


@pytest.mark.parametrize(("reply", "code"), FENCED)
def test_the_last_python_block_is_the_program(reply: str, code: str | None) -> None:
    assert last_code_block(reply) == code


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200).filter(lambda text: "```" not in text))
def test_a_program_in_a_fence_comes_back_as_it_was(code: str) -> None:
    assert last_code_block(f"Here it is:\n```python\n{code}\n```\nDone.") == f"{code}\n"


@given(st.text(alphabet=st.characters(), max_size=100))
def test_cleaned_text_can_be_stored_and_clean_text_is_left_alone(text: str) -> None:
    """UC-002."""
    cleaned = clean_text(text)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert clean_text(cleaned) == cleaned
    if all(not "\ud800" <= character <= "\udfff" for character in text):
        assert cleaned == text


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert clean_text("a\ud800b") == "a�b"
