"""The experience of one policy version."""

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from at_grpo.inference.base import SamplerError
from at_grpo.samples import Group, GroupKey
from at_grpo.store import ExperienceStore, StalledError
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


@given(staleness=st.integers(0, 3), version=st.integers(0, 12))
def test_with_bounded_staleness_a_sample_is_of_the_open_version_or_at_most_so_many_older(
    staleness: int, version: int
) -> None:
    store = ExperienceStore(micro_batch_size=3, staleness=staleness)
    store.open(7)
    if 7 - staleness <= version <= 7:
        store.add([group(version, 1, "tool")])
    else:
        with pytest.raises(RuntimeError, match=rf"samples of version {version}, .* rollout\.staleness={staleness}"):
            store.add([group(version, 1, "tool")])


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


def test_a_group_that_is_there_already_is_refused() -> None:
    store = filled([0, 1])
    with pytest.raises(RuntimeError, match=r"instance=1.*is in version 7 already"):
        store.add([group(7, 1, "tool")])


# ---- a version that is followed while it is collected


def in_background(job: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=job, daemon=True)
    thread.start()
    return thread


def test_what_fills_a_micro_batch_can_be_trained_on_before_the_seal_and_the_rest_after_it() -> None:
    store = filled([])
    store.add([group(7, 0, "tool")])
    batches = store.follow(7)
    first = next(batches)
    assert (first.role, len(first.samples)) == ("tool", 3)
    seal = in_background(lambda: (store.add([group(7, 0, "planner")]), store.seal()))
    rest = [(batch.role, len(batch.samples)) for batch in batches]
    seal.join()
    assert sorted(rest) == [("planner", 1), ("planner", 3), ("tool", 1)]


@given(order=st.permutations(range(6)), waits=st.lists(st.booleans(), min_size=6, max_size=6), size=st.integers(1, 9))
def test_every_row_comes_once_in_pure_micro_batches_whatever_the_order_of_arrival(
    order: list[int], waits: list[bool], size: int
) -> None:
    store = ExperienceStore(size)
    store.open(7)
    groups = [group(7, instance, role) for instance in order for role in ("tool", "planner")[: 1 + instance % 2]]

    def collect() -> None:
        for member, wait in zip(groups, itertools.cycle(waits), strict=False):
            store.add([member])
            if wait:
                time.sleep(0.0001)  # lets the other thread look in between
        store.seal()

    thread = in_background(collect)
    batches = list(store.follow(7))
    thread.join()
    assert all({sample.role for sample in batch.samples} == {batch.role} for batch in batches)
    assert all(1 <= len(batch.samples) <= size for batch in batches)
    streamed = [sample for batch in batches for sample in batch.samples]
    assert sorted(map(repr, streamed)) == sorted(repr(sample) for member in groups for sample in member.samples)
    assert sorted(map(repr, streamed)) == sorted(repr(sample) for batch in store.stream(7) for sample in batch.samples)


def test_the_failure_of_whoever_collects_ends_whoever_trains() -> None:
    """UC-143: with the very error, also where some rows are left."""
    store = filled([])
    store.add([group(7, 0, "tool")])
    batches = store.follow(7)
    next(batches)
    failure = SamplerError("the server is gone")
    failing = in_background(lambda: store.fail(failure))
    with pytest.raises(SamplerError) as caught:
        next(batches)
    failing.join()
    assert caught.value is failure


def test_a_wait_for_rows_that_never_come_ends_with_the_option_to_look_at() -> None:
    store = ExperienceStore(micro_batch_size=3, stall_s=0.05)
    store.open(7)
    with pytest.raises(StalledError, match=r"version 7: no instance was finished for 0\.05 s \(rollout\.stall_s\)"):
        next(store.follow(7))


def test_only_the_open_version_can_be_followed() -> None:
    with pytest.raises(RuntimeError, match="version 8 can't be trained on: the store holds version 7, open"):
        next(filled([0]).follow(8))
