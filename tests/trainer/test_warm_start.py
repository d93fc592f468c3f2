import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from pettingzoo.env_registry.registration import aec_registry, register
from transformers import AutoModelForCausalLM, AutoTokenizer

import llm_envs
from at_grpo.config import EnvSection, ModelSection, PolicySection, TrainConfig, WarmStartSection
from at_grpo.inference.base import SamplingParams
from at_grpo.inference.player import PolicyPlayer
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.loading import load_config
from at_grpo.policies import build_policies
from at_grpo.tokenization import PromptEncoder, stop_token_ids
from at_grpo.warm_start import STAMP, build_base, demonstrate
from llm_envs.core.errors import UsageError
from llm_envs.episode import Episode
from llm_envs.play import aplay
from llm_envs.sandbox import get_sandbox
from llm_envs.sandbox.base import SandboxError
from tests.scale import scaled
from tests.trainer.toy_env import EchoSandbox, count_env

COUNT = "tests/count-v0"
SMALL = WarmStartSection(player="oracle", steps=80, hidden_size=32, layers=2, heads=2, learning_rate=1e-2)


@pytest.fixture(scope="module", autouse=True)
def _registered() -> None:
    if COUNT not in aec_registry:
        register("aec", COUNT, entry_point="tests.trainer.toy_env:count_env")


def config(section: WarmStartSection = SMALL) -> TrainConfig:
    return TrainConfig(env=EnvSection(id=COUNT), model=ModelSection(warm_start=section))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_base(config(), tmp_path_factory.mktemp("warm") / "base", EchoSandbox())


def play_many(folder: Path, count: int, make_env: Callable[[], Any] = count_env) -> list[Episode]:
    """Episodes of the bare base in every role, each reply sampled at temperature 1."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = build_policies(AutoModelForCausalLM.from_pretrained(folder), {"base": PolicySection()}, seed=0)
    sampler = TransformersSampler(
        model, stop_token_ids=stop_token_ids(model.generation_config, tokenizer), pad_id=tokenizer.pad_token_id
    )
    params = SamplingParams(max_tokens=12)
    player = PolicyPlayer(sampler, PromptEncoder(tokenizer), "base", params, seed=0)

    async def one(index: int) -> Episode:
        with player.episode():
            return await aplay(make_env(), {"all": player}, split="validation", index=index)

    async def run() -> list[Episode]:
        return await asyncio.gather(*map(one, range(count)))

    return asyncio.run(run())


def valid_share(episodes: list[Episode], role: str) -> float:
    turns = [turn for episode in episodes for turn in episode.turns if turn.role == role]
    return sum(turn.invalid is None for turn in turns) / len(turns)


def test_a_warm_started_base_answers_in_the_demonstrated_form(base: Path) -> None:
    episodes = play_many(base, 40)
    assert valid_share(episodes, "tool") >= 0.9
    assert valid_share(episodes, "planner") >= 0.9


def test_an_untaught_base_does_not(tmp_path: Path) -> None:
    """The control: the same model after one step."""
    untaught = build_base(config(replace(SMALL, steps=1)), tmp_path / "base", EchoSandbox())
    assert valid_share(play_many(untaught, 40), "tool") < 0.5


@pytest.mark.needs("landlock")
def test_the_demos_base_plays_validly_and_weakly(tmp_path: Path) -> None:
    """Of the configuration that the demo trains from: valid in 90% of its turns, seldom at the goal."""
    demo = load_config("tiny_cpu")
    try:
        sandbox = get_sandbox(demo.rollout.sandbox)
    except SandboxError as error:
        pytest.skip(str(error))
    assert demo.model.warm_start is not None
    section = replace(demo.model.warm_start, steps=scaled(fast=100, system=demo.model.warm_start.steps))
    folder = build_base(replace(demo, model=ModelSection(warm_start=section)), tmp_path / "base", sandbox)
    make = partial(llm_envs.make, demo.env.id, sandbox=sandbox, **demo.env.options)
    episodes = play_many(folder, scaled(fast=30, system=200), make)
    assert valid_share(episodes, "tool") >= 0.9
    assert valid_share(episodes, "planner") >= 0.9
    assert sum(episode.success for episode in episodes) <= 0.25 * len(episodes)


def test_demonstrations_are_the_players_turns_in_every_role() -> None:
    demonstrations = demonstrate(config(), 100, EchoSandbox())
    assert len(demonstrations) == 100
    assert {demo.observation.split()[0] for demo in demonstrations} == {"tool", "planner"}
    assert {demo.reply for demo in demonstrations if demo.observation.startswith("tool")} == {"0"}
    assert demonstrations == demonstrate(config(), 100, EchoSandbox())
    assert demonstrations != demonstrate(config(replace(SMALL, seed=1)), 100, EchoSandbox())


def test_only_replies_are_learned(base: Path) -> None:
    """A model that knows the replies by heart still finds the prompts as strange as any text."""
    tokenizer = AutoTokenizer.from_pretrained(base)
    encoder = PromptEncoder(tokenizer)
    demo = demonstrate(config(), 1, EchoSandbox())[0]
    prompt, reply = encoder.encode(demo.observation), encoder.encode_reply(demo.reply)
    ids = torch.tensor([[*prompt, *reply]])
    with torch.no_grad():
        logps = AutoModelForCausalLM.from_pretrained(base)(input_ids=ids).logits[0, :-1].log_softmax(-1)
    nats = -logps[range(len(logps)), ids[0, 1:].tolist()]
    assert nats[len(prompt) - 1 :].mean() < 0.1
    assert nats[: len(prompt) - 1].mean() > 3


def test_a_base_is_a_function_of_its_seed(tmp_path: Path) -> None:
    def weights(seed: int, name: str) -> list[torch.Tensor]:
        folder = build_base(config(replace(SMALL, steps=5, seed=seed)), tmp_path / name, EchoSandbox())
        return list(AutoModelForCausalLM.from_pretrained(folder).parameters())

    first, again, other = weights(0, "first"), weights(0, "again"), weights(1, "other")
    assert all(map(torch.equal, first, again))
    assert not all(map(torch.equal, first, other)), "negative control"


def test_a_base_is_made_once_and_again_when_its_settings_change(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    section = replace(SMALL, steps=2)
    folder = build_base(config(section), tmp_path / "base", EchoSandbox())
    made = (folder / STAMP).stat().st_mtime_ns
    with caplog.at_level(logging.INFO, logger="at_grpo"):
        assert build_base(config(section), folder, EchoSandbox()) == folder
    assert "up to date" in caplog.text
    assert (folder / STAMP).stat().st_mtime_ns == made
    with caplog.at_level(logging.INFO, logger="at_grpo"):
        build_base(config(replace(section, steps=3)), folder, EchoSandbox())
    assert "step 3 of 3" in caplog.text
    assert json.loads((folder / STAMP).read_text())["settings"]["warm_start"]["steps"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base"], "nothing half-made is left"


def test_a_folder_with_something_else_in_it_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="no warm start"):
        build_base(config(), tmp_path, EchoSandbox())
    assert (tmp_path / "thesis.tex").exists()


def test_what_cannot_be_demonstrated_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="oracle"):
        build_base(config(replace(SMALL, player="orakle")), tmp_path / "base", EchoSandbox())
    with pytest.raises(UsageError, match="warm_start"):
        build_base(TrainConfig(), tmp_path / "base")
