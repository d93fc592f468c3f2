"""Data sets in the fields that they have on the hub, read by the real library from a folder; no test reaches a hub."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from llm_envs import code_v0
from llm_envs.code.datasets import NAMES, data_sets, problems
from llm_envs.code.judging import judge
from llm_envs.code.problem import Case, Comparison, Problem
from llm_envs.core.errors import UsageError
from llm_envs.core.task import Split
from llm_envs.data.collection import Collection
from llm_envs.data.errors import DataError
from llm_envs.data.source import Source
from llm_envs.sandbox.base import Sandbox
from tests.llm_envs.code import rows
from tests.llm_envs.data.hub import FolderHub, folder_hub
from tests.llm_envs.data.lines import write_lines


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderHub:
    return folder_hub(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def nothing_loaded() -> None:
    problems.cache_clear()


def put(hub: FolderHub, name: str) -> None:
    """The rows of a data set where the hub has them."""
    repository, config, split, found, file = rows.HUB[name]
    if file is None:
        hub.table(repository, {split: found}, config)
    elif file.endswith(".jsonl"):
        hub.lines(f"{repository}/{file}", found)
    else:
        hub.parquet(f"{repository}/{file}", found)


def all_of(data: Collection[Problem]) -> list[Problem]:
    return [data.item(split, index) for split in Split for index in range(data.sizes[split])]


def put_the_other_files(hub: FolderHub, name: str) -> None:
    """The other files that the table is made of."""
    repository, _, _, found, file = rows.HUB[name]
    if name == "apps":
        hub.lines(f"{repository}/test.jsonl", found[:1])
    elif name == "taco":
        hub.parquet(f"{repository}/ALL/test-00000-of-00001.parquet", found[:1])
    elif name == "livecodebench":
        for number in range(2, 7):
            hub.lines(
                f"{repository}/test{number}.jsonl",
                [{**found[0], "question_content": f"{number}", "question_id": f"{number}"}],
            )
    assert file is not None


@pytest.mark.parametrize("name", rows.HUB)
def test_every_data_set_is_read_from_the_hub_and_its_references_pass(
    name: str, hub: FolderHub, sandbox: Sandbox
) -> None:
    put(hub, name)
    if rows.HUB[name][4] is not None:
        put_the_other_files(hub, name)
    data = problems(Source(name), sandbox.name)
    assert {fault.reason for fault in data.faults} <= {"the test split has the same text"}
    for problem in all_of(data):
        assert problem.name.lower().startswith(name)
        if name != "livecodebench":
            assert judge(problem, problem.reference, sandbox).passed
        assert not judge(problem, "print(1)\ndef add(*a): return 1\ntotal = halve = add", sandbox).passed


@pytest.mark.parametrize("name", rows.HUB)
def test_the_same_rows_are_read_from_a_local_file(name: str, tmp_path: Path, sandbox: Sandbox) -> None:
    _, _, split, found, _ = rows.HUB[name]
    data = problems(Source(name, write_lines(tmp_path / f"{split}.jsonl", found)), sandbox.name)
    assert data.faults == ()
    assert len(all_of(data)) == len(found)
    assert data.sizes[Split.TEST] == (len(found) if split == "test" else 0)


def read(name: str, row: rows.Row) -> Problem:
    (data_set,) = [known for known in data_sets(_no_sandbox) if known.name == name]
    return data_set.read(name, row)


def _no_sandbox() -> Sandbox:
    raise AssertionError("these rows run nothing when they are read")


def test_tables_list_every_data_set_in_order() -> None:
    assert tuple(data_set.name for data_set in data_sets(_no_sandbox)) == NAMES


# ---- what each field becomes


def test_apps_gives_programs_and_functions() -> None:
    program = read("apps", rows.DOUBLE_APPS)
    assert (program.visible, len(program.hidden)) == ((Case("1\n", "2\n"),), 2)
    assert (program.comparison, program.entry_point) == (Comparison.FLOATS, None)
    assert program.reference == "print(2 * int(input()))", "the first solution is Python 2"
    function = read("apps", rows.TOTAL_APPS)
    assert function.visible == (Case("[1, 2]\n", "3"),)
    assert (function.entry_point, function.signature) == ("total", "def total(xs: List[int]) -> int:")
    assert "outside of any class" in function.statement


def test_results_that_are_lists_stay_lists_where_one_of_them_is_no_list_of_one() -> None:
    tests = '{"fn_name": "total", "inputs": [[1], [2]], "outputs": [[1], [2, 3]]}'
    assert read("apps", {**rows.TOTAL_APPS, "input_output": tests}).hidden == (Case("2\n", "[2, 3]"),)


def test_lines_of_a_test_are_joined() -> None:
    tests = '{"inputs": [["1", "2"], "3"], "outputs": [["a", "b"], "c"]}'
    assert read("taco", {**rows.DOUBLE_APPS, "input_output": tests}).visible == (Case("1\n2", "a\nb"),)


def test_code_contests_keeps_its_tests_apart_and_gives_python_more_time() -> None:
    problem = read("code_contests", rows.DOUBLE_CONTEST)
    assert problem.visible == (Case("1\n", "2\n"),)
    assert [case.stdin for case in problem.hidden] == ["2\n", "-3\n", "7\n"]
    assert (problem.cpu_s, problem.memory_mb) == (4.5, 1024)
    assert problem.reference == "print(2 * int(input()))"
    assert problem.mutants == ()


def test_live_code_bench_unpacks_its_hidden_tests() -> None:
    program, function = read("livecodebench", rows.DOUBLE_LIVE), read("livecodebench", rows.TOTAL_LIVE)
    assert program.hidden == (Case("4\n", "8\n"),)
    assert (function.visible, function.hidden) == ((Case("[1, 2]\n0", "3"),), (Case("[4]\n6", "10"),))
    assert function.signature == "def total(xs: List[int], start: int) -> int:"
    assert program.reference == ""


def test_mbpp_reads_both_its_versions() -> None:
    full, sanitized = read("mbpp", rows.MBPP_FULL), read("mbpp", rows.MBPP_SANITIZED)
    assert full.visible == (Case("1\n2\n", "3"),)
    assert [case.expected for case in full.hidden] == ["4", "0", "30"]
    assert (full.entry_point, full.signature) == ("add", "def add(a, b):")
    assert (sanitized.tolerance, sanitized.hidden) == (0.001, (Case("5\n", "2.5"),))


def test_human_eval_hides_every_test() -> None:
    problem = read("humaneval", rows.HUMAN_EVAL)
    assert problem.visible == ()
    assert problem.hidden == (Case("1\n2\n", "3"), Case("2\n-2\n", "0"))
    assert problem.signature == "def add(a: int, b: int) -> int:"
    assert problem.statement.startswith("Complete this function:\n\ndef add")


def test_the_common_form_takes_functions_and_programs() -> None:
    function = read("jsonl", rows.COMMON)
    assert (function.visible, function.hidden) == ((Case("1\n2\n", "3\n"),), (Case("4\n5\n", "9\n"),))
    tests = {"stdio": [{"input": "1\n", "output": "2\n"}]}
    program = read("jsonl", {**rows.COMMON, "solution": None, "tests": tests, "meta": None})
    assert (program.entry_point, program.visible, program.hidden) == (None, (), (Case("1\n", "2\n"),))


# ---- faults


LOOP = "for number in range(3):\n    assert add(number, 0) == number"


def with_tests(**tests: Any) -> dict[str, Any]:
    return {**rows.COMMON["tests"], **tests}


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("apps", {"input_output": ""}, "'input_output' is empty"),
        ("apps", {"input_output": None}, "no 'input_output'"),
        ("apps", {"input_output": "{"}, "'input_output' is no JSON"),
        ("apps", {"input_output": "[]"}, "not inputs and outputs"),
        ("apps", {"input_output": '{"inputs": [], "outputs": []}'}, "no tests: an empty list is passed by every"),
        ("apps", {"input_output": '{"inputs": ["1"], "outputs": []}'}, "1 inputs and 0 outputs"),
        ("apps", {"input_output": '{"inputs": ["1"]}'}, "1 inputs and 0 outputs"),
        ("apps", {"input_output": '{"inputs": [1], "outputs": ["1"]}'}, "neither text nor a list of lines"),
        ("apps", {"input_output": '{"inputs": ["1"], "outputs": [["1"]], "fn_name": "f"}'}, "not a list of arguments"),
        ("apps", {"input_output": '{"inputs": [[1]], "outputs": [1], "fn_name": "a b"}'}, "which is no name"),
        ("apps", {"solutions": "{}"}, "not a list of programs"),
        ("apps", {"question": ""}, "'question' is empty"),
        ("code_contests", {"private_tests": None, "generated_tests": None}, "no hidden tests"),
        ("code_contests", {"private_tests": {"input": ["1"], "output": []}}, "1 inputs and 0 outputs"),
        ("code_contests", {"private_tests": ["1"]}, "not an object"),
        ("code_contests", {"input_file": "input.txt"}, "reads or writes a file"),
        ("code_contests", {"solutions": {"language": [3], "solution": []}}, "1 languages and 0 solutions"),
        ("code_contests", {"time_limit": {"seconds": "2"}}, "'seconds' is of type str, not a number"),
        ("livecodebench", {"private_test_cases": "[]"}, "no hidden tests"),
        ("livecodebench", {"private_test_cases": "no base64!"}, "can't be unpacked"),
        ("livecodebench", {"private_test_cases": "aGVsbG8="}, "can't be unpacked"),
        ("livecodebench", {"private_test_cases": '[{"input": "1", "testtype": "stdin"}]'}, "neither text nor a list"),
        (
            "livecodebench",
            {"private_test_cases": '[{"input": "1", "output": "1", "testtype": "functional"}]'},
            "one of them",
        ),
        ("livecodebench", {"private_test_cases": "[3]"}, "not a list of tests"),
        ("mbpp", {"test_list": []}, "no tests: an empty list is passed by every"),
        ("mbpp", {"test_list": None}, "no tests: an empty list is passed by every"),
        ("mbpp", {"test_list": ["assert other(1) == 2"]}, "calls no function of its solution"),
        ("mbpp", {"test_list": "assert halve(1) == 2"}, "'test_list' is of type str, not a list"),
        ("mbpp", {"code": None}, "no 'code'"),
        ("humaneval", {"test": "def check(candidate:"}, "its tests are no Python 3"),
        ("humaneval", {"entry_point": "a b"}, "no name of a function"),
        ("jsonl", {"tests": None}, "'tests' is null, not an object"),
        ("jsonl", {"tests": with_tests(stdio=[{"input": "1\n2", "output": "x"}])}, "must be JSON"),
        ("jsonl", {"tests": with_tests(stdio=[{"input": "1\n2"}])}, "neither text nor a list of lines"),
        ("jsonl", {"tests": with_tests(stdio=["1"])}, "no list of inputs and outputs"),
        ("jsonl", {"tests": with_tests(stdio=None, entry_point=None)}, "no tests: an empty list is passed by every"),
        ("jsonl", {"tests": with_tests(stdio=None, check=LOOP), "solution": ""}, "no solution"),
    ],
)
def test_a_row_that_cannot_be_judged_is_left_out_with_the_reason(
    name: str, changes: dict[str, Any], words: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """UC-068: an empty list of tests, lists of unequal lengths, packs that can't be unpacked: never scored."""
    good = rows.COMMON if name == "jsonl" else rows.HUB[name][3][0]
    bad = {**good, **changes}
    data = problems(Source(name, write_lines(tmp_path / "test.jsonl", [bad, good])), "unsafe")
    assert [words in fault.reason for fault in data.faults] == [True], data.faults
    assert "1 of 2 rows are left out" in caplog.text
    assert sum(data.sizes.values()) == 1
    with pytest.raises(DataError, match="none of its 1 rows can be used"):
        problems(Source(name, write_lines(tmp_path / "train.jsonl", [bad])), "unsafe")


