"""The batch arithmetic and the memory estimate that `--dry-run` prints."""

import asyncio
import dataclasses
import io
import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from at_grpo.batch_plan import BatchPlan, plan_batch
from at_grpo.cli import USAGE_ERROR, main
from at_grpo.config import (
    EnvSection,
    InferenceSection,
    ModelSection,
    OptimSection,
    PolicySection,
    PoolSection,
    RoleSection,
    RolloutSection,
    TrainConfig,
    UpdateSection,
)
from at_grpo.dry_run import dry_run
from at_grpo.env_facts import EnvFacts, inspect_env
from at_grpo.inference.base import SamplingParams
from at_grpo.inference.scripted import ScriptedSampler
from at_grpo.inference.trained import load_pool
from at_grpo.loading import dump_config, load_config
from at_grpo.memory import MemoryPlan, adapter_parameters, plan_memory, show_bytes
from at_grpo.policies import build_policies
from at_grpo.pools import pools_of
from at_grpo.rollouts.limits import Select
from at_grpo.rollouts.trajectories import grow_trajectories
from at_grpo.rollouts.tree import Recipe, grow_tree
from at_grpo.seeds import instance_indices
from at_grpo.store import ExperienceStore
from at_grpo.tiny import build_tokenizer
from at_grpo.tokenization import PromptEncoder
from llm_envs.core.errors import UsageError
from tests.trainer.tiny_trainer import base_model
from tests.trainer.toy_env import count_env

FACTS = EnvFacts(agents={"tool": 2, "planner": 1}, max_cycles=3, players=())
CONFIG = TrainConfig(
    model=ModelSection(base="none"),
    policies={"scout": PolicySection(rank=4), "leader": PolicySection(rank=8)},
    roles={"tool": RoleSection("scout", max_tokens=5), "planner": RoleSection("leader", max_tokens=7)},
    rollout=RolloutSection(instances=5, k=4, max_prompt_tokens=50),
    optim=OptimSection(steps=9, micro_batch_size=16),
)


# ---- batch


def test_the_plan_is_instances_times_cycles_times_agents_times_k() -> None:
    """UC-124."""
    plan = plan_batch(CONFIG, FACTS)
    tool, planner = plan.roles
    assert (tool.samples, planner.samples, plan.samples) == (5 * 3 * 2 * 4, 5 * 3 * 1 * 4, 180)
    assert (tool.groups, planner.groups) == (30, 15)
    assert (tool.completion_tokens, planner.completion_tokens) == (120 * 5, 60 * 7)
    assert (tool.prompt_tokens, planner.prompt_tokens) == (120 * 50, 60 * 50)
    assert (tool.micro_batches, planner.micro_batches) == (8, 4)
    assert (plan.iterations, plan.optimizer_steps, plan.episodes) == (9, 9, 45)
    divided = dataclasses.replace(CONFIG, optim=dataclasses.replace(CONFIG.optim, mini_batches=2, epochs=3))
    again = plan_batch(divided, FACTS)
    assert (again.iterations, again.optimizer_steps, again.episodes) == (9, 54, 45)
    assert again.roles[0].micro_batches == 3 * tool.micro_batches


@pytest.mark.parametrize("grouping", ["turn", "trajectory"])
def test_a_real_iteration_without_early_ends_has_just_the_planned_size(grouping: str) -> None:
    """UC-124: the plan against the tree, the store and the instances themselves."""
    config = dataclasses.replace(CONFIG, rollout=dataclasses.replace(CONFIG.rollout, grouping=grouping))
    plan = plan_batch(config, FACTS)
    encoder = PromptEncoder(build_tokenizer(["tool of 1 at 0 heard none"]))
    sampler = ScriptedSampler(lambda policy, prompt, sibling: "0", encoder)
    roles = {role: section.policy for role, section in config.roles.items()}
    params = {role: SamplingParams(max_tokens=section.max_tokens) for role, section in config.roles.items()}
    encoders = dict.fromkeys(roles, encoder)
    recipe = Recipe(sampler, encoders, roles, params, k=4, select=Select.GREEDY, max_prompt_tokens=10_000, seed=0)
    store = ExperienceStore(config.optim.micro_batch_size)
    store.open(0)
    for index in instance_indices(0, 0, config.rollout.instances):
        env = count_env(agents={"tool": 2})
        env.reset(options={"index": index})
        grower = grow_tree if grouping == "turn" else grow_trajectories
        store.add(asyncio.run(grower(env, recipe, 0, index)).groups)
    groups = store.seal()
    batches = list(store.stream(0))
    for role in plan.roles:
        own = [group for group in groups if group.role == role.role]
        assert (len(own), sum(len(group.samples) for group in own)) == (role.groups, role.samples)
        assert sum(batch.role == role.role for batch in batches) == role.micro_batches
        assert sum(batch.tokens for batch in batches if batch.role == role.role) <= role.completion_tokens


