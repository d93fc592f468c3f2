"""Programs that work out the answer to a question."""

Literal = int | str | tuple["Literal", ...]


def program(body: str, **numbers: Literal) -> str:
    """The numbers of a question, one assignment each, and then what to do with them.

    Equal numbers in the same body make the same program, whatever words the question is asked in.
    """
    return "".join([f"{name} = {value!r}\n" for name, value in numbers.items()]) + body
