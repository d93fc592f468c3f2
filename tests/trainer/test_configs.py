"""The bundled configurations plan without a GPU, a hub or a weight: models are known by their shapes alone."""

import dataclasses
import io
from typing import Any

import pytest
from rich.console import Console
from transformers import Qwen3Config

from at_grpo.batch_plan import plan_batch
from at_grpo.config import TrainConfig
from at_grpo.dry_run import dry_run
from at_grpo.env_facts import inspect_env
from at_grpo.loading import bundled_configs, load_config

REAL = [name for name in bundled_configs() if "/" in name]
# From the config.json files of Qwen/Qwen3-1.7B and Qwen/Qwen3-8B, and table 1 of arXiv 2505.09388.
SHARED: dict[str, Any] = {"vocab_size": 151936, "head_dim": 128, "num_key_value_heads": 8}
SHAPES: dict[str, dict[str, Any]] = {
    "Qwen/Qwen3-1.7B": {
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "tie_word_embeddings": True,
    },
    "Qwen/Qwen3-8B": {
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "tie_word_embeddings": False,
    },
}


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Name of a model -> a folder with its config.json and nothing else."""
    folders = {}
    for name, shape in SHAPES.items():
        folder = tmp_path_factory.mktemp(name.rpartition("/")[2])
        Qwen3Config(**SHARED, **shape).save_pretrained(folder)
        folders[name] = str(folder)
    return folders


def with_shapes(config: TrainConfig, shapes: dict[str, str]) -> TrainConfig:
    policies = {
        name: dataclasses.replace(policy, base=shapes.get(policy.base, policy.base))
        for name, policy in config.policies.items()
    }
    base = dataclasses.replace(config.model, base=shapes[config.model.base])
    return dataclasses.replace(config, model=base, policies=policies)


def page_of(config: TrainConfig) -> str:
    console = Console(width=120, file=io.StringIO())
    dry_run(config, console)
    page: str = console.file.getvalue()  # type: ignore[attr-defined]
    return page


@pytest.mark.parametrize("name", REAL)
def test_every_bundled_configuration_of_a_real_model_plans(name: str, shapes: dict[str, str]) -> None:
    """UC-124: batches, memory and servers, from 128 instances x 4 turns x roles x 4 branches."""
    config = load_config(name)
    batch = plan_batch(config, inspect_env(config.env))
    assert batch.samples == 128 * 4 * len(config.roles) * 4
    page = page_of(with_shapes(config, shapes))
    assert f"{batch.samples:,} samples an iteration" in page
    assert "vLLM server(s)" in page


@pytest.mark.parametrize(
    ("model", "parameters"), [("Qwen/Qwen3-1.7B", "1,720,574,976"), ("Qwen/Qwen3-8B", "8,190,735,360")]
)
def test_the_larger_base_is_an_override_away_and_both_have_their_published_size(
    model: str, parameters: str, shapes: dict[str, str]
) -> None:
    """Published as 1.7B and 8.2B parameters (arXiv 2505.09388)."""
    page = page_of(with_shapes(load_config("sudoku/per_role", [f"model.base={model}"]), shapes))
    assert f"{parameters} parameters" in page
