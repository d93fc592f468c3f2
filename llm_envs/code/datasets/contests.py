"""Rows of APPS, TACO, CodeContests and LiveCodeBench."""

from collections.abc import Sequence
from typing import Any

from llm_envs.code.datasets.cases import Tests, call_cases, first_shown, program_cases
from llm_envs.code.datasets.payload import decode_tests
from llm_envs.code.datasets.sources import first_function, first_program, signature_of
from llm_envs.code.problem import Case, Comparison, Problem
from llm_envs.data.errors import RowError
from llm_envs.data.fields import Row, decoded, items, mapping, number, optional_text, shown, text

CPU_S = 6.0  # for each test, where a data set sets no limit; LiveCodeBench's own
PYTHON_SLACK = 3.0  # times the limit of a contest, which is made for compiled languages
LEAST_CPU_S, MOST_CPU_S = 2.0, 30.0
MEMORY_MB, MOST_MEMORY_MB = 512, 4096
_PYTHON3 = 3  # in CodeContests' enumeration of languages
_ON_ITS_OWN = "Write the function on its own, outside of any class."


def read_apps(name: str, row: Row) -> Problem:
    """A row of APPS or TACO.

    `question`, `input_output` (JSON: `inputs`, `outputs`, and `fn_name` where a function is asked for), `solutions` (a
    list of programs as JSON, or empty), `starter_code`.
    """
    tests = decoded(row, "input_output")
    if not isinstance(tests, dict):
        raise RowError(f"'input_output' holds {shown(tests)}, not inputs and outputs")
    inputs, outputs = items(tests, "inputs"), items(tests, "outputs")
    solutions = _solutions(row)
    starter = optional_text(row, "starter_code")
    function = tests.get("fn_name")
    if function is None:
        return _program(name, text(row, "question"), first_shown(program_cases(inputs, outputs)), solutions)
    given = first_shown(call_cases(inputs, _unwrapped(outputs)))
    return _function(name, text(row, "question"), given, function=function, starter=starter, solutions=solutions)


def _solutions(row: Row) -> list[str]:
    if row.get("solutions") in (None, ""):
        return []
    solutions = decoded(row, "solutions")
    if not isinstance(solutions, list):
        raise RowError(f"'solutions' holds {shown(solutions)}, not a list of programs")
    return [code for code in solutions if isinstance(code, str)]


def _unwrapped(outputs: Sequence[Any]) -> Sequence[Any]:
    """Some rows put each result into a list of its own; a row all of whose results are such lists is taken for one."""
    if outputs and all(isinstance(output, list) and len(output) == 1 for output in outputs):
        return [output[0] for output in outputs]
    return outputs


def read_code_contests(name: str, row: Row) -> Problem:
    """A row of CodeContests.

    `description`, `public_tests`, `private_tests` and `generated_tests` (`input` and `output`, lists of texts),
    `solutions` (`language`, 3 for Python 3, and `solution`), `time_limit` (`seconds`, `nanos`), `memory_limit_bytes`,
    `input_file`, `output_file`.
    """
    for field in ("input_file", "output_file"):
        if optional_text(row, field):
            raise RowError(f"{field!r} is {row[field]!r}: it reads or writes a file, not standard input and output")
    visible = _contest_cases(row, "public_tests")
    hidden = (*_contest_cases(row, "private_tests"), *_contest_cases(row, "generated_tests"))
    if not hidden:
        raise RowError("no hidden tests")
    return _program(
        name,
        text(row, "description"),
        Tests(visible, hidden),
        _python_solutions(row),
        cpu_s=_time_limit(row),
        memory_mb=_memory_limit(row),
    )


def _contest_cases(row: Row, field: str) -> tuple[Case, ...]:
    if row.get(field) is None:
        return ()
    tests = mapping(row, field)
    inputs, outputs = items(tests, "input"), items(tests, "output")
    return program_cases(inputs, outputs) if inputs or outputs else ()


