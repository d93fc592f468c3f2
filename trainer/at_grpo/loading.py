"""Configurations from YAML and the command line: one set of dataclasses, one way in, one way out.

A file may begin with `extends: other`, a bundled name or a file beside it, and then says only what differs: sections
and named entries are merged key by key, any other value takes the place of the one below it, and a policy, role or pool
that is null is not there. A bundled file whose name begins with `_` is there to be extended and is no configuration by
itself.
"""

import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from at_grpo import config as sections
from at_grpo.config import TrainConfig
from at_grpo.validation import check_config
from at_grpo.yaml_io import parse_yaml, to_yaml
from llm_envs.core.errors import UsageError, unknown_choice

CONFIGS = Path(__file__).with_name("configs")
EXTENDS, PART = "extends", "_"
NAMED = ("policies", "roles", "pools")  # sections whose keys are names
_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    type(None): "null",
}
_LISTS: dict[Any, str] = {int: "a list of whole numbers", str: "a list of texts"}

for _section in vars(sections).values():
    if dataclasses.is_dataclass(_section):
        with_config(ConfigDict(extra="forbid"))(typing.cast(type, _section))
_ADAPTER = TypeAdapter(TrainConfig)


def bundled_configs() -> dict[str, str]:
    """Name -> first comment line of every configuration that comes with the package, e.g. `plan_path/per_role`."""
    files = {_name(path): path for path in sorted(CONFIGS.rglob("*.yaml")) if not path.name.startswith(PART)}
    return {name: path.read_text("utf-8").partition("\n")[0].lstrip("# ") for name, path in files.items()}


def _name(bundled: Path) -> str:
    return bundled.relative_to(CONFIGS).with_suffix("").as_posix()


def load_config(source: str | Path, overrides: Sequence[str] = ()) -> TrainConfig:
    """A checked configuration.

    Args:
        source: a YAML file, or the name of a bundled configuration.
        overrides: `section.key=value`, the value as in YAML; they win over the file.

    Raises:
        UsageError: with one line for each problem: the key's full path, its value, what is allowed.
    """
    data = _read(source)
    for override in overrides:
        _apply(data, override)
    config = parse_config({**data, **{name: _present(data[name]) for name in NAMED if name in data}})
    check_config(config)
    return config


def parse_config(data: Mapping[str, Any]) -> TrainConfig:
    """A configuration from nested mappings: keys and types are checked, values and their combination are not."""
    try:
        # By way of JSON, since pydantic's strict mode takes mappings and lists for dataclasses and tuples only there.
        return _ADAPTER.validate_json(json.dumps(data, default=str), strict=True)
    except ValidationError as errors:
        lines = dict.fromkeys(_explain(error) for error in errors.errors(include_url=False))
        raise UsageError("\n".join(lines)) from errors


def dump_config(config: TrainConfig) -> str:
    """The configuration as YAML, every field written out; `load_config` reads it back."""
    return to_yaml(json.loads(json.dumps(dataclasses.asdict(config))))


def _read(source: str | Path) -> dict[str, Any]:
    path = Path(source)
    if not path.is_file():
        names = bundled_configs()
        if path.suffix in {".yaml", ".yml"}:
            raise UsageError(f"config={str(source)!r}: no such file; bundled configurations are {', '.join(names)}.")
        if str(source) not in names:
            raise unknown_choice("config", str(source), names)
        path = CONFIGS / f"{source}.yaml"
    return _read_file(path, ())


