"""What exports share: what is played, and that nothing of what they are told is ignored."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

import llm_envs
from llm_envs.core.errors import UsageError
from llm_envs.registry import MODULES
from llm_envs_bench.agents import AgentError
from llm_envs_bench.attempts import Event
from llm_envs_bench.exports.episodes import MODEL, model_return, model_turns, plan_episodes, play_episode
from llm_envs_bench.spec import EpisodeKey, Sampling
from llm_envs_bench.suites import load_suite
from tests.benchmarks import corridor

PLAN = {"env": corridor.ENV_ID}


class Walks:
    """A model that walks."""

    name = MODEL

    def act(self, env: object, agent: str, observation: str) -> str:
        return "step"


def played(*, players: dict[str, str], seat: Any = Walks, index: int = 0, sample: int = 0) -> Any:
    (spec,) = plan_episodes(None, corridor.ENV_ID, players=players).specs
    return asyncio.run(play_episode(spec, EpisodeKey(spec.entry, index, sample), lambda spec, role: seat()))


@pytest.mark.parametrize(
    ("argument", "field", "value"),
    [
        ({"options": {"max_cycles": 2}}, "options", {"max_cycles": 2}),
        ({"players": {"scout": "idle"}}, "agents", {"scout": "idle", "walker": MODEL}),
        ({"split": "validation"}, "split", "validation"),
        ({"first": 7}, "first", 7),
        ({"instances": 3}, "instances", 3),
        ({"samples": 2}, "samples", 2),
        ({"seed": 5}, "seed", 5),
        ({"reply_tokens": 9}, "sampling", Sampling(max_tokens=9)),
    ],
)
def test_every_argument_reaches_what_is_played(argument: dict[str, Any], field: str, value: Any) -> None:
    """UC-178."""
    (plain,), (told,) = (
        plan_episodes(None, corridor.ENV_ID).specs,
        plan_episodes(None, corridor.ENV_ID, **argument).specs,
    )
    assert getattr(told, field) == value
    assert getattr(plain, field) != value
    assert plain.instances == 200


def test_a_suite_is_played_as_it_was_frozen() -> None:
    plan, suite = plan_episodes("smoke_v0", None, instances=2, samples=3), load_suite("smoke_v0")
    assert (plan.suite, plan.suite_hash) == (suite.name, suite.hash)
    assert [spec.entry for spec in plan.specs] == [entry.name for entry in suite.entries]
    assert all(len(spec.starts) == spec.instances == 2 and spec.samples == 3 for spec in plan.specs)
    assert {agent for spec in plan.specs for agent in spec.agents.values()} == {MODEL}


def test_an_instance_that_is_not_the_frozen_one_is_refused() -> None:
    (spec, *_) = plan_episodes("smoke_v0", None, instances=1).specs
    key = EpisodeKey(spec.entry, spec.first, 0)
    changed = replace(spec, starts=("0" * 16,))
    with pytest.raises(UsageError, match="is not the instance that the suite has frozen"):
        asyncio.run(play_episode(changed, key, lambda spec, role: Walks()))


@pytest.mark.parametrize("env_id", MODULES)
def test_the_name_of_the_model_is_no_reference_player(env_id: str) -> None:
    """Else whoever names that player would get a seat that the model has."""
    assert MODEL not in llm_envs.make(env_id).unwrapped.task.players


def test_what_the_model_earned_is_told_from_what_others_did() -> None:
    episode = played(players={"scout": "oracle"})
    assert episode.success
    assert {turn.role for turn in model_turns(episode)} == {"walker"}
    assert model_return(episode) == episode.returns["walker_0"] != episode.returns["scout_0"]
    both = played(players={})
    assert len(model_turns(both)) == len(both.turns)
    assert model_return(both) == pytest.approx(sum(both.returns.values()) / 2)


def test_a_sandbox_that_is_down_gives_no_episode() -> None:
    corridor.SANDBOX.is_down = lambda code: True
    with pytest.raises(AgentError, match="the engine is gone") as failure:
        played(players={"scout": "oracle"})
    assert failure.value.event is Event.SANDBOX


def test_what_a_seat_raises_comes_through() -> None:
    class Fails(Walks):
        def act(self, env: object, agent: str, observation: str) -> str:
            raise LookupError("a limit of the other framework")

    with pytest.raises(LookupError, match="a limit of the other framework"):
        played(players={}, seat=Fails)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "one of the two"),
        ({"suite": "smoke_v0", "env": corridor.ENV_ID}, "one of the two"),
        ({"suite": "smok_v0"}, "Did you mean 'smoke_v0'"),
        ({"suite": "smoke_v0", "options": {"size": 3}}, "a suite has its own"),
        ({"suite": "smoke_v0", "first": 3}, "a suite has its own"),
        ({"suite": "smoke_v0", "split": "train"}, "a suite has its own"),
        (PLAN | {"players": {"scout": "oraclee"}}, "Did you mean 'oracle'"),
        (PLAN | {"players": {"scuot": "oracle"}}, "Did you mean 'scout'"),
        (PLAN | {"players": {"scout": "oracle", "walker": "oracle"}}, "leave the model a role"),
        (PLAN | {"samples": 0}, "samples=0"),
        (PLAN | {"reply_tokens": 0}, "max_tokens=0"),
        ({"env": "plan_pth_v0"}, "Did you mean"),
    ],
)
def test_what_cannot_be_played_is_told_with_the_remedy(arguments: dict[str, Any], words: str) -> None:
    """UC-175."""
    arguments = {"suite": None, "env": None} | arguments
    with pytest.raises(UsageError, match=words):
        plan_episodes(**arguments)
