"""The card of a finished run: complete, valid, and its code works."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from at_grpo.config import ModelSection, TrainConfig
from at_grpo.loading import parse_config
from at_grpo.model_card import LIBRARIES, write_model_card
from at_grpo.yaml_io import parse_yaml
from tests.trainer.tiny_trainer import ROLES, base_model, peft_model, run_config, tokenizer

METRICS = {
    "eval_success": 0.81,
    "tool/reward": -0.05,
    "tool/invalid_rate": 0.02,
    "planner/reward": 0.12,
    "planner/invalid_rate": 0.0,
}


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    return run_config(tmp_path)


def blocks(card: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", card, flags=re.DOTALL)


def test_the_card_tells_what_was_trained_and_how_it_came_out(config: TrainConfig, tmp_path: Path) -> None:
    figures = {"success on 200 held-out instances": "81% (75-86%)"}
    config = replace(config, model=ModelSection(base="Qwen/Qwen3-1.7B"))
    card = write_model_card(tmp_path, config, METRICS, figures=figures).read_text()
    _, head, body = card.split("---\n", 2)
    meta = yaml.safe_load(head)
    assert (meta["base_model"], meta["library_name"]) == ("Qwen/Qwen3-1.7B", "peft")
    for part in (
        "arXiv 2510.11062",
        "llm_envs/plan_path-v0",
        "| planner | `planner` | 8 | 1.0 |",
        "success on 200 held-out instances: 81% (75-86%)",
        "tool: mean reward -0.050, invalid replies 2.0%",
        *(f"- {name} " for name in LIBRARIES),
    ):
        assert part in body
    (settings,) = blocks(body, "yaml")
    assert parse_config(parse_yaml(settings, "card")) == config


def test_the_card_s_code_loads_every_adapter_with_plain_peft(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, result = tmp_path / "base", tmp_path / "result"
    base_model().save_pretrained(base)
    tokenizer().save_pretrained(base)
    peft_model(config).save_pretrained(result)
    config = replace(config, model=ModelSection(base=str(base)))
    card = write_model_card(result, config, METRICS).read_text()
    assert "base_model" not in card.split("---\n", 2)[1], "no hub has a folder of this machine"
    (program,) = blocks(card, "python")
    monkeypatch.chdir(result)
    names: dict[str, object] = {}
    exec(program, names)
    assert set(names["model"].peft_config) == set(ROLES)  # type: ignore[attr-defined]
    assert names["model"].active_adapter == ROLES[0]  # type: ignore[attr-defined]
