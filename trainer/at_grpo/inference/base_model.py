"""The frozen base model and its tokenizer, from a folder or the hub."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from llm_envs.core.errors import UsageError


def load_base(source: str, dtype: str, option: str = "model.base") -> tuple[Any, Any]:
    """Model and tokenizer.

    Args:
        source: folder or hub id.
        dtype: name of a torch type.
        option: that names the source, for the error.

    Raises:
        UsageError: there is nothing of that name, or it is no model.
    """
    tokenizer = load_tokenizer(source, option)
    with _found(source, option):
        return AutoModelForCausalLM.from_pretrained(source, dtype=getattr(torch, dtype)), tokenizer


def load_tokenizer(source: str, option: str = "model.base") -> Any:
    """The tokenizer alone. Raises as `load_base` does."""
    with _found(source, option):
        return AutoTokenizer.from_pretrained(source)


@contextmanager
def _found(source: str, option: str) -> Iterator[None]:
    """Around whatever loads a base model's files. Raises `UsageError`."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: no tokenizer in the folder, or a config.json of no known model
        raise UsageError(
            f"{option}={source!r}: no model can be loaded from there ({str(error).strip().splitlines()[0]}). Name a "
            "local folder with config.json, weights and tokenizer (a checkpoint names it in its config.yaml), or log "
            "in to the hub and check the spelling."
        ) from error
