"""Which process gets which GPU. Pure arithmetic: no GPU is needed."""

import itertools
import os
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from at_grpo.config import InferenceSection, PolicySection, PoolSection, RoleSection, TrainConfig, UpdateSection
from at_grpo.placement import SERVER_SHARE, VISIBLE, Placement, place
from at_grpo.pools import pools_of
from llm_envs.core.errors import UsageError

EIGHT = tuple("01234567")


def planned(
    bases: Mapping[str, str], pools: dict[str, PoolSection] | None = None, ranks: int = 1, **section: Any
) -> TrainConfig:
    """Policies on bases, each with a role of its own."""
    return TrainConfig(
        policies={name: PolicySection(base=base) for name, base in bases.items()},
        roles={name: RoleSection(policy=name) for name in bases},
        inference=InferenceSection(**({"backend": "vllm"} | section)),
        update=UpdateSection(ranks=ranks),
        pools=pools or {},
    )


def placed(visible: tuple[str, ...], **section: Any) -> Placement:
    return place(planned({"tool": "", "planner": ""}, **section), visible)


@pytest.mark.parametrize(
    ("visible", "section", "trainer", "servers"),
    [
        ((), {}, None, ((),)),
        ((), {"servers": 2}, None, ((), ())),
        (("0",), {}, "0", (("0",),)),
        (("0",), {"gpus": (0,)}, "0", (("0",),)),
        (("0", "1"), {}, "0", (("1",),)),
        (("0", "1"), {"gpus": (0,)}, "1", (("0",),)),
        (("0", "1"), {"gpus": (0, 1)}, "0", (("0", "1"),)),
        (("0", "1"), {"servers": 2}, "0", (("0",), ("0",))),
        (EIGHT, {"servers": 7, "gpus": tuple(range(1, 8))}, "0", tuple((name,) for name in EIGHT[1:])),
        (EIGHT, {"servers": 2, "gpus": (4, 5, 6, 7)}, "0", (("4", "5"), ("6", "7"))),
        (("GPU-b", "GPU-a"), {"gpus": (1,)}, "GPU-b", (("GPU-a",),)),
        (EIGHT, {"urls": ("http://h:1",)}, "0", ()),
        (EIGHT, {"backend": "transformers"}, "0", ()),
        ((), {"backend": "transformers"}, None, ()),
    ],
)
def test_servers_get_the_gpus_that_are_named_and_the_trainer_the_first_of_the_others(
    visible: tuple[str, ...], section: dict[str, Any], trainer: str | None, servers: tuple[tuple[str, ...], ...]
) -> None:
    placement = placed(visible, **section)
    assert (placement.trainer, placement.servers) == (trainer, servers)


def test_a_gpu_that_is_not_there_is_refused_with_the_ones_that_are() -> None:
    with pytest.raises(UsageError, match=r"inference\.gpus=\[2\]: must be among the 2 that are visible"):
        placed(("0", "1"), gpus=(2,))
    with pytest.raises(UsageError, match=r"inference\.gpus=\[0\]: must be empty: no GPU is visible"):
        placed((), gpus=(0,))


def test_processes_that_share_a_gpu_share_its_memory() -> None:
    """A server takes nine tenths otherwise."""
    assert placed(("0",)).share(("0",)) == SERVER_SHARE
    assert placed(("0",), servers=2).share(("0",)) == SERVER_SHARE / 2
    assert placed(("0", "1")).share(("1",)) is None
    assert placed(()).share(()) is None


# ---- pools


def test_policies_share_a_worker_and_servers_where_base_and_pool_are_the_same() -> None:
    pool = PoolSection(update_gpus=(1,))
    config = planned({"a": "x", "b": "y", "c": "x", "d": "y", "e": "x"}, {"c": pool, "e": pool})
    assert [list(one.policies) for one in pools_of(config)] == [["a"], ["b", "d"], ["c", "e"]]
    assert [list(one.roles) for one in pools_of(config)] == [["a"], ["b", "d"], ["c", "e"]]
    assert [one.base for one in pools_of(config)] == ["x", "y", "x"]


