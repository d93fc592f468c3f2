"""PettingZoo's classics in text. They run where the extra is installed, and must run in the system tier."""

import os
import subprocess
import sys
from typing import Any

import pytest

import llm_envs
from llm_envs.core.errors import UsageError
from llm_envs.core.stepping import is_over
from llm_envs.episode import Ending
from llm_envs.play import play
from llm_envs.registry import CLASSICS
from tests.llm_envs.classic import checks, games
from tests.llm_envs.classic.games import FOLDER, NAMES, RANDOM
from tests.scale import scaled

pytestmark = pytest.mark.needs("classic")


@pytest.fixture(autouse=True)
def extra(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("system") is None:
        pytest.importorskip("rlcard", reason="the extra `classic` is not installed")


def test_modules_load_nothing_heavy_before_a_game_is_made() -> None:
    modules = ", ".join(["llm_envs.wrappers", *CLASSICS.values()])
    code = f"import sys, {modules}; print({{'pygame', 'rlcard', 'pyspiel', 'chess', 'torch'}} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_all_seven_are_registered() -> None:
    assert {f"llm_envs/{name}-v0" for name in NAMES} == set(CLASSICS)


@pytest.mark.parametrize("name", NAMES)
def test_pettingzoo_accepts_it(name: str) -> None:
    checks.passes_pettingzoos_tests(name, cycles=scaled(fast=10, system=40))


@pytest.mark.parametrize("name", NAMES)
def test_a_fork_goes_on_alike_for_thirty_plies_and_leaves_its_parent(name: str) -> None:
    checks.forks_go_on_alike(name, episodes=scaled(fast=4, system=20, long=200))


@pytest.mark.parametrize("name", NAMES)
def test_a_deep_copy_of_the_game_is_the_failing_control(name: str) -> None:
    checks.deep_copies_fail(name)


@pytest.mark.parametrize("name", NAMES)
def test_chance_is_its_own(name: str) -> None:
    checks.keeps_to_its_own_chance(name)


@pytest.mark.system
@pytest.mark.parametrize("name", NAMES)
def test_the_system_tier_never_does_without(name: str) -> None:
    """Without the extra this fails, where the tests above skip."""
    checks.passes_pettingzoos_tests(name, cycles=40)
    checks.forks_go_on_alike(name, episodes=20)
    checks.deep_copies_fail(name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shown", ["full", "brief"])
def test_prompts_are_word_for_word_what_they_were(name: str, shown: str) -> None:
    """A change of wording is a new version of the environment."""
    golden = (FOLDER / f"{name}_{shown}.txt").read_text()
    assert games.observation_of(name, shown) + "\n" == golden


@pytest.mark.parametrize("name", NAMES)
def test_nothing_but_a_named_option_is_taken(name: str) -> None:
    with pytest.raises(UsageError, match="Did you mean 'max_cycles'"):
        llm_envs.make(f"{name}_v0", max_cycle=3)


@pytest.mark.parametrize("name", ["tictactoe", "connect_four", "rps", "leduc_holdem"])
def test_returns_of_two_opponents_sum_to_zero_and_the_winner_is_marked(name: str) -> None:
    decided = 0
    for index in range(scaled(fast=4, long=100)):
        episode = play(llm_envs.make(f"{name}_v0"), {"all": RANDOM}, index=index)
        first, second = episode.returns.values()
        assert first + second == 0
        assert episode.success == (first > 0 if name in {"tictactoe", "connect_four"} else first != 0)
        decided += first != 0
    assert decided


def test_tic_tac_toe_reads_as_people_see_it() -> None:
    """Squares are numbered by row, though the game numbers them by column."""
    env = llm_envs.make("tictactoe_v0")
    env.reset(seed=0)
    for reply in ("1", "2", "5", "8"):
        env.step(reply)
    assert env.state() == "X O 3\n4 X 6\n7 O 9"
    assert env.game.board.squares == [1, 0, 0, 2, 1, 2, 0, 0, 0]
    env.step("<answer>9</answer>")
    assert env.rewards == {"cross_0": 1.0, "nought_0": -1.0}
    assert env.infos["nought_0"]["success"] is True
    assert env.infos["nought_0"]["won"] is False


def test_connect_four_drops_where_people_expect_it() -> None:
    env = llm_envs.make("connect_four_v0")
    env.reset(seed=0)
    for reply in ("7", "1", "7", "1", "7", "1", "7"):
        env.step(reply)
    assert env.state().splitlines()[1:] == [
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . R",
        "B . . . . . R",
        "B . . . . . R",
        "B . . . . . R",
    ]
    assert env.rewards == {"red_0": 1.0, "black_0": -1.0}


def test_chess_is_played_in_uci_by_both_colours() -> None:
    """The game mirrors Black's moves; words do not."""
    env = llm_envs.make("chess_v0")
    env.reset(seed=0)
    for reply in ("F2F3", "e7e5", "g2g4"):
        env.step(reply)
    env.step("e2e4")
    assert env.infos["black_0"]["invalid"] == "'e2e4' is none of the actions", "it is Black's turn"
    env.step("d8h4")
    assert env.rewards == {"white_0": -1.0, "black_0": 1.0}
    assert env.state().splitlines()[4] == "4 . . . . . . P q"


def test_chess_promotes_to_the_piece_that_is_named() -> None:
    env = llm_envs.make("chess_v0")
    env.reset(seed=0)
    for reply in ("h2h4", "g7g5", "h4g5", "h7h6", "g5h6", "f8g7", "h6g7", "b8c6", "g7h8n"):
        agent = env.agent_selection
        env.step(reply)
        assert env.infos[agent]["invalid"] is None, reply
    assert "8 r . b q k . n N" in env.state()


def test_what_both_chose_is_hidden_until_the_round_is_over() -> None:
    env = llm_envs.make("rps_v0", num_actions=5, rounds=3)
    env.reset(seed=0)
    for first, second, gain in (("rock", "scissors", 1), ("lizard", "spock", 1), ("paper", "lizard", -1)):
        env.step(first)
        hidden = env.observe("player_1")
        assert f"you chose {second}, they {first}" not in hidden
        env.step(second)
        assert env.rewards == {"player_0": gain, "player_1": -gain}
        assert f"they {first}" in env.observe("player_1")
    assert env.infos["player_0"]["won"] is True


@pytest.mark.parametrize("name", ["texas_holdem", "leduc_holdem", "hanabi"])
def test_nobody_sees_what_is_hidden_from_them(name: str) -> None:
    """UC-014: the cards of others (in Hanabi one's own) stand in the state only."""
    for index in range(scaled(fast=20, long=300)):
        env = games.begun(name, plies=index % 5, index=index)
        game = env.unwrapped.game.unwrapped
        for seat, agent in enumerate(env.possible_agents):
            text = env.observe(agent)
            if name == "hanabi":
                own = text.split("Hands:\n")[1].replace("Cur player\n", "").split("\n-----")[0]
                assert all(card.startswith("XX ||") for card in own.splitlines())
                continue
            hands = [
                player.hand if isinstance(player.hand, list) else [player.hand] for player in game.env.game.players
            ]
            for other, hand in enumerate(hands):
                shown = [card.rank + card.suit.lower() in text.split("Your cards:")[1] for card in hand]
                assert all(shown) if other == seat else not any(shown)


def test_hanabi_is_won_together_or_not_at_all() -> None:
    episode = play(llm_envs.make("hanabi_v0"), {"all": RANDOM}, index=0)
    assert episode.ending is Ending.TERMINATED
    assert episode.returns["player_0"] == episode.returns["player_1"] == 0.0, "all points are lost with the last life"
    assert not episode.success


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("hanabi", {"players": 4, "colors": 3}, "from 2 to 3"),
        ("hanabi", {"colors": 2, "ranks": 2}, "at most 4"),
        ("rps", {"num_actions": 4}, "odd"),
        ("rps", {"rounds": 0}, ">= 1"),
        ("texas_holdem", {"num_players": 11}, "from 2 to 10"),
        ("chess", {"roles": ("white",)}, "a role for each"),
    ],
)
def test_what_the_game_cannot_be_is_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        llm_envs.make(f"{name}_v0", **options)


