"""Checkpoints are whole or not there, and only the same run goes on from one."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from at_grpo import checkpointing
from at_grpo.checkpointing import (
    ADAPTER,
    MARKER,
    MAY_DIFFER,
    check_complete,
    check_same_config,
    check_unused,
    committing,
    latest_checkpoint,
    prune,
    read_config,
    write_atomically,
)
from at_grpo.config import EnvSection, PlayerSection, PoolSection, RoleSection, TrainConfig, WarmStartSection
from at_grpo.model_card import write_model_card
from llm_envs.core.errors import UsageError
from tests.trainer.test_loading import LEAVES
from tests.trainer.tiny_trainer import ROLES, run_config


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    return run_config(tmp_path)


def save(run_dir: Path, step: int, config: TrainConfig, **more: bytes) -> Path:
    """What transformers leaves, by its names, without a model, and more files where they are given."""
    checkpoint = run_dir / f"checkpoint-{step}"
    with committing(checkpoint, config):
        for role in ROLES:
            (checkpoint / role).mkdir(parents=True)
            (checkpoint / role / ADAPTER).write_bytes(f"{role} at {step}".encode())
        state = dict.fromkeys((*checkpointing.RESUMABLE, "rng_state.pth"), b"state")
        for name, content in {**state, **more}.items():
            (checkpoint / name).write_bytes(content)
    return checkpoint


def keeping(config: TrainConfig, count: int) -> TrainConfig:
    return dataclasses.replace(config, run=dataclasses.replace(config.run, keep_checkpoints=count))


# ---- whole or not there


def test_a_checkpoint_is_complete_only_when_everything_was_written(tmp_path: Path, config: TrainConfig) -> None:
    with pytest.raises(OSError, match="disk full"):
        save_part(tmp_path / "checkpoint-1", config, OSError("disk full"))
    assert (tmp_path / "checkpoint-1").is_dir()
    assert latest_checkpoint(tmp_path) is None
    assert latest_checkpoint(save(tmp_path, 1, config).parent) == tmp_path / "checkpoint-1"


def save_part(checkpoint: Path, config: TrainConfig, error: BaseException | None = None) -> None:
    """The first of two adapters, and then an error or the end."""
    with committing(checkpoint, config):
        assert latest_checkpoint(checkpoint.parent) is None
        (checkpoint / "planner").mkdir(parents=True)
        (checkpoint / "planner" / ADAPTER).touch()
        if error is not None:
            raise error


def test_a_checkpoint_without_a_policy_is_never_marked(tmp_path: Path, config: TrainConfig) -> None:
    """UC-160: adapters that were not saved at all must be noticed when saving, not when resuming."""
    with pytest.raises(RuntimeError, match="no weights were saved for tool"):
        save_part(tmp_path / "checkpoint-1", config)
    assert latest_checkpoint(tmp_path) is None


def test_writing_over_a_complete_checkpoint_takes_its_marker_first(tmp_path: Path, config: TrainConfig) -> None:
    """UC-169: step names collide when a run goes on from an earlier step; an old marker must not vouch."""
    (save(tmp_path, 1, config) / "left_over").touch()
    with pytest.raises(KeyboardInterrupt):
        save_part(tmp_path / "checkpoint-1", config, KeyboardInterrupt())
    assert latest_checkpoint(tmp_path) is None
    assert not (save(tmp_path, 1, config) / "left_over").exists()


@pytest.mark.parametrize("harm", ["cut", "gone", "garbled marker"])
def test_a_file_that_is_cut_or_gone_makes_a_checkpoint_incomplete(
    harm: str, tmp_path: Path, config: TrainConfig, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = save(tmp_path, 1, config), save(tmp_path, 2, config)
    victim = second / "tool" / ADAPTER
    if harm == "cut":
        victim.write_bytes(b"")
    elif harm == "gone":
        victim.unlink()
    else:
        (second / MARKER).write_text("{")
    assert latest_checkpoint(tmp_path) == first
    assert f"{second} is incomplete" in caplog.text
    with pytest.raises(UsageError, match="is no complete checkpoint"):
        check_complete(second)


def test_the_card_of_a_finished_run_leaves_its_last_checkpoint_complete(tmp_path: Path, config: TrainConfig) -> None:
    """PEFT writes a card of its own with the adapters, and the run another one, of another length, at its end."""
    checkpoint = save(tmp_path, 1, config, **{checkpointing.CARD: b"PEFT's"})
    write_model_card(checkpoint, config, {})
    check_complete(checkpoint)


def test_folders_of_other_names_are_left_alone(tmp_path: Path, config: TrainConfig) -> None:
    for name in ("checkpoint-best", "checkpoint-1.partial", "base"):
        (tmp_path / name).mkdir()
    (tmp_path / "checkpoint-7").write_text("a file")
    save(tmp_path, 1, config)
    assert {path.name for path in tmp_path.iterdir()} == {
        "checkpoint-best",
        "checkpoint-1.partial",
        "base",
        "checkpoint-7",
        "checkpoint-1",
    }


def test_a_file_written_atomically_is_never_seen_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError("power cut")))
    with pytest.raises(OSError, match="power cut"):
        write_atomically(path, "new")
    assert path.read_text() == "old"


# ---- pruning


def test_the_newest_and_the_start_are_kept(tmp_path: Path, config: TrainConfig) -> None:
    for step in (0, 5, 10, 15, 20):
        save(tmp_path, step, keeping(config, 2))
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint-0", "checkpoint-15", "checkpoint-20"}


def test_every_checkpoint_is_kept_that_is_asked_for(tmp_path: Path, config: TrainConfig) -> None:
    """UC-178: `keep_checkpoints` changes what is left."""
    for step in (5, 10, 15):
        save(tmp_path, step, keeping(config, 5))
    prune(tmp_path, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-15"]


def test_half_written_ones_go_when_a_complete_one_is_there(tmp_path: Path, config: TrainConfig) -> None:
    (tmp_path / "checkpoint-3").mkdir()
    save(tmp_path, 2, config)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-2"]


def test_an_abandoned_branch_does_not_push_out_the_run_that_goes_on(tmp_path: Path, config: TrainConfig) -> None:
    """A run resumed from 5 finds 10 and 15 of its former self: newer by number, older by time."""
    for step in (5, 10, 15):
        save(tmp_path, step, keeping(config, 3))
    resumed = save(tmp_path, 6, keeping(config, 2))
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint-6", "checkpoint-15"}
    assert latest_checkpoint(tmp_path) == resumed
    by_number = max(tmp_path.iterdir(), key=lambda path: int(path.name.partition("-")[2]))
    assert by_number != resumed, "negative control"


def test_a_removal_that_is_cut_short_leaves_nothing_that_calls_itself_complete(
    tmp_path: Path, config: TrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, 1, config)

    def die(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpointing.shutil, "rmtree", die)
    with pytest.raises(KeyboardInterrupt):
        checkpointing._remove(tmp_path / "checkpoint-1")
    assert latest_checkpoint(tmp_path) is None


# ---- the same run


def test_the_configuration_in_a_checkpoint_is_the_run_s(tmp_path: Path, config: TrainConfig) -> None:
    assert read_config(save(tmp_path, 1, config)) == config
    check_same_config(tmp_path / "checkpoint-1", config)


def changed(config: TrainConfig, path: str) -> TrainConfig:
    """The configuration with another value at a path of `LEAVES`."""
    flat = path.replace("policies.team", "policies.tool")
    *parents, name = flat.split(".")

    def walk(node: Any, steps: list[str]) -> Any:
        if steps and isinstance(node, dict):
            return node | {steps[0]: walk(node[steps[0]], steps[1:])}
        if steps:
            return dataclasses.replace(node, **{steps[0]: walk(getattr(node, steps[0]), steps[1:])})
        return dataclasses.replace(node, **{name: other(getattr(node, name))})

    return walk(config, parents)


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return {"extra": 1} if isinstance(value, dict) else (*value, "x") if isinstance(value, tuple) else f"{value}x"


OPTIONS = [path for path, _ in LEAVES if not any(name in path for name in ("warm_start", ".player", "pools."))]


@pytest.mark.parametrize("path", OPTIONS)
def test_a_checkpoint_of_another_configuration_is_refused_with_the_key_that_differs(
    path: str, tmp_path: Path, config: TrainConfig
) -> None:
    checkpoint = save(tmp_path, 1, config)
    now = changed(config, path)
    assert now != config
    if path in MAY_DIFFER:
        check_same_config(checkpoint, now)
        return
    with pytest.raises(UsageError) as caught:
        check_same_config(checkpoint, now)
    head, *lines = str(caught.value).splitlines()
    assert "is of another configuration" in head
    key = path.replace("policies.team", "policies.tool")
    assert [line.strip().partition(":")[0].removesuffix(".extra") for line in lines] == [key]
    assert " in the checkpoint, " in lines[0]


def test_pools_may_have_other_devices_but_not_part_those_who_were_trained_together(
    tmp_path: Path, config: TrainConfig
) -> None:
    """An optimizer's state belongs to all policies of a worker."""
    together = dict.fromkeys(ROLES, PoolSection(update_gpus=(1,)))
    checkpoint = save(tmp_path, 1, config)
    check_same_config(checkpoint, dataclasses.replace(config, pools=together))
    apart = dataclasses.replace(config, pools={ROLES[0]: PoolSection(update_gpus=(1,))})
    with pytest.raises(
        UsageError, match=r"pools: policies trained together are \[\['planner', 'tool'\]\] in the check"
    ):
        check_same_config(checkpoint, apart)


