"""Checkpoints of the trainer as agents: real adapters on a real, untrained, tiny base."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from llm_envs.core.errors import UsageError
from llm_envs_bench.agents import build_cast, build_casts, plan_run
from llm_envs_bench.metrics import summarise
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.runner import evaluate, play_run
from llm_envs_bench.spec import RunSpec, Sampling
from tests.benchmarks.trained import GAME, OPTIONS, write_run


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run"))


Plan = Callable[..., RunSpec]


@pytest.fixture
def plan(run_folder: Path) -> Plan:
    def make(everyone: int, **roles: int) -> RunSpec:
        by_role = {role: f"checkpoint:{run_folder / f'checkpoint-{step}'}" for role, step in roles.items()}
        everyone_plays = f"checkpoint:{run_folder / f'checkpoint-{everyone}'}"
        return plan_run(GAME, everyone_plays, by_role, options=OPTIONS, instances=8, sampling=Sampling(1.0))

    return make


def replies(spec: RunSpec, out: Path, role: str, **options: int) -> list[str]:
    """What a role says first in every episode: there nobody else's words have changed what it sees but the tool's."""
    run = evaluate(spec, out, **options)
    assert run.owed == 0
    return [next(turn.reply for turn in episode.turns if turn.role == role) for episode in run.episodes]


def test_a_checkpoint_plays_all_its_roles_at_any_concurrency(plan: Plan, tmp_path: Path) -> None:
    spec = plan(5)
    together, alone = tmp_path / "together", tmp_path / "alone"
    assert replies(spec, together, "tool", concurrency=8) == replies(spec, alone, "tool", concurrency=1)
    assert (together / "episodes.jsonl").read_bytes() == (alone / "episodes.jsonl").read_bytes()


def test_roles_of_two_checkpoints_play_together(plan: Plan, tmp_path: Path) -> None:
    before = replies(plan(0), tmp_path / "before", "tool")
    after = replies(plan(5), tmp_path / "after", "tool")
    assert before != after, "negative control: the adapters do differ"
    assert replies(plan(5, tool=0), tmp_path / "mixed", "tool") == before
    assert replies(plan(0, tool=5), tmp_path / "other", "tool") == after


def test_a_reference_player_plays_beside_a_checkpoint(run_folder: Path, tmp_path: Path) -> None:
    agents = {"planner": "oracle"}
    trained = f"checkpoint:{run_folder / 'checkpoint-5'}"
    spec = plan_run(GAME, trained, agents, options=OPTIONS | {"max_cycles": 8}, instances=4)
    assert summarise(evaluate(spec, tmp_path / "run")).success.value == 1.0


def test_the_folder_of_one_adapter_plays_and_a_folder_needs_no_prefix(run_folder: Path, tmp_path: Path) -> None:
    checkpoint = run_folder / "checkpoint-5"
    whole = plan_run(GAME, str(checkpoint), {}, options=OPTIONS, instances=2)
    assert set(whole.agents.values()) == {f"checkpoint:{checkpoint}"}
    parts = {role: str(checkpoint / role) for role in ("tool", "planner")}
    apart = plan_run(GAME, None, parts, options=OPTIONS, instances=2)
    assert set(apart.weights) == {"tool", "planner"}
    said = [replies(spec, tmp_path / name, "tool") for name, spec in (("whole", whole), ("apart", apart))]
    assert said[0] == said[1]


def test_samples_of_a_checkpoint_differ_and_the_first_is_the_same_without_others(plan: Plan, tmp_path: Path) -> None:
    once = replies(plan(5), tmp_path / "once", "tool")
    thrice = replies(replace(plan(5), samples=3), tmp_path / "thrice", "tool")
    assert thrice[::3] == once
    assert thrice[1::3] != once


def test_a_checkpoint_is_loaded_once_for_all_entries(plan: Plan, tmp_path: Path) -> None:
    specs = tuple(replace(plan(5), entry=name, instances=2) for name in ("one", "other"))
    casts = build_casts(RunPlan(specs))
    assert casts["one"].agents["tool"] is casts["other"].agents["tool"]
    assert play_run(RunPlan(specs), tmp_path / "run", casts=casts) == ""


def test_a_checkpoint_is_identified_by_its_weights(plan: Plan) -> None:
    assert plan(0).weights["tool"] != plan(5).weights["tool"]
    assert plan(0).hash != plan(5).hash
    assert plan(0) == plan(0)


def test_a_failing_sampler_is_owed(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, requests: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr("at_grpo.inference.transformers.TransformersSampler.generate", fail)
    run = evaluate(plan(5), tmp_path / "run")
    assert (run.owed, len(run.failures)) == (8, 8)
    assert "no room" in str(run.failures[0].error)


def test_a_checkpoint_keeps_its_own_reply_limit(plan: Plan, run_folder: Path) -> None:
    trained = f"checkpoint:{run_folder / 'checkpoint-5'}"
    spec = plan_run(GAME, trained, {}, options=OPTIONS, instances=1, sampling=Sampling(max_tokens=3))
    with pytest.raises(UsageError, match="a checkpoint keeps its own limit"):
        build_cast(spec)


def test_a_role_that_was_not_trained_is_named(run_folder: Path) -> None:
    trained = f"checkpoint:{run_folder / 'checkpoint-5'}"
    spec = plan_run(GAME, trained, {}, options=OPTIONS | {"roles": "single"}, instances=1)
    with pytest.raises(UsageError, match="'solver': must be one of planner, tool"):
        build_cast(spec)
