"""Rules on a configuration's values: each by itself, together, and against the environment."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from at_grpo import choices, validation
from at_grpo.config import (
    EnvSection,
    ModelSection,
    PlayerSection,
    PolicySection,
    PoolSection,
    RoleSection,
    WarmStartSection,
)
from at_grpo.loading import load_config
from at_grpo.yaml_io import to_yaml
from llm_envs.core.errors import UsageError
from tests.trainer.test_loading import LEAVES, VALID, error_of

# ---- values, each by itself

OUTSIDE: dict[str, str] = {
    "model.dtype": "int8",
    "model.warm_start.player": "''",
    "model.warm_start.steps": "0",
    "model.warm_start.batch_size": "0",
    "model.warm_start.learning_rate": "0.0",
    "model.warm_start.hidden_size": "0",
    "model.warm_start.layers": "0",
    "model.warm_start.heads": "0",
    "model.warm_start.seed": "-1",
    "policies.team.weights": "whole",
    "policies.team.rank": "0",
    "policies.team.lora_alpha": "0",
    "policies.team.target_modules": "[]",
    "policies.team.learning_rate": "-1.0",
    "policies.team.beta": "-0.1",
    "roles.tool.temperature": "-0.1",
    "roles.tool.max_tokens": "0",
    "roles.tool.stop": "['']",
    "roles.tool.player.url": "localhost:8000/v1",
    "roles.tool.player.options": "{messages: []}",
    "rollout.instances": "0",
    "rollout.k": "1",
    "rollout.grouping": "turns",
    "rollout.select": "best",
    "rollout.max_prompt_tokens": "0",
    "rollout.filter": "constant",
    "rollout.refill": "-1",
    "rollout.max_in_flight": "-1",
    "rollout.max_lost_share": "1.0",
    "rollout.staleness": "-1",
    "rollout.stall_s": "0.0",
    "rollout.sandbox": "''",
    "inference.backend": "vlm",
    "inference.urls": "['localhost:8000']",
    "inference.servers": "0",
    "inference.gpus": "[0, 0]",
    "inference.max_in_flight": "0",
    "inference.timeout_s": "0.0",
    "inference.patience_s": "-1.0",
    "inference.start_timeout_s": "0.0",
    "inference.hang_s": "0.0",
    "inference.restarts": "-1",
    "update.ranks": "0",
    "update.timeout_s": "0.0",
    "update.start_timeout_s": "0.0",
    "pools.team.rollout_gpus": "[0, 0]",
    "pools.team.update_gpus": "[-1]",
    "pools.team.servers": "-1",
    "pools.team.urls": "[localhost]",
    "optim.steps": "0",
    "optim.learning_rate": "0.0",
    "optim.adam_beta1": "1.0",
    "optim.adam_beta2": "-0.1",
    "optim.weight_decay": "-1.0",
    "optim.max_grad_norm": "0.0",
    "optim.scheduler": "cosinus",
    "optim.warmup_steps": "-1",
    "optim.scale_rewards": "batch",
    "optim.advantage_factor": "0.0",
    "optim.micro_batch_size": "0",
    "optim.mini_batches": "0",
    "optim.epochs": "0",
    "optim.loss_type": "grpo",
    "optim.epsilon": "0.0",
    "optim.importance_cap": "0.5",
    "run.output_dir": "''",
    "run.seed": "-1",
    "run.save_steps": "0",
    "run.keep_checkpoints": "0",
    "run.eval_steps": "-1",
    "run.eval_instances": "0",
    "run.log_steps": "0",
    "run.log_turns": "-1",
    "run.report_to": "[wandbb]",
}


def test_every_option_with_a_rule_has_a_case_here() -> None:
    ruled = {
        path
        for path, _ in LEAVES
        for section, rules in validation.RULES.items()
        if path.rpartition(".")[2] in rules and path in {p for p, _ in leaves_of(section)}
    }
    assert ruled == set(OUTSIDE)


def leaves_of(section: type) -> list[tuple[str, Any]]:
    prefixes = {
        ModelSection: "model.",
        WarmStartSection: "model.warm_start.",
        PolicySection: "policies.team.",
        RoleSection: "roles.tool.",
        PlayerSection: "roles.tool.player.",
        PoolSection: "pools.team.",
    }
    prefix = prefixes.get(section, f"{section.__name__.removesuffix('Section').lower()}.")
    return [(f"{prefix}{field.name}", field.type) for field in dataclasses.fields(section)]


@pytest.mark.parametrize(("path", "value"), OUTSIDE.items(), ids=OUTSIDE)
def test_a_value_outside_its_range_is_refused_with_its_path_and_what_is_allowed(
    path: str, value: str, tmp_path: Path
) -> None:
    message = error_of(VALID, f"{path}={value}", folder=tmp_path)
    assert message.startswith(f"{path}=")
    assert "must be" in message


@pytest.mark.parametrize("path", [path for path, hint in LEAVES if hint is float])
def test_a_number_that_is_not_finite_is_refused(path: str, tmp_path: Path) -> None:
    for value in (".nan", ".inf"):
        assert error_of(VALID, f"{path}={value}", folder=tmp_path).startswith(f"{path}=")


def test_a_group_of_one_is_refused_with_the_reason(tmp_path: Path) -> None:
    """UC-110: k=1 is refused with a reason."""
    assert "a group of one has no baseline" in error_of(VALID, "rollout.k=1", folder=tmp_path)


# ---- values together


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["roles.tool.policy=tem"], "roles.tool.policy='tem': must be one of team. Did you mean 'team'?"),
        (["policies.other.rank=4"], "policies.other: is played by no role"),
        (["policies.mlp={}", "roles.tool.policy=mlp"], "policies.mlp: must be another name: modules of models"),
        (["policies.a={}", "roles.tool.policy=a"], "policies.a: must be another name: PEFT finds adapters' tensors"),
        (["policies.default={}", "roles.tool.policy=default"], "policies.default: must be another name: all, base, "),
        (["policies.Team={}", "roles.tool.policy=Team"], "policies.Team: must be a word of a-z, 0-9 and _"),
        (["model.base=''"], "model.base='': name a base model"),
        (["model.warm_start.steps=3"], "model.base='some/model': must be empty"),
        (["model.base=''", "model.warm_start.heads=6"], "hidden_size=128: must be a multiple"),
        (["policies.team.base=other/model"], "model.base: has no effect, every policy names a base of its own"),
        (
            ["policies.a.base=b", "roles.tool.policy=a", "inference.backend=vllm", "inference.urls=['http://h:1']"],
            "inference.urls=['http://h:1']: these servers have one base model, and the policies are on several",
        ),
        (
            ["policies.a.base=b", "roles.tool.policy=a", "inference.backend=vllm", "inference.gpus=[0, 1, 2]"],
            "inference.gpus=(0, 1, 2): must be a multiple of the number of servers of all pools",
        ),
        (["pools.tem.update_gpus=[0]"], "pools='tem': must be one of team. Did you mean 'team'?"),
        (
            ["pools.team={}"],
            "pools.team={}: sets nothing apart; name what the policy is to have of its own",
        ),
        (["pools.team.servers=2"], "pools.team.servers: has no effect with inference.backend='transformers'"),
        (
            ["inference.backend=vllm", "pools.team.urls=['http://h:1']", "pools.team.rollout_gpus=[0]"],
            "pools.team.rollout_gpus: has no effect on the running servers of pools.team.urls",
        ),
        (
            ["inference.backend=vllm", "inference.urls=['http://h:1']", "pools.team.servers=2"],
            "pools.team.servers: has no effect on the running servers of inference.urls",
        ),
        (
            ["inference.backend=openai", "pools.team.urls=['http://h:1']", "pools.team.servers=2"],
            "pools.team.servers: has no effect with inference.backend='openai'",
        ),
        (
            ["inference.backend=vllm", "pools.team.rollout_gpus=[0, 1, 2]", "pools.team.servers=2"],
            "pools.team.rollout_gpus=(0, 1, 2): must be a multiple of its servers (2)",
        ),
        (
            ["inference.backend=vllm", "pools.team.rollout_gpus=[0]", "inference.gpus=[1]"],
            "inference.gpus=(1,): has no effect, every pool whose servers are started names devices of its own",
        ),
        (["env.eval_split=train"], "env.eval_split='train': must differ"),
        (["env.options.split=test"], "env.options.split='test': must be set as env.train_split"),
        (["env.options.sandbox=locked"], "env.options.sandbox='locked': must be set as rollout.sandbox"),
        (["rollout.grouping=trajectory", "rollout.select=uniform"], "rollout.select='uniform': has no effect"),
        (["rollout.refill=4"], "rollout.refill=4: has no effect with filter='none'"),
        (
            ["policies.team.weights=full", "policies.team.rank=4"],
            "policies.team.rank: has no effect with weights='full'",
        ),
        (["policies.team.weights=full", "policies.team.beta=0.1"], "policies.team.beta=0.1: must be 0 with weights"),
        (
            ["policies.team.weights=full", "policies.a={}", "roles.tool.policy=a"],
            "policies.team.weights='full': must have its base model to itself, a would change with it",
        ),
        (
            ["policies.team.weights=full", "inference.backend=vllm", "inference.urls=['http://h:1']"],
            "policies.team.weights='full': must have servers that the run starts",
        ),
        (
            ["policies.team.weights=full", "inference.backend=vllm", "rollout.staleness=1"],
            "rollout.staleness=1: must be 0 with policies.team.weights='full'",
        ),
        (["rollout.staleness=1"], "rollout.staleness=1: needs servers, which sample while the trainer trains"),
        (
            ["rollout.staleness=1", "inference.backend=vllm", "policies.team.beta=0.1"],
            "policies.team.beta=0.1: must be 0 with rollout.staleness=1",
        ),
        (
            ["rollout.staleness=1", "inference.backend=vllm", "optim.importance_cap=0.0"],
            "optim.importance_cap=0: must be at least 1 with rollout.staleness=1",
        ),
        (["rollout.stall_s=60.0"], "rollout.stall_s: has no effect with inference.backend='transformers'"),
        (["optim.warmup_steps=5"], "optim.warmup_steps=5: the constant schedule has no warm-up"),
        (["optim.scheduler=linear", "optim.warmup_steps=500"], "optim.warmup_steps=500: must be at most"),
        (["optim.loss_type=cispo"], "optim.epsilon=0.2: must be above 1 with loss_type='cispo'"),
        (["optim.epsilon=1.5"], "optim.epsilon=1.5: must be below 1 with loss_type='dapo'"),
        (["inference.gpus=[0]"], "inference.gpus: has no effect with backend='transformers'"),
        (["inference.urls=['http://h:1']"], "inference.urls: has no effect with backend='transformers'"),
        (["inference.servers=2"], "inference.servers: has no effect with backend='transformers'"),
        (["inference.restarts=1"], "inference.restarts: has no effect with backend='transformers'"),
        (
            ["inference.backend=vllm", "inference.urls=['http://h:1']", "inference.hang_s=9.0"],
            "inference.hang_s: has no effect on the running servers of inference.urls",
        ),
        (
            ["inference.backend=vllm", "pools.team.urls=['http://h:1']", "inference.servers=2"],
            "inference.servers: has no effect on the running servers of pools.<policy>.urls",
        ),
        (["inference.backend=openai"], "inference.urls=(): must name running servers with backend='openai'"),
        (["inference.backend=vllm", "inference.api_key_env=K"], "inference.api_key_env: has no effect without"),
        (
            ["inference.backend=vllm", "inference.urls=['http://h:1']", "inference.options={seed: 1}"],
            "inference.options: has no effect on the running servers of inference.urls",
        ),
        (
            ["inference.backend=vllm", "inference.servers=2", "inference.gpus=[0, 1, 2]"],
            "inference.gpus=(0, 1, 2): must be a multiple of inference.servers (2)",
        ),
        (["inference.backend=vllm", "policies.team.rank=513"], "policies.team.rank=513: must be at most 512"),
        (["roles.tool.temperature=0.0"], "roles.tool.temperature=0.0: must be above 0"),
        (["roles.tool.policy=''"], "roles.tool.policy: is missing; must be one of team, or roles.tool.player"),
        (["roles.tool.player.reference=oracle"], "roles.tool.policy='team': has no effect beside roles.tool.player"),
    ],
)
def test_values_that_contradict_each_other_are_refused(overrides: list[str], expected: str, tmp_path: Path) -> None:
    """UC-176, UC-178: contradictions, and options that would be read by nobody."""
    assert expected in error_of(VALID, *overrides, folder=tmp_path)


@pytest.mark.parametrize(
    "overrides",
    [
        ["rollout.stall_s=60.0"],
        ["policies.other={}", "roles.tool.policy=other", "pools.other.rollout_gpus=[0]", "inference.gpus=[1]"],
        ["policies.other.weights=full", "roles.tool.policy=other", "pools.other.update_gpus=[1]"],
    ],
    ids=["a server may stall", "one pool is left for the devices of all", "a pool sets a whole model apart"],
)
def test_the_same_values_are_taken_where_they_have_an_effect(overrides: list[str], tmp_path: Path) -> None:
    """Negative controls of the refusals above."""
    path = tmp_path / "config.yaml"
    path.write_text(to_yaml(VALID))
    load_config(path, ["inference.backend=vllm", *overrides])


@pytest.mark.parametrize("backend", ["vllm", "openai"])
def test_policies_on_several_bases_may_have_running_servers_with_a_key(backend: str, tmp_path: Path) -> None:
    servers = ["pools.team.urls=['http://h:1']", "pools.other.urls=['http://h:2']", "inference.api_key_env=K"]
    bases = ["policies.other.base=b", "roles.tool.policy=other"]
    path = tmp_path / "config.yaml"
    path.write_text(to_yaml(VALID))
    config = load_config(path, [*bases, *servers, f"inference.backend={backend}"])
    assert config.pools["other"].urls == ("http://h:2",)


@pytest.mark.parametrize(
    ("player", "overrides", "expected"),
    [
        ("{}", [], "roles.tool.player: must name one of reference, checkpoint and url; it names none."),
        ("{reference: oracle, url: 'http://h/v1'}", [], "it names reference and url."),
        ("{url: 'http://h/v1'}", [], "player.model='': must be what the server calls the model; http://h/v1/models"),
        ("{url: 'http://me:word@h/v1', model: m}", [], "must be a base URL like https://host/v1, without a password"),
        ("{url: 'http://h/v1?key=word', model: m}", [], "without a password or a query"),
        ("{reference: oracle, model: m}", [], "player.model: has no effect without roles.tool.player.url"),
        ("{reference: oracle, api_key_env: K}", [], "player.api_key_env: has no effect without"),
        ("{checkpoint: c, options: {top_p: 1.0}}", [], "player.options: has no effect without"),
        ("{checkpoint: absent}", [], "player.checkpoint='absent': must be a checkpoint-<step> folder of a run"),
        ("{reference: orakle}", [], "player.reference='orakle': must be one of"),
        (
            "{reference: oracle}",
            ["roles.tool.temperature=0.5"],
            "roles.tool.temperature: has no effect on the reference",
        ),
        ("{reference: oracle}", ["roles.tool.max_tokens=9"], "roles.tool.max_tokens: has no effect on the reference"),
        (
            "{reference: oracle}",
            ["roles.planner={player: {reference: oracle}}"],
            "roles: all have a player, so nothing would be trained",
        ),
    ],
)
def test_a_player_that_is_none_is_refused(player: str, overrides: list[str], expected: str, tmp_path: Path) -> None:
    """UC-178: the roles that are not trained."""
    assert expected in error_of(VALID, f"roles.tool={{player: {player}}}", *overrides, folder=tmp_path)


def test_a_role_without_a_policy_is_one_block(tmp_path: Path) -> None:
    """UC-176: a role is not trained when its block says who plays it; at temperature 0, too."""
    path = tmp_path / "config.yaml"
    path.write_text(to_yaml(VALID))
    config = load_config(path, ["roles.tool={player: {url: 'http://h/v1', model: m}, temperature: 0.0}"])
    assert (list(config.trained), list(config.frozen)) == (["planner"], ["tool"])


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["env.id=llm_envs/plan_pth-v0"], "env.id='llm_envs/plan_pth-v0': must be one of"),
        (["env.options.sizze=6"], "size"),
        (["env.options.size=99"], "size=99"),
        (["env.train_split=trainn"], "Did you mean 'train'?"),
        (["env.eval_split=val"], "env.eval_split: "),
        (["env.options.roles=single"], "roles.solver: is missing"),
        (["roles.judge.policy=team"], "roles='judge': must be one of planner, tool"),
        (["env.options.agents={judge: 2}"], "judge"),
        (["model.base=''", "model.warm_start.player=wek"], "Did you mean 'weak'?"),
    ],
)
def test_the_environment_itself_is_asked(overrides: list[str], expected: str, tmp_path: Path) -> None:
    """UC-176, and the issue's bad input: unknown env option, role, split."""
    assert expected in error_of(VALID, *overrides, folder=tmp_path)


def test_an_environment_of_someone_else_is_asked_too(tmp_path: Path) -> None:
    from pettingzoo.env_registry.registration import aec_registry, register

    if "toy/count-v0" not in aec_registry:
        register("aec", "toy/count-v0", entry_point="tests.trainer.toy_env:count_env")
    path = tmp_path / "config.yaml"
    path.write_text(to_yaml(VALID))
    config = load_config(path, ["env.id=toy/count-v0"])
    assert config.env == EnvSection(id="toy/count-v0")
    with pytest.raises(UsageError, match=r"env\.options: .*'no_such'"):
        load_config(path, ["env.id=toy/count-v0", "env.options.no_such=1"])


# ---- the closed sets are those of the libraries


def test_the_closed_sets_are_those_of_the_code_that_reads_them() -> None:
    from transformers import SchedulerType
    from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

    from at_grpo.advantages import Scale
    from at_grpo.at_grpo_trainer import PLAIN_SUMS

    assert set(choices.ScaleRewards) == set(Scale)
    assert set(choices.LossType) == set(PLAIN_SUMS)
    assert set(choices.Scheduler) <= {scheduler.value for scheduler in SchedulerType}
    assert set(choices.Tracker) == set(INTEGRATION_TO_CALLBACK)
