"""Tiny real models for the trainer's tests, made once a process."""

from pathlib import Path

import pytest
import torch
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from at_grpo.tiny import build_model, build_tokenizer, chat_text, save_base

MOVES = ("up", "down", "left", "right")


def turns() -> list[tuple[str, str]]:
    """Observations and replies in the words of Plan-Path's local view."""
    pairs = []
    for number in range(64):
        moves = " ".join(MOVES[(number // 4**place) % 4] for place in range(1 + number % 3))
        here = f"at {number % 6} {number // 6 % 6} goal {number // 2 % 6} {number // 3 % 6} blocked 0 1 0 0"
        pairs += [(f"tool {here}", f'print("{moves}")'), (f"planner {here} tool {moves}", moves)]
    return pairs


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """The workers share two cores, and one thread adds numbers in one order."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_tokenizer() -> PreTrainedTokenizerFast:
    return build_tokenizer(chat_text(observation, reply) for observation, reply in turns())


@pytest.fixture(scope="session")
def tiny_base_folder(tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer: PreTrainedTokenizerFast) -> Path:
    """An untrained base on the disk, as `from_pretrained` loads it."""
    folder = tmp_path_factory.mktemp("tiny") / "base"
    save_base(build_model(tiny_tokenizer, hidden_size=32, layers=2, heads=2, seed=7), tiny_tokenizer, folder)
    return folder


@pytest.fixture
def tiny_model(tiny_base_folder: Path) -> Qwen3ForCausalLM:
    """A fresh copy each time, since tests put adapters on it."""
    model: Qwen3ForCausalLM = Qwen3ForCausalLM.from_pretrained(tiny_base_folder)
    return model