def _python_solutions(row: Row) -> list[str]:
    if row.get("solutions") is None:
        return []
    solutions = mapping(row, "solutions")
    languages, codes = items(solutions, "language"), items(solutions, "solution")
    if len(languages) != len(codes):
        raise RowError(f"{len(languages)} languages and {len(codes)} solutions")
    return [code for language, code in zip(languages, codes, strict=True) if language == _PYTHON3]


def _time_limit(row: Row) -> float:
    if row.get("time_limit") is None:
        return CPU_S
    limit = mapping(row, "time_limit")
    seconds = number(limit, "seconds") + number(limit, "nanos") / 1e9
    return min(max(PYTHON_SLACK * seconds, LEAST_CPU_S), MOST_CPU_S)


def _memory_limit(row: Row) -> int:
    given = int(number(row, "memory_limit_bytes")) >> 20
    return min(max(given, MEMORY_MB), MOST_MEMORY_MB)


def read_live_code_bench(name: str, row: Row) -> Problem:
    """A row of LiveCodeBench.

    `question_content`, `starter_code`, `public_test_cases` (JSON: a list of `input`, `output`, `testtype`, which is
    "stdin" or "functional"), `private_test_cases` (the same, as `payload` tells), `metadata` (JSON: `func_name` where a
    function is asked for). It has no solutions.
    """
    visible = _listed(decoded(row, "public_test_cases"), "public_test_cases")
    hidden = _listed(decode_tests(text(row, "private_test_cases")), "private_test_cases")
    if not hidden:
        raise RowError("no hidden tests")
    kinds = {test.get("testtype") for test in (*visible, *hidden)}
    if kinds not in ({"stdin"}, {"functional"}):
        raise RowError(
            f"'testtype' is {', '.join(sorted(map(str, kinds)))}; must be stdin or functional, and one of them"
        )
    tests = Tests(_cases(visible), _cases(hidden))
    if kinds == {"stdin"}:
        return _program(name, text(row, "question_content"), tests, [])
    metadata = decoded(row, "metadata")
    return _function(
        name,
        text(row, "question_content"),
        tests,
        function=metadata.get("func_name") if isinstance(metadata, dict) else None,
        starter=optional_text(row, "starter_code"),
        solutions=[],
    )


def _listed(tests: Any, field: str) -> list[Row]:
    if not isinstance(tests, list) or not all(isinstance(test, dict) for test in tests):
        raise RowError(f"{field!r} holds {shown(tests)}, not a list of tests")
    return tests


def _cases(tests: list[Row]) -> tuple[Case, ...]:
    """Where a function is asked for, the input is its arguments as JSON on a line each, as it is with us."""
    return program_cases([test.get("input") for test in tests], [test.get("output") for test in tests]) if tests else ()


def _program(
    name: str,
    statement: str,
    tests: Tests,
    solutions: Sequence[str],
    *,
    cpu_s: float = CPU_S,
    memory_mb: int = MEMORY_MB,
) -> Problem:
    return Problem(
        name=name,
        statement=statement,
        visible=tests.visible,
        hidden=tests.hidden,
        reference=first_program(solutions),
        comparison=Comparison.FLOATS,
        cpu_s=cpu_s,
        memory_mb=memory_mb,
    )


def _function(
    name: str, statement: str, tests: Tests, *, function: Any, starter: str, solutions: Sequence[str]
) -> Problem:
    if not isinstance(function, str) or not function.isidentifier():
        raise RowError(f"the function asked for is {shown(function)}, which is no name")
    reference = first_function(solutions, function)
    return Problem(
        name=name,
        statement=f"{statement}\n\n{_ON_ITS_OWN}" if "class " in starter else statement,
        visible=tests.visible,
        hidden=tests.hidden,
        reference=reference,
        entry_point=function,
        signature=signature_of(starter, function) or signature_of(reference, function),
        cpu_s=CPU_S,
        memory_mb=MEMORY_MB,
    )