@pytest.mark.parametrize(
    ("bases", "pools", "ranks", "section", "expected"),
    [
        # the example of the documentation: each policy has a GPU to sample and one to train
        (
            {"planner": "", "tool": ""},
            {
                "planner": PoolSection(rollout_gpus=(0,), update_gpus=(1,)),
                "tool": PoolSection(rollout_gpus=(2, 3), update_gpus=(4, 5)),
            },
            1,
            {},
            [(("1",), (("0",),)), (("4", "5"), (("2", "3"),))],
        ),
        ({"a": "x", "b": "y"}, {}, 1, {}, [(("0",), (("2",),)), (("1",), (("3",),))]),
        ({"a": "x", "b": "y"}, {}, 2, {"gpus": (6, 7)}, [(("0", "1"), (("6",),)), (("2", "3"), (("7",),))]),
        ({"a": "x", "b": "y"}, {"b": PoolSection(urls=("http://h:1",))}, 1, {}, [(("0",), (("2",),)), (("1",), ())]),
        ({"a": "x", "b": "y"}, {"b": PoolSection(rollout_gpus=(5, 6), servers=2)}, 1, {}, None),
        ({"a": "x"}, {}, 4, {}, [(("0", "1", "2", "3"), (("4",),))]),
        ({"a": "x", "b": "y"}, {}, 1, {"backend": "transformers"}, [(("0",), ()), (("1",), ())]),
    ],
)
def test_pools_get_the_gpus_that_are_named_and_of_the_others_workers_come_first(
    bases: dict[str, str],
    pools: dict[str, PoolSection],
    ranks: int,
    section: dict[str, Any],
    expected: list[Any] | None,
) -> None:
    placement = place(planned(bases, pools, ranks, **section), EIGHT)
    expected = expected or [(("0",), (("2",),)), (("1",), (("5",), ("6",)))]
    assert [(pool.ranks, pool.servers) for pool in placement.pools] == expected


def test_on_one_gpu_everything_shares_it_but_ranks_can_not() -> None:
    both = place(planned({"a": "x", "b": "y"}), ("0",))
    assert [(pool.ranks, pool.servers) for pool in both.pools] == [(("0",), (("0",),))] * 2
    assert both.share(("0",)) == SERVER_SHARE / 2
    with pytest.raises(UsageError, match=r"update\.ranks=2: the worker of a finds 1 GPUs"):
        place(planned({"a": "x"}, ranks=2), ("0",))


def test_without_a_gpu_ranks_and_servers_are_processes_of_the_cpu() -> None:
    placement = place(planned({"a": "x", "b": "y"}, ranks=2), ())
    assert [(pool.ranks, pool.servers) for pool in placement.pools] == [((None, None), ((),))] * 2


@given(
    bases=st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=6),
    ranks=st.integers(1, 3),
    servers=st.integers(1, 3),
    gpus=st.integers(1, 16),
)
def test_however_many_gpus_there_are_each_rank_of_a_worker_has_its_own(
    bases: list[str], ranks: int, servers: int, gpus: int
) -> None:
    config = planned({f"p{number}": base for number, base in enumerate(bases)}, ranks=ranks, servers=servers)
    visible = tuple(f"GPU-{number}" for number in range(gpus))
    if gpus < ranks:
        with pytest.raises(UsageError):
            place(config, visible)
        return
    placement = place(config, visible)
    assert len(placement.pools) == len(set(bases))
    for pool in placement.pools:
        assert len(set(pool.ranks)) == ranks
        assert len(pool.servers) == servers
        assert all(pool.servers)
    processes = [gpu for pool in placement.pools for gpu in (*pool.ranks, *itertools.chain(*pool.servers))]
    if gpus >= len(processes):
        assert len(set(processes)) == len(processes), "nobody shares where nobody must"


def test_the_trainer_s_process_sees_its_own_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL refuses a process that sees several without a launcher."""
    monkeypatch.delenv(VISIBLE, raising=False)
    placed(()).confine()
    assert VISIBLE not in os.environ
    monkeypatch.setenv(VISIBLE, "2,3")
    placed(("2", "3"), gpus=(0,)).confine()
    assert os.environ[VISIBLE] == "3"