def test_a_section_that_one_of_the_two_lacks_is_a_difference(tmp_path: Path, config: TrainConfig) -> None:
    now = dataclasses.replace(config, model=dataclasses.replace(config.model, warm_start=WarmStartSection()))
    with pytest.raises(UsageError, match=r"model\.warm_start\.steps: absent in the checkpoint, 400 now"):
        check_same_config(save(tmp_path, 1, config), now)
    now = dataclasses.replace(config, env=EnvSection(options={"size": 4}))
    with pytest.raises(UsageError, match=r"env\.options\.size: absent in the checkpoint, 4 now"):
        check_same_config(tmp_path / "checkpoint-1", now)


def test_who_plays_a_role_that_is_not_trained_may_not_change_but_where_it_is_served_may(
    tmp_path: Path, config: TrainConfig
) -> None:
    def played_by(**player: str) -> TrainConfig:
        return dataclasses.replace(config, roles={**config.roles, "tool": RoleSection(player=PlayerSection(**player))})

    checkpoint = save(tmp_path, 1, played_by(url="http://one/v1", model="m"))
    check_same_config(checkpoint, played_by(url="http://other/v1", model="m", api_key_env="KEY"))
    with pytest.raises(UsageError, match=r"roles\.tool\.player\.model: 'm' in the checkpoint, 'n' now"):
        check_same_config(checkpoint, played_by(url="http://one/v1", model="n"))


