"""Old replies are graded by the environments as they are now; nothing is generated, and nothing is made up."""

from pathlib import Path

import pytest

from llm_envs.core.errors import UsageError
from llm_envs_bench.agents import plan_run
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.rescore import rescore
from llm_envs_bench.runner import evaluate, play_run
from llm_envs_bench.spec import RunSpec, start_digest
from llm_envs_bench.store import EPISODES, load_run
from tests.benchmarks import corridor
from tests.benchmarks.conftest import Play

LENGTH = corridor.LENGTH


def test_the_same_rules_give_the_same_bytes(play: Play, tmp_path: Path) -> None:
    old = play("oracle")
    changes = rescore(old.folder, tmp_path / "new")
    assert (tmp_path / "new" / EPISODES).read_bytes() == (old.folder / EPISODES).read_bytes()
    assert not any((changes.gained, changes.lost, changes.repaid, changes.diverged, changes.shorter, changes.owed))


def test_what_replies_cost_stays_known(play: Play, tmp_path: Path) -> None:
    old = play("oracle")
    rescore(old.folder, tmp_path / "new")
    new = load_run(tmp_path / "new")
    assert {one.id: one.calls for one in new.attempts} == {one.id: one.calls for one in old.attempts}


def test_another_instance_under_an_old_index_gets_no_score(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = play("oracle")
    monkeypatch.setattr(corridor, "LENGTH", 2)
    changes = rescore(old.folder, tmp_path / "new")
    assert changes.owed == [episode.id for episode in old.episodes]


def test_an_instance_that_is_not_the_frozen_one_is_told_as_in_an_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One error with what to do, not a group of them."""
    starts = (start_digest(corridor.CorridorTask().text(corridor.State(0))),) * 2
    agents = {"scout": "oracle", "walker": "oracle"}
    evaluate(RunSpec(env=corridor.ENV_ID, agents=agents, instances=2, starts=starts), tmp_path / "old")
    rescore(tmp_path / "old", tmp_path / "new")
    monkeypatch.setattr(corridor, "LENGTH", 2)
    with pytest.raises(UsageError, match="is not the instance that the suite has frozen"):
        rescore(tmp_path / "old", tmp_path / "other")


def test_another_grading_of_the_same_instances_changes_the_verdicts(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = play("oracle")
    task = corridor.CorridorTask
    monkeypatch.setattr(task, "finished", lambda self, state: state.walked == LENGTH)
    monkeypatch.setattr(task, "solved", lambda self, state: state.walked == LENGTH and state.index != 4)
    changes = rescore(old.folder, tmp_path / "new")
    assert changes.lost == ["corridor-v0/4/0"]
    assert changes.owed == []


def test_replies_that_were_never_given_are_not_made_up(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The episode would go on now, and nobody said anything then."""
    old = play("oracle")
    monkeypatch.setattr(corridor.CorridorTask, "solved", lambda self, state: False)
    changes = rescore(old.folder, tmp_path / "new")
    assert changes.owed == [episode.id for episode in old.episodes]
    assert "asked more often than replies were recorded" in (load_run(tmp_path / "new").failures[0].error or "")


def test_another_prompt_is_noticed(play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = play("oracle")
    monkeypatch.setattr(corridor.CorridorTask, "observe", lambda self, state, role, feedback: f"{role}: {state.index}")
    changes = rescore(old.folder, tmp_path / "new")
    assert changes.diverged == [episode.id for episode in old.episodes]
    assert load_run(tmp_path / "new").episodes[0].success


def test_an_earlier_end_leaves_replies_over(play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = play("oracle")
    monkeypatch.setattr(corridor.CorridorTask, "solved", lambda self, state: state.walked >= 2)
    changes = rescore(old.folder, tmp_path / "new")
    assert changes.shorter == [episode.id for episode in old.episodes]
    assert len(load_run(tmp_path / "new").episodes[0].turns) == 4


def test_what_was_owed_stays_owed(play: Play, tmp_path: Path) -> None:
    corridor.SANDBOX.is_down = lambda code: code == "2"
    old = play("oracle")
    corridor.SANDBOX.is_down = lambda code: False
    rescore(old.folder, tmp_path / "new")
    new = load_run(tmp_path / "new")
    assert (old.owed, new.owed) == (1, 1)
    assert [episode.index for episode in new.episodes] == [0, 1, 3, 4, 5]


def test_a_real_game_is_replayed_to_the_same_bytes(tmp_path: Path) -> None:
    """Two samples, programs included; a reference player's chance is not drawn again."""
    plan = RunPlan((plan_run("plan_path_v0", "random", {}, options={"size": 6}, instances=3, samples=2),))
    play_run(plan, tmp_path / "old")
    rescore(tmp_path / "old", tmp_path / "new")
    assert (tmp_path / "new" / EPISODES).read_bytes() == (tmp_path / "old" / EPISODES).read_bytes()
