"""The experience of one policy version."""

from dataclasses import replace

import pytest

from at_grpo.samples import Group, GroupKey
from at_grpo.store import ExperienceStore
from tests.trainer.tiny_trainer import random_samples


def group(step: int, instance: int, role: str) -> Group:
    samples = tuple(replace(sample, version=step) for sample in random_samples(role, 4, instance))
    return Group(GroupKey(step, instance, "root", f"{role}_0", 0), role, "", samples)


def filled(order: list[int]) -> ExperienceStore:
    store = ExperienceStore(micro_batch_size=3)
    store.open(7)
    for instance in order:
        store.add([group(7, instance, "tool"), group(7, instance, "planner")])
    return store


def test_a_version_is_trained_on_only_after_its_seal() -> None:
    store = filled([0, 1])
    with pytest.raises(RuntimeError, match="open"):
        next(store.stream(7))
    store.seal()
    assert next(store.stream(7))


def test_no_group_enters_a_sealed_version_and_no_other_version_is_served() -> None:
    store = filled([0])
    store.seal()
    with pytest.raises(RuntimeError, match="sealed"):
        store.add([group(7, 1, "tool")])
    with pytest.raises(RuntimeError, match="version 8"):
        next(store.stream(8))


def test_a_sample_of_another_version_is_refused() -> None:
    """UC-142: what is trained on was sampled from the weights it is trained at."""
    store = filled([0])
    with pytest.raises(RuntimeError, match="samples of version 6, the open one is 7"):
        store.add([group(6, 1, "tool")])


def test_micro_batches_hold_one_role_and_every_sample_once() -> None:
    store = filled([0, 1, 2])
    sealed = store.seal()
    batches = list(store.stream(7))
    assert all({sample.role for sample in batch.samples} == {batch.role} for batch in batches)
    assert all(len(batch.samples) <= 3 for batch in batches)
    streamed = [sample for batch in batches for sample in batch.samples]
    expected = [sample for member in sealed for sample in member.samples]
    assert sorted(map(repr, streamed)) == sorted(map(repr, expected))


def test_the_cut_does_not_depend_on_who_arrived_first() -> None:
    first, second = filled([0, 1, 2]), filled([2, 0, 1])
    first.seal()
    second.seal()
    assert list(first.stream(7)) == list(second.stream(7)) == list(first.stream(7))


def test_opening_a_version_drops_what_an_interrupted_one_left() -> None:
    store = filled([0])
    store.open(8)
    assert store.seal() == []
    assert list(store.stream(8)) == []
