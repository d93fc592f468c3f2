"""The frozen base model and its tokenizer, from a folder or the hub."""

from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from llm_envs.core.errors import UsageError


def load_base(source: str, dtype: str) -> tuple[Any, Any]:
    """Model and tokenizer.

    Args:
        source: folder or hub id.
        dtype: name of a torch type.

    Raises:
        UsageError: there is nothing of that name, or it is no model.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
        return AutoModelForCausalLM.from_pretrained(source, dtype=getattr(torch, dtype)), tokenizer
    except (OSError, ValueError) as error:  # ValueError: no tokenizer in the folder, or a config.json of no known model
        raise UsageError(
            f"model.base={source!r}: no model can be loaded from there ({str(error).strip().splitlines()[0]}). Name a "
            "local folder with config.json, weights and tokenizer (a checkpoint names it in its config.yaml), or log "
            "in to the hub and check the spelling."
        ) from error