def _read_file(path: Path, above: tuple[Path, ...]) -> dict[str, Any]:
    """A file on top of what it extends; `above` are the files that lead to it."""
    data = parse_yaml(path.read_text("utf-8"), str(path)) or {}
    if not isinstance(data, dict):
        raise UsageError(f"{path}: must hold the sections {', '.join(_keys(TrainConfig))}; it holds {data!r:.60}.")
    below = data.pop(EXTENDS, None)
    if below is None:
        return data
    found = next((one for one in (path.parent / str(below), CONFIGS / f"{below}.yaml") if one.is_file()), None)
    if found is None:
        raise UsageError(
            f"{path}: {EXTENDS}={below!r}: must be a file beside it, or one of {', '.join(bundled_configs())}."
        )
    chain = (*above, path.resolve())
    if found.resolve() in chain:
        raise UsageError(f"{path}: {EXTENDS}={below!r}: extends itself, by way of {len(chain)} files; remove one.")
    return _merged(_read_file(found, chain), data)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings key by key, anything else by what stands above."""
    both = {name: _merged(below[name], above[name]) for name in above if _are_mappings(below.get(name), above[name])}
    return {**below, **above, **both}


def _present(named: Any) -> Any:
    """The entries that are not null."""
    return {name: value for name, value in named.items() if value is not None} if isinstance(named, dict) else named


def _are_mappings(*values: Any) -> bool:
    return all(isinstance(value, dict) for value in values)


def _apply(data: dict[str, Any], override: str) -> None:
    """Set one dotted key; sections that are absent or null come into being."""
    name, mark, text = override.partition("=")
    *parents, key = name.strip().split(".")
    if not mark or not key or not all(parents):
        raise UsageError(f"override={override!r}: must be section.key=value, e.g. optim.steps=200.")
    node = data
    for depth, parent in enumerate(parents):
        if node.get(parent) is None:
            node[parent] = {}
        node = node[parent]
        if not isinstance(node, dict):
            raise UsageError(f"override={override!r}: {'.'.join(parents[: depth + 1])} is a value, it has no keys.")
    node[key] = parse_yaml(text, f"override={override!r}")


# ---- errors


def _explain(error: Mapping[str, Any]) -> str:
    """One line for one of pydantic's errors."""
    path, hint, owner = _locate(error["loc"])
    if error["type"] == "missing":
        return f"{path}: is missing; must be {describe_type(hint)}."
    if error["type"] == "unexpected_keyword_argument":
        return f"{path}={error['input']!r}: no such key. {_suggest(path, owner)}"
    return f"{path}={error['input']!r}: must be {describe_type(hint)}."


def _locate(loc: Sequence[Any]) -> tuple[str, Any, Any]:
    """Path, annotation and owning section of an error, without pydantic's name for the part of a union it tried."""
    hint: Any = TrainConfig
    owner: Any = TrainConfig
    path: list[str] = []
    for name in loc:
        section = _section_type(hint)
        if section is not None:
            owner, hint = section, typing.get_type_hints(section).get(name, Any)
        elif typing.get_origin(hint) is dict:
            owner, hint = hint, typing.get_args(hint)[1]
        elif not isinstance(name, int):
            break
        path.append(str(name))
    return ".".join(path), hint, owner


def _section_type(hint: Any) -> Any:
    """The dataclass behind `Section` or `Section | None`, else None."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return next((option for option in options if dataclasses.is_dataclass(option)), None)


def _keys(section: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(section)]


def describe_type(hint: Any) -> str:
    """What a field takes, in words, e.g. "text or a list of texts"."""
    if isinstance(hint, types.UnionType):
        return " or ".join(map(describe_type, typing.get_args(hint)))
    if dataclasses.is_dataclass(hint):
        return f"a section with the keys {', '.join(_keys(hint))}"
    if typing.get_origin(hint) is tuple:
        return _LISTS[typing.get_args(hint)[0]]
    return _WORDS.get(hint, "a mapping")


def _suggest(path: str, section: Any) -> str:
    """A similar key of this section, else the same key of another section, else all keys of this section."""
    prefix, _, wrong = path.rpartition(".")
    keys = _keys(section)
    if near := get_close_matches(wrong, keys, n=1):
        return f"Did you mean {'.'.join(filter(None, (prefix, near[0])))!r}?"
    for name, hint in typing.get_type_hints(TrainConfig).items():
        other = _section_type(hint)
        if other is not None and wrong in _keys(other):
            return f"Did you mean '{name}.{wrong}'?"
    return f"{prefix or 'The configuration'} has {', '.join(keys)}."