@pytest.mark.parametrize(("name", "options"), [("texas_holdem", {"num_players": 4}), ("hanabi", {"players": 3})])
def test_more_players_may_sit_down(name: str, options: dict[str, Any]) -> None:
    episode = play(llm_envs.make(f"{name}_v0", **options), {"all": RANDOM}, index=1)
    assert len(episode.returns) == next(iter(options.values()))


def test_pictures_are_the_games_own() -> None:
    env = llm_envs.make("tictactoe_v0", render_mode="rgb_array")
    env.reset(seed=0)
    env.step("5")
    picture = env.render()
    assert picture.ndim == 3
    assert picture.std() > 0
    assert llm_envs.fork(env).render().shape == picture.shape


def test_without_the_extra_the_error_names_it() -> None:
    """A program in which the libraries can't be found."""
    code = (
        "import sys\n"
        "for name in ('pygame', 'rlcard', 'pyspiel', 'shimmy', 'chess'): sys.modules[name] = None\n"
        "import llm_envs\n"
        "try: llm_envs.make('{name}_v0')\n"
        "except ImportError as error: print(error)"
    )
    for name in ("tictactoe", "leduc_holdem", "hanabi"):
        done = subprocess.run(
            [sys.executable, "-c", code.format(name=name)], capture_output=True, text=True, check=True
        )
        assert "pip install 'llm-envs[classic]'" in done.stdout, done.stdout


def test_transcripts_are_equal_in_processes_with_other_hash_seeds() -> None:
    """UC-010."""
    code = "from tests.llm_envs.classic.games import *\nfor name in NAMES: print(line(begun(name, plies=2, index=5)))"
    printed = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (1, 2)
    }
    assert len(printed) == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_opening_tells_instances_apart_and_ends_nothing(name: str) -> None:
    """A game without chance has one start; with an opening each instance has its own, the same whenever it is asked."""
    starts = {games.begun(name, 0, index, opening=3).state() for index in range(8)}
    assert len(starts) > 1
    for index in range(8):
        env = games.begun(name, 0, index, opening=200)
        assert env.agents == env.possible_agents
        assert not is_over(env)
        assert set(env.rewards.values()) == {0.0}
        assert env.state() == games.begun(name, 0, index, opening=200).state()
        fork = llm_envs.fork(env)
        assert games.line(fork) == games.line(env)
