import asyncio
import dataclasses
import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from at_grpo.config import (
    EnvSection,
    ModelSection,
    PlayerSection,
    PolicySection,
    RoleSection,
    TrainConfig,
    WarmStartSection,
)
from at_grpo.inference.base import SamplingParams
from at_grpo.inference.checkpoint import load_players
from at_grpo.inference.player import PolicyPlayer
from at_grpo.loading import dump_config, parse_config
from at_grpo.policies import build_policies
from at_grpo.tiny import build_model, save_base
from at_grpo.yaml_io import parse_yaml
from llm_envs.core.errors import UsageError
from tests.trainer.toy_env import count_env

ROLES = ("tool", "planner")


def write_checkpoint(folder: Path, base: Path, *, seed: int, shared: bool = False, warm: bool = False) -> Path:
    """What a run leaves: its configuration and a folder for each adapter, here with random weights."""
    policies = ("team",) if shared else ROLES
    model = build_policies(
        AutoModelForCausalLM.from_pretrained(base), {name: PolicySection(rank=2) for name in policies}, seed=seed
    )
    torch.manual_seed(seed)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            parameter.data.normal_(std=1.0)
    model.save_pretrained(folder)
    config = TrainConfig(
        env=EnvSection(id="llm_envs/plan_path-v0"),
        model=ModelSection(warm_start=WarmStartSection()) if warm else ModelSection(base=str(base)),
        policies={name: PolicySection(rank=2) for name in policies},
        roles={role: RoleSection(policy=policies[at % len(policies)], max_tokens=6) for at, role in enumerate(ROLES)},
    )
    (folder / "config.yaml").write_text(dump_config(config))
    return folder


def replies(players: dict[str, PolicyPlayer], role: str) -> list[str]:
    """What a role says in eight states that only the instance tells apart."""

    async def one(index: int) -> str:
        env = count_env()
        env.reset(options={"index": index})
        with players[role].episode():
            return await players[role].act(env, f"{role}_0", env.observe("tool_0"))

    async def run() -> list[str]:
        return await asyncio.gather(*map(one, range(8)))

    return asyncio.run(run())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, tiny_base_folder: Path) -> Path:
    """A run with two checkpoints on one base."""
    folder = tmp_path_factory.mktemp("run")
    for step in (0, 10):
        write_checkpoint(folder / f"checkpoint-{step}", tiny_base_folder, seed=step)
    return folder


def test_a_checkpoint_gives_a_player_for_each_of_its_roles(run: Path) -> None:
    players = load_players(run / "checkpoint-10")
    assert {role: player.name for role, player in players.items()} == {
        "tool": "checkpoint-10/tool",
        "planner": "checkpoint-10/planner",
    }
    assert replies(players, "tool") == replies(load_players(run / "checkpoint-10"), "tool")
    assert replies(players, "tool") != replies(players, "planner"), "each its own adapter"
    assert replies(players, "tool") != replies(load_players(run / "checkpoint-10", seed=1), "tool")


def test_roles_of_two_checkpoints_play_together_from_one_sampler(run: Path) -> None:
    first, last = run / "checkpoint-0", run / "checkpoint-10"
    mixed = load_players({"tool": last, "planner": first})
    assert replies(mixed, "tool") == replies(load_players(last), "tool")
    assert replies(mixed, "planner") == replies(load_players(first), "planner")
    assert replies(mixed, "planner") != replies(load_players(last), "planner"), "negative control"
    assert mixed["tool"]._sampler is mixed["planner"]._sampler


def test_roles_on_different_base_models_play_together_each_on_its_own(
    run: Path, tmp_path: Path, tiny_tokenizer: PreTrainedTokenizerFast
) -> None:
    """Neither sampler may wait for episodes in which the other one has to answer first."""
    other = tmp_path / "other"
    save_base(build_model(tiny_tokenizer, hidden_size=48, layers=1, heads=2, seed=9), tiny_tokenizer, other)
    elsewhere = write_checkpoint(tmp_path / "checkpoint-10", other, seed=10)
    mixed = load_players({"tool": run / "checkpoint-10", "planner": elsewhere})
    assert replies(mixed, "tool") == replies(load_players(run / "checkpoint-10"), "tool")
    assert replies(mixed, "planner") == replies(load_players(elsewhere), "planner")
    assert replies(mixed, "planner") != replies(load_players(run / "checkpoint-10"), "planner"), "negative control"
    assert mixed["tool"]._sampler is mixed["planner"]._sampler


def test_a_single_adapter_plays_in_whatever_role_it_is_given(run: Path) -> None:
    whole = load_players(run / "checkpoint-10")
    adapter = run / "checkpoint-10" / "tool"
    crossed = load_players({"tool": adapter, "planner": adapter})
    assert replies(crossed, "tool") == replies(whole, "tool")
    assert replies({"tool": crossed["planner"]}, "tool") == replies(whole, "tool")
    assert replies(crossed, "planner") != replies(whole, "planner"), "negative control"


