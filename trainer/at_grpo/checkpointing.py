"""Checkpoints that are whole or not there: a marker written last says that everything before it is on the disk.

transformers writes a checkpoint's files one by one, so a process that dies meanwhile leaves a folder that looks like a
checkpoint. `committing` wraps that write; every reader here asks for the marker.
"""

import dataclasses
import json
import logging
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from at_grpo.choices import Scheduler
from at_grpo.config import TrainConfig
from at_grpo.loading import dump_config, parse_config
from at_grpo.pools import pools_of
from at_grpo.yaml_io import parse_yaml
from llm_envs.core.errors import UsageError

logger = logging.getLogger(__name__)

MARKER = "complete.json"
CONFIG = "config.yaml"
ADAPTER = "adapter_model.safetensors"
WEIGHTS = (ADAPTER, "model.safetensors", "model.safetensors.index.json")  # a policy has one of them
PREFIX = "checkpoint-"
WORKERS = "update-workers"  # beside the policies: the parts of workers other than the driver's; no policy is called so
CARD = "README.md"  # for people, and written anew when the run is over: no checkpoint is incomplete for that
RESUMABLE = ("optimizer.pt", "scheduler.pt", "trainer_state.json")
# What a resumed run may change: where it runs and reports, how often it looks, how long it goes on.
MAY_DIFFER = frozenset(
    {
        "inference.api_key_env",
        "inference.gpus",
        "inference.hang_s",
        "inference.max_in_flight",
        "inference.options",
        "inference.patience_s",
        "inference.python",
        "inference.restarts",
        "inference.servers",
        "inference.start_timeout_s",
        "inference.timeout_s",
        "inference.urls",
        "optim.steps",
        "pools",
        "rollout.max_in_flight",
        "rollout.stall_s",
        "run.output_dir",
        "run.report_to",
        "run.log_steps",
        "run.log_turns",
        "run.eval_steps",
        "run.eval_instances",
        "run.save_steps",
        "run.keep_checkpoints",
        "roles.*.player.api_key_env",
        "roles.*.player.url",
        "update.ranks",
        "update.start_timeout_s",
        "update.timeout_s",
    }
)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A complete checkpoint: its folder, its iteration, and when it was completed (seconds since the epoch)."""

    path: Path
    step: int
    saved: float


def write_atomically(path: Path, text: str) -> None:
    """Write a file that a reader sees whole or not at all, and that survives a power cut once this returns."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    _sync(path.parent)


# ---- writing


@contextmanager
def committing(checkpoint: Path, config: TrainConfig) -> Iterator[None]:
    """Around the code that fills a checkpoint folder, so that the folder ends up whole or without its marker.

    Before: clears what an earlier run left there. After: adds the configuration, brings everything to the disk, marks
    the checkpoint as complete, and prunes older ones.

    Raises:
        RuntimeError: the code has left out a policy.
    """
    _remove(checkpoint)
    yield
    absent = [
        name for name in config.policies if not any((checkpoint / name / weights).is_file() for weights in WEIGHTS)
    ]
    if absent:
        raise RuntimeError(f"{checkpoint}: no weights were saved for {', '.join(absent)}; the checkpoint is not marked")
    write_config(checkpoint, config)
    files = sorted(path for path in checkpoint.rglob("*") if path.is_file())
    for path in [*files, *(path for path in checkpoint.rglob("*") if path.is_dir()), checkpoint, checkpoint.parent]:
        _sync(path)
    vouched = [path for path in files if path != checkpoint / CARD]
    manifest = {path.relative_to(checkpoint).as_posix(): path.stat().st_size for path in vouched}
    write_atomically(checkpoint / MARKER, json.dumps({"saved": time.time(), "files": manifest}, indent=1))
    prune(checkpoint.parent, config.run.keep_checkpoints)


def write_config(checkpoint: Path, config: TrainConfig) -> None:
    """The configuration that the checkpoint belongs to, as `config.yaml` in it."""
    write_atomically(checkpoint / CONFIG, dump_config(config))


def prune(run_dir: Path, keep: int) -> None:
    """Remove all but checkpoint-0 (the start that every comparison needs) and the `keep` checkpoints saved last.

    Half-written ones go too: no process writes to them any more.
    """
    complete, partial = _survey(run_dir)
    later = [checkpoint for checkpoint in complete if checkpoint.step > 0]
    for path in [*(checkpoint.path for checkpoint in later[: max(0, len(later) - keep)]), *partial]:
        _remove(path)


def _remove(checkpoint: Path) -> None:
    """The marker goes first: a removal that is cut short must not leave a folder that calls itself complete."""
    (checkpoint / MARKER).unlink(missing_ok=True)
    if checkpoint.exists():
        shutil.rmtree(checkpoint)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# ---- reading


def part_of(checkpoint: Path, worker: str) -> Path:
    """Where a worker other than the driver's has its optimizer, schedule and progress."""
    return checkpoint / WORKERS / worker


def adapters_of(folder: Path) -> Path:
    """The folder with the adapters: the checkpoint itself, also where a part of it is named."""
    return folder.parents[1] if folder.parent.name == WORKERS else folder


def latest_checkpoint(run_dir: Path) -> Path | None:
    """The complete checkpoint that was saved last, or None. Half-written ones are named in the log and left out."""
    complete, partial = _survey(run_dir)
    for path in partial:
        logger.warning("%s is incomplete (the process that wrote it ended early); it is not used", path)
    return complete[-1].path if complete else None