def test_a_schedule_that_is_stretched_by_more_steps_is_told(
    tmp_path: Path, config: TrainConfig, caplog: pytest.LogCaptureFixture
) -> None:
    def going_on(scheduler: str, steps: int) -> TrainConfig:
        optim = dataclasses.replace(config.optim, scheduler=scheduler, steps=steps)
        return dataclasses.replace(config, optim=optim)

    check_same_config(save(tmp_path, 1, going_on("constant", 9)), going_on("constant", 99))
    assert caplog.text == "", "negative control: a constant rate stays what it was"
    check_same_config(save(tmp_path, 2, going_on("linear", 9)), going_on("linear", 99))
    assert "optim.steps: 9 in the checkpoint, 99 now; the linear schedule is stretched" in caplog.text


@pytest.mark.parametrize("absent", [*checkpointing.RESUMABLE, "rng_state.pth"])
def test_weights_alone_are_refused_for_resuming(absent: str, tmp_path: Path, config: TrainConfig) -> None:
    """UC-169: `save_only_model` and resume do not go together."""
    checkpoint = tmp_path / "checkpoint-1"
    with committing(checkpoint, config):
        for role in ROLES:
            (checkpoint / role).mkdir(parents=True)
            (checkpoint / role / ADAPTER).touch()
        for name in {*checkpointing.RESUMABLE, "rng_state.pth"} - {absent}:
            (checkpoint / name).touch()
    with pytest.raises(UsageError, match=r"saved with save_only_model\?"):
        check_complete(checkpoint)


def test_a_folder_that_holds_a_run_is_refused_for_a_new_one(tmp_path: Path, config: TrainConfig) -> None:
    """UC-169: checkpoints of two runs must not mix."""
    check_unused(tmp_path)
    save(tmp_path, 1, config)
    with pytest.raises(UsageError, match=r"holds a run already \(up to checkpoint-1\)"):
        check_unused(tmp_path)


def test_a_checkpoint_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder; name a checkpoint-<step>"):
        check_complete(tmp_path / "checkpoint-9")
