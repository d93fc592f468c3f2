"""The page of all fields of a configuration. `python -m tests.trainer.config_page` writes it anew."""

import dataclasses
import inspect
import json
import re
import types
import typing
from collections.abc import Iterator
from typing import Any

from at_grpo.config import TrainConfig
from at_grpo.loading import describe_type
from at_grpo.validation import RULES
from tests.architecture.paths import ROOT

PAGE = ROOT / "docs" / "configuration.md"
INTRODUCTION = """\
# The fields of a configuration

A configuration of `at-grpo train` is a YAML file with the sections below. Only what differs from the defaults needs to
be written; `extends: plan_path/per_role`, in the first line, takes the values of a bundled configuration (`at-grpo
configs` lists them) or of a file beside it for defaults, key by key. A policy, role or pool that is null is not there.

On the command line `section.key=value` wins over the file: `optim.steps=200`, `policies.tool.rank=8`,
`'roles.tool={player: {reference: oracle}}'`. A checkpoint's `config.yaml` has every field written out.

A key or value that is not allowed is refused before anything starts, and so are values that do not go together, each
with the fix. This page is generated from `trainer/at_grpo/config.py` by `python -m tests.trainer.config_page`.
"""
HEAD = "| field | default | value | meaning |\n|---|---|---|---|\n"
# The name in a path for the entries of a section whose keys are names.
NAMES = {"policies": "<policy>", "roles": "<role>", "pools": "<policy>"}
FIELD = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


def page() -> str:
    """The whole page."""
    return INTRODUCTION + "".join(_section(path, section) for path, section in sections())


def sections() -> Iterator[tuple[str, type]]:
    """Every section with its path, e.g. `model.warm_start`, in the order of the configuration."""
    yield from _below("", TrainConfig)


def _below(prefix: str, section: type) -> Iterator[tuple[str, type]]:
    for name, hint in typing.get_type_hints(section).items():
        inner = _inner(hint)
        if inner is not None:
            path = prefix + name + (f".{NAMES[name]}" if typing.get_origin(hint) is dict else "")
            yield path, inner
            yield from _below(f"{path}.", inner)


def _inner(hint: Any) -> type | None:
    """The dataclass behind `Section`, `Section | None` or `dict[str, Section]`."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint, *typing.get_args(hint))
    return next((option for option in options if dataclasses.is_dataclass(option)), None)


def meanings(section: type) -> dict[str, str]:
    """Field -> its words in the section's docstring."""
    _, _, attributes = inspect.cleandoc(str(section.__doc__)).partition("\nAttributes:\n")
    return {name: _line(words) for name, words in FIELD.findall(attributes)}


def _section(path: str, section: type) -> str:
    about, hints, words = inspect.cleandoc(str(section.__doc__)), typing.get_type_hints(section), meanings(section)
    paragraphs = "\n\n".join(map(_line, about.partition("\nAttributes:\n")[0].strip().split("\n\n")))
    rows = [
        f"| `{field.name}` | {_default(field)} | {_value(section, field.name, hints[field.name])} "
        f"| {words[field.name]} |\n"
        for field in dataclasses.fields(section)
    ]
    return f"\n## `{path}`\n\n{paragraphs}\n\n{HEAD}{''.join(rows)}"


def _default(field: dataclasses.Field[Any]) -> str:
    value = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    return f"`{value if value and isinstance(value, str) else json.dumps(value)}`"


def _value(section: type, name: str, hint: Any) -> str:
    """What may stand there: the names of a closed set, else the type and the rule."""
    rule = RULES.get(section, {}).get(name)
    if rule is not None and rule.names:
        return "one of " + ", ".join(f"`{allowed}`" for allowed in rule.names)
    if _inner(hint) is not None:
        return "a section, see below, or null"
    if typing.get_origin(hint) is tuple and rule is not None:
        return f"a list: {rule.allowed}"
    return describe_type(hint) + (f"; {rule.allowed}" if rule is not None else "")


def _line(paragraph: str) -> str:
    return " ".join(paragraph.split())


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
