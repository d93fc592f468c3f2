"""Suites are frozen, hold nothing that is trained on, and are neither out of reach nor won by chance."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import llm_envs
from llm_envs.core.errors import UsageError
from llm_envs_bench.runner import evaluate, play_run
from llm_envs_bench.spec import start_digest
from llm_envs_bench.store import load_plan, load_runs
from llm_envs_bench.suites import Suite, SuiteEntry, load_suite, plan_suite, suite_names
from llm_envs_bench.suites.freeze import freeze, starts
from tests.benchmarks import corridor
from tests.scale import scaled

ENTRIES = [
    pytest.param(entry, id=f"{name}/{entry.name}") for name in suite_names() for entry in load_suite(name).entries
]
CORE = [pytest.param(entry.name, id=entry.name) for entry in load_suite("core_v0").entries]
AT_MOST_BY_CHANCE = 0.05


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A suite of the user's on the test game, frozen."""
    entries = (
        SuiteEntry("easy", corridor.ENV_ID, {"max_cycles": 5}, 4, reply_tokens={"walker": 7}),
        SuiteEntry("hard", corridor.ENV_ID, {"max_cycles": 3}, 3, first=10, samples=2),
    )
    path = tmp_path / "own.json"
    path.write_text(Suite("own", "for tests", entries).to_json())
    freeze(path)
    return path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# ---- those of the package


def test_there_is_a_small_one_a_core_the_demos_and_one_for_each_environment() -> None:
    families = {"plan_path_v0", "sokoban_v0", "sudoku_v0", "code_v0", "math_v0"}
    assert set(suite_names()) == {"smoke_v0", "core_v0", "demo_v0"} | families
    core = {entry.env for entry in load_suite("core_v0").entries}
    assert core == {f"llm_envs/{family.replace('_v0', '-v0')}" for family in families}
    for name in suite_names():
        assert load_suite(name).name == name


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_environments_still_make_what_was_frozen(entry: SuiteEntry) -> None:
    """Every instance: a change that touches one in a hundred tasks would slip by a few of them."""
    assert entry.starts == starts(entry)
    assert len(set(entry.starts)) == entry.instances, "no instance stands in it twice"


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_suite_holds_what_is_trained_on(entry: SuiteEntry) -> None:
    """The split is the test split, and its instances are not among the first of the others."""
    assert entry.split == "test"
    env = llm_envs.make(entry.env, **entry.options)
    for split in ("train", "validation"):
        for index in range(scaled(fast=2, long=200)):
            env.reset(options={"split": split, "index": index})
            assert start_digest(str(env.state())) not in entry.starts


def test_code_and_math_end_by_agreement_and_every_role_has_a_limit() -> None:
    """To be asked again would tell an agent that its answer was wrong."""
    for name in suite_names():
        for spec in plan_suite(load_suite(name), "oracle", {}).specs:
            assert spec.env not in {"llm_envs/code-v0", "llm_envs/math-v0"} or spec.options["stop"] == "agreement"
            assert spec.reply_tokens.keys() == spec.agents.keys()


@pytest.mark.parametrize("agent", ["oracle", "random"])
def test_in_the_core_the_oracle_solves_everything_and_chance_next_to_nothing(agent: str, tmp_path: Path) -> None:
    plan = plan_suite(
        load_suite("core_v0"), agent, {}, instances=scaled(fast=2, long=None), samples=scaled(fast=1, long=4)
    )
    assert play_run(plan, tmp_path / agent) == ""
    for run in load_runs(tmp_path / agent):
        share = sum(episode.success for episode in run.episodes) / run.spec.episodes
        assert share == 1.0 if agent == "oracle" else share <= AT_MOST_BY_CHANCE, run.spec.entry


# ---- those of users, and what becomes of changed ones


def test_a_suite_of_the_users_is_frozen_and_played(own: Path, tmp_path: Path) -> None:
    suite = load_suite(str(own))
    assert (suite.episodes, len(suite.entries[0].starts), len(suite.entries[1].starts)) == (10, 4, 3)
    play_run(plan_suite(suite, "oracle", {}), tmp_path / "run")
    easy, hard = load_runs(tmp_path / "run")
    assert [episode.id for episode in hard.episodes] == [f"hard/{i}/{s}" for i in (10, 11, 12) for s in (0, 1)]
    assert len(easy.episodes) == 4
    assert load_plan(tmp_path / "run").suite_hash == suite.hash