def test_no_instance_comes_twice_within_a_run() -> None:
    """UC-124: every task at most once."""
    plan = plan_batch(CONFIG, FACTS)
    drawn = [index for step in range(9) for index in instance_indices(0, step, CONFIG.rollout.instances)]
    assert len(set(drawn)) == len(drawn) == plan.episodes


def test_an_environment_without_a_horizon_is_planned_by_the_cycle() -> None:
    plan = plan_batch(CONFIG, dataclasses.replace(FACTS, max_cycles=None))
    assert plan.cycles is None
    assert plan.samples == 5 * 3 * 4


def test_the_facts_are_the_environment_s_own() -> None:
    facts = inspect_env(EnvSection(options={"agents": {"tool": 2}, "max_cycles": 5}))
    assert (dict(facts.agents), facts.max_cycles) == ({"tool": 2, "planner": 1}, 5)
    assert "oracle" in facts.players


# ---- memory


@pytest.mark.parametrize("targets", ["all-linear", ("q_proj", "v_proj"), ("mlp.down_proj",), r".*\.[kq]_proj"])
def test_adapter_sizes_are_those_that_peft_makes(targets: Any) -> None:
    section = PolicySection(rank=3, target_modules=targets)
    model = build_policies(base_model(), {"team": section}, seed=0)
    trained = sum(parameter.numel() for name, parameter in model.named_parameters() if "lora" in name)
    assert adapter_parameters(base_model(), section) == trained > 0


@pytest.fixture(scope="module")
def saved_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    base_model().save_pretrained(folder)
    return folder


def memory_of(config: TrainConfig) -> MemoryPlan:
    """Of the only pool."""
    (pool,) = pools_of(config)
    return plan_memory(config, pool)


def with_base(folder: Path, dtype: str = "float32", **rollout: Any) -> TrainConfig:
    return dataclasses.replace(
        CONFIG,
        model=ModelSection(base=str(folder), dtype=dtype),
        rollout=dataclasses.replace(CONFIG.rollout, **rollout),
    )


def test_the_estimate_counts_the_real_model(saved_base: Path) -> None:
    plan = memory_of(with_base(saved_base))
    assert plan.base_parameters == base_model().num_parameters()
    assert plan.base == 4 * plan.base_parameters
    assert plan.adapter_parameters == {
        name: adapter_parameters(base_model(), section) for name, section in CONFIG.policies.items()
    }
    assert plan.adapters == 16 * sum(plan.adapter_parameters.values())


def test_a_whole_model_is_counted_once_with_what_training_it_takes(saved_base: Path) -> None:
    plain = with_base(saved_base, dtype="bfloat16")
    roles = {role: dataclasses.replace(section, policy="team") for role, section in plain.roles.items()}
    whole = memory_of(dataclasses.replace(plain, policies={"team": PolicySection(weights="full")}, roles=roles))
    count = base_model().num_parameters()
    assert whole.adapter_parameters == {"team": count}
    assert whole.adapters == 16 * count
    assert whole.base == 2 * count, "that of its servers"
    assert whole.peak == memory_of(plain).peak - memory_of(plain).base - memory_of(plain).adapters + 16 * count


def test_the_optimizer_really_holds_what_the_estimate_says() -> None:
    """Weight, gradient and two moments in float32: 16 bytes a trained parameter."""
    model = build_policies(base_model(), {"team": CONFIG.policies["scout"]}, seed=0)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained)
    sum(parameter.square().sum() for parameter in trained).backward()
    optimizer.step()
    held = [*trained, *(parameter.grad for parameter in trained)]
    held += [state[key] for state in optimizer.state.values() for key in ("exp_avg", "exp_avg_sq")]
    assert sum(tensor.numel() * tensor.element_size() for tensor in held) == 16 * sum(p.numel() for p in trained)


