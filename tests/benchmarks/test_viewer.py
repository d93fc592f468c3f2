"""The page replays what was recorded, holds everything itself, and takes no text of a model for markup."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from llm_envs.core.errors import UsageError
from llm_envs.episode import Episode
from llm_envs.players import Player, ReferencePlayer
from llm_envs_bench.agents import Cast
from llm_envs_bench.agents.base import PlainAgent
from llm_envs_bench.agents.references import ReferenceAgent
from llm_envs_bench.runner import evaluate
from llm_envs_bench.spec import EpisodeKey, RunSpec
from llm_envs_bench.viewer import build_page
from tests.benchmarks import corridor
from tests.benchmarks.chromium import Page
from tests.benchmarks.conftest import Play
from tests.benchmarks.pages import board, count, open_runs, text

ATTACK = "</script><script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"


class Attacker:
    """A player whose replies try to become part of the page."""

    name = ATTACK

    def act(self, env: object, agent: str, observation: str) -> str:
        return ATTACK


class Attacking(PlainAgent):
    name = ATTACK

    def enter(self, key: EpisodeKey) -> Attacker:
        return Attacker()


class Wavering(PlainAgent):
    """Walks in every other sample."""

    name = "wavering"

    def enter(self, key: EpisodeKey) -> Player:
        return ReferencePlayer("oracle" if key.sample % 2 else "idle")


def data_in(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def unpacked(page: str) -> list[Any]:
    """The plays of every episode, as the page's script would unpack them."""
    groups = re.findall(r'<script type="text/plain" id="group-\d+">(.*?)</script>', page)
    return [plays for group in groups for plays in json.loads(zlib.decompress(base64.b64decode(group)))]


# ---- what the file holds


def test_the_page_holds_the_episodes_and_nothing_from_elsewhere(play: Play) -> None:
    idle, oracle = play("idle"), play("oracle")
    page = build_page({"idle": (idle,), "oracle": (oracle,)}, title="A & B")
    plays = unpacked(page)
    assert len(data_in(page)["episodes"]) == len(plays) == 6
    assert plays[2][1]["turns"][-1]["state"] == oracle.episodes[2].turns[-1].state
    assert plays[2][0]["turns"][0]["saw"] == idle.episodes[2].turns[0].observation
    assert "<title>A &amp; B</title>" in page
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)
    assert "default-src 'none'" in page


def test_only_so_many_episodes_are_shown(play: Play) -> None:
    data = data_in(build_page({"oracle": (play("oracle"),)}, title="x", episodes=2))
    assert [index for _, index, _, _ in data["episodes"]] == [0, 1]
    assert data["total"] == 6


def test_a_page_shows_one_run_or_two(play: Play) -> None:
    run = play("oracle")
    with pytest.raises(UsageError, match="runs=3"):
        build_page({"a": (run,), "b": (run,), "c": (run,)}, title="x")


def test_two_runs_without_a_common_instance_are_refused(play: Play, tmp_path: Path) -> None:
    spec = RunSpec(env=corridor.ENV_ID, agents={"scout": "idle", "walker": "idle"}, first=100, instances=3)
    with pytest.raises(UsageError, match="must hold the same instances"):
        build_page({"a": (play("oracle"),), "b": (evaluate(spec, tmp_path / "b"),)}, title="x")


# ---- in a browser


@pytest.mark.needs("chromium")
def test_the_keys_step_through_an_episode_and_the_board_follows(page: Page, play: Play, tmp_path: Path) -> None:
    run = play("oracle")
    open_runs(page, tmp_path, {"oracle": run})
    episode: Episode = run.episodes[0]
    assert board(page) == episode.start
    states = [turn.state for turn in episode.turns]
    for state in states:
        page.press("ArrowRight")
        assert board(page) == state
    assert states[0] != states[-1], "the board did change"
    assert "solved" in text(page, ".verdict")
    page.press("ArrowLeft")
    assert board(page) == states[-2]
    page.press("Home")
    assert board(page) == episode.start
    page.press("End")
    assert board(page) == states[-1]


