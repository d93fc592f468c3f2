"""What a step's metrics say, and when a run is told that it no longer learns."""

import json
import logging
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from at_grpo.advantages import score
from at_grpo.health import HealthMonitor
from at_grpo.metrics import is_one_token, roles_of, sampling_speed, step_metrics, step_times, version_lag
from at_grpo.samples import Group
from tests.trainer.samples import group

INFO = {"role": "tool", "success": True, "invalid": None, "team_reward": 0.0, "local_reward": -0.5}


def metrics_of(*groups: Group) -> dict[str, float]:
    return step_metrics(score(groups))


def test_a_step_s_numbers_are_those_of_a_hand_count() -> None:
    """UC-118, UC-125: tokens per turn, turns per episode and distinct actions are logged by role."""
    tool = group(
        [-0.5, -0.5, 0.0],
        role="tool",
        agent="tool_0",
        lost=1,
        info=INFO | {"tool_useful": True, "program": -0.5, "note": "text", "missing": None},
    )
    first = group([0.5, -0.5], completion_ids=(7, 7, 3), truncated=True)
    second = group([0.0, 0.0], cycle=1)
    metrics = metrics_of(tool, first, second)
    assert {key for key in metrics if key.startswith("tool/info/")} == {"tool/info/tool_useful", "tool/info/program"}
    expected = {
        "tool/reward": -1 / 3,
        "tool/reward_std": math.sqrt(1 / 12),
        "tool/local_reward": -0.5,
        "tool/invalid_rate": 0.0,
        "tool/info/tool_useful": 1.0,
        "tool/info/program": -0.5,
        "tool/samples": 3,
        "tool/groups": 1,
        "tool/lost": 1,
        "tool/constant_groups": 0.0,
        "planner/reward": 0.0,
        "planner/reward_std": math.sqrt(0.5) / 2,
        "planner/samples": 4,
        "planner/groups": 2,
        "planner/lost": 0,
        "planner/turns": 2,
        "planner/constant_groups": 0.5,
        "planner/constant_groups/cycle_0": 0.0,
        "planner/constant_groups/cycle_1": 1.0,
        "planner/completion_length": 2.5,
        "planner/completion_length_min": 2,
        "planner/completion_length_max": 3,
        "planner/truncated": 0.5,
        "planner/distinct_actions": 0.75,
        "planner/identical_groups": 0.5,
    }
    assert {key: metrics[key] for key in expected} == pytest.approx(expected)


def test_an_invalid_reply_is_counted_by_its_reason() -> None:
    metrics = metrics_of(group([0.0, -1.0], info=INFO | {"invalid": "no answer"}))
    assert metrics["planner/invalid_rate"] == 1.0


def test_an_episode_of_many_turns_counts_once() -> None:
    """UC-103: whole episodes as groups; a sibling's turns share one return."""
    turns = [
        *[{"sibling": 0, "reward": 1.0, "said": said} for said in (5, 6, 7)],
        {"sibling": 1, "reward": 0.0, "said": 5},
    ]
    whole = group([turn["reward"] for turn in turns], siblings=[turn["sibling"] for turn in turns], chosen=True)
    metrics = metrics_of(whole)
    assert metrics["planner/reward"] == 0.5
    assert metrics["planner/reward_std"] == pytest.approx(math.sqrt(0.5))
    assert metrics["planner/turns"] == 2.0
    assert metrics["planner/samples"] == 4
    assert metrics["planner/identical_groups"] == 0.0


def test_a_group_of_one_survivor_is_constant_but_not_without_diversity() -> None:
    """UC-110: it teaches nothing, and says nothing about the policy."""
    metrics = metrics_of(group([0.4], lost=3))
    assert metrics["planner/constant_groups"] == 1.0
    assert metrics["planner/identical_groups"] == 0.0


def test_what_the_environment_does_not_say_is_left_out() -> None:
    """Environments of others have no team reward; a NaN would spoil trackers and JSON."""
    metrics = metrics_of(group([0.0, 1.0], info={"score": math.nan}))
    assert "planner/team_reward" not in metrics
    assert "planner/info/score" not in metrics
    json.dumps(metrics, allow_nan=False)


def test_groups_without_advantages_are_refused() -> None:
    with pytest.raises(ValueError, match=r"advantages\.score"):
        step_metrics([group([0.0, 1.0])])


@given(st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=5), min_size=1, max_size=6))
def test_counts_add_up_and_shares_are_shares(rewards: list[list[float]]) -> None:
    groups = [group(values, instance=instance) for instance, values in enumerate(rewards)]
    metrics = metrics_of(*groups)
    assert metrics["planner/samples"] == sum(map(len, rewards))
    assert metrics["planner/groups"] == len(rewards)
    for key in (
        "constant_groups",
        "invalid_rate",
        "truncated",
        "distinct_actions",
        "identical_groups",
        "repeated_token",
    ):
        assert 0 <= metrics[f"planner/{key}"] <= 1
    assert roles_of(metrics | {"planner/info/reward": 1.0}) == ["planner"]