def _survey(run_dir: Path) -> tuple[list[Checkpoint], list[Path]]:
    """Complete checkpoints in the order in which they were saved, and incomplete ones.

    The order is not that of the steps: a run resumed from an early checkpoint leaves later-numbered ones behind.
    """
    complete, partial = [], []
    for path in sorted(run_dir.glob(f"{PREFIX}*")):
        step = path.name.removeprefix(PREFIX)
        if not path.is_dir() or not step.isdigit():
            continue
        marker = _read_marker(path)
        if marker is None:
            partial.append(path)
        else:
            complete.append(Checkpoint(path, int(step), marker["saved"]))
    return sorted(complete, key=lambda checkpoint: (checkpoint.saved, checkpoint.step)), partial


def _read_marker(checkpoint: Path) -> Mapping[str, Any] | None:
    """The marker, if every file that it names is there in full size."""
    try:
        marker: Mapping[str, Any] = json.loads((checkpoint / MARKER).read_text("utf-8"))
        sizes = {name: (checkpoint / name).stat().st_size for name in marker["files"]}
    except (FileNotFoundError, ValueError):
        return None
    return marker if sizes == marker["files"] else None


# ---- resuming


def read_config(checkpoint: Path) -> TrainConfig:
    """The configuration that a checkpoint belongs to. Raises `UsageError` where the checkpoint is not complete."""
    check_complete(checkpoint)
    path = checkpoint / CONFIG
    return parse_config(parse_yaml(path.read_text("utf-8"), str(path)))


def check_complete(checkpoint: Path) -> None:
    """Raise `UsageError` unless the folder is a complete checkpoint with everything that resuming needs."""
    if not checkpoint.is_dir():
        raise UsageError(f"resume={str(checkpoint)!r}: no such folder; name a {PREFIX}<step> folder of a run.")
    if _read_marker(checkpoint) is None:
        raise UsageError(
            f"resume={str(checkpoint)!r}: is no complete checkpoint ({MARKER} or a file that it names is missing); "
            "take an earlier one, or leave the folder out to take the latest complete one."
        )
    missing = [name for name in RESUMABLE if not (checkpoint / name).is_file()]
    if missing or not list(checkpoint.glob("rng_state*.pth")):
        raise UsageError(
            f"resume={str(checkpoint)!r}: has no {', '.join(missing) or 'random state'} (saved with save_only_model?): "
            "training cannot go on from weights alone. Take a full checkpoint, or start a new run."
        )


def check_same_config(checkpoint: Path, config: TrainConfig) -> None:
    """Refuse a checkpoint of another configuration: it would be neither that run nor this one.

    Raises:
        UsageError: an incomplete checkpoint, or one line for each key that differs and may not.
    """
    theirs, ours = _flatten(read_config(checkpoint)), _flatten(config)
    if theirs["optim.steps"] != ours["optim.steps"] and not ours["optim.scheduler"].startswith(Scheduler.CONSTANT):
        logger.warning(
            "optim.steps: %s in the checkpoint, %s now; the %s schedule is stretched: not the same run gone on",
            theirs["optim.steps"],
            ours["optim.steps"],
            ours["optim.scheduler"],
        )
    absent = object()
    keys = [key for key in {**theirs, **ours} if theirs.get(key, absent) != ours.get(key, absent)]
    lines = [
        f"{key}: {_show(theirs, key)} in the checkpoint, {_show(ours, key)} now" for key in keys if not _may_differ(key)
    ]
    before, now = (_workers(one) for one in (read_config(checkpoint), config))
    if before != now and not lines:
        lines = [f"pools: policies trained together are {before} in the checkpoint, {now} now"]
    if lines:
        raise UsageError(
            f"resume={str(checkpoint)!r}: is of another configuration; take its values, or start a new run.\n  "
            + "\n  ".join(lines)
        )


def _workers(config: TrainConfig) -> list[list[str]]:
    """Which policies have their optimizer in common."""
    return [list(pool.policies) for pool in pools_of(config)]


def check_unused(run_dir: Path) -> None:
    """Raise `UsageError` where a new run would mix its checkpoints with those of an earlier one."""
    latest = latest_checkpoint(run_dir)
    if latest is not None:
        raise UsageError(
            f"run.output_dir={str(run_dir)!r}: holds a run already (up to {latest.name}). "
            "Go on with --resume, or name another folder with run.output_dir=…"
        )


def _may_differ(key: str) -> bool:
    """Whether a key, or the mapping that it stands in, is in `MAY_DIFFER`; `*` there is any name."""
    return any(fnmatchcase(key, free) or key.startswith(f"{free}.") for free in MAY_DIFFER)


def _show(values: Mapping[str, Any], key: str) -> str:
    return repr(values[key]) if key in values else "absent"


def _flatten(config: TrainConfig) -> dict[str, Any]:
    """Dotted key -> value. Values are as in YAML, so that a tuple equals the list it was read from."""

    def walk(node: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        if isinstance(node, dict):
            for key, value in node.items():
                yield from walk(value, f"{prefix}.{key}" if prefix else str(key))
        else:
            yield prefix, node

    return dict(walk(json.loads(json.dumps(dataclasses.asdict(config))), ""))
