"""Role ablation plays every replacement once, and shares the loss out without remainder."""

from pathlib import Path

import pytest

from llm_envs.core.errors import UsageError
from llm_envs_bench.ablation import FOLDER, Losses, ablated_plans, load_ablations, role_losses
from llm_envs_bench.agents import plan_run
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.report import loss_table
from llm_envs_bench.runner import play_run
from llm_envs_bench.spec import Sampling
from llm_envs_bench.store import Run, load_run
from tests.benchmarks import corridor


def plan_of(**agents: str) -> RunPlan:
    return RunPlan((plan_run(corridor.ENV_ID, None, agents, options={}, instances=6),))


def ablate(folder: Path, plan: RunPlan) -> Losses:
    """What `eval --ablate-roles` does."""
    play_run(plan, folder)
    for name, other in ablated_plans(plan).items():
        play_run(other, folder / FOLDER / name)
    found = role_losses(load_run(folder), load_ablations(folder))
    assert found is not None
    return found


def test_every_set_of_roles_is_replaced_by_the_oracle_and_every_role_by_random() -> None:
    plans = ablated_plans(plan_of(scout="silent", walker="idle"))
    assert {name: dict(plan.specs[0].agents) for name, plan in plans.items()} == {
        "scout=random": {"scout": "random", "walker": "idle"},
        "walker=random": {"scout": "silent", "walker": "random"},
        "scout=oracle": {"scout": "oracle", "walker": "idle"},
        "walker=oracle": {"scout": "silent", "walker": "oracle"},
        "scout+walker=oracle": {"scout": "oracle", "walker": "oracle"},
    }
    assert all(plan.specs[0].indices == range(6) for plan in plans.values()), "the same instances"


def test_what_only_models_heed_goes_with_the_last_model() -> None:
    spec = plan_run(
        corridor.ENV_ID,
        None,
        {"scout": "openai:m@http://x/v1", "walker": "idle"},
        options={},
        instances=6,
        sampling=Sampling(0.5, 100),
    )
    plans = ablated_plans(RunPlan((spec,)))
    assert plans["walker=oracle"].specs[0].sampling == Sampling(0.5, 100)
    assert plans["scout=oracle"].specs[0].sampling == Sampling()


def test_the_role_that_fails_has_the_loss(tmp_path: Path) -> None:
    """The corridor is walked by the walker alone."""
    losses = ablate(tmp_path, plan_of(scout="silent", walker="idle"))
    scout, walker = losses.roles
    assert (losses.success.value, losses.ceiling.value, losses.loss) == (0.0, 1.0, 1.0)
    assert (walker.gain.value, walker.share.value) == (1.0, 1.0)
    assert (scout.gain.value, scout.share.value) == (0.0, 0.0)
    assert scout.gain.low < 0 < scout.gain.high, "six instances leave doubt"


def test_two_roles_that_both_have_to_be_right_share_the_loss(tmp_path: Path) -> None:
    """Each replacement alone gains nothing, so that gains say nothing of whose loss it is; shares add up to it."""
    plan = plan_of(scout="silent", walker="idle")
    play_run(plan, tmp_path)
    wins = {"scout+walker=oracle"}
    for name, other in ablated_plans(plan).items():
        everyone = "oracle" if name in wins else "idle"
        spec = other.specs[0]
        stand_in = RunPlan((plan_run(spec.env, everyone, {}, options={}, instances=6),))
        play_run(stand_in, tmp_path / FOLDER / name)
    losses = role_losses(load_run(tmp_path), load_ablations(tmp_path))
    assert losses is not None
    assert [role.gain.value for role in losses.roles] == [0.0, 0.0]
    assert [role.share.value for role in losses.roles] == [0.5, 0.5]
    assert sum(role.share.value for role in losses.roles) == pytest.approx(losses.loss)


def test_random_in_the_place_of_a_role_that_carries_the_team_drops_it(tmp_path: Path) -> None:
    losses = ablate(tmp_path, plan_of(scout="silent", walker="oracle"))
    scout, walker = losses.roles
    assert (scout.drop.value, walker.drop.value) == (0.0, 1.0)
    grid = loss_table([losses])
    rows = [dict(zip(grid.header, row, strict=True)) for row in grid.rows]
    assert [row["role"] for row in rows] == ["scout", "walker"]
    assert rows[1]["drop by random"].startswith("+100.0 (")


def test_an_ablation_that_is_not_whole_says_nothing(tmp_path: Path) -> None:
    plan = plan_of(scout="silent", walker="idle")
    play_run(plan, tmp_path)
    run: Run = load_run(tmp_path)
    assert load_ablations(tmp_path) == {}
    assert role_losses(run, {}) is None
    first, *_ = ablated_plans(plan).items()
    play_run(first[1], tmp_path / FOLDER / first[0])
    assert role_losses(run, load_ablations(tmp_path)) is None


def test_a_single_role_has_nobody_to_share_a_loss_with() -> None:
    alone = plan_run("plan_path_v0", "greedy", {}, options={"roles": "single"}, instances=2)
    with pytest.raises(UsageError, match="needs two roles"):
        ablated_plans(RunPlan((alone,)))
