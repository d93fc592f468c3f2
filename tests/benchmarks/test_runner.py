"""What is played is stored, what infrastructure fails is owed, and an interrupted run ends like a straight one."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from llm_envs.core.errors import UsageError
from llm_envs.episode import Ending, Episode
from llm_envs_bench.metrics import summarise
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.runner import evaluate
from llm_envs_bench.spec import RunSpec, Sampling
from llm_envs_bench.store import RunWriter, load_run
from tests.benchmarks import corridor
from tests.benchmarks.conftest import Play

GAME = "llm_envs/plan_path-v0"
ALONE = {"roles": "single", "size": 6, "observation": "local"}

# ---- scores


def test_the_oracle_always_succeeds_and_random_hardly_ever(tmp_path: Path) -> None:
    rates = {}
    for name in ("oracle", "random"):
        spec = RunSpec(env=GAME, agents={"solver": name}, options=ALONE | {"min_path": 6, "max_moves": 3}, instances=50)
        rates[name] = summarise(evaluate(spec, tmp_path / name)).success.value
    assert rates["oracle"] == 1.0
    assert rates["random"] <= 0.1


def test_episodes_are_stored_by_instance_whatever_the_concurrency(play: Play, tmp_path: Path) -> None:
    play("oracle", concurrency=1)
    alone = (tmp_path / "oracle" / "episodes.jsonl").read_bytes()
    (tmp_path / "oracle" / "episodes.jsonl").unlink()
    (tmp_path / "oracle" / "run.json").unlink()
    run = play("oracle", concurrency=6)
    assert (tmp_path / "oracle" / "episodes.jsonl").read_bytes() == alone
    assert [episode.index for episode in run.episodes] == list(range(6))
    assert {episode.split for episode in run.episodes} == {"test"}


def test_the_run_says_what_was_run(play: Play, tmp_path: Path) -> None:
    run = play("oracle")
    written = json.loads((tmp_path / "oracle" / "run.json").read_text())
    assert written["specs"][0]["agents"] == {"scout": "oracle", "walker": "oracle"}
    assert written["versions"]["llm-envs"]
    assert written["hash"] == RunPlan((run.spec,)).hash
    other = RunSpec(env=corridor.ENV_ID, agents=run.spec.agents, instances=6, sampling=Sampling(temperature=0.0))
    assert other.hash != run.spec.hash, "negative control: another temperature is another run"
    assert load_run(tmp_path / "oracle") == run


def test_each_role_can_have_an_agent_of_its_own(play: Play) -> None:
    run = play("mixed", agents={"scout": "silent", "walker": "oracle"})
    summary = summarise(run)
    assert summary.label == "scout=silent, walker=oracle"
    assert summary.success.value == 1.0
    assert {role: share and share.value for role, share in summary.invalid.items()} == {"scout": 1.0, "walker": 0.0}
    assert run.episodes[0].players == {"scout": "silent", "walker": "oracle"}


# ---- infrastructure failures


def test_an_infrastructure_failure_is_owed_and_never_a_score(play: Play, tmp_path: Path) -> None:
    corridor.SANDBOX.is_down = lambda code: code in {"1", "4"}
    run = play("oracle")
    assert [failure.index for failure in run.failures] == [1, 4]
    assert all(failure.ending is Ending.ERROR and "engine is gone" in str(failure.error) for failure in run.failures)
    summary = summarise(run)
    assert (summary.success.value, summary.success.n, summary.owed) == (1.0, 4, 2)

    corridor.SANDBOX.is_down = lambda code: False
    played: list[Episode] = []
    resumed = play("oracle", resume=True, watch=lambda owed: nullcontext(played.append))
    assert [episode.index for episode in played] == [1, 4], "only what was owed"
    assert (resumed.owed, resumed.failures) == (0, ())
    mended = (tmp_path / "oracle" / "episodes.jsonl").read_bytes()
    for file in (tmp_path / "oracle").iterdir():
        file.unlink()
    play("oracle")
    assert (tmp_path / "oracle" / "episodes.jsonl").read_bytes() == mended


def test_a_defect_of_a_game_ends_the_run_and_keeps_what_was_played(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: object, state: corridor.State) -> bool:
        if state.index == 2:
            raise ZeroDivisionError("a bug")
        return state.walked == corridor.LENGTH

    monkeypatch.setattr(corridor.CorridorTask, "solved", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        play("oracle", concurrency=1)
    assert [episode.index for episode in load_run(tmp_path / "oracle").episodes] == [0, 1]


# ---- interruption


@pytest.mark.parametrize("kept", [0.2, 0.999], ids=["early", "at the newline"])
def test_a_torn_last_line_is_played_again(play: Play, tmp_path: Path, kept: float) -> None:
    play("oracle")
    path = tmp_path / "oracle" / "episodes.jsonl"
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    cut = last + int((len(whole) - last) * kept)
    path.write_bytes(whole[:cut])
    assert len(load_run(tmp_path / "oracle").episodes) == 5
    played: list[Episode] = []
    play("oracle", resume=True, watch=lambda owed: nullcontext(played.append))
    assert [episode.index for episode in played] == [5]
    assert path.read_bytes() == whole


def test_a_finished_run_is_not_played_again(play: Play) -> None:
    play("oracle")
    played: list[Episode] = []
    play("oracle", resume=True, watch=lambda owed: nullcontext(played.append))
    assert played == []


# ---- refusals


def test_a_folder_that_holds_a_run_is_not_overwritten(play: Play) -> None:
    play("oracle")
    with pytest.raises(UsageError, match="add --resume"):
        play("oracle")


def test_another_run_is_not_mixed_in_and_the_difference_is_named(play: Play) -> None:
    play("oracle")
    with pytest.raises(UsageError, match=r"holds another run \(instances: 6 there, 7 now\)"):
        play("oracle", 7, resume=True)


def test_two_writers_cannot_fill_one_folder(play: Play, tmp_path: Path) -> None:
    spec = play("oracle").spec
    (tmp_path / "oracle" / "episodes.jsonl").unlink()
    with (
        RunWriter(tmp_path / "oracle", RunPlan((spec,)), resume=True),
        pytest.raises(UsageError, match="another process is writing"),
    ):
        play("oracle", resume=True)
    assert play("oracle", resume=True).owed == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "must be a folder that llm-envs eval has written"),
        ("{}", "must describe a run"),
        ("no json", "must describe a run"),
        ('{"format": 99, "spec": {"sampling": {}}}', "format=99"),
    ],
)
def test_a_folder_without_a_run_is_refused(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(UsageError, match=message):
        load_run(tmp_path)
