"""The command lines of vLLM servers."""

from dataclasses import replace

import pytest

from at_grpo.config import InferenceSection, PolicySection, TrainConfig
from at_grpo.inference.plan import ServerPlan, longest, lora_bound, server_plans
from at_grpo.loading import load_config
from at_grpo.placement import SERVER_SHARE, VISIBLE, place
from at_grpo.pools import pools_of

PLAN = ServerPlan("some/model", "bfloat16", 6144, policies=2, max_rank=16)


def config(**section: object) -> TrainConfig:
    loaded = load_config("plan_path/per_role")
    return replace(loaded, inference=InferenceSection(backend="vllm", **section))  # type: ignore[arg-type]


def option(plan: ServerPlan, name: str) -> str | None:
    words = plan.command([])
    return words[words.index(f"--{name}") + 1] if f"--{name}" in words else None


def test_log_probabilities_are_of_the_whole_distribution_and_the_base_has_a_name_of_its_own() -> None:
    """UC-137, UC-163."""
    assert option(PLAN, "logprobs-mode") == "processed_logprobs"
    assert option(PLAN, "generation-config") == "vllm", "the model's recommendations would cut the distribution"
    assert option(PLAN, "served-model-name") == "base"


def test_two_versions_of_each_policy_fit_and_ranks_are_rounded_up_to_what_vllm_knows() -> None:
    """UC-155, UC-151."""
    assert option(PLAN, "max-loras") == "6"
    assert option(replace(PLAN, staleness=3), "max-loras") == "12", "and older ones where they may still sample"
    assert option(PLAN, "max-lora-rank") == "16"
    for rank, bound in {1: 1, 4: 8, 12: 16, 64: 64, 65: 128, 512: 512}.items():
        assert lora_bound([PolicySection(rank=1), PolicySection(rank=rank)]) == bound


def test_options_of_the_user_win_and_flags_have_no_value() -> None:
    plan = replace(PLAN, options={"enforce-eager": True, "enable-lora": False, "max-loras": 12, "seed": 3})
    words = plan.command(["--uds", "s"])
    assert words[words.index("--enforce-eager") + 1].startswith("--")
    assert "--enable-lora" not in words
    assert (option(plan, "max-loras"), option(plan, "seed"), option(plan, "uds")) == ("12", "3", None)
    assert words[words.index("--uds") + 1] == "s"


def test_a_server_sees_its_own_gpus_and_splits_the_model_over_them() -> None:
    plan = replace(PLAN, gpus=("4", "5"))
    assert plan.environment()[VISIBLE] == "4,5"
    assert option(plan, "tensor-parallel-size") == "2"
    assert option(replace(PLAN, gpus=("4",)), "tensor-parallel-size") is None
    assert "VLLM_CPU_KVCACHE_SPACE" not in plan.environment()


def test_a_server_on_the_cpu_reads_prompts_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks, a seeded request ends vLLM 0.31's CPU build."""
    assert "--no-enable-chunked-prefill" in PLAN.command([])
    assert "--no-enable-chunked-prefill" not in replace(PLAN, gpus=("0",)).command([])
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "7")
    assert PLAN.environment()["VLLM_CPU_KVCACHE_SPACE"] == "7"


def test_the_plans_of_a_run_follow_its_configuration() -> None:
    run = config(servers=2, gpus=(1, 2))
    placement = place(run, ("0", "1", "2"))
    (pool,) = pools_of(run)
    plans = server_plans(run, pool, placement.pools[0], placement)
    assert [plan.gpus for plan in plans] == [("1",), ("2",)]
    for plan in plans:
        assert (plan.model, plan.dtype, plan.policies, plan.max_rank) == (run.model.base, "bfloat16", 2, 16)
        assert plan.max_model_len == longest(run, pool) == 4096 + 2048
        assert option(plan, "gpu-memory-utilization") is None


def test_a_server_of_a_whole_model_has_no_adapters_and_the_name_of_version_0() -> None:
    loaded = load_config("plan_path/shared", ["policies.team.weights=full", "policies.team.rank=16"])
    run = replace(loaded, inference=InferenceSection(backend="vllm"))
    placement = place(run, ("0", "1"))
    (plan,) = server_plans(run, pools_of(run)[0], placement.pools[0], placement, "word")
    assert option(plan, "served-model-name") == "team-v0-word"
    assert option(plan, "model") == option(plan, "tokenizer") == run.model.base
    assert not any("lora" in word for word in plan.command([]))
    assert plan.slots == 0


def test_a_server_that_shares_the_trainer_s_gpu_leaves_it_half_unless_told_otherwise() -> None:
    for options, share in (({}, str(SERVER_SHARE)), ({"gpu-memory-utilization": 0.3}, "0.3")):
        run = config(options=options)
        placement = place(run, ("0",))
        (plan,) = server_plans(run, pools_of(run)[0], placement.pools[0], placement)
        assert option(plan, "gpu-memory-utilization") == share
