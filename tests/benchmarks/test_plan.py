"""What a run is, is written down whole, and two different runs are told apart."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.errors import UsageError
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.spec import RunSpec, Sampling, start_digest

NAMES = st.text("abcdefgh_", min_size=1, max_size=6)
SPECS = st.builds(
    RunSpec,
    env=st.sampled_from(["llm_envs/plan_path-v0", "x/y-v1"]),
    agents=st.dictionaries(NAMES, st.sampled_from(["oracle", "openai:m@http://h/v1", "command:a 'b'"]), min_size=1),
    options=st.dictionaries(NAMES, st.integers() | st.booleans() | NAMES | st.lists(st.integers())),
    first=st.integers(0, 9),
    instances=st.just(2),
    samples=st.integers(1, 3),
    seed=st.integers(0, 9),
    sampling=st.builds(Sampling, st.none() | st.floats(0, 2), st.none() | st.integers(1, 9)),
    reply_tokens=st.dictionaries(NAMES, st.integers(1, 9)),
    starts=st.sampled_from([(), ("a", "b")]),
    entry=NAMES,
)
CHANGES: list[Mapping[str, Any]] = [
    {"env": "x/z-v0"},
    {"agents": {"solver": "random"}},
    {"options": {"size": 5}},
    {"split": "validation"},
    {"first": 1},
    {"instances": 3},
    {"samples": 2},
    {"seed": 1},
    {"sampling": Sampling(0.5)},
    {"weights": {"solver": "0f"}},
    {"reply_tokens": {"solver": 9}},
    {"starts": ("a", "b")},
    {"entry": "other"},
]
SPEC = RunSpec(env="x/y-v0", agents={"solver": "oracle"}, instances=2)


@given(st.lists(SPECS, min_size=1, max_size=3, unique_by=lambda spec: spec.entry), NAMES)
def test_a_plan_is_read_as_it_was_written(specs: list[RunSpec], suite: str) -> None:
    plan = RunPlan(tuple(specs), suite, "hash")
    again = RunPlan.from_json(plan.to_json())
    assert again == plan
    assert (again.hash, again.differences(plan)) == (plan.hash, [])
    assert [list(spec.agents) for spec in again.specs] == [list(spec.agents) for spec in specs], "in their order"


@pytest.mark.parametrize("change", CHANGES, ids=", ".join)
def test_any_change_makes_another_run_and_is_named(change: Mapping[str, Any]) -> None:
    plan, other = RunPlan((SPEC,)), RunPlan((replace(SPEC, **change),))
    assert plan.hash != other.hash
    (difference,) = other.differences(plan)
    assert "there" in difference
    assert "now" in difference


def test_another_suite_is_another_run() -> None:
    assert RunPlan((SPEC,), "a", "1").differences(RunPlan((SPEC,), "a", "2")) == ["suite: a (2) there, a (1) now"]
    assert RunPlan((SPEC,), "a", "1").differences(RunPlan((SPEC,))) == ["suite: none there, a (1) now"]


def test_a_plan_needs_entries_with_names_of_their_own() -> None:
    with pytest.raises(UsageError, match="at least one"):
        RunPlan(())
    with pytest.raises(UsageError, match="each with a name of its own"):
        RunPlan((SPEC, SPEC))


def test_starts_belong_to_instances() -> None:
    with pytest.raises(UsageError, match="one for each of the 2 instances, not 1"):
        replace(SPEC, starts=("a",))
    assert start_digest("board") == start_digest("board") != start_digest("Board")


def test_episodes_are_planned_by_entry_instance_and_sample() -> None:
    specs = (replace(SPEC, entry="b", samples=2), replace(SPEC, entry="a", first=9))
    ids = [key.id for _, key in RunPlan(specs)]
    assert ids == ["b/0/0", "b/0/1", "b/1/0", "b/1/1", "a/9/0", "a/10/0"]
    assert RunPlan(specs).episodes == len(ids)
    seeds = {key.seed(7) for _, key in RunPlan(specs)}
    assert len(seeds) == 2, "one for each sample; players make it different for instances"
    assert 7 in seeds


def test_a_label_names_who_differs() -> None:
    team = replace(SPEC, entry="team", agents={"tool": "oracle", "planner": "random"})
    assert RunPlan((team,)).label == "tool=oracle, planner=random"
    assert RunPlan((SPEC, team)).label == "oracle, planner=random"
    assert RunPlan((SPEC, replace(SPEC, entry="b"))).label == "oracle"
