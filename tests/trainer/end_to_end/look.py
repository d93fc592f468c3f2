"""What runs leave behind, read back for comparison."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from at_grpo.checkpointing import ADAPTER

Tensors = dict[str, torch.Tensor]


def metrics(run: Path) -> list[dict[str, Any]]:
    """The lines of `metrics.jsonl`, without what a clock says and without the summary of a run that has ended."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [_timeless(line) for line in lines if "train_runtime" not in line]


def training(run: Path) -> list[dict[str, Any]]:
    """The lines of `metrics.jsonl` that tell of an iteration."""
    return [line for line in metrics(run) if "loss" in line]


def _timeless(entry: Mapping[str, Any]) -> dict[str, Any]:
    clocked = {key for key in entry if key.startswith("time") or key.endswith("_per_second")}
    return {key: value for key, value in entry.items() if key not in clocked}


def tape(run: Path) -> list[dict[str, Any]]:
    """Every request to the sampler and the token ids that it gave."""
    return [json.loads(line) for line in (run / "tape.jsonl").read_text().splitlines()]


def adapters(checkpoint: Path) -> dict[str, Tensors]:
    """Policy -> its saved tensors."""
    return {path.parent.name: load_file(path) for path in sorted(checkpoint.glob(f"*/{ADAPTER}"))}


def moments(checkpoint: Path) -> Tensors:
    """AdamW's state: its moments and its count of steps, tensor by tensor."""
    state = torch.load(checkpoint / "optimizer.pt", weights_only=True)["state"]
    return {f"{number}.{key}": value for number, values in state.items() for key, value in values.items()}


def weights(checkpoint: Path) -> Tensors:
    """The adapters of all policies in one mapping."""
    return {f"{policy}.{name}": value for policy, own in adapters(checkpoint).items() for name, value in own.items()}


def distance(one: Tensors, other: Tensors) -> float:
    """The largest difference between two numbers of the same name; infinite where the names differ."""
    if one.keys() != other.keys():
        return float("inf")
    return max(float((one[name].double() - other[name].double()).abs().max()) for name in one)


def plain_state(checkpoint: Path) -> dict[str, Any]:
    """What a checkpoint holds besides tensors: schedule, progress and log, counts, random states."""
    state = json.loads((checkpoint / "trainer_state.json").read_text())
    history = [_timeless(entry) for entry in state.pop("log_history")]
    return {
        "scheduler": torch.load(checkpoint / "scheduler.pt", weights_only=True),
        "rng": dict(_flat(torch.load(checkpoint / "rng_state.pth", weights_only=False))),
        "totals": json.loads((checkpoint / "totals.json").read_text()),
        "state": state,
        "log": history,
    }


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Random states are nested tuples, arrays and tensors: path -> something that `==` compares."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}")
    elif isinstance(value, (tuple, list)) and len(value) < 10:
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{path}.{number}")
    else:
        yield path, value.tolist() if hasattr(value, "tolist") else value