def test_an_adapter_that_lies_in_no_checkpoint_is_put_on_the_base_that_it_names(
    run: Path, tmp_path: Path, tiny_base_folder: Path
) -> None:
    alone = Path(shutil.copytree(run / "checkpoint-10" / "tool", tmp_path / "mine"))
    config = json.loads((alone / "adapter_config.json").read_text())
    (alone / "adapter_config.json").write_text(json.dumps(config | {"base_model_name_or_path": str(tiny_base_folder)}))
    players = load_players({"tool": alone}, temperature=0.0, max_tokens=4)
    assert players["tool"].name == "mine"
    assert replies(players, "tool") == replies(
        load_players(run / "checkpoint-10", temperature=0.0, max_tokens=4), "tool"
    )
    (alone / "adapter_config.json").write_text("{}")
    with pytest.raises(UsageError, match="names no base model"):
        load_players({"tool": alone})


def test_the_same_policy_can_play_with_other_draws(run: Path) -> None:
    players = load_players(run / "checkpoint-10")
    again = {"tool": players["tool"].reseeded(1)}
    assert replies(again, "tool") == replies(load_players(run / "checkpoint-10", seed=1), "tool")


def test_two_roles_may_share_a_policy(tmp_path: Path, tiny_base_folder: Path) -> None:
    players = load_players(write_checkpoint(tmp_path / "checkpoint-1", tiny_base_folder, seed=3, shared=True))
    assert players["tool"]._policy == players["planner"]._policy
    assert len(set(replies(players, "tool"))) > 1


def test_the_temperature_of_training_can_be_replaced(run: Path) -> None:
    greedy = load_players(run / "checkpoint-10", temperature=0.0, max_tokens=1)
    said = replies(greedy, "tool")
    assert said == replies(load_players(run / "checkpoint-10", temperature=0.0, max_tokens=1, seed=5), "tool")
    assert said != replies(load_players(run / "checkpoint-10", max_tokens=1), "tool"), "negative control"


def test_a_base_that_the_run_made_is_found_beside_its_checkpoints(run: Path, tiny_base_folder: Path) -> None:
    """So that a run's folder can be moved as a whole."""
    moved = run / "moved"
    checkpoint = write_checkpoint(moved / "checkpoint-10", tiny_base_folder, seed=10, warm=True)
    with pytest.raises(UsageError, match=r"model\.base"):
        load_players(checkpoint)
    (moved / "base").symlink_to(tiny_base_folder)
    assert replies(load_players(checkpoint), "tool") == replies(load_players(run / "checkpoint-10"), "tool")


def test_what_cannot_be_loaded_is_named(run: Path, tmp_path: Path, tiny_base_folder: Path) -> None:
    with pytest.raises(UsageError, match=r"config\.yaml"):
        load_players(run)
    with pytest.raises(UsageError, match="Did you mean 'planner'"):
        load_players({"planer": run / "checkpoint-0"})
    with pytest.raises(UsageError, match="at least one role"):
        load_players({})
    elsewhere = write_checkpoint(tmp_path / "checkpoint-10", tiny_base_folder, seed=10)
    (elsewhere / "tool" / "adapter_config.json").unlink()
    with pytest.raises(UsageError, match="no adapter 'tool'"):
        load_players(elsewhere)
    gone = write_checkpoint(tmp_path / "checkpoint-11", tiny_base_folder, seed=10)
    config = (gone / "config.yaml").read_text()
    (gone / "config.yaml").write_text(config.replace(str(tiny_base_folder), str(tmp_path / "absent")))
    with pytest.raises(UsageError, match="absent"):
        load_players(gone)


def test_a_role_that_was_not_trained_has_no_player_in_its_checkpoint(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint-3"
    shutil.copytree(run / "checkpoint-10", folder)
    config = parse_config(parse_yaml((folder / "config.yaml").read_text(), "test"))
    roles = config.roles | {"tool": RoleSection(player=PlayerSection(reference="oracle"))}
    (folder / "config.yaml").write_text(dump_config(dataclasses.replace(config, roles=roles)))
    assert load_players(folder).keys() == {"planner"}
    with pytest.raises(UsageError, match=r"checkpoint-3': its run did not train the role 'tool', a player had it"):
        load_players({"tool": folder})


def test_a_role_may_be_sampled_from_as_its_next_run_says(run: Path) -> None:
    greedy = SamplingParams(temperature=0.0, max_tokens=1)
    players = load_players({"tool": run / "checkpoint-10"}, params={"tool": greedy})
    assert replies(players, "tool") == replies(
        load_players(run / "checkpoint-10", temperature=0.0, max_tokens=1), "tool"
    )
