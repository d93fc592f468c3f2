"""YAML as people expect it: `1e-3` is a number, and a key that is written twice is an error."""

import re
from collections.abc import Hashable
from typing import Any

import yaml

from llm_envs.core.errors import UsageError

# PyYAML follows YAML 1.1, where `1e-3` is text; this is the float of YAML 1.2 (yaml.org/spec/1.2.2, 10.2.1.4).
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+\Z")
_FLOAT_START = list("-+.0123456789")


class _Loader(yaml.SafeLoader):
    """Safe loader with YAML 1.2 floats; the last of two equal keys does not win silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = {str(key) for key in keys if keys.count(key) > 1}
        if twice:
            raise UsageError(f"{', '.join(sorted(twice))}: written twice (near line {node.start_mark.line + 1}).")
        return super().construct_mapping(node, deep=deep)


class _Dumper(yaml.SafeDumper):
    """Quotes text that `_Loader` would read as a number; lists of plain values stay on one line."""

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        flat = not any(isinstance(item, (dict, list, tuple)) for item in sequence)
        return super().represent_sequence(tag, sequence, flow_style=flat or flow_style)


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, _FLOAT_START)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, _FLOAT_START)


def parse_yaml(text: str, source: str) -> Any:
    """The data in a YAML text.

    Raises:
        UsageError: not YAML, or a key written twice; names the source and the line.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  # derived from SafeLoader
    except yaml.YAMLError as error:
        raise UsageError(f"{source}: is not valid YAML: {' '.join(str(error).split())}") from error
    except UsageError as error:
        raise UsageError(f"{source}: {error}") from error


def to_yaml(data: Any) -> str:
    """YAML text in the order of the data; `parse_yaml` gives the data back."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=120)
