import re
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast, Qwen3ForCausalLM

from at_grpo.tiny import PARAMETERS, build_model, build_tokenizer
from llm_envs.core.errors import UsageError
from llm_envs.core.messages import to_messages

PROGRAM = 'moves = ["up"] * 2\nfor step in moves:\n    print(step, 42)'
WORD_OR_SYMBOL = re.compile(r" ?([^\W\d_]+|\d)|\W|_")


@settings(deadline=None)
@given(text=st.text())
def test_any_text_goes_there_and_back(tiny_tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    ids = tiny_tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tiny_tokenizer.decode(ids) == text


def test_no_entry_spans_more_than_one_word_or_symbol(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    """So that every move of a list and every symbol of a program is a decision of its own."""
    ids = [i for i in tiny_tokenizer.get_vocab().values() if i not in tiny_tokenizer.all_special_ids]
    entries = [tiny_tokenizer.decode([i]) for i in ids]
    assert [entry for entry in entries if not WORD_OR_SYMBOL.fullmatch(entry)] == []
    assert {" right", "print"} <= set(entries), "words of the texts are whole"
    assert not WORD_OR_SYMBOL.fullmatch('print("'), "negative control"


def test_repeated_phrases_do_not_grow_into_entries() -> None:
    tokenizer = build_tokenizer(['print("up")'] * 1000)
    pieces = [tokenizer.decode([i]) for i in tokenizer('print("up")', add_special_tokens=False)["input_ids"]]
    assert pieces == ["print", "(", '"', "up", '"', ")"]


def test_the_default_model_is_a_qwen3_below_a_million_parameters(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    model = build_model(tiny_tokenizer)
    assert isinstance(model, Qwen3ForCausalLM)
    assert 500_000 < model.num_parameters() < PARAMETERS
    assert model.config.vocab_size == len(tiny_tokenizer)


def test_the_folder_loads_like_any_other_model(tiny_base_folder: Path, tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_base_folder)
    model = AutoModelForCausalLM.from_pretrained(tiny_base_folder)
    chat = to_messages("planner at 3 4")
    kept = [
        t.apply_chat_template(chat, add_generation_prompt=True, return_dict=False) for t in (tokenizer, tiny_tokenizer)
    ]
    assert kept[0] == kept[1]
    assert tokenizer(PROGRAM)["input_ids"] == tiny_tokenizer(PROGRAM)["input_ids"]
    assert model.generation_config.eos_token_id == tokenizer.eos_token_id == model.config.eos_token_id
    assert tokenizer.pad_token_id not in (None, tokenizer.eos_token_id)


def test_weights_are_a_function_of_the_seed(tiny_tokenizer: PreTrainedTokenizerFast) -> None:
    def weights(seed: int) -> torch.Tensor:
        return build_model(tiny_tokenizer, hidden_size=16, layers=1, heads=2, seed=seed).model.embed_tokens.weight

    before = torch.get_rng_state()
    assert torch.equal(weights(3), weights(3))
    assert not torch.equal(weights(3), weights(4)), "negative control"
    assert torch.equal(torch.get_rng_state(), before), "other draws of the process stay as they were"


@pytest.mark.parametrize(
    ("sizes", "name"),
    [({"heads": 3}, "heads"), ({"hidden_size": 100}, "hidden_size"), ({"hidden_size": 512}, "smaller")],
)
def test_sizes_that_make_no_tiny_model_are_refused(
    tiny_tokenizer: PreTrainedTokenizerFast, sizes: dict[str, int], name: str
) -> None:
    with pytest.raises(UsageError, match=name):
        build_model(tiny_tokenizer, **sizes)
