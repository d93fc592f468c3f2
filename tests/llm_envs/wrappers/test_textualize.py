"""Any PettingZoo game as a text environment: the contract of every text environment, on games made for it."""

import copy
import json
import pickle
import random
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, seed_test
from pettingzoo.test.state_test import state_test

import llm_envs
from llm_envs.core.errors import UsageError
from llm_envs.core.parallel import TurnBasedParallel
from llm_envs.core.task import Split
from llm_envs.episode import Ending, Episode
from llm_envs.play import play
from llm_envs.players import Env, ReferencePlayer
from llm_envs.wrappers import GameText, textualize
from tests.llm_envs.wrappers.games import Masked, MaskedInInfo, Mortal, Pickled, Streamed, Tally, Together

ALLOWED_WARNINGS = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Action space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
)
ACTIONS = (
    spaces.Discrete(4),
    spaces.MultiDiscrete([3, 2]),
    spaces.MultiBinary(3),
    spaces.Box(-1.0, 1.0, (2,)),
    spaces.Dict(move=spaces.Discrete(3), power=spaces.Box(0.0, 1.0, (2,))),
    spaces.Tuple((spaces.Discrete(2), spaces.Discrete(3))),
    spaces.Text(4, min_length=1),
)
GAMES: dict[str, Callable[[], Any]] = {
    **{str(space): lambda space=space: Tally(space) for space in ACTIONS},
    "mask in observation": Masked,
    "mask in infos": MaskedInInfo,
    "agents die": Mortal,
    "replayed": Streamed,
    "parallel": Together,
}
RANDOM = ReferencePlayer("random")


class Babbler:
    """Legal answers, with noise and invalid replies among them."""

    name = "babbler"

    def act(self, env: Env, agent: str, observation: str) -> str:
        rng = random.Random(observation)
        reply = str(RANDOM.act(env, agent, observation))
        return rng.choice([reply, reply, f"<answer>9</answer> no, <think><answer>1</answer></think>{reply}", "hm", ""])


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("observation", ["full", "brief"])
def test_pettingzoo_accepts_it_with_the_three_allowed_warnings(game: str, observation: str) -> None:
    """UC-001, UC-004: PettingZoo's own tests, whose random text is not valid as a rule."""
    env = textualize(GAMES[game], observation=observation, max_cycles=20)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env, num_cycles=30)
        seed_test(lambda: textualize(GAMES[game], observation=observation, max_cycles=20))
        state_test(env, TurnBasedParallel(env), num_cycles=10)
    unexpected = {str(warning.message) for warning in caught} - {*ALLOWED_WARNINGS, *STATE_WARNINGS}
    assert not unexpected


STATE_WARNINGS = (  # of `state_test`, which knows arrays only
    "State is not NumPy array",
    "State space for each environment probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
)


@pytest.mark.parametrize("game", GAMES)
def test_every_agent_leaves_once_and_is_paid_what_the_game_pays(game: str) -> None:
    """UC-005, UC-007: each agent appears once after its death; sums of `last()` are the game's, plus penalties."""
    env = textualize(GAMES[game])
    for index in range(6):
        env.reset(options={"index": index})
        handed_out: dict[str, float] = defaultdict(float)
        stepped: dict[str, float] = defaultdict(float)
        penalties: dict[str, float] = defaultdict(float)
        left: list[str] = []
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            handed_out[agent] += reward
            if terminated or truncated:
                with pytest.raises(UsageError, match="must be None"):
                    env.unwrapped.step("text")
                env.step(None)
                left.append(agent)
                continue
            assert env.observation_space(agent).contains(observation)
            env.step(Babbler().act(env, agent, str(observation)))
            for other, value in env.rewards.items():
                stepped[other] += value
            penalties[agent] += env.infos[agent].get("format", 0.0)
        assert sorted(left) == sorted(env.possible_agents)
        assert env.agents == []
        assert handed_out == stepped
        for agent in env.possible_agents:
            assert handed_out[agent] - penalties[agent] == env.unwrapped._returns[agent]


def test_rewards_by_hand() -> None:
    """UC-007: a win that arrives in the winner's step is the loser's loss exactly once."""
    env = textualize(lambda: Tally(goal=4), roles=("first", "second"), invalid_penalty=0.25)
    env.reset(seed=1)
    seen = []
    for reply in ("2", "hm", "<answer>2</answer>"):
        env.step(reply)
        seen.append((dict(env.rewards), dict(env.infos["second_0"])))
    assert [rewards for rewards, _ in seen] == [
        {"first_0": 0.0, "second_0": 0.0},
        {"first_0": 0.0, "second_0": -0.25},
        {"first_0": -1.0, "second_0": 1.0},
    ]
    invalid, final = seen[1][1], seen[2][1]
    assert (invalid["invalid"], invalid["local_reward"], invalid["team_reward"]) == (
        "'hm' is none of the actions",
        -0.25,
        0.0,
    )
    assert (final["invalid"], final["local_reward"], final["won"], final["success"]) == (None, 1.0, True, False)
    assert env.infos["first_0"]["won"] is False
    assert env.last()[1] == -1.0, "the loser is handed its loss"


