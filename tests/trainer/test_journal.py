"""What is written down before it is trained on, and what a resumed run takes from it."""

import logging
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from at_grpo.journal import Journal, JournalError
from at_grpo.journal_lines import from_json, to_json
from at_grpo.rollouts.limits import StopReason
from at_grpo.rollouts.played import Played
from llm_envs.episode import Ending, Episode, Turn
from tests.trainer.samples import group

INFO = {"role": "planner", "success": True, "invalid": None, "team_reward": 0.1, "hits": 3}


def instance(index: int, **changes: object) -> Played:
    turn = Turn(0, "planner_0", "planner", "look", "go ↑", 0.25, 0.1, 0.15, None, {"hits": 3}, "state")
    episode = Episode(
        "toy", "train", index, {"planner": "planner"}, "start", (turn,), {"planner_0": 0.25}, True, Ending.TERMINATED
    )
    groups = tuple(
        group([0.1, 1 / 3], instance=index, node=node, version=4, advantage=-1 / 7, chosen=True, text="go ↑", info=INFO)
        for node in ("root", "root.1")
    )
    return replace(Played(index, groups, episode, StopReason.TERMINATED, lost=1), **changes)  # type: ignore[arg-type]


def begun(folder: Path, checkpoint: int | None = 4) -> Journal:
    """A journal of a process that has just written or resumed from a checkpoint."""
    journal = Journal(folder)
    if checkpoint is not None:
        path = folder / f"checkpoint-{checkpoint}"
        if path.exists():
            journal.restore(path)
        else:
            path.mkdir()
            journal.save(path)
    return journal


def written(folder: Path, count: int) -> Path:
    """The file of version 4 as a process leaves it that dies."""
    journal = begun(folder)
    journal.open(4)
    for index in range(count):
        journal.append(4, instance(index))
    return folder / "journal" / "v4.jsonl"


# ---- lines


@given(
    numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4),
    text=st.text(st.characters(exclude_categories=["Cs"])),
)
def test_an_instance_reads_back_as_it_was_written_to_the_last_digit(numbers: list[float], text: str) -> None:
    ids = tuple(range(len(numbers)))
    said = group(numbers, completion_ids=ids, logprobs=tuple(numbers), advantage=numbers[0], text=text, info=INFO)
    played = instance(3, groups=(said,))
    line = to_json(played)
    assert "\n" not in line
    assert from_json(line) == played


def test_siblings_with_prompts_of_their_own_keep_them() -> None:
    """Trajectory grouping."""
    mixed = group([0.0, 1.0], advantage=0.5)
    mixed = replace(mixed, samples=(mixed.samples[0], replace(mixed.samples[1], prompt_ids=(7, 8, 9))))
    assert from_json(to_json(instance(0, groups=(mixed,)))).groups == (mixed,)


def test_infos_of_other_peoples_environments_do_not_break_a_line() -> None:
    odd = group([0.0], advantage=0.5, info={"mean": np.float32(0.5), "n": np.int64(3), "path": Path("x")})
    info = from_json(to_json(instance(0, groups=(odd,)))).groups[0].samples[0].info
    assert (info["mean"], info["n"], info["path"]) == (0.5, 3, "PosixPath('x')")


