"""Records: every episode played to its end is in the file, whole, whatever crashed before."""

import logging
from pathlib import Path
from typing import Any

import pytest

import llm_envs
from llm_envs.episode import Ending, Episode, read_episodes
from llm_envs.play import play
from llm_envs.players import ReferencePlayer
from llm_envs.wrappers import RecordEpisode, RepromptInvalid, StripThinking, textualize
from tests.llm_envs.wrappers.games import Tally

RANDOM = ReferencePlayer("random")


def game(**options: Any) -> Any:
    return textualize(lambda: Tally(goal=9), **options)


def finish(env: Any) -> None:
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else RANDOM.act(env, agent, observation))


def test_the_record_is_that_of_play(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "episodes.jsonl"
    env = RecordEpisode(game(), path, env_id="x/tally-v0", players={"player": "random"}, options={"goal": 9})
    played = [
        play(env, {"all": RANDOM}, split="test", index=index, env_id="x/tally-v0", options={"goal": 9})
        for index in range(3)
    ]
    assert list(read_episodes(path)) == played


def test_a_loop_of_ones_own_is_recorded_and_broken_off_episodes_are_not(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    env = RecordEpisode(game(max_cycles=1), path)
    env.reset(seed=1)
    env.step("0")
    env.reset(seed=2)
    finish(env)
    env.reset(seed=3)
    env.close()
    (episode,) = read_episodes(path)
    assert episode.ending is Ending.TRUNCATED
    assert len(episode.turns) == 2
    assert episode.index == env.unwrapped.index or episode.index is not None


def test_a_torn_line_is_cut_off_and_the_rest_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A crash while a line was being written must neither lose earlier records nor spoil later ones."""
    path = tmp_path / "episodes.jsonl"
    for _ in range(2):
        env = RecordEpisode(game(), path)
        env.reset(seed=1)
        finish(env)
    whole = path.read_bytes()
    for torn in (b"{", b"x" * 200_000, whole.splitlines()[0]):
        path.write_bytes(whole + torn)
        with caplog.at_level(logging.WARNING):
            env = RecordEpisode(game(), path)
        assert path.read_bytes() == whole
        assert f"cut off {len(torn)} bytes" in caplog.text
    env.reset(seed=2)
    finish(env)
    assert len(list(read_episodes(path))) == 3


def test_a_file_of_nothing_but_a_torn_line_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_text("{")
    RecordEpisode(game(), path)
    assert path.read_text() == ""


def test_forks_record_their_own_episodes(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    env = RecordEpisode(game(), path)
    env.reset(seed=5)
    env.step("1")
    twin = llm_envs.fork(env)
    for each in (twin, env):
        finish(each)
    first, second = read_episodes(path)
    assert first == second
    assert first.turns[0].reply == "1"


def test_what_is_recorded_depends_on_the_order_of_wrappers(tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer.jsonl", tmp_path / "inner.jsonl"
    env = RecordEpisode(StripThinking(RecordEpisode(game(max_cycles=1), inner)), outer)
    env.reset(seed=1)
    for _ in range(2):
        env.step("<think>secret</think>0")
    replies = [[turn.reply for turn in episode.turns] for path in (outer, inner) for episode in read_episodes(path)]
    assert replies == [["<think>secret</think>0"] * 2, ["0"] * 2]


def test_replies_that_were_sent_back_are_turns_of_the_record(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    env = RecordEpisode(RepromptInvalid(game(max_cycles=1)), path)
    env.reset(seed=1)
    for reply in ("hm", "0", "1"):
        env.step(reply)
    (episode,) = read_episodes(path)
    assert [(turn.reply, turn.reward) for turn in episode.turns] == [("hm", -1.0), ("0", 0.0), ("1", 0.0)]
    assert episode.returns == {"player_0": -1.0, "player_1": 0.0}
    assert Episode.from_json(episode.to_json()) == episode
