"""A worker holds its base model once, however many policies it trains."""

import copy
import ctypes
import gc
import multiprocessing
import resource
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from at_grpo.config import PolicySection, RoleSection
from at_grpo.policies import build_policies
from tests.trainer.tiny_trainer import base_model, cut, make_trainer, random_samples, run_config

FEW, MANY, RANK = 2, 6, 32
LARGE = {  # 75 MB, so that a second base can't hide behind an adapter's moments
    "hidden_size": 512,
    "intermediate_size": 1024,
    "num_hidden_layers": 8,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 64,
}
WAIT_S = 120.0
_FORK = multiprocessing.get_context("fork")


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _give_back() -> None:
    """What is free and only kept for the next allocation, between pieces that are not, is no role's."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)


def train(roles: int, bases: bool, folder: Path, answer: Connection) -> None:
    """A step with so many roles on one base; sends the bytes that this took and those of an adapter."""
    names = [f"role{number}" for number in range(roles)]
    config = run_config(folder)
    config = replace(
        config,
        policies={name: PolicySection(rank=RANK, lora_alpha=RANK) for name in names},
        roles={name: RoleSection(policy=name) for name in names},
    )
    before = resident()
    base = base_model(**LARGE)
    held: list[Any] = [copy.deepcopy(base) for _ in names] if bases else []
    model = build_policies(base, config.policies, seed=0)
    batches = [batch for name in names for batch in cut(random_samples(name, 2, 0), 2)]
    trainer, keep = make_trainer(config, [batches], model=model, temperatures=dict.fromkeys(names, 1.0))
    trainer.remove_callback(keep)  # it holds a gradient of each role
    trainer.train()
    _give_back()
    adapter = sum(parameter.numel() * parameter.element_size() for parameter in trainer.parameters[names[0]])
    answer.send((resident() - before, adapter, len(held)))


def growth(folder: Path, *, bases: bool = False) -> tuple[float, int]:
    """Bytes that each further role takes, and those of an adapter."""
    taken, adapter = [], 0
    for roles in (FEW, MANY):
        ours, theirs = _FORK.Pipe()
        process = _FORK.Process(target=train, args=(roles, bases, folder / f"{roles}-{bases}", theirs))
        process.start()
        assert ours.poll(WAIT_S), "no answer"
        total, adapter, _ = ours.recv()
        taken.append(total)
        process.join(WAIT_S)
    return (taken[1] - taken[0]) / (MANY - FEW), adapter


@pytest.mark.system
def test_a_further_role_takes_what_its_adapter_takes_and_no_base(tmp_path: Path) -> None:
    """At most 1.5 times an adapter and its two moments; the base is nine times an adapter."""
    shared, adapter = growth(tmp_path)
    assert 2 * adapter < shared <= 1.5 * 3 * adapter
    apart, _ = growth(tmp_path, bases=True)
    assert apart > 2 * 1.5 * 3 * adapter, "the control: a base for each role"
