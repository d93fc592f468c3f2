"""One episode, its players, its record."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_envs.core.errors import UsageError
from llm_envs.core.wrapper import OrderEnforcing
from llm_envs.episode import Ending, Episode, Turn, read_episodes, write_episodes
from llm_envs.play import aplay, play
from llm_envs.players import Player, ReferencePlayer
from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from tests.llm_envs.ladder import ladder

ORACLE = ReferencePlayer("oracle")


class Scripted:
    """Gives prepared replies in turn, after waiting."""

    name = "scripted"

    def __init__(self, *replies: str) -> None:
        self._replies = iter(replies)

    async def act(self, env: Any, agent: str, observation: str) -> str:
        await asyncio.sleep(0)
        return next(self._replies)


def test_an_episode_records_every_turn_and_the_returns() -> None:
    """UC-007: the returns are the sums of the rewards that the turns brought, `None` steps aside."""
    players: dict[str, Player] = {"climber": Scripted("2", "-1", "four", "4"), "scout": Scripted("1", "1", "1", "1")}
    episode = play(ladder(), players, env_id="toy/ladder-v0", index=3, options={"rungs": 5})
    assert [turn.agent for turn in episode.turns] == ["scout_0", "climber_0"] * 4
    assert [turn.cycle for turn in episode.turns] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [turn.reply for turn in episode.turns[1::2]] == ["2", "-1", "four", "4"]
    assert episode.turns[5].invalid == "not a number"
    assert episode.turns[5].reward == -1.0
    assert episode.turns[3].info == {"descent": -0.1, "rungs": -1}
    assert episode.returns == pytest.approx({"scout_0": 1 - 0.4, "climber_0": 1 - 0.1 - 1})
    assert (episode.success, episode.ending, episode.error) == (True, Ending.TERMINATED, None)
    assert (episode.split, episode.index, episode.env) == ("train", 3, "toy/ladder-v0")
    assert episode.start == "ladder 3 of train at rung 0, note "
    assert episode.turns[-1].state.startswith("ladder 3 of train at rung 5")


def test_an_episode_that_runs_out_of_cycles_is_truncated_and_no_success() -> None:
    episode = play(ladder(max_cycles=2), {"all": ReferencePlayer("oracle"), "climber": Scripted("1", "1")})
    assert (episode.success, episode.ending, len(episode.turns)) == (False, Ending.TRUNCATED, 4)


def test_no_turn_is_recorded_for_the_steps_of_dead_agents() -> None:
    """UC-005."""
    episode = play(ladder(agents={"scout": 2, "climber": 2}), {"all": ORACLE})
    assert [turn.agent for turn in episode.turns] == ["scout_0", "scout_1", "climber_0"]


def test_wrapped_and_bare_environments_give_the_same_record() -> None:
    assert play(ladder(), {"all": ORACLE}) == play(OrderEnforcing(ladder()), {"all": ORACLE})


def test_a_reference_player_depends_on_its_seed_and_nothing_else() -> None:
    first = [play(ladder(), {"all": ReferencePlayer("random", 1)}, index=index) for index in (0, 1, 2)]
    again = [play(ladder(), {"all": ReferencePlayer("random", 1)}, index=index) for index in (2, 1, 0)]
    assert first == again[::-1]
    others = [play(ladder(), {"all": ReferencePlayer("random", seed)}, index=0) for seed in range(5)]
    assert len({tuple(turn.reply for turn in episode.turns) for episode in others}) > 1


def test_seed_and_split_are_passed_on_where_no_index_is_given() -> None:
    one = play(ladder(split="validation"), {"all": ORACLE}, index=None, seed=5)
    two = play(ladder(split="validation"), {"all": ORACLE}, index=None, seed=5)
    assert one == two
    assert one.split == "validation"
    assert one.index is not None
    assert play(ladder(), {"all": ORACLE}, index=None, seed=6).index != one.index


def test_observers_are_called_after_the_reset_and_after_each_turn() -> None:
    seen: list[Any] = []
    episode = play(ladder(), {"all": ORACLE}, on_start=lambda: seen.append("start"), on_turn=seen.append)
    assert seen == ["start", *episode.turns]


class Broken:
    """A sandbox that fails after some programs."""

    name = "unsafe"
    guarantees: frozenset[str] = frozenset()

    def __init__(self, good: int) -> None:
        self._good = good

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        self._good -= 1
        if self._good < 0:
            raise SandboxError("the engine is gone")
        return [Outcome(Status.OK, 0, "fine") for _ in programs]


def test_a_sandbox_that_fails_ends_the_episode_without_a_score() -> None:
    players: dict[str, Player] = {"scout": Scripted("run 1", "run 2"), "climber": Scripted("1")}
    episode = play(ladder(sandbox=Broken(good=1)), players)
    assert episode.ending is Ending.ERROR
    assert episode.error == "the engine is gone"
    assert episode.success is False
    assert len(episode.turns) == 2


@pytest.mark.parametrize(
    ("players", "words"),
    [
        ({"walker": ORACLE, "all": ORACLE}, "has the roles scout, climber"),
        ({"scout": ORACLE}, "no player for climber"),
        ({}, "no player for scout, climber"),
    ],
)
def test_wrong_seats_are_refused_before_anything_is_played(players: dict[str, Player], words: str) -> None:
    env = ladder()
    with pytest.raises(UsageError, match=words):
        play(env, players)
    assert "snapshot" not in vars(env)


def test_an_unknown_reference_player_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match=r"oracle, random\. Did you mean 'oracle'\?"):
        play(ladder(), {"all": ReferencePlayer("oracl")})


def test_many_episodes_at_once_equal_one_after_the_other() -> None:
    async def at_once() -> list[Episode]:
        return await asyncio.gather(
            *(aplay(ladder(), {"all": ReferencePlayer("random")}, index=index) for index in range(20))
        )

    one_by_one = [play(ladder(), {"all": ReferencePlayer("random")}, index=index) for index in range(20)]
    assert asyncio.run(at_once()) == one_by_one


def an_episode() -> Episode:
    return play(ladder(), {"all": ReferencePlayer("random")}, env_id="toy/ladder-v0", options={"x": [1, None]})


def test_an_episode_is_read_back_from_json() -> None:
    episode = an_episode()
    assert Episode.from_json(episode.to_json()) == episode
    assert Episode.from_json(replace(episode, error="é □ 𝄞\u2028").to_json()) != episode
    assert "\n" not in replace(episode, error="two\nlines").to_json()


@pytest.mark.parametrize("line", ["", "{}", "[1]", '{"env": 1}', "not json", '{"turns": [{"x": 1}], "ending": "y"}'])
def test_a_line_that_is_no_episode_is_refused_in_words(line: str) -> None:
    with pytest.raises(UsageError, match="must be one episode as JSON"):
        Episode.from_json(line)


@pytest.mark.parametrize("torn", [b'{"env": "x', '{"env": "é'.encode()[:-1]], ids=["in a word", "in a character"])
def test_episodes_are_appended_and_a_torn_line_is_left_out(torn: bytes, tmp_path: Path) -> None:
    path = tmp_path / "runs" / "episodes.jsonl"
    episode = an_episode()
    write_episodes(path, [episode])
    write_episodes(path, [replace(episode, index=9)])
    with path.open("ab") as file:
        file.write(torn)
    assert list(read_episodes(path)) == [episode, replace(episode, index=9)]


def test_a_record_holds_plain_text() -> None:
    episode = an_episode()
    assert {type(turn.observation) for turn in episode.turns} == {str}
    assert all(isinstance(turn, Turn) for turn in episode.turns)


def test_a_reply_that_no_file_can_hold_is_recorded_as_the_environment_read_it(tmp_path: Path) -> None:
    """UC-015: a lone surrogate, as a server's JSON may hold one."""
    episode = play(ladder(max_cycles=1), {"all": ORACLE, "climber": Scripted("a\ud800b")})
    write_episodes(tmp_path / "episodes.jsonl", [episode])
    assert list(read_episodes(tmp_path / "episodes.jsonl")) == [episode]
    assert episode.turns[-1].reply == "a\ufffdb"
    with pytest.raises(UnicodeEncodeError):  # the control
        write_episodes(tmp_path / "raw", [replace(episode, error="a\ud800b")])
