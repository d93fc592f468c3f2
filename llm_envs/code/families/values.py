"""How the arguments and results of a family's function are written: as text for a program, as JSON for a function.

A family is written once, as a function of typed arguments. A problem that asks for a program wants these read from
standard input and its result printed; a problem that asks for a function passes and takes them as JSON.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What an argument or a result is, and how it stands in a text.

    INT: a line with a whole number.
    INTS: a line with whole numbers; an empty line for none.
    TEXT: a line of text, without line breaks; it may be empty.
    LINES: a line with their number, then lines of text.
    ROWS: a line with their number, then lines with whole numbers, none of them empty.
    BOOL: a line with `yes` or `no`.
    """

    INT = "int"
    INTS = "ints"
    TEXT = "text"
    LINES = "lines"
    ROWS = "rows"
    BOOL = "bool"


_INT = re.compile(r"[+-]?[0-9]{1,4000}")
_YES_NO = {"yes": True, "no": False}
_TYPES = {
    Kind.INT: "int",
    Kind.INTS: "list[int]",
    Kind.TEXT: "str",
    Kind.LINES: "list[str]",
    Kind.ROWS: "list[list[int]]",
    Kind.BOOL: "bool",
}
_FORMS = {
    Kind.INT: "one line with a whole number",
    Kind.INTS: "one line with whole numbers, separated by spaces (an empty line if there is none)",
    Kind.TEXT: "one line of text",
    Kind.LINES: "one line with the number of lines, then these lines",
    Kind.ROWS: "one line with the number of rows, then each row on a line, its whole numbers separated by spaces",
    Kind.BOOL: "one line, `yes` or `no`",
}
_READERS = {
    Kind.INT: "int(input())",
    Kind.INTS: "[int(word) for word in input().split()]",
    Kind.TEXT: "input()",
    Kind.LINES: "[input() for _ in range(int(input()))]",
    Kind.ROWS: "[[int(word) for word in input().split()] for _ in range(int(input()))]",
    Kind.BOOL: "input() == 'yes'",
}
_WRITERS = {
    Kind.INT: "print({})",
    Kind.INTS: "print(*{})",
    Kind.TEXT: "print({})",
    Kind.LINES: "lines = {}\nprint(len(lines), *lines, sep='\\n')",
    Kind.ROWS: "rows = {}\nprint(len(rows))\nfor row in rows:\n    print(*row)",
    Kind.BOOL: "print('yes' if {} else 'no')",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a family's function.

    Attributes:
        name: in the statement and in the function.
        kind: how it is written.
        about: what it is and between which bounds it lies, for the statement.
    """

    name: str
    kind: Kind
    about: str


def describe(arguments: tuple[Argument, ...], result: Kind, *, function: str | None) -> str:
    """The part of a statement that tells how to take the arguments and give the result."""
    if function is not None:
        lines = [f"Write a Python function `{signature(function, arguments, result)}`."]
        lines += [f"- `{argument.name}`: {argument.about}" for argument in arguments]
        return "\n".join(lines)
    lines = ["Write a Python program that reads standard input and prints the result.", "Input:"]
    lines += [f"- `{argument.name}`, {argument.about}: {_FORMS[argument.kind]}" for argument in arguments]
    return "\n".join([*lines, f"Output: {_FORMS[result]}"])


def signature(function: str, arguments: tuple[Argument, ...], result: Kind) -> str:
    """`solve(numbers: list[int], limit: int) -> int`."""
    listed = ", ".join(f"{argument.name}: {_TYPES[argument.kind]}" for argument in arguments)
    return f"{function}({listed}) -> {_TYPES[result]}"


def driver(function: str, arguments: tuple[Argument, ...], result: Kind, extra: str) -> str:
    """The lines that make a program of a function: they read its arguments and print its result.

    `extra`: further keyword arguments as source text, e.g. "limit=3"; empty for none.
    """
    lines = [f"{argument.name} = {_READERS[argument.kind]}" for argument in arguments]
    call = ", ".join([*(argument.name for argument in arguments), *filter(None, [extra])])
    return "\n".join([*lines, _WRITERS[result].format(f"{function}({call})")])


def to_stdin(kinds: tuple[Kind, ...], values: tuple[Any, ...]) -> str:
    """The arguments as a program reads them."""
    return "".join(to_text(kind, value) for kind, value in zip(kinds, values, strict=True))


def to_text(kind: Kind, value: Any) -> str:
    """One value in the form that `Kind` names, with its line break."""
    match kind:
        case Kind.INTS:
            return " ".join(map(str, value)) + "\n"
        case Kind.LINES:
            return "\n".join([str(len(value)), *value]) + "\n"
        case Kind.ROWS:
            return "\n".join([str(len(value)), *(" ".join(map(str, row)) for row in value)]) + "\n"
        case Kind.BOOL:
            return "yes\n" if value else "no\n"
        case _:
            return f"{value}\n"


def to_json(values: tuple[Any, ...]) -> str:
    """The arguments as a function takes them: each as JSON on a line."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def read_stdin(kinds: tuple[Kind, ...], text: str) -> list[Any] | None:
    """The arguments that a program reads, or None where the text has another form, or more lines than there are to be
    read.
    """
    lines = iter(text.split("\n"))
    try:
        arguments = [_read(kind, lines) for kind in kinds]
    except (ValueError, StopIteration):
        return None
    return None if any(line.strip() for line in lines) else arguments


def _read(kind: Kind, lines: Iterator[str]) -> Any:
    """One argument. Raises ValueError, StopIteration."""
    line = next(lines).removesuffix("\r")
    match kind:
        case Kind.INT:
            return _whole(line)
        case Kind.INTS:
            return [_whole(word) for word in line.split()]
        case Kind.LINES:
            return [next(lines) for _ in range(_whole(line))]
        case Kind.ROWS:
            return [_read(Kind.INTS, lines) for _ in range(_whole(line))]
        case Kind.BOOL:
            return _yes_or_no(line)
        case _:
            return line


def _yes_or_no(line: str) -> bool:
    if line not in _YES_NO:
        raise ValueError(f"{line[:40]!r} is neither yes nor no")
    return _YES_NO[line]


def _whole(word: str) -> int:
    if not _INT.fullmatch(word.strip(" \t")):
        raise ValueError(f"{word[:40]!r} is no whole number")
    return int(word)


def read_json(kinds: tuple[Kind, ...], text: str) -> list[Any] | None:
    """The arguments that a function is called with, or None where they are others, or of other types."""
    try:
        arguments = [json.loads(line) for line in text.split("\n") if line]
    except (ValueError, RecursionError):
        return None
    right = len(arguments) == len(kinds) and all(map(_is_of_kind, kinds, arguments))
    return arguments if right else None


def _is_of_kind(kind: Kind, value: Any) -> bool:
    """Whether a JSON value has the type that the signature says; true is no number, and 1.0 no whole one."""
    match kind:
        case Kind.INTS:
            return type(value) is list and all(type(item) is int for item in value)
        case Kind.LINES:
            return type(value) is list and all(type(item) is str for item in value)
        case Kind.ROWS:
            return type(value) is list and all(_is_of_kind(Kind.INTS, row) for row in value)
    return type(value) is {Kind.INT: int, Kind.TEXT: str, Kind.BOOL: bool}[kind]
