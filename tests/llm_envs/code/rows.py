"""Rows of our own making, in the fields that each data set has on the hub."""

import base64
import json
import pickle
import zlib
from typing import Any

Row = dict[str, Any]


def packed(value: Any, protocol: int = pickle.DEFAULT_PROTOCOL) -> str:
    """Any value, in the way in which LiveCodeBench packs the JSON text of its hidden tests."""
    return base64.b64encode(zlib.compress(pickle.dumps(value, protocol))).decode()


_TOTAL = "class Solution:\n    def total(self, xs: List[int]) -> int:\n        return reduce(operator.add, xs, 0)"
DOUBLE_APPS: Row = {
    "problem_id": 4,
    "question": "Read a number and print its double.",
    "solutions": json.dumps(["print 2 * input()", "print(2 * int(input()))"]),
    "input_output": json.dumps({"inputs": ["1\n", "2\n", "-3\n"], "outputs": ["2\n", "4\n", "-6\n"]}),
    "difficulty": "introductory",
    "url": "",
    "starter_code": "",
}
TOTAL_APPS: Row = {
    "problem_id": 5,
    "question": "Add up the numbers.",
    "solutions": json.dumps([_TOTAL]),
    "input_output": json.dumps(
        {"fn_name": "total", "inputs": [[[1, 2]], [[5]], [[-1, -1, 3]]], "outputs": [[3], [5], [1]]}
    ),
    "difficulty": "interview",
    "url": "",
    "starter_code": "class Solution:\n    def total(self, xs: List[int]) -> int:\n        ",
}
DOUBLE_CONTEST: Row = {
    "name": "1_A. Double",
    "description": "Read a number and print its double.",
    "public_tests": {"input": ["1\n"], "output": ["2\n"]},
    "private_tests": {"input": ["2\n"], "output": ["4\n"]},
    "generated_tests": {"input": ["-3\n", "7\n"], "output": ["-6\n", "14\n"]},
    "solutions": {"language": [2, 1, 3], "solution": ["int main() {}", "print 2 * input()", "print(2 * int(input()))"]},
    "incorrect_solutions": {"language": [3], "solution": ["print(2)"]},
    "time_limit": {"seconds": 1, "nanos": 500000000},
    "memory_limit_bytes": 1024 << 20,
    "input_file": "",
    "output_file": "",
}
DOUBLE_LIVE: Row = {
    "question_title": "Double",
    "question_content": "Read a number and print its double.",
    "platform": "atcoder",
    "question_id": "abc000_a",
    "starter_code": "",
    "difficulty": "easy",
    "public_test_cases": json.dumps([{"input": "1\n", "output": "2\n", "testtype": "stdin"}]),
    "private_test_cases": packed(json.dumps([{"input": "4\n", "output": "8\n", "testtype": "stdin"}])),
    "metadata": "{}",
}
TOTAL_LIVE: Row = {
    **DOUBLE_LIVE,
    "question_content": "Add up the numbers, and a start.",
    "question_id": "3000",
    "starter_code": "class Solution:\n    def total(self, xs: List[int], start: int) -> int:\n        ",
    "public_test_cases": json.dumps([{"input": "[1, 2]\n0", "output": "3", "testtype": "functional"}]),
    "private_test_cases": json.dumps([{"input": "[4]\n6", "output": "10", "testtype": "functional"}]),
    "metadata": json.dumps({"func_name": "total"}),
}
MBPP_FULL: Row = {
    "task_id": 1001,
    "text": "Write a function to add two numbers.",
    "code": "def add(a, b):\r\n  return a + b",
    "test_list": ["assert add(1, 2) == 3", "assert add(2, 2) == 4", "assert add(-1, 1) == 0"],
    "test_setup_code": "",
    "challenge_test_list": ["assert add(10, 20) == 30"],
}
MBPP_SANITIZED: Row = {
    "source_file": "of our own",
    "task_id": 1002,
    "prompt": "Write a function to halve a number.",
    "code": "def halve(a):\n    return a / 2",
    "test_imports": ["import math"],
    "test_list": [
        "assert math.isclose(halve(3), 1.5, rel_tol=0.001)",
        "assert math.isclose(halve(5), 2.5, rel_tol=0.001)",
    ],
}
HUMAN_EVAL: Row = {
    "task_id": "HumanEval/900",
    "prompt": 'def add(a: int, b: int) -> int:\n    """ Add a and b. """\n',
    "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(2, -2) == 0\n",
    "entry_point": "add",
}
COMMON: Row = {
    "id": "own-1",
    "family": "code",
    "source": "own",
    "split": "train",
    "question": "Add two numbers.",
    "solution": "def add(a, b):\n    return a + b\n",
    "tests": {
        "entry_point": "add",
        "setup": "",
        "asserts": [],
        "check": "",
        "stdio": [{"input": "1\n2\n", "output": "3\n"}, {"input": "4\n5\n", "output": "9\n"}],
    },
    "meta": {"signature": "def add(a, b):"},
}
# Data set -> (repository, configuration, split, rows, the way in which the hub has them).
HUB = {
    "apps": ("codeparrot/apps", None, "train", [DOUBLE_APPS, TOTAL_APPS], "train.jsonl"),
    "code_contests": ("deepmind/code_contests", None, "train", [DOUBLE_CONTEST], None),
    "humaneval": ("openai/openai_humaneval", None, "test", [HUMAN_EVAL], None),
    "livecodebench": ("livecodebench/code_generation_lite", None, "test", [DOUBLE_LIVE, TOTAL_LIVE], "test.jsonl"),
    "mbpp": ("google-research-datasets/mbpp", "sanitized", "train", [MBPP_SANITIZED], None),
    "taco": ("BAAI/TACO", None, "train", [DOUBLE_APPS, TOTAL_APPS], "ALL/train-00000-of-00001.parquet"),
}
