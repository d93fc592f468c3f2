"""Whole data sets through the environment: HumanEval and MBPP from `../shared/data`."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import llm_envs
from llm_envs import code_v0
from llm_envs.code.datasets import problems
from llm_envs.code.datasets.functions import read_human_eval, read_mbpp
from llm_envs.code.judging import judge
from llm_envs.code.problem import Comparison, Problem
from llm_envs.code.task import CodeTask
from llm_envs.core.errors import UsageError
from llm_envs.core.task import Split
from llm_envs.data.collection import Collection
from llm_envs.play import play
from llm_envs.players import ReferencePlayer
from llm_envs.sandbox.base import Sandbox
from llm_envs.testing import check_env
from tests.architecture.paths import ROOT
from tests.llm_envs.code.rows import COMMON
from tests.llm_envs.data.lines import write_lines
from tests.scale import scaled

DATA = ROOT.parent / "shared" / "data"
FILES = {"humaneval": ("humaneval_test", Split.TEST, 164), "mbpp": ("mbpp_train", Split.TRAIN, 225)}
EACH = scaled(fast=9, system=4, long=1)  # every so many rows

needs_data = pytest.mark.needs("data")


def path_of(name: str) -> str:
    path = DATA / f"{FILES[name][0]}.jsonl"
    if not path.exists():
        pytest.skip(f"{path.name} is not beside the checkout")
    return str(path)


def data_of(name: str, sandbox: Sandbox) -> Collection[Problem]:
    data = CodeTask(dataset=name, path=path_of(name), sandbox=sandbox.name).data
    assert data is not None
    return data


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_every_row_becomes_a_problem_in_the_order_of_the_file(name: str, sandbox: Sandbox) -> None:
    data, (_, split, count) = data_of(name, sandbox), FILES[name]
    assert data.faults == ()
    assert {where: size for where, size in data.sizes.items() if size} == {split: count}
    rows = [json.loads(line) for line in Path(path_of(name)).read_text().splitlines()]
    assert [data.item(split, index).name for index in range(count)] == [row["id"] for row in rows]


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_the_oracle_solves_every_row_and_a_random_player_hardly_any(name: str, sandbox: Sandbox) -> None:
    """All rows at full size."""
    _, split, count = FILES[name]
    env = code_v0.env(dataset=name, path=path_of(name), sandbox=sandbox)
    indices = range(0, count, EACH)
    best = [play(env, {"all": ReferencePlayer("oracle")}, split=split, index=index) for index in indices]
    assert [episode.index for episode in best if not episode.success] == []
    guesses = [play(env, {"all": ReferencePlayer("random")}, split=split, index=index) for index in indices]
    assert sum(episode.success for episode in guesses) <= len(indices) // 10


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_no_hidden_test_of_a_data_set_is_seen(name: str, sandbox: Sandbox) -> None:
    """UC-014. The prompts of HumanEval have examples of their own, in another form."""
    _, split, count = FILES[name]
    task = CodeTask(dataset=name, path=path_of(name), sandbox=sandbox.name)
    for index in range(0, count, EACH):
        state = task.instance(split, index)
        seen = [task.observe(state, role, "") for role in task.roles]
        assert not any(secret in text for secret in task.secrets(state) for text in seen)


@needs_data
def test_assertions_and_pairs_of_the_same_rows_are_the_same_tests(sandbox: Sandbox) -> None:
    """The pairs were made by running the reference; the assertions are read here, in the fields of the hub."""
    compared = 0
    for name, (_, split, _) in FILES.items():
        data = data_of(name, sandbox)
        for index, line in enumerate(Path(path_of(name)).read_text().splitlines()):
            row, problem = json.loads(line), data.item(split, index)
            read = as_on_the_hub(row, sandbox)
            if problem.comparison is Comparison.CHECKER or row["tests"]["stdio"] is None:
                continue
            if read.comparison is not Comparison.CHECKER:
                assert cases_of(read) >= cases_of(problem), row["id"]
                compared += 1
    assert compared > 300


def as_on_the_hub(row: dict[str, Any], sandbox: Sandbox) -> Problem:
    tests = row["tests"]
    if row["source"] == "humaneval":
        check = tests["check"].rpartition("check(")[0]
        body = row["solution"].removeprefix(row["question"])
        fields = {"prompt": row["question"], "canonical_solution": body, "test": check} | tests
        return read_human_eval(row["id"], fields, lambda: sandbox)
    fields = {"prompt": row["question"], "code": row["solution"], "test_list": tests["asserts"]}
    return read_mbpp(row["id"], fields, lambda: sandbox)


def cases_of(problem: Problem) -> set[tuple[str, str]]:
    """As values, since 1.0 and 1 are written in one way here and in another there."""
    cases = (*problem.visible, *problem.hidden)
    return {
        (repr([json.loads(line) for line in case.stdin.splitlines()]), repr(json.loads(case.expected)))
        for case in cases
    }


# ---- the environment, on rows of our own


@pytest.fixture
def path(tmp_path: Path) -> str:
    rows = [
        {**COMMON, "id": f"own-{number}", "split": None, "question": f"Add two numbers, please ({number})."}
        for number in range(60)
    ]
    return write_lines(tmp_path / "rows.jsonl", rows)


@pytest.mark.parametrize("roles", ["team", "single"])
def test_an_environment_on_a_data_set_conforms(roles: str, path: str, sandbox: Sandbox) -> None:
    """UC-001, UC-002, UC-004, UC-005, UC-007, UC-010, UC-011, UC-014."""
    options = {"dataset": "jsonl", "path": path, "roles": roles, "sandbox": sandbox, "max_cycles": 2}
    check_env(code_v0.env, options, episodes=scaled(fast=1, system=3, long=20))


def test_a_seed_draws_a_row_of_the_split_and_the_same_one_again(path: str) -> None:
    env = code_v0.raw_env(dataset="jsonl", path=path)
    names = []
    for _ in range(2):
        env.reset(seed=5)
        names.append([env.snapshot.problem.name])
        for _ in range(30):
            env.reset()
            names[-1].append(env.snapshot.problem.name)
    assert names[0] == names[1]
    assert len(set(names[0])) > 10
    env.reset(options={"split": "validation", "index": 0})
    assert env.snapshot.problem.name not in names[0]


def test_an_environment_pickles_without_its_data(path: str) -> None:
    env = code_v0.raw_env(dataset="jsonl", path=path)
    env.reset(options={"index": 3})
    pickled = pickle.dumps(env)
    assert b"own-1" not in pickled.replace(env.snapshot.problem.name.encode(), b"")
    problems.cache_clear()  # as in another process
    copy = pickle.loads(pickled)
    for other in (copy, llm_envs.fork(env)):
        other.reset(options={"index": 4})
        env.reset(options={"index": 4})
        assert other.snapshot == env.snapshot


def test_environments_of_one_file_share_its_data(path: str) -> None:
    one, other = (CodeTask(dataset="jsonl", path=path) for _ in range(2))
    assert one.data is other.data
    assert CodeTask().data is None


def test_data_sets_and_options_of_generated_problems_exclude_each_other(path: str) -> None:
    with pytest.raises(UsageError, match="families='circular_sum': is for generated instances"):
        code_v0.env(dataset="jsonl", path=path, families="circular_sum")
    with pytest.raises(UsageError, match=r"dataset='mbp': must be one of .* Did you mean 'mbpp'"):
        code_v0.env(dataset="mbp")
    with pytest.raises(UsageError, match=r"path=.* goes with dataset="):
        code_v0.env(path=path)


def test_a_data_set_without_solutions_pays_and_punishes_no_case(tmp_path: Path, sandbox: Sandbox) -> None:
    rows = [{**COMMON, "solution": None, "split": "test"}]
    env = code_v0.raw_env(dataset="jsonl", path=write_lines(tmp_path / "a.jsonl", rows), sandbox=sandbox, split="test")
    env.reset(seed=1)
    env.step("<input>\n1\n1\n</input>\n<output>\n3\n</output>")
    assert env.rewards["tester_0"] == 0.0
    assert env.infos["tester_0"]["valid"] is None
    problem = env.snapshot.problem
    assert judge(problem, COMMON["solution"], sandbox).passed
    assert not judge(problem, "def add(a, b):\n    return 3", sandbox).passed