@pytest.mark.parametrize(
    ("roles", "focal", "success"),
    [(("a", "b"), None, False), (("a", "b"), "b", True), (("a", "b"), "a", False), (None, None, True)],
)
def test_success_is_a_win_of_the_focal_role(roles: Any, focal: str | None, success: bool) -> None:
    env = textualize(lambda: Tally(goal=4), roles=roles, focal=focal)
    env.reset(seed=1)
    for reply in ("2", "2"):
        env.step(reply)
    assert {info["success"] for info in env.infos.values()} == {success}
    assert [info["won"] for info in env.infos.values()] == [False, True]


def test_an_invalid_reply_changes_nothing_but_the_feedback() -> None:
    env = textualize(Masked)
    env.reset(seed=4)
    env.step("3")
    agent, state, asked = env.agent_selection, env.state(), str(env.observe("player_1"))
    env.step("I would like 9")
    assert (env.agent_selection, env.state()) == (agent, state)
    told = str(env.observe(agent))
    assert told.startswith(asked)
    assert told.endswith("Your last reply was not valid and had no effect: 'I would like 9' is none of the actions.")
    assert env.observe("player_0") == textually(env, "player_0"), "the other agent is told nothing"
    env.step("4")
    env.step("3")
    assert "not valid" not in env.observe(agent), "what was mended is forgotten"
    assert "format" not in env.infos[agent]


def textually(env: Any, agent: str) -> str:
    return str(llm_envs.fork(env).observe(agent))


def test_an_invalid_reply_may_end_the_episode_for_all() -> None:
    env = textualize(Tally, on_invalid="terminate")
    env.reset(seed=4)
    env.step("?")
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": -1.0, "player_1": 0.0}
    assert not any(info["won"] or info["success"] for info in env.infos.values())


def test_the_horizon_counts_every_turn_and_truncates_all() -> None:
    env = textualize(lambda: Tally(goal=900), max_cycles=3)
    episode = play(env, {"all": Babbler()}, index=1)
    assert episode.ending is Ending.TRUNCATED
    taken = [sum(turn.agent == agent for turn in episode.turns) for agent in env.possible_agents]
    assert max(taken) == 3
    assert not episode.success


@pytest.mark.parametrize(
    ("reply", "invalid"),
    [
        ("<answer>2</answer>", None),
        ("<answer>0</answer> or rather <ANSWER> 2 </ANSWER>", None),
        ("<think>maybe <answer>9</answer></think><answer>2</answer>", None),
        ("thoughts</think>2", None),
        ("2", None),
        ("<answer>2", "'<answer>2' is none of the actions"),
        ("my answer is 2", "'my answer is 2' is none of the actions"),
        ("<answer>2, 1</answer>", "'2, 1' is none of the actions"),
        ("\ud800", "'\ufffd' is none of the actions"),
        ("", "'' is none of the actions"),
        ("x" * 70_000, "your reply had 70000 characters, at most 65536 are read"),
    ],
)
def test_the_last_answer_counts_and_nothing_else(reply: str, invalid: str | None) -> None:
    """UC-002, UC-016, UC-017: one rule for tags, bare replies, several answers and odd characters."""
    env = textualize(Tally)
    env.reset(seed=0)
    env.step(reply)
    assert env.infos["player_0"]["invalid"] == invalid
    assert env.game.total == (3 if invalid is None else 0)


def test_each_agent_sees_its_own_view_and_only_the_one_to_act_its_actions() -> None:
    """UC-014, UC-020: views are each agent's own, and hold what was just done."""
    env = textualize(Masked, roles=("tortoise", "hare"))
    env.reset(seed=2)
    assert "You are tortoise_0, in the role tortoise." in env.observe("tortoise_0")
    assert "one of: 3, 4, 5" in env.observe("tortoise_0")
    assert "one of" not in env.observe("hare_0")
    env.step("5")
    assert str(env.game.total) in env.observe("hare_0").splitlines()[2]
    assert "one of" in env.observe("hare_0")


def test_parallel_games_hide_what_the_others_chose_in_a_round() -> None:
    env = textualize(Together)
    env.reset(seed=0)
    before = env.observe("even_0")
    env.step("1")
    after = env.observe("even_0")
    assert before.splitlines()[2] == after.splitlines()[2] == "0"
    env.step("1")
    assert env.rewards == {"odd_0": 1.0, "even_0": -1.0}
    env.step("1")
    assert env.rewards == {"odd_0": 0.0, "even_0": 0.0}, "nothing is paid again in the middle of a round"


def test_instances_are_functions_of_split_and_index_and_splits_share_no_seed() -> None:
    """UC-010, UC-011."""
    env = textualize(lambda: Tally(goal=500), max_cycles=30)

    def transcript(split: str, index: int) -> Any:
        return play(env, {"all": RANDOM}, split=split, index=index).turns[-1].state

    assert transcript("train", 5) == transcript("train", 5)
    assert len({transcript("train", index) for index in range(12)}) > 6
    seeds = defaultdict(set)
    for split in Split:
        for index in range(200):
            env.reset(options={"split": split, "index": index})
            seeds[split].add(env.unwrapped._recording._reset[0])
    assert all(len(found) == 200 for found in seeds.values())
    assert not set.intersection(*seeds.values())