# ---- the hub, when it is not there


@pytest.mark.parametrize("name", rows.HUB)
def test_a_hub_out_of_reach_is_told_in_words(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("datasets")
    monkeypatch.chdir(tmp_path)  # where no folder has the name of a repository
    with pytest.raises(DataError, match=f"{rows.HUB[name][0]} can't be loaded from the hub .*give path="):
        code_v0.env(dataset=name)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ImportError, match=r"pip install 'llm-envs\[data\]'"):
        code_v0.env(dataset="apps")


def test_fields_that_are_decoded_already_are_taken_as_they_are() -> None:
    decoded = {field: json.loads(rows.DOUBLE_APPS[field]) for field in ("solutions", "input_output")}
    assert read("apps", {**rows.DOUBLE_APPS, **decoded}) == read("apps", rows.DOUBLE_APPS)


def test_a_configuration_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match=r"config='ful'.*Did you mean 'full'"):
        code_v0.env(dataset="mbpp", config="ful")


def test_a_release_of_live_code_bench_has_the_files_up_to_its_number() -> None:
    (data_set,) = [known for known in data_sets(_no_sandbox) if known.name == "livecodebench"]
    assert next(iter(data_set.configs)) == "release_v6"
    assert data_set.configs["release_v1"][0].files[0].names == ("test.jsonl",)
    assert data_set.configs["release_v3"][0].files[0].names == ("test.jsonl", "test2.jsonl", "test3.jsonl")
