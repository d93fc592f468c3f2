"""Two roles learn tic-tac-toe against each other: the trainer on a game of PettingZoo, in text."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from llm_envs import make
from llm_envs.players import Player, ReferencePlayer
from tests.scale import scaled

pytestmark = pytest.mark.needs("classic")

ENV = "llm_envs/tictactoe-v0"
OPTIONS = {"observation": "brief", "max_cycles": 7}
OPENING = 4  # random plies before the agents play: training meets more positions than two settled players would show it
OPPONENT = {"cross": "nought", "nought": "cross"}
GAIN = 0.20  # of the win rate, mean over both roles


@pytest.fixture(autouse=True)
def extras() -> None:
    pytest.importorskip("rlcard", reason="the extra `classic` is not installed")
    pytest.importorskip("trl", reason="the extra `train` is not installed")


def configuration(
    folder: Path,
    steps: int,
    *,
    warm_steps: int = 300,
    instances: int = 16,
    k: int = 8,
    permute: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    return {
        "env": {"id": ENV, "options": OPTIONS | {"opening": OPENING}},
        "model": {
            "warm_start": {
                "player": "random",
                "steps": warm_steps,
                "batch_size": 32,
                "learning_rate": 3e-3,
                "hidden_size": 64,
                "layers": 3,
                "heads": 4,
            }
        },
        "policies": {role: {"rank": 16, "lora_alpha": 32} for role in OPPONENT},
        "roles": {role: {"policy": role, "temperature": 1.0, "max_tokens": 4} for role in OPPONENT},
        "rollout": {"instances": instances, "k": k, "grouping": "trajectory", "max_prompt_tokens": 128},
        "optim": {
            "steps": steps,
            "learning_rate": 1e-3,
            "adam_beta2": 0.95,
            "scale_rewards": "none",
            "advantage_factor": 3.0,
            "micro_batch_size": 256,
        },
        "run": {
            "output_dir": str(folder),
            "save_steps": steps,
            "log_steps": max(1, steps // 10),
            "permute_rewards": permute,
            "seed": seed,
        },
    }


def train(folder: Path, steps: int, **changes: Any) -> Path:
    from at_grpo.loading import parse_config
    from at_grpo.train import run
    from at_grpo.validation import check_config

    config = parse_config(configuration(folder, steps, **changes))
    check_config(config)
    return run(config)


def win_rates(checkpoint: Path, games: int) -> dict[str, float]:
    """Role -> share of games that it wins against a random opponent, from the empty board."""
    from at_grpo.inference.checkpoint import load_players

    players = load_players(checkpoint)

    async def one(role: str, index: int) -> bool:
        seats: dict[str, Player] = {role: players[role], OPPONENT[role]: ReferencePlayer("random", seed=index)}
        with players[role].episode():
            return await plays(seats, role, index)

    async def all_games(role: str) -> float:
        won = await asyncio.gather(*(one(role, index) for index in range(games)))
        return sum(won) / games

    return {role: asyncio.run(all_games(role)) for role in OPPONENT}


async def plays(seats: dict[str, Player], role: str, index: int) -> bool:
    from llm_envs.play import aplay

    episode = await aplay(make(ENV, **OPTIONS), seats, split="test", index=index)
    return episode.returns[f"{role}_0"] > 0


def test_the_trainer_plays_whole_games_and_moves_both_policies(tmp_path: Path) -> None:
    """Trajectory grouping on a game that pays at its end: each role's return is its own, and both adapters learn."""
    import torch
    from safetensors.torch import load_file

    folder = train(tmp_path / "run", steps=2, warm_steps=10, instances=2, k=4)
    for role in OPPONENT:
        first, last = (load_file(folder / f"checkpoint-{step}" / role / "adapter_model.safetensors") for step in (0, 2))
        assert any(not torch.equal(first[name], last[name]) for name in first), role


@pytest.mark.long
def test_both_roles_learn_to_win_and_the_control_does_not(tmp_path: Path) -> None:
    """Against a random opponent the win rate rises by 20 points; with rewards dealt out at random it does not."""
    steps, games = 80, scaled(fast=500, long=1000)
    learned, control = train(tmp_path / "run", steps), train(tmp_path / "control", steps, permute=True)
    start = mean(win_rates(learned / "checkpoint-0", games))
    assert mean(win_rates(learned / f"checkpoint-{steps}", games)) >= start + GAIN
    assert mean(win_rates(control / f"checkpoint-{steps}", games)) < start + GAIN / 2


def mean(rates: dict[str, float]) -> float:
    return sum(rates.values()) / len(rates)
