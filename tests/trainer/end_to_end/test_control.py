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
    """Enough to triple the success of the warm start."""
    return small(
        folder,
        base,
        rollout={"instances": 8, "k": 4},
        optim={"steps": STEPS, "adam_beta2": 0.95, "micro_batch_size": 128},
        run={"eval_steps": STEPS, "eval_instances": INSTANCES, "permute_rewards": permute},
    )


def successes(run: Path) -> tuple[float, float]:
    """Share of evaluation episodes that were solved, before and after."""
    found = [line["eval_success"] for line in look.metrics(run) if "eval_success" in line]
    return found[0], found[-1]


def test_success_rises_with_the_rewards_and_not_with_the_same_rewards_permuted(base: Path, tmp_path: Path) -> None:
    before, after = successes(process.train(settings(tmp_path / "run", base, permute=False)))
    same_before, permuted = successes(process.train(settings(tmp_path / "control", base, permute=True)))
    assert same_before == before, "both start from the same policies"
    assert after >= before + 0.12
    assert permuted <= before + 0.06


# ---- at full size


def demo(folder: Path, seed: int, *, permute: bool = False) -> TrainConfig:
    """The demo's training, measured on the instances that it reports on."""
    config = load_config("tiny_cpu", [f"run.seed={seed}", f"run.permute_rewards={str(permute).lower()}"])
    run = replace(config.run, output_dir=str(folder), eval_steps=config.optim.steps, eval_instances=INSTANCES)
    return replace(config, env=replace(config.env, eval_split="test"), run=run)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_the_demo_learns_from_other_seeds_too(seed: int, tmp_path: Path) -> None:
    before, after = successes(process.train(demo(tmp_path / "run", seed)))
    assert before <= 0.25
    assert after >= 0.7


@pytest.mark.long
def test_the_demo_learns_nothing_from_permuted_rewards(tmp_path: Path) -> None:
    before, after = successes(process.train(demo(tmp_path / "run", 0, permute=True)))
    assert abs(after - before) <= 0.1