@pytest.mark.parametrize(
    ("change", "larger"),
    [
        ({"max_prompt_tokens": 500}, {"activations", "cache", "reply"}),
        ({"instances": 50}, {"cache"}),
        ({"k": 40}, {"cache"}),
    ],
)
def test_every_option_moves_what_it_should(change: dict[str, int], larger: set[str], saved_base: Path) -> None:
    """UC-178."""
    before, after = memory_of(with_base(saved_base)), memory_of(with_base(saved_base, **change))
    fields = [field.name for field in dataclasses.fields(MemoryPlan) if field.name != "adapter_parameters"]
    assert {name for name in fields if getattr(after, name) != getattr(before, name)} == larger


def test_half_precision_halves_the_base_and_not_the_adapters(saved_base: Path) -> None:
    full, half = memory_of(with_base(saved_base)), memory_of(with_base(saved_base, dtype="bfloat16"))
    assert (half.base * 2, half.activations * 2, half.cache * 2) == (full.base, full.activations, full.cache)
    assert half.adapters == full.adapters


def test_nothing_is_allocated_for_the_estimate(saved_base: Path) -> None:
    from at_grpo.memory import _skeleton

    config = with_base(saved_base)
    skeleton = _skeleton(config, pools_of(config)[0])
    assert {parameter.device.type for parameter in skeleton.parameters()} == {"meta"}


def test_a_base_model_that_is_not_there_is_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """And before the hub is asked, which may take long, another one says so."""
    caplog.set_level(logging.INFO, "at_grpo")
    with pytest.raises(UsageError, match=r"model\.base='.*absent': no model can be loaded") as caught:
        memory_of(with_base(tmp_path / "absent"))
    assert "\n" not in str(caught.value)
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        f"{tmp_path / 'absent'} is no folder here"
    ]


def test_a_base_model_that_is_not_there_is_told_by_the_option_that_names_it(tmp_path: Path) -> None:
    """UC-175: a policy's own base, by the estimate and by what loads it."""
    absent = str(tmp_path / "absent")
    config = dataclasses.replace(CONFIG, policies={name: PolicySection(base=absent) for name in CONFIG.policies})
    (pool,) = pools_of(config)
    told = rf"^policies\.{pool.name}\.base='.*absent': no model can be loaded"
    with pytest.raises(UsageError, match=told):
        plan_memory(config, pool)
    with pytest.raises(UsageError, match=told):
        load_pool(pool, "float32", 0)


# ---- the printed page


def test_the_demo_s_dry_run_prints_the_arithmetic_and_the_memory() -> None:
    """UC-124."""
    console = Console(width=100, file=io.StringIO())
    config = load_config("tiny_cpu")
    dry_run(config, console)
    page = console.file.getvalue()
    plan: BatchPlan = plan_batch(config, inspect_env(config.env))
    for number in (plan.samples, plan.episodes, plan.optimizer_steps):
        assert f"{number:,}" in page
    product = f"{config.rollout.instances} × {plan.cycles} × 1 × {config.rollout.k}"
    assert page.count(product) == 2
    assert "runs on " in page
    assert memory_of(config).base_parameters < 1_000_000


# ---- the servers' part


def served_page(name: str, *overrides: str) -> str:
    console = Console(width=100, file=io.StringIO())
    dry_run(load_config(name, ["inference.backend=vllm", *overrides]), console)
    page: str = console.file.getvalue()
    return page


def test_every_server_is_shown_with_its_gpus_and_its_command_line() -> None:
    page = served_page("tiny_cpu", "inference.servers=2", "inference.gpus=[1, 2]")
    assert "2 vLLM server(s), each with a copy of the base model; the trainer is on GPU 0." in page
    for number in (0, 1):
        assert f"server {number}: CUDA_VISIBLE_DEVICES={number + 1} " in page
    assert page.count("-m vllm.entrypoints.openai.api_server") == 2
    assert "It takes 0.92 of the memory of each of its GPUs: vLLM's default" in page
    half = served_page("tiny_cpu", "inference.gpus=[0]", "inference.options={gpu-memory-utilization: 0.4}")
    assert "It takes 0.4 of the memory" in half