@pytest.mark.parametrize(
    ("old", "new"), [('"instances": 4', '"instances": 3'), ('"max_cycles": 5', '"max_cycles": 6'), ("for tests", "x")]
)
def test_a_suite_that_was_changed_is_refused(old: str, new: str, own: Path) -> None:
    change(own, old, new)
    with pytest.raises(UsageError, match=r"was changed after it was frozen"):
        load_suite(str(own))


def test_a_suite_that_is_not_frozen_is_refused(own: Path) -> None:
    data = json.loads(own.read_text())
    own.write_text(json.dumps({**data, "hash": ""}))
    with pytest.raises(UsageError, match=r"is not frozen; run llm-envs suites --freeze"):
        load_suite(str(own))
    freeze(own)
    assert load_suite(str(own)).hash == data["hash"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"split": "test"', '"split": "train"', "must be 'test': other splits are trained on"),
        ('"format": 1', '"format": 9', "this version reads format 1"),
        ('"entries"', '"entrys"', "must be a suite as JSON"),
        ('"about"', "about", "must be a suite as JSON"),
        ('"name": "easy"', '"name": "a/b"', "a name without a slash"),
    ],
)
def test_what_is_no_suite_is_refused(old: str, new: str, message: str, own: Path) -> None:
    change(own, old, new)
    with pytest.raises(UsageError, match=message):
        load_suite(str(own))


def test_a_suite_that_does_not_exist_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"suite='core_v1': .*Did you mean 'core_v0'\?"):
        load_suite("core_v1")
    with pytest.raises(UsageError, match="can't be read"):
        load_suite("nowhere.json")


def test_a_generator_that_has_changed_stops_the_run(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = load_suite(str(own))
    monkeypatch.setattr(corridor, "LENGTH", 4)
    with pytest.raises(UsageError, match=r"easy/0/0: is not the instance that the suite has frozen"):
        play_run(plan_suite(suite, "oracle", {}), tmp_path / "changed")
    assert load_runs(tmp_path / "changed")[0].episodes == ()
    monkeypatch.undo()
    assert play_run(plan_suite(suite, "oracle", {}), tmp_path / "same") == ""


# ---- who plays


def test_roles_are_given_wherever_an_environment_has_them(own: Path) -> None:
    plan = plan_suite(load_suite("smoke_v0"), "oracle", {"planner": "random", "coder": "weak"})
    agents = {spec.entry: dict(spec.agents) for spec in plan.specs}
    assert agents["sokoban_easy"] == {"tool": "oracle", "planner": "random"}
    assert agents["code_easy"] == {"tester": "oracle", "coder": "weak"}
    assert agents["math_easy"] == {"tool": "oracle", "reasoner": "oracle"}
    assert plan.label == "oracle, planner=random, coder=weak"
    with pytest.raises(UsageError, match=r"role='planer': .*Did you mean 'planner'\?"):
        plan_suite(load_suite("smoke_v0"), "oracle", {"planer": "random"})


def test_a_part_of_a_suite_is_its_first_instances(own: Path) -> None:
    suite = load_suite(str(own))
    easy, hard = plan_suite(suite, "oracle", {}, instances=2, samples=3).specs
    assert (easy.indices, hard.indices) == (range(2), range(10, 12))
    assert (easy.samples, hard.samples) == (3, 3)
    assert hard.starts == suite.entries[1].starts[:2]
    assert easy.limit("walker") == 7


def test_samples_of_an_instance_differ_by_chance_and_repeat(tmp_path: Path) -> None:
    suite = load_suite("plan_path_v0")
    plan = plan_suite(suite, "random", {}, instances=1, samples=3)
    spec = plan.specs[3]
    replies = []
    for name in ("first", "again"):
        run = evaluate(spec, tmp_path / name)
        replies.append([[turn.reply for turn in episode.turns] for episode in run.episodes])
    assert replies[0] == replies[1]
    assert len({str(reply) for reply in replies[0]}) == 3
    once = evaluate(replace(spec, samples=1), tmp_path / "once")
    assert [turn.reply for turn in once.episodes[0].turns] == replies[0][0], "more samples do not change the first"
