"""A disk that is really full, a small one that is mounted for the purpose: whatever is written, the run ends in words
and goes on when there is room.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from at_grpo.checkpointing import latest_checkpoint
from at_grpo.cli import FAILURE
from at_grpo.config import InferenceSection, TrainConfig
from at_grpo.inference.served_pools import LOGS
from at_grpo.loading import dump_config
from tests.trainer.end_to_end import look, process
from tests.trainer.end_to_end.disk_faults import BALLAST
from tests.trainer.end_to_end.journalled import STEPS, config_of
from tests.trainer.end_to_end.proxy import interpreter
from tests.trainer.end_to_end.stand_in import stand_in
from tests.trainer.end_to_end.vllm_runs import ended, said, wait_for
from tests.trainer.inference import processes

pytestmark = pytest.mark.system

SIZE = "24m"  # room for a few checkpoints
WATCHDOG_S = 60.0  # from a fault to the end; the run's own limits add up to less than 20, on a machine of its own


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """An empty disk of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid():
        pytest.skip("only root on Linux may mount a disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no disk may be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def begin(config: TrainConfig, folder: Path, *words: str, fault: str = "") -> BaseProcess:
    """`at-grpo train`; what it says stands in this folder, on another disk."""
    path = folder / "asked.yaml"
    path.write_text(dump_config(config))
    return process.start("command_line", ("train", "--config", str(path), *words), folder, fault)


def kill_the_server(running: BaseProcess) -> None:
    kept = processes.folder_kept_by(running.pid or 0)
    assert kept is not None
    (leader,) = processes.leaders(kept)
    os.kill(leader, signal.SIGKILL)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (
            "a line of the journal",
            "/journal/v1.jsonl: can't be written (No space left on device). Make room on that disk",
        ),
        ("a checkpoint", "its disk has 0 MiB free. Make room there"),
        ("a publication", "its disk has 0 MiB free. Make room there"),
        ("a server is started again", "It can't be started again: [Errno 28] No space left on device"),
    ],
)
def test_a_disk_without_a_byte_ends_the_run_with_what_to_do_and_it_goes_on_when_there_is_room(
    what: str, words: str, disk: Path, base: Path, tmp_path: Path
) -> None:
    """UC-172: where the space goes is named, and what to do."""
    folder, logs = disk / "run", "server" in what
    if logs:  # alone on the small disk, where nothing else can be the first to find it full
        folder = tmp_path / "run"
        folder.mkdir()
        (folder / LOGS).symlink_to(disk)
    with stand_in(base) as server:
        python = str(interpreter(tmp_path, server.url))
        section = InferenceSection(backend="vllm", python=python, timeout_s=10.0, patience_s=5.0, restarts=1)
        config = config_of(folder, base, section)
        running = begin(config, tmp_path, fault=f"disk filled before {what}")
        with ended(running):
            if logs:
                wait_for(lambda: list(folder.glob("journal/*")), "the first version", lambda: said(tmp_path))
                kill_the_server(running)
            wait_for((disk / BALLAST).exists, "a full disk", lambda: said(tmp_path)[-3000:])
            running.join(WATCHDOG_S)
            assert running.exitcode == FAILURE, said(tmp_path)[-3000:]
        last = said(tmp_path).splitlines()[-1]
        assert last.startswith("at-grpo: ")
        assert str(folder) in last
        assert words in last
        assert "Make room" in last
        assert "Traceback" not in said(tmp_path)
        (disk / BALLAST).unlink()
        running = begin(config, tmp_path, *(["--resume"] if latest_checkpoint(folder) else []))
        assert process.wait(running) == 0, said(tmp_path)[-3000:]
    assert [line["step"] for line in look.training(folder)] == list(range(1, STEPS + 1))
