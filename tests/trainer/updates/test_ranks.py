"""Two processes that share the micro-batches of a version take the steps that one process would have taken."""

import signal
from pathlib import Path

import pytest
import torch

from at_grpo.samples import MicroBatch
from at_grpo.stopping import WorkerError
from at_grpo.updates.ranks import Ranks
from tests.trainer.tiny_trainer import ROLES, cut, random_samples, relative_error, run_config
from tests.trainer.updates.two_ranks import OwnTokens, Trace, train, train_together

TOLERANCE = 1e-5  # float32; see test_at_grpo_trainer
BOTH, ALL_ELSEWHERE, ONE_SILENT, UNEVEN, NOBODY = range(5)


def micro_batches(role: str, step: int, count: int) -> list[MicroBatch]:
    return cut(random_samples(role, count, step), 4)


def shares() -> list[list[list[MicroBatch]]]:
    """Rank -> iteration -> micro-batches: each kind of uneven once."""
    planner, tool = ([micro_batches(role, step, 22) for step in range(5)] for role in ROLES)
    first = [planner[0][:4], [], planner[2][:1], planner[3] + tool[3][:1], []]
    second = [planner[0][4:] + tool[0], planner[1] + tool[1], planner[2][1:], tool[3][1:], []]
    return [first, second]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ranks")


@pytest.fixture(scope="module")
def together(folder: Path) -> dict[str, list[Trace]]:
    config = run_config(folder, steps=5, learning_rate=1e-3, weight_decay=0.1)
    return train_together(config, shares(), folder, {"right": (Ranks, 5), "wrong": (OwnTokens, 1)})


@pytest.fixture(scope="module")
def alone(folder: Path) -> Trace:
    config = run_config(folder / "alone", steps=5, learning_rate=1e-3, weight_decay=0.1)
    return train(config, [first + second for first, second in zip(*shares(), strict=True)])


def test_the_gradient_of_two_processes_is_that_of_one(together: dict[str, list[Trace]], alone: Trace) -> None:
    """UC-113, UC-173: whoever got which micro-batches, none at all included."""
    for step in (BOTH, ALL_ELSEWHERE, ONE_SILENT, UNEVEN):
        for trace in together["right"]:
            assert relative_error(trace.gradients[step], alone.gradients[step]) < TOLERANCE
    for trace in (*together["right"], alone):
        assert trace.gradients[NOBODY] == {}
    wrong = relative_error(together["wrong"][0].gradients[BOTH], alone.gradients[BOTH])
    assert wrong > 0.1, "divided by one rank's tokens it is another"


def test_ranks_hold_the_same_weights_to_the_bit_after_every_step(together: dict[str, list[Trace]]) -> None:
    """UC-157: they began with different adapters, and one had no sample for a role."""
    first, second = together["right"]
    assert len(first.adapters) == len(second.adapters) == 5
    for one, other in zip(first.adapters, second.adapters, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(value, other[name]) for name, value in one.items())
    apart = zip(*(trace.adapters[BOTH].values() for trace in together["wrong"]), strict=True)
    assert not all(torch.equal(one, other) for one, other in apart), "a wrong normaliser parts them"


def test_a_policy_without_a_sample_on_any_rank_does_not_move(together: dict[str, list[Trace]]) -> None:
    """UC-157: although it has momentum and weight decay."""
    for trace in together["right"]:
        before, after = trace.adapters[ALL_ELSEWHERE], trace.adapters[ONE_SILENT]
        moved = {name for name, value in after.items() if not torch.equal(value, before[name])}
        assert moved == {name for name in after if ".planner." in name}
        last, idle = trace.adapters[UNEVEN], trace.adapters[NOBODY]
        assert all(torch.equal(value, last[name]) for name, value in idle.items())


def test_the_base_model_stays_what_it_is_on_every_rank(together: dict[str, list[Trace]], alone: Trace) -> None:
    for trace in together["right"]:
        assert all(torch.equal(value, alone.base[name]) for name, value in trace.base.items())


def test_the_metrics_of_a_policy_are_of_all_ranks(together: dict[str, list[Trace]], alone: Trace) -> None:
    for step in (BOTH, UNEVEN):
        for trace in together["right"]:
            for role in ROLES:
                for key in ("loss", "grad_norm"):
                    assert trace.log[step][f"{role}/{key}"] == pytest.approx(alone.log[step][f"{role}/{key}"], rel=1e-5)


def test_saving_after_every_step_lets_no_rank_wait(together: dict[str, list[Trace]], folder: Path) -> None:
    """UC-161."""
    for rank in (0, 1):
        assert {path.name for path in (folder / f"rank-{rank}").glob("checkpoint-*")} == {
            f"checkpoint-{step}" for step in range(6)
        }


def test_ranks_take_every_step_of_an_iteration_together_however_few_rows_one_of_them_has(tmp_path: Path) -> None:
    """UC-113: with mini-batches and epochs, each rank deals out its own rows; one has none, and then a single one."""
    config = run_config(tmp_path, steps=3, learning_rate=1e-3, mini_batches=2, epochs=2)
    first, second = shares()
    few = [[], micro_batches("tool", 1, 1), first[2]]
    traces = train_together(config, [few, second[:3]], tmp_path, {"several": (Ranks, 3)})["several"]
    for trace in traces:
        assert len(trace.gradients) == 3 * 4
        assert all(trace.gradients), "every one of these steps has rows of somebody"
    for kind in ("gradients", "adapters"):
        for one, other in zip(*(getattr(trace, kind) for trace in traces), strict=True):
            assert one.keys() == other.keys()
            assert all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize(
    ("error", "told"), [(RuntimeError("Connection reset"), WorkerError), (torch.OutOfMemoryError("80 GiB"), None)]
)
def test_a_rank_that_lacks_memory_does_not_say_that_it_lost_the_others(
    error: RuntimeError, told: type[Exception] | None, tmp_path: Path
) -> None:
    with pytest.raises(told or type(error)) as raised, Ranks(tmp_path / "r", 0, 2, 1.0)._together():
        raise error
    assert (raised.value is error) is (told is None)


def test_a_rank_does_not_wait_for_one_that_has_ended(tmp_path: Path) -> None:
    """The driver knows it from the process; `update.timeout_s` is half an hour."""
    with pytest.raises(WorkerError, match=r"^rank 0 of 2 has lost the other .* \(one ended before all had met\)\. See"):
        Ranks(tmp_path / "r", 0, 2, 1800.0, lost=lambda: True).meet({})
    with pytest.raises(WorkerError, match=r"not all came within 0\.1 s.*raise update\.timeout_s"):
        Ranks(tmp_path / "r", 0, 2, 0.1, lost=lambda: False).meet({})


def test_a_rank_that_waits_for_the_others_hears_ctrl_c(tmp_path: Path) -> None:
    """Signals are handled between two looks; torch's own rendezvous would wait on."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            Ranks(tmp_path / "r", 0, 2, 60.0).meet({})
    finally:
        signal.signal(signal.SIGALRM, before)
