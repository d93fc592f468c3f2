"""Fields of rows. Whatever is missing or of another kind is a `RowError` that names the field."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llm_envs.data.errors import RowError

Row = Mapping[str, Any]

_IDS = ("id", "task_id", "problem_id", "question_id", "name", "problem_idx")
_SHOWN = 60


def row_id(row: Row) -> str | None:
    """What a data set calls its row, in the first field that names it."""
    for field in _IDS:
        value = row.get(field)
        if isinstance(value, str | int) and str(value).strip():
            return str(value)
    return None


def text(row: Row, field: str) -> str:
    """A text that is not empty."""
    value = row.get(field)
    if value is None:
        raise RowError(f"no {field!r}")
    if not isinstance(value, str):
        raise RowError(f"{field!r} is {_kind(value)}, not text")
    if not value.strip():
        raise RowError(f"{field!r} is empty")
    return value


def optional_text(row: Row, field: str) -> str:
    """A text, empty where the field is missing, null or blank."""
    return text(row, field) if row.get(field) not in (None, "") and str(row[field]).strip() else ""


def items(row: Row, field: str) -> list[Any]:
    """A list, empty where the field is missing or null."""
    value = row.get(field)
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise RowError(f"{field!r} is {_kind(value)}, not a list")
    return list(value)


def mapping(row: Row, field: str) -> Row:
    """An object."""
    value = row.get(field)
    if not isinstance(value, Mapping):
        raise RowError(f"{field!r} is {_kind(value)}, not an object")
    return value


def number(row: Row, field: str) -> float:
    """A number, 0 where the field is missing or null."""
    value = row.get(field)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RowError(f"{field!r} is {_kind(value)}, not a number")
    return float(value)


def decoded(row: Row, field: str) -> Any:
    """The value of a field that holds JSON as text; one that somebody has decoded before is taken as it is."""
    value = row.get(field)
    return value if isinstance(value, list | dict) else parse_json(text(row, field), repr(field))


def parse_json(document: str | bytes, what: str) -> Any:
    """A JSON value; `what` names it in the error."""
    try:
        return json.loads(document)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{what} is no JSON ({error})") from error


def to_json(value: Any, what: str) -> str:
    """The value as JSON; `what` names it in the error."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise RowError(f"{what} is nothing that JSON holds: {shown(value)} ({error})") from error


def shown(value: Any) -> str:
    """A value in a message, cut to size."""
    written = repr(value)
    return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}..."


def _kind(value: Any) -> str:
    return "null" if value is None else f"of type {type(value).__name__}"