def test_servers_that_run_already_are_named_and_none_is_planned() -> None:
    page = served_page("tiny_cpu", "inference.urls=['http://h:8000']")
    assert "by the running servers http://h:8000; the run starts none" in page
    assert "api_server" not in page


def test_the_trainer_s_peak_has_no_replies_where_servers_sample(saved_base: Path) -> None:
    config = with_base(saved_base, instances=5000)
    served = dataclasses.replace(config, inference=InferenceSection(backend="vllm"))
    inside, beside = memory_of(config), memory_of(served)
    assert inside.cache == beside.cache > inside.activations + inside.logits
    assert beside.peak == inside.peak - inside.cache + inside.activations + inside.logits


def test_a_slot_holds_an_adapter_of_the_largest_rank_that_the_server_is_started_for(saved_base: Path) -> None:
    config = with_base(saved_base, dtype="bfloat16")
    assert {section.rank for section in config.policies.values()} == {4, 8}
    assert memory_of(config).slot == 2 * adapter_parameters(base_model(), PolicySection(rank=8))


# ---- pools, ranks and what fits


def two_bases(folder: Path, **changes: Any) -> TrainConfig:
    """A base model for each role, each on two GPUs of its own."""
    config = with_base(folder)
    pools = {
        "scout": PoolSection(rollout_gpus=(0,), update_gpus=(1,)),
        "leader": PoolSection(rollout_gpus=(2,), update_gpus=(3, 4)),
    }
    return dataclasses.replace(config, pools=pools, inference=InferenceSection(backend="vllm"), **changes)


def page_of(config: TrainConfig, size: int | None = None) -> str:
    console = Console(width=100, file=io.StringIO())
    dry_run(config, console, size)
    page: str = console.file.getvalue()
    return page


def test_every_process_of_every_pool_is_shown_with_its_device_and_its_need(saved_base: Path) -> None:
    config = two_bases(saved_base)
    page = page_of(config, 80 * 2**30)
    scout, leader = (plan_memory(config, pool) for pool in pools_of(config))
    assert scout.peak < leader.peak, "ranks 4 and 8"
    for line in (
        f"Pool leader, on {saved_base}:",
        "server 1: CUDA_VISIBLE_DEVICES=2 ",
        f"  the driver, which trains scout: {show_bytes(scout.peak)} on GPU 1",
        f"  rank 0 of the update worker of leader: {show_bytes(leader.peak)} on GPU 3",
        f"  rank 1 of the update worker of leader: {show_bytes(leader.peak)} on GPU 4",
        "  server 0 of scout: ",
        " on GPU 2, and takes 0.92 of it",
    ):
        assert line in page, line
    assert "configuration names 5" in page


def test_a_plan_that_needs_more_than_a_gpu_has_is_refused_with_who_is_on_it(saved_base: Path) -> None:
    config = two_bases(saved_base)
    leader = plan_memory(config, pools_of(config)[1])
    page_of(config, leader.peak)
    with pytest.raises(UsageError, match=r"GPU 3: the plan needs about .*rank 0 of the update worker of leader") as no:
        page_of(config, leader.peak - 1)
    assert "GPU 4: " in str(no.value)
    assert "GPU 1: " not in str(no.value), "the scout's fits"
    both = dataclasses.replace(config, pools={}, inference=InferenceSection(backend="vllm", gpus=(0,)))
    with pytest.raises(UsageError, match=r"GPU 0: .*the driver, which trains scout, leader .*server 0"):
        page_of(both, memory_of(both).peak * 3 // 2)
    page_of(both, memory_of(both).peak * 3)


def test_without_a_gpu_all_processes_share_the_machine_s_memory(saved_base: Path) -> None:
    config = dataclasses.replace(with_base(saved_base), update=UpdateSection(ranks=3))
    need = 3 * memory_of(config).peak
    assert "rank 2 of the update worker of" in page_of(config, need)
    with pytest.raises(UsageError, match="the CPU: the plan needs about"):
        page_of(config, need - 1)


def test_the_command_line_states_the_size(saved_base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(dump_config(load_config("tiny_cpu")))
    assert main(["train", "--config", str(path), "--dry-run", "--memory", "64"]) == 0
    assert main(["train", "--config", str(path), "--dry-run", "--memory", "0.0001"]) == USAGE_ERROR
    assert "the plan needs about" in capsys.readouterr().err
