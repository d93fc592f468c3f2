"""What a user can get wrong, through the whole `at-grpo train`: one line that says what to do, and status 2."""

import json
import shutil
from pathlib import Path

import pytest

from at_grpo.cli import FAILURE, USAGE_ERROR
from at_grpo.loading import dump_config
from tests.trainer.end_to_end import process
from tests.trainer.end_to_end.settings import small


def refused(folder: Path, base: Path, *overrides: str, status: int = USAGE_ERROR, fault: str = "") -> str:
    """What `at-grpo train` says to a configuration with these values."""
    config = folder / "config.yaml"
    config.write_text(dump_config(small(folder / "run", base)))
    ended = process.command_line(folder, "train", "--config", str(config), *overrides, fault=fault)
    said = [line for line in (folder / process.OUTPUT).read_text().splitlines() if not line.startswith("INFO")]
    assert ended == status, "\n".join(said)
    assert len(said) == 1, "\n".join(said)
    assert said[0].startswith("at-grpo: ")
    assert not list(folder.glob("run/checkpoint-*"))
    return said[0]


def test_a_base_model_that_cannot_be_found_is_named(base: Path, tmp_path: Path) -> None:
    said = refused(tmp_path, base, "model.base=nobody/no-such-model")
    assert "model.base='nobody/no-such-model'" in said
    assert "Name a local folder" in said


@pytest.mark.parametrize("absent", ["config.json", "model.safetensors", "tokenizer.json", "everything"])
def test_a_folder_that_is_no_model_is_named(absent: str, base: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(base, folder)
    for path in list(folder.iterdir()):
        if absent in {path.name, "everything"}:
            path.unlink()
    said = refused(tmp_path, base, f"model.base={json.dumps(str(folder))}")
    assert f"model.base={str(folder)!r}" in said


def test_a_tokenizer_without_chat_template_is_named(base: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(base, folder)
    (folder / "chat_template.jinja").unlink()
    said = refused(tmp_path, base, f"model.base={json.dumps(str(folder))}")
    assert "has no chat template" in said
    assert "chat_template.jinja" in said


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("env.options.sise=4", "Did you mean 'size'?"),
        ("rollout.k=1", "a group of one has no baseline"),
        ("rollout.sandbox=lockd", "Did you mean 'locked'?"),
    ],
)
def test_a_value_that_is_none_is_named(override: str, expected: str, base: Path, tmp_path: Path) -> None:
    """UC-110, UC-176."""
    assert expected in refused(tmp_path, base, override)


def test_a_checkpoint_of_another_configuration_is_refused_with_the_difference(warm: Path, tmp_path: Path) -> None:
    """UC-169."""
    folder = tmp_path / "talk"
    words = ("train", "--resume", str(warm / "checkpoint-1"), "optim.learning_rate=0.5", "rollout.k=4")
    status = process.command_line(folder, *words)
    said = (folder / process.OUTPUT).read_text()
    assert status == USAGE_ERROR
    assert "optim.learning_rate: 0.004 in the checkpoint, 0.5 now" in said
    assert "rollout.k: 3 in the checkpoint, 4 now" in said
    assert "Traceback" not in said


def test_a_machine_without_a_cage_is_told_so(base: Path, tmp_path: Path) -> None:
    """Nothing runs uncaged for want of one; the way out is in the message."""
    said = refused(tmp_path, base, status=FAILURE, fault="no cage")
    assert "no sandbox works here" in said
    assert "the kernel has no Landlock" in said
