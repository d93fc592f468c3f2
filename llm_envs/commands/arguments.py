"""Arguments that several commands take."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from llm_envs.core.errors import UsageError
from llm_envs.core.task import Split
from llm_envs.players import Env
from llm_envs.registry import make


def add_env(parser: argparse.ArgumentParser) -> None:
    """`ENV` and `--set OPTION=VALUE`."""
    parser.add_argument("env", metavar="ENV", help="an environment, e.g. plan_path_v0; `llm-envs list` shows all")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="an option of the environment; the value is JSON, or text where it is none",
    )


def add_instance(parser: argparse.ArgumentParser) -> None:
    """`--split`, `--index` and `--seed`."""
    parser.add_argument("--split", choices=[split.value for split in Split], help="default: the environment's own")
    parser.add_argument("--index", type=int, metavar="N", help="instance of the split (default: 0, or as --seed draws)")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of the instance, where no index is given, and of players"
    )


def pairs(argument: str, texts: Sequence[str]) -> dict[str, str]:
    """`["a=1", "b=x"]` -> `{"a": "1", "b": "x"}`.

    Raises:
        UsageError: a text without `=`, or a name that is given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not name or name in found:
            raise UsageError(f"--{argument} {text}: must be NAME=VALUE, each name once.")
        found[name] = value
    return found


def make_env(name: str, options: dict[str, Any]) -> Env:
    """The environment.

    Raises:
        UsageError: no such environment or option, or one whose extra is not installed.
    """
    try:
        env: Env = make(name, **options)
    except ImportError as error:
        raise UsageError(f"env {name}: {error}") from error
    return env


def env_options(texts: Sequence[str]) -> dict[str, Any]:
    """The options of `--set`."""
    return {name: _value(text) for name, text in pairs("set", texts).items()}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
