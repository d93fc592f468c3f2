"""Runs in which one role is trained and the other one is played by something that is not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from aiohttp import web

from at_grpo.checkpointing import check_complete, read_config
from at_grpo.config import PlayerSection, RoleSection, TrainConfig
from llm_envs.episode import read_episodes
from tests.trainer.end_to_end import look, process
from tests.trainer.end_to_end.settings import small
from tests.trainer.inference.http_server import serving

RUN = {"eval_steps": 2, "eval_instances": 5}
TOOL = 'print("right down")'


def beside(player: PlayerSection, folder: Path, base: Path, **role: Any) -> TrainConfig:
    """The planner has a policy, the tool a player."""
    config = small(folder, base, policies={"planner": "planner"}, run=RUN)
    return replace(config, roles={**config.roles, "tool": RoleSection(player=player, **role)})


@pytest.fixture(scope="module")
def asked() -> list[str]:
    """The observations that the model behind a server was given."""
    return []


@pytest.fixture(scope="module")
def runs(warm: Path, base: Path, asked: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run for each kind of player."""
    folder = tmp_path_factory.mktemp("frozen")

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append((await request.json())["messages"][0]["content"])
        return web.json_response({"choices": [{"message": {"role": "assistant", "content": TOOL}}]})

    with serving(answer) as url:
        served = PlayerSection(url=f"{url}/v1", model="some-model")
        made = {"url": process.train(beside(served, folder / "url", base, temperature=0.0))}
    oracle, tool = PlayerSection(reference="oracle"), PlayerSection(checkpoint=str(warm / "checkpoint-2" / "tool"))
    made["reference"] = process.train(beside(oracle, folder / "reference", base))
    made["checkpoint"] = process.train(beside(tool, folder / "checkpoint", base, max_tokens=10))
    return made


NAMES = {"url": "some-model", "reference": "oracle", "checkpoint": "checkpoint-2/tool"}


@pytest.mark.parametrize("kind", NAMES)
def test_the_other_role_trains_and_the_checkpoint_holds_its_policy_alone(kind: str, runs: dict[str, Path]) -> None:
    """UC-160, UC-121."""
    first, last = runs[kind] / "checkpoint-0", runs[kind] / "checkpoint-2"
    check_complete(last)
    before, after = look.adapters(first), look.adapters(last)
    assert after.keys() == {"planner"}
    assert not any(torch.equal(tensor, before["planner"][name]) for name, tensor in after["planner"].items())
    assert not any(key.startswith("tool/") for line in look.training(runs[kind]) for key in line)


@pytest.mark.parametrize("kind", NAMES)
def test_run_checkpoint_and_records_say_who_played(kind: str, runs: dict[str, Path]) -> None:
    frozen = read_config(runs[kind] / "checkpoint-2").frozen
    assert frozen.keys() == {"tool"}
    report = json.loads((runs[kind] / "training.json").read_text())
    assert report["samples"].keys() == {"planner"}
    assert getattr(frozen["tool"], kind) in report["not_trained"]["tool"]
    assert "not trained" in (runs[kind] / "checkpoint-2" / "README.md").read_text()
    episodes = list(read_episodes(runs[kind] / "episodes" / "step-000000.jsonl"))
    assert {(episode.players["tool"], episode.players["planner"]) for episode in episodes} == {(NAMES[kind], "planner")}


@pytest.mark.parametrize("kind", NAMES)
def test_it_takes_its_turns_in_training_and_in_evaluation(kind: str, runs: dict[str, Path]) -> None:
    trained = list(read_episodes(runs[kind] / "episodes" / "step-000001.jsonl"))
    played = list(read_episodes(runs[kind] / "evaluated.jsonl"))
    for episode in trained + played:
        roles = [turn.role for turn in episode.turns]
        assert roles[:2] == ["tool", "planner"]
        if kind == "url":
            assert {turn.reply for turn in episode.turns if turn.role == "tool"} == {TOOL}


def test_a_server_is_asked_once_a_turn_and_never_by_siblings(runs: dict[str, Path], asked: list[str]) -> None:
    """The turns of all episodes, trained and evaluated; the planner's K branches ask for nothing."""
    lines = [*sorted((runs["url"] / "episodes").iterdir()), runs["url"] / "evaluated.jsonl"]
    turns = [turn for path in lines for episode in read_episodes(path) for turn in episode.turns if turn.role == "tool"]
    assert sorted(asked) == sorted(turn.observation for turn in turns)