@pytest.mark.parametrize("line", ["", "{", "[]", "{}", "7", '{"index": 1}'])
def test_anything_else_is_no_instance(line: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- JSON's own message or ours
        from_json(line)


# ---- going on


def test_a_resumed_run_gets_the_instances_that_were_written_and_adds_to_them(tmp_path: Path) -> None:
    path = written(tmp_path, 2)
    resumed = begun(tmp_path)
    assert resumed.open(4) == [instance(0), instance(1)]
    resumed.append(4, instance(2))
    assert begun(tmp_path).open(4) == [instance(0), instance(1), instance(2)]
    assert path.read_text().count("\n") == 4


def test_cut_anywhere_a_journal_holds_whole_instances_and_goes_on(tmp_path: Path) -> None:
    """A torn last line is left out, and does not swallow what is written after it."""
    path = written(tmp_path, 3)
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in sorted({0, 1, len(whole), *ends, *(end - 1 for end in ends), *(end + 1 for end in ends), ends[2] - 40}):
        path.write_bytes(whole[:size])
        count = max(0, sum(end <= size for end in ends) - 1)
        journal = begun(tmp_path)
        assert journal.open(4) == [instance(index) for index in range(count)], size
        journal.append(4, instance(9))
        journal.close()
        assert begun(tmp_path).open(4) == [*(instance(index) for index in range(count)), instance(9)], size


def test_what_other_weights_of_the_same_number_sampled_is_not_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A run that went back to an earlier checkpoint comes to version 4 by another way."""
    path = written(tmp_path, 2)
    (tmp_path / "checkpoint-4" / "weights_ids.json").unlink()
    other = Journal(tmp_path)
    other.save(tmp_path / "checkpoint-4")
    with caplog.at_level(logging.INFO):
        assert other.open(4) == []
    assert f"{path}: 2 instances are discarded, they were sampled by other weights" in caplog.messages
    assert path.read_text().count("\n") == 1


def test_an_instance_without_samples_is_played_again_and_says_nothing_of_weights(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its first prompt was too long, say."""
    journal = begun(tmp_path)
    journal.open(4)
    journal.append(4, instance(0))
    journal.append(4, instance(1, groups=()))
    with caplog.at_level(logging.INFO):
        assert begun(tmp_path).open(4) == [instance(0)]
    assert "other weights" not in caplog.text


def test_a_version_that_no_checkpoint_begins_is_never_taken_over(tmp_path: Path) -> None:
    journal = begun(tmp_path, checkpoint=None)
    journal.open(4)
    journal.append(4, instance(0))
    assert begun(tmp_path, checkpoint=None).open(4) == []


def test_journals_of_other_versions_than_the_resumed_one_are_discarded_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    written(tmp_path, 1)
    for version in (3, 5, 6):
        (tmp_path / "journal" / f"v{version}.jsonl").write_text("{}\n")
    with caplog.at_level(logging.INFO):
        begun(tmp_path).open(4)
    assert [path.name for path in (tmp_path / "journal").iterdir()] == ["v4.jsonl"]
    assert sum("is discarded" in message for message in caplog.messages) == 3


def test_the_checkpoint_of_the_next_version_commits_a_version(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Not before it is complete; what a run itself has consumed goes without a word."""
    written(tmp_path, 1)
    journal = begun(tmp_path)
    journal.open(4)
    (tmp_path / "checkpoint-5").mkdir()
    journal.save(tmp_path / "checkpoint-5")
    assert [path.name for path in (tmp_path / "journal").iterdir()] == ["v4.jsonl"]
    with caplog.at_level(logging.INFO):
        journal.commit(tmp_path / "checkpoint-5")
    assert list((tmp_path / "journal").iterdir()) == []
    assert "is discarded" not in caplog.text


def test_between_checkpoints_only_the_journals_that_a_run_may_go_on_from_are_kept(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    for version in (4, 5, 6, 7):
        journal.open(version)
    assert sorted(path.name for path in (tmp_path / "journal").iterdir()) == ["v4.jsonl", "v7.jsonl"]


def test_a_checkpoint_that_is_written_again_keeps_its_id(tmp_path: Path) -> None:
    """As checkpoint-0 is by a run that resumes from it: what its weights sampled stays theirs."""
    written(tmp_path, 2)
    resumed = begun(tmp_path)
    resumed.save(tmp_path / "checkpoint-4")
    assert len(resumed.open(4)) == len(begun(tmp_path).open(4)) == 2


# ---- versions that are played ahead


def ahead(folder: Path, saved: int) -> Journal:
    """A journal with staleness 2 of a process that has written a checkpoint, or goes on from the one that is there."""
    journal, path = Journal(folder, staleness=2), folder / f"checkpoint-{saved}"
    if path.exists():
        journal.restore(path)
    else:
        path.mkdir()
        journal.save(path)
    return journal


def sampled_by(index: int, *versions: int) -> Played:
    """An instance whose groups were sampled by these versions."""
    groups = tuple(
        group([0.0, 1.0], instance=index, node=str(at), version=version, advantage=0.5)
        for at, version in enumerate(versions)
    )
    return instance(index, groups=groups)


def test_a_resumed_run_takes_what_its_own_weights_sampled_ahead_and_not_what_later_ones_did(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Weights that were on the way to a checkpoint that was never written do not come back."""
    journal = ahead(tmp_path, 4)
    for version in (4, 5, 6):
        journal.open(version)
        journal.append(version, sampled_by(version, 4, 4))
    journal.append(5, sampled_by(15, 3, 4))
    journal.append(5, sampled_by(25, 4, 5))
    journal.append(6, sampled_by(26, 5))
    resumed = ahead(tmp_path, 4)
    with caplog.at_level(logging.INFO):
        taken = {version: [played.index for played in resumed.open(version)] for version in (4, 5, 6)}
    assert taken == {4: [4], 5: [5, 15], 6: [6]}
    path = tmp_path / "journal" / "v5.jsonl"
    assert f"{path}: 1 instances are discarded, they were sampled by other weights" in caplog.messages
    assert path.read_text().count("\n") == 3


def test_versions_that_are_played_at_once_have_files_of_their_own(tmp_path: Path) -> None:
    journal = ahead(tmp_path, 4)
    for version in (4, 5, 6, 7, 8):
        assert journal.open(version) == []
        journal.append(version, sampled_by(version, 4))
    with pytest.raises(RuntimeError, match="version 5 is not open"):
        journal.append(5, sampled_by(0, 4))
    assert sorted(path.name for path in (tmp_path / "journal").iterdir()) == [
        f"v{number}.jsonl" for number in range(4, 9)
    ]
    journal.open(9)
    names = sorted(path.name for path in (tmp_path / "journal").iterdir())
    assert names == ["v4.jsonl", "v5.jsonl", "v6.jsonl", "v7.jsonl", "v8.jsonl", "v9.jsonl"]


# ---- disks


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Files of this process may not grow beyond this: writing ends as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_named_with_the_remedy_and_what_was_whole_stays(tmp_path: Path) -> None:
    path = written(tmp_path, 2)
    journal = begun(tmp_path)
    journal.open(4)
    size = path.stat().st_size
    with (
        room_for(size + 100),
        pytest.raises(JournalError, match=r"v4\.jsonl: can't be written.*Make room"),
    ):
        journal.append(4, instance(2))
    assert path.stat().st_size > size, "torn"
    assert begun(tmp_path).open(4) == [instance(0), instance(1)]


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("a file")
    with pytest.raises(JournalError, match=str(tmp_path)):
        begun(tmp_path).open(4)


def test_nothing_is_written_without_an_open_version(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="version 4 is not open"):
        begun(tmp_path).append(4, instance(0))
