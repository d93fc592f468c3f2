"""Options that name some of what there is."""

import pytest

from llm_envs.core.errors import UsageError
from llm_envs.core.names import chosen_names

KNOWN = ("algebra", "counting", "geometry")


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        (None, KNOWN),
        ("counting", ("counting",)),
        (["geometry", "algebra"], ("algebra", "geometry")),  # in the order of what is known, whoever asks how
        (("algebra", "algebra"), ("algebra",)),
    ],
)
def test_names_come_once_and_in_the_known_order(given: str | list[str] | None, chosen: tuple[str, ...]) -> None:
    assert chosen_names("topics", given, KNOWN) == chosen


@pytest.mark.parametrize(
    ("given", "said"), [("algbera", "Did you mean 'algebra'"), ([], "several names"), (3, "topics=3")]
)
def test_what_is_not_there_is_refused_in_words(given: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        chosen_names("topics", given, KNOWN)  # type: ignore[arg-type]  # what users type is not checked by types