def test_options_of_the_game_reach_it_and_ours_do_not() -> None:
    env = textualize(Tally)
    env.reset(seed=1, options={"split": "test", "index": 4, "weather": "rain"})
    assert env.game.options == {"weather": "rain"}
    assert (env.unwrapped.split, env.unwrapped.index) == ("test", 4)
    env.reset(options={"index": 4})
    assert env.game.options is None


def test_records_survive_json() -> None:
    for make in GAMES.values():
        episode = play(textualize(make), {"all": Babbler()}, index=2)
        assert Episode.from_json(episode.to_json()) == episode
        json.loads(episode.to_json())


def test_copies_go_on_alike_and_pickles_are_refused() -> None:
    env = textualize(Pickled)
    env.reset(seed=3)
    env.step("2")
    twins = [llm_envs.fork(env), copy.deepcopy(env)]
    for each in (env, *twins):
        each.step("1")
    assert [twin.state() for twin in twins] == [env.state()] * 2
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(env)
    with pytest.raises(UsageError, match="reset"):
        llm_envs.fork(textualize(Pickled).unwrapped)


def test_the_parallel_view_takes_turns() -> None:
    view = TurnBasedParallel(textualize(Tally))
    _, infos = view.reset(seed=1)
    while view.agents:
        active = next(iter(infos.values()))["active_agent"]
        _, _, _, _, infos = view.step({active: "2"})
    assert view.agents == []


def test_games_may_bring_words_of_their_own() -> None:
    class Talkative(GameText):
        rules = "Reach the goal."

        def show(self, game: Any, agent: str) -> str:
            return f"It is at\n{game.total} now."

    env = textualize(Tally, text=Talkative(action_names=["wait", "walk", "run"]))
    env.reset(seed=1)
    assert env.observe("player_0") == (
        "You are player_0, in the role player.\n\nReach the goal.\n\nIt is at\n0 now.\n\n"
        "Write your answer as <answer>...</answer>. It must be one of: wait, walk, run"
    )
    env.step("run")
    assert env.game.total == 3
    brief = textualize(Tally, text=Talkative(), observation="brief")
    brief.reset(seed=1)
    brief.step("x")
    assert brief.observe("player_0") == "player It is at 0 now. legal 0 1 2 invalid"


def test_agents_without_the_form_of_names_get_it() -> None:
    class Oddly(Tally):
        def __init__(self) -> None:
            super().__init__()
            self.possible_agents = ["North", "South"]
            self.action_spaces = dict.fromkeys(self.possible_agents, spaces.Discrete(3))
            self.observation_spaces = dict.fromkeys(self.possible_agents, spaces.Box(-1000, 1000, (2,), np.int64))

    assert textualize(Oddly).possible_agents == ["player_0", "player_1"]
    assert textualize(Oddly, roles=["north", "north"]).possible_agents == ["north_0", "north_1"]
    episode = play(textualize(Oddly), {"all": RANDOM}, index=0)
    assert episode.ending is Ending.TERMINATED


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        (Tally, {"roles": ["one"]}, "a role for each of player_0, player_1"),
        (Tally, {"roles": "ab"}, "a role for each"),
        (Tally, {"roles": ["", "a"]}, "one word"),  # UC-008: no agent is called something that counts as false
        (Tally, {"roles": ["a", "base"]}, "reserved"),
        (Tally, {"focal": "playr"}, "Did you mean 'player'"),
        (Tally, {"observation": "short"}, "brief, full"),
        (Tally, {"max_cycles": 0}, ">= 1"),
        (Tally, {"on_invalid": "ignore"}, "noop"),
        (Tally, {"invalid_penalty": -1}, ">= 0"),
        (Tally, {"split": "training"}, "Did you mean 'train'"),
        (Tally, {"render_mode": "rgb_array"}, "ansi, human"),
        (Tally, {"action_names": ["a"]}, "3 names"),
        (Tally, {"text": GameText(), "rules": "x"}, "without rules"),
        (Tally, {"max_cycle": 3}, "Did you mean 'max_cycles'"),
        (lambda: 3, {}, "must be a PettingZoo environment"),
        (lambda: Tally(spaces.Sequence(spaces.Discrete(2))), {}, "GameText"),
    ],
)
def test_what_cannot_be_is_refused_with_the_fix(env: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        textualize(env, **options)


def test_an_observation_that_is_too_long_is_refused_with_the_fix() -> None:
    class Wide(Tally):
        def observe(self, agent: str) -> Any:
            return np.zeros(100_000, np.int64)

    env = textualize(lambda: Wide(observation=spaces.Box(0, 1, (100_000,), np.int64)))
    env.reset(seed=0)
    with pytest.raises(UsageError, match="GameText"):
        env.observe("player_0")
