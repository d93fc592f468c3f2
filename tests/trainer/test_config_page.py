"""The reference of the configuration says what the code says."""

import dataclasses

import pytest

from tests.trainer.config_page import PAGE, meanings, page, sections


def test_the_page_is_the_one_that_the_configuration_makes() -> None:
    """`python -m tests.trainer.config_page` writes it."""
    assert PAGE.read_text() == page()
    assert PAGE.read_text() != page().replace("`lora_alpha`", "`alpha`"), "negative control"


@pytest.mark.parametrize(("path", "section"), list(sections()))
def test_every_field_has_words_of_its_own_in_the_order_of_the_fields(path: str, section: type) -> None:
    assert list(meanings(section)) == [field.name for field in dataclasses.fields(section)], path


def test_a_field_without_words_would_be_seen() -> None:
    """Negative control of the test above."""

    @dataclasses.dataclass
    class Section:
        """One.

        Attributes:
            first: has words,
                on two lines.
        """

        first: int = 0
        second: int = 0

    assert meanings(Section) == {"first": "has words, on two lines."}
