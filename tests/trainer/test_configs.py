"""The bundled configurations plan without a GPU, a hub or a weight: models are known by their shapes alone."""

import dataclasses
import io
import re
import shlex
from typing import Any

import pytest
from rich.console import Console
from transformers import Qwen3Config

from at_grpo.batch_plan import plan_batch
from at_grpo.config import TrainConfig
from at_grpo.dry_run import dry_run
from at_grpo.env_facts import inspect_env
from at_grpo.loading import bundled_configs, load_config
from at_grpo.placement import place
from llm_envs.core.errors import UsageError
from tests.architecture.markdown_blocks import blocks, commands
from tests.architecture.paths import ROOT

GIB = 2**30
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


def page_of(config: TrainConfig, **machine: int) -> str:
    console = Console(width=120, file=io.StringIO())
    dry_run(config, console, **machine)
    page: str = console.file.getvalue()  # type: ignore[attr-defined]
    return page


@pytest.mark.parametrize("name", REAL)
def test_every_bundled_configuration_of_a_real_model_plans(name: str, shapes: dict[str, str]) -> None:
    """UC-124: batches, memory and servers, from 128 instances x 4 turns x roles x 4 branches."""
    config = load_config(name)
    batch = plan_batch(config, inspect_env(config.env))
    assert batch.samples == 128 * 4 * len(config.roles) * 4
    page = page_of(with_shapes(config, shapes), gpus=8, size=80 * GIB)
    assert f"{batch.samples:,} samples an iteration" in page
    assert "vLLM server(s)" in page


@pytest.mark.parametrize(
    ("model", "parameters"), [("Qwen/Qwen3-1.7B", "1,720,574,976"), ("Qwen/Qwen3-8B", "8,190,735,360")]
)
def test_the_larger_base_is_an_override_away_and_both_have_their_published_size(
    model: str, parameters: str, shapes: dict[str, str]
) -> None:
    """Published as 1.7B and 8.2B parameters (arXiv 2505.09388)."""
    larger = ["optim.micro_batch_size=1"] if "8B" in model else []
    config = with_shapes(load_config("sudoku/per_role", [f"model.base={model}", *larger]), shapes)
    assert f"{parameters} parameters" in page_of(config, gpus=2, size=80 * GIB)
    with pytest.raises(UsageError, match="GPU 0: the plan needs about"):
        page_of(config, gpus=2, size=20 * GIB)


# ---- the README's section on GPUs

README = ROOT / "README.md"
ROW = re.compile(
    r"^\| (?P<gpus>\d+) \| `(?P<options>[^`]+)` \| (?P<trains>[^|]+) \| (?P<servers>[^|]+) \|$", re.MULTILINE
)


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The README's `mine.yaml`."""
    (block,) = [block for block in blocks(README, "yaml") if block.code.startswith("extends: ")]
    path = tmp_path_factory.mktemp("readme") / "mine.yaml"
    path.write_text(block.code)
    return str(path)


def planned(options: list[str], mine: str) -> TrainConfig:
    """The configuration that the options of a command line ask for."""
    source = options[options.index("--config") + 1]
    overrides = [word for word in options if "=" in word]
    return load_config(mine if source == "mine.yaml" else source, overrides)


def test_the_readme_has_a_plan_for_one_two_and_eight_gpus() -> None:
    assert {int(row["gpus"]) for row in ROW.finditer(README.read_text())} == {1, 2, 8}


@pytest.mark.parametrize("row", [pytest.param(row, id=row["options"][:60]) for row in ROW.finditer(README.read_text())])
def test_a_plan_of_the_readme_is_what_would_run_and_fits_into_80_gib(
    row: re.Match[str], mine: str, shapes: dict[str, str]
) -> None:
    config = planned(shlex.split(row["options"]), mine)
    placement = place(config, tuple(map(str, range(int(row["gpus"])))))
    assert "; ".join(", ".join(map(str, pool.ranks)) for pool in placement.pools) == row["trains"]
    servers = "; ".join(", ".join("+".join(gpus) for gpus in pool.servers) for pool in placement.pools)
    assert servers == row["servers"].removesuffix(" (half of its memory)")
    assert ("half" in row["servers"]) == (placement.share(placement.servers[0]) == 0.5)
    page = page_of(with_shapes(config, shapes), gpus=int(row["gpus"]), size=80 * GIB)
    assert page.count("-m vllm.entrypoints.openai.api_server") == len(placement.servers)


def test_every_other_training_command_of_the_section_plans_too(mine: str, shapes: dict[str, str]) -> None:
    """UC-179: servers that run already, roles that are not trained."""
    lines = [words for block in blocks(README, "bash") for words in commands(block)]
    training = [words[2:] for words in lines if words[:2] == ["at-grpo", "train"] and "mine.yaml" in words]
    assert len(training) >= 6
    for words in training:
        gpus = int(words[words.index("--gpus") + 1]) if "--gpus" in words else 2
        assert "iterations" in page_of(with_shapes(planned(words, mine), shapes), gpus=gpus, size=80 * GIB)
