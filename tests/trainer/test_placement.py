"""Which process gets which GPU. Pure arithmetic: no GPU is needed."""

import os
from typing import Any

import pytest

from at_grpo.config import InferenceSection
from at_grpo.placement import VISIBLE, Placement, place
from llm_envs.core.errors import UsageError

EIGHT = tuple("01234567")


def placed(visible: tuple[str, ...], **section: Any) -> Placement:
    return place(InferenceSection(**({"backend": "vllm"} | section)), visible)


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


def test_a_server_shares_the_trainer_s_gpu_only_where_it_has_the_same() -> None:
    assert placed(("0",)).shares(0)
    assert not placed(("0", "1")).shares(0)
    assert not placed(()).shares(0)


def test_the_trainer_s_process_sees_its_own_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL refuses a process that sees several without a launcher."""
    monkeypatch.delenv(VISIBLE, raising=False)
    Placement(None, ((),)).confine()
    assert VISIBLE not in os.environ
    monkeypatch.setenv(VISIBLE, "2,3")
    placed(("2", "3"), gpus=(0,)).confine()
    assert os.environ[VISIBLE] == "3"
