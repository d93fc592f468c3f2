"""A language model of the Qwen3 architecture, small enough to train on one CPU core, and a tokenizer of its own.

The parts are the real ones: `AutoTokenizer` and `AutoModelForCausalLM` load the folder like any other model's.
"""

from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from llm_envs.core.errors import require
from llm_envs.core.messages import to_messages

PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
# ChatML with a space for its first line break and none between messages: every token of a prompt costs each sample
# its share. The line break before a reply stays, so that a reply's first word is the same token here and in the whole
# conversation.
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + ('\n' if message['role'] == 'assistant' else ' ') }}"
    "{{ message['content'] + '<|im_end|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# What one entry may span at most: a word or a digit, with the space before it; any other character by itself.
PIECE = r" ?\p{L}+| ?\p{N}|\s|[^\s\p{L}\p{N}]"
VOCABULARY = 512
CONTEXT = 1024
PARAMETERS = 1_000_000


def build_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer whose words are those of the texts.

    Every byte has an entry, so any text goes there and back; no entry spans more than one word or symbol, so that a
    program or a list of moves is as many decisions as it has symbols.
    """
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECE), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        min_frequency=2,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in (PAD, START, END)],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    roles = ["system", "user", "assistant"] * trainer.min_frequency
    core.train_from_iterator([*texts, *roles], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token=PAD, eos_token=END, additional_special_tokens=[START], model_max_length=CONTEXT
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def build_model(
    tokenizer: PreTrainedTokenizerFast, *, hidden_size: int = 128, layers: int = 3, heads: int = 4, seed: int = 0
) -> Qwen3ForCausalLM:
    """An untrained model for the tokenizer, float32; its weights are a function of the seed.

    Args:
        tokenizer: gives the size of the vocabulary and the end token.
        hidden_size, layers, heads: size; two query heads share one key-value head.
        seed: of the weights.

    Raises:
        UsageError: sizes that do not divide, or a model of a million parameters or more.
    """
    require(heads >= 2 and heads % 2 == 0, "heads", heads, "an even number, at least 2")
    require(hidden_size % (2 * heads) == 0, "hidden_size", hidden_size, f"a multiple of twice the heads ({2 * heads})")
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=3 * hidden_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads // 2,
        head_dim=hidden_size // heads,
        max_position_embeddings=CONTEXT,
        initializer_range=hidden_size**-0.5,  # the usual 0.02 suits wide models; this one would learn only the format
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(config)
    size = model.num_parameters()
    require(
        size < PARAMETERS,
        "hidden_size, layers",
        f"{hidden_size}, {layers}",
        f"smaller: {size} parameters are no tiny model",
    )
    return model


def save_base(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write model and tokenizer as transformers' own loaders expect them."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def chat_text(observation: str, reply: str) -> str:
    """One turn as the chat template shows it, without the special tokens: what to build a tokenizer from."""
    contents = [message["content"] for message in to_messages(observation)]
    return "\n".join([*(f" {content}" for content in contents), reply])