@pytest.mark.needs("chromium")
def test_a_turn_shows_what_was_said_what_it_earned_and_why_it_failed(page: Page, play: Play, tmp_path: Path) -> None:
    run = play("mixed", agents={"scout": "silent", "walker": "oracle"})
    open_runs(page, tmp_path, {"mixed": run})
    assert count(page, ".lanes .lane-name") == 2
    assert count(page, ".mark") == len(run.episodes[0].turns)
    assert count(page, ".mark.bad") == 3
    page.press("ArrowRight")
    assert "'' is no action" in text(page, ".card.current .invalid")
    page.press("ArrowRight")
    card = text(page, ".card.current")
    assert "walker_0" in card
    assert "step" in card
    assert "+0.33" in card
    assert "−0.10" in card
    page.evaluate("document.querySelector('.card.current summary').click()")
    assert "walker of corridor 0" in text(page, ".card.current .saw pre")


@pytest.mark.needs("chromium")
def test_the_filter_keeps_the_episodes_of_an_outcome(page: Page, play: Play, tmp_path: Path) -> None:
    before, after = play("idle"), play("oracle")
    open_runs(page, tmp_path, {"before": before, "after": after})
    assert count(page, "#episodes li") == 6
    assert count(page, ".run") == 2
    names = {"All": 6, "Gained": 6, "Lost": 0, "Both solved": 0, "Both failed": 0}
    for number, shown in enumerate(names.values()):
        page.evaluate(f"document.querySelectorAll('#filters button')[{number}].click()")
        assert count(page, "#episodes li") == shown
        assert page.evaluate("document.getElementById('empty').hidden") is (shown > 0)
    page.press("f")
    assert count(page, "#episodes li") == 6
    page.press("ArrowDown")
    assert text(page, "#heading") == "Instance 1"


@pytest.mark.needs("chromium")
def test_the_address_leads_back_to_the_same_turn(page: Page, play: Play, tmp_path: Path) -> None:
    run = play("oracle")
    open_runs(page, tmp_path, {"oracle": run})
    page.press("ArrowDown")
    page.press("ArrowRight")
    address = page.evaluate("location.hash")
    assert address == "#episode=corridor-v0/1/0&turn=1"
    page.evaluate("location.hash = '#episode=corridor-v0/4/0&turn=2'")
    page.evaluate("openAtHash()")
    assert (text(page, "#heading"), text(page, "#turn")) == ("Instance 4", "turn 2 of 6")


@pytest.mark.needs("chromium")
def test_an_instance_that_was_now_and_then_solved_is_shown_without_an_interval(page: Page, tmp_path: Path) -> None:
    """It has none, and JSON has no word for that."""
    spec = RunSpec(env=corridor.ENV_ID, agents={"scout": "oracle", "walker": "idle"}, instances=1, samples=2)
    cast = Cast({"scout": ReferenceAgent("oracle", 0), "walker": Wavering()})
    open_runs(page, tmp_path, {"wavering": evaluate(spec, tmp_path / "run", cast=cast)})
    assert text(page, ".score-value") == "50.0%"
    assert text(page, ".score-range") == "no interval from one instance"
    assert count(page, ".whisker rect") == 2


@pytest.mark.needs("chromium")
def test_a_reply_never_becomes_part_of_the_page(page: Page, tmp_path: Path) -> None:
    spec = RunSpec(env=corridor.ENV_ID, agents={"scout": "idle", "walker": "idle"}, instances=1)
    attacked = Cast({"scout": Attacking(), "walker": Attacking()})
    open_runs(page, tmp_path, {ATTACK: evaluate(spec, tmp_path / "run", cast=attacked)})
    page.press("ArrowRight")
    assert ATTACK in text(page, ".card.current .said")
    assert page.evaluate("window.attacked === undefined") is True
    assert page.evaluate("document.images.length") == 0


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_follows_the_colour_scheme(page: Page, play: Play, tmp_path: Path, dark: bool) -> None:
    open_runs(page, tmp_path, {"oracle": play("oracle")}, dark=dark)
    colour = str(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    brightness = sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
    assert brightness < 60 if dark else brightness > 200


@pytest.mark.needs("chromium")
def test_nothing_runs_over_the_edge_of_a_phone(page: Page, play: Play, tmp_path: Path) -> None:
    open_runs(page, tmp_path, {"a" * 60: play("idle"), "after": play("oracle")}, width=400, height=800)
    page.press("End")
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    assert page.evaluate("document.querySelector('.run').getBoundingClientRect().right") <= 400