def test_no_groups_give_no_metrics() -> None:
    assert step_metrics([]) == {}


@pytest.mark.parametrize(
    ("ids", "one"),
    [((9,) * 12 + (3,), True), ((9,) * 12, True), ((9,) * 5 + (3,), False), ((9,) * 12 + (8, 3), False), ((), False)],
)
def test_a_reply_of_one_token_over_and_over_is_seen(ids: tuple[int, ...], one: bool) -> None:
    """UC-029."""
    assert is_one_token(ids) is one


# ---- warnings


def constant(share_of_ten: int) -> dict[str, float]:
    """Ten groups, so many of them with equal rewards."""
    groups = [group([0.5, 0.5] if index < share_of_ten else [0.0, 1.0], instance=index) for index in range(10)]
    return metrics_of(*groups)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_a_run_without_signal_is_told_once_after_n_steps(caplog: pytest.LogCaptureFixture) -> None:
    """UC-106: above 90% constant groups for N steps in a row."""
    monitor = HealthMonitor(constant_steps=3)
    for step in range(2):
        monitor.check(step, constant(10))
    assert warnings(caplog) == [], "too early"
    for step in range(2, 6):
        monitor.check(step, constant(10))
    (message,) = warnings(caplog)
    assert message.startswith("step 2, role planner: 100% of its groups have equal rewards, 3 iterations in a row")


def test_a_run_that_learns_now_and_then_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    """UC-106, negative control: 90% is not above 90%, and the count starts anew."""
    monitor = HealthMonitor(constant_steps=3)
    for step, share in enumerate([10, 10, 9, 10, 10, 9]):
        monitor.check(step, constant(share))
    assert warnings(caplog) == []


def test_identical_branches_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """UC-125: the tree has no diversity."""
    HealthMonitor().check(4, metrics_of(group([0.0, 1.0], completion_ids=(5, 3))))
    (message,) = warnings(caplog)
    assert "step 4, role planner: 100% of its groups hold K equal replies: the tree has no diversity" in message
    assert "roles.planner.temperature" in message


def test_replies_of_one_repeated_token_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """UC-029: more than 20% of the replies."""
    fine = [group([0.0, 1.0], instance=index) for index in range(3)]
    collapsed = group([0.0, 1.0], instance=9, completion_ids=(5,) * 20 + (3,))
    HealthMonitor().check(0, metrics_of(*fine, *fine, collapsed))
    assert warnings(caplog) == [], "one in seven"
    HealthMonitor().check(1, metrics_of(*fine, collapsed))
    (message,) = warnings(caplog)
    assert "25% of its replies are one token over and over" in message


# ---- seconds


@pytest.mark.parametrize(
    ("total", "train", "hidden"),
    [
        (14.0, 4.0, 0.0),  # one after the other
        (11.0, 4.0, 0.75),
        (10.0, 4.0, 1.0),
        (20.0, 20.0, 1.0),  # training is the longer one and never waits
        (26.0, 18.0, 0.2),
        (15.0, 4.0, 0.0),  # noise
    ],
)
def test_the_hidden_share_is_that_of_the_shorter_of_rollouts_and_training(
    total: float, train: float, hidden: float
) -> None:
    """Rollouts of 10 s; publishing, for which nobody could wait less, is left out."""
    times = step_times({"time/rollout": 10.0, "time/publish": 1.0}, total + 1.0, train)
    assert times == {
        "time/train": train,
        "time/wait": pytest.approx(total - train),
        "time/hidden_share": pytest.approx(hidden),
    }


def test_the_lag_is_counted_from_the_version_that_is_trained() -> None:
    groups = [group([0.0, 1.0], step=5, version=5), group([0.0] * 6, step=5, version=3, node="root.0")]
    assert version_lag(groups) == {"version_lag": 1.5, "version_lag_max": 2.0}
    assert version_lag([]) == {}


def test_the_speed_of_sampling_is_told_for_each_policy() -> None:
    groups = [group([0.0, 1.0]), group([0.0], policy="tool", completion_ids=(4, 5, 6, 7))]
    assert sampling_speed(groups, 2.0) == {"planner/tokens_per_second": 2.0, "tool/tokens_per_second": 2.0}


def test_without_rollouts_there_is_nothing_to_hide() -> None:
    assert step_times({}, 3.0, 1.0) == {"time/train": 1.0, "time/wait": 2.0}
