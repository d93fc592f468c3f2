"""Problems by hand, in both styles."""

from llm_envs.code.problem import Case, Comparison, Problem

SUM_STDIO = Problem(
    name="sum",
    statement="Print the sum of the whole numbers in the input.",
    visible=(Case("1 2 3\n", "6\n"), Case("5\n", "5\n")),
    hidden=(
        Case("10 -20 30\n", "20\n"),
        Case("7 7 7 7\n", "28\n"),
        Case("-1 -1\n", "-2\n"),
        Case("1000000007 1\n", "1000000008\n"),
    ),
    reference="print(sum(map(int, input().split())))",
    mutants=(
        "print(sum(set(map(int, input().split()))))",
        "print(sum(abs(int(word)) for word in input().split()))",
        "print(sum(int(word) for word in input().split() if len(word) < 3))",
    ),
    spare=(Case("3 3 -4 1000\n", "1002\n"),),
)
SUM_FUNCTION = Problem(
    name="sum",
    statement="Write a function `total(numbers: list[int]) -> int` that adds up the numbers.",
    visible=(Case("[1, 2, 3]\n", "6"), Case("[5]\n", "5")),
    hidden=(
        Case("[10, -20, 30]\n", "20"),
        Case("[7, 7, 7, 7]\n", "28"),
        Case("[-1, -1]\n", "-2"),
        Case("[1000000007, 1]\n", "1000000008"),
    ),
    reference="def total(numbers):\n    return sum(numbers)",
    mutants=(
        "def total(numbers):\n    return sum(set(numbers))",
        "def total(numbers):\n    return sum(map(abs, numbers))",
        "def total(numbers):\n    return sum(n for n in numbers if n < 1000)",
    ),
    spare=(Case("[3, 3, -4, 1000]\n", "1002"),),
    entry_point="total",
    signature="def total(numbers: list[int]) -> int:",
)
PROBLEMS = {"stdio": SUM_STDIO, "function": SUM_FUNCTION}

# Any divisor but 1 and the number itself will do.
DIVISOR = Problem(
    name="divisor",
    statement="Print a divisor of n other than 1 and n.",
    visible=(Case("12\n", ""),),
    hidden=(Case("35\n", ""), Case("49\n", "")),
    reference="n = int(input())\nprint(next(d for d in range(2, n) if n % d == 0))",
    comparison=Comparison.CHECKER,
    checker=(
        "import json, sys\n"
        "run = json.load(sys.stdin)\n"
        "n, d = int(run['stdin']), int(run['output'])\n"
        "sys.exit(0 if 1 < d < n and n % d == 0 else 1)"
    ),
)
