"""What learns, learns from the rewards: with rewards dealt out at random nothing is learned."""

from dataclasses import replace
from pathlib import Path

import pytest

from at_grpo.config import TrainConfig
from at_grpo.loading import load_config
from tests.trainer.end_to_end import look, process
from tests.trainer.end_to_end.settings import small

STEPS, INSTANCES = 24, 200


def settings(folder: Path, base: Path, *, permute: bool) -> TrainConfig:
    """Enough to double the success of the warm start."""
    return small(
        folder,
        base,
        rollout={"instances": 8, "k": 4},
        optim={"steps": STEPS, "adam_beta2": 0.95, "micro_batch_size": 128},
        run={"eval_steps": STEPS, "eval_instances": INSTANCES, "permute_rewards": permute},
    )


def before_and_after(run: Path, measure: str) -> tuple[float, float]:
    """A mean over evaluation episodes, before the first step and after the last."""
    found = [line[measure] for line in look.metrics(run) if measure in line]
    return found[0], found[-1]


def test_play_improves_by_the_rewards_and_not_by_the_same_rewards_permuted(base: Path, tmp_path: Path) -> None:
    """Over four seeds, returns rose by 0.25 to 0.38 and success by 16 to 24 points; permuted, both fell each time."""
    run = process.train(settings(tmp_path / "run", base, permute=False))
    control = process.train(settings(tmp_path / "control", base, permute=True))
    for measure, rise in {"eval_return/planner_0": 0.15, "eval_success": 0.08}.items():
        before, after = before_and_after(run, measure)
        start, permuted = before_and_after(control, measure)
        assert start == before, "both start from the same policies"
        assert after >= before + rise
        assert permuted <= before + rise / 2


# ---- at full size


def demo(folder: Path, seed: int, *, permute: bool = False) -> TrainConfig:
    """The demo's training, measured on the instances that it reports on."""
    config = load_config("tiny_cpu", [f"run.seed={seed}", f"run.permute_rewards={str(permute).lower()}"])
    run = replace(config.run, output_dir=str(folder), eval_steps=config.optim.steps, eval_instances=INSTANCES)
    return replace(config, env=replace(config.env, eval_split="test"), run=run)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_the_demo_learns_from_other_seeds_too(seed: int, tmp_path: Path) -> None:
    before, after = before_and_after(process.train(demo(tmp_path / "run", seed)), "eval_success")
    assert before <= 0.25
    assert after >= 0.7


@pytest.mark.long
def test_the_demo_learns_nothing_from_permuted_rewards(tmp_path: Path) -> None:
    before, after = before_and_after(process.train(demo(tmp_path / "run", 0, permute=True)), "eval_success")
    assert abs(after - before) <= 0.1
