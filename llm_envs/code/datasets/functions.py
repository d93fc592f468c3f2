"""Rows of HumanEval and MBPP, and of the common form: a function and assertions about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llm_envs.code.datasets.asserts import called_in, read_asserts, statements_of_check
from llm_envs.code.datasets.cases import Tests, first_shown, program_cases
from llm_envs.code.datasets.recording import checker, record
from llm_envs.code.datasets.sources import first_program, functions_in, parse, signature_of
from llm_envs.code.judging import Verdict, judge
from llm_envs.code.problem import Case, Comparison, Problem
from llm_envs.data.errors import RowError
from llm_envs.data.fields import Row, items, mapping, optional_text, text
from llm_envs.sandbox.base import Sandbox

CPU_S = 4.0  # for each test
GetSandbox = Callable[[], Sandbox]
_COMPLETE = "Complete this function:"


def read_human_eval(name: str, row: Row, sandbox: GetSandbox) -> Problem:
    """A row of HumanEval: `prompt` (a stub with its docstring), `canonical_solution` (the rest of it), `test` (defines
    `check(candidate)`), `entry_point`. Every test decides, and none is shown: the prompt has examples of its own.
    """
    prompt, function = text(row, "prompt"), _name(row)
    reference = prompt + text(row, "canonical_solution")
    tests = f"{text(row, 'test')}\ncheck({function})"
    statement = f"{_COMPLETE}\n\n{prompt}"
    asks = _Asked(name, statement, function, reference, signature_of(prompt, function), example=False)
    return _from_asserts(asks, tests, sandbox)


def read_mbpp(name: str, row: Row, sandbox: GetSandbox) -> Problem:
    """A row of MBPP: `text` (or `prompt`, in the sanitized version), `code`, `test_list` and `challenge_test_list`
    (assertions), `test_setup_code` or `test_imports`. The first test is an example.
    """
    statement = text(row, "prompt" if row.get("prompt") is not None else "text")
    reference = text(row, "code").replace("\r\n", "\n")
    asserts = [line for field in ("test_list", "challenge_test_list") for line in items(row, field)]
    setup = "\n".join([optional_text(row, "test_setup_code"), *items(row, "test_imports")]).strip()
    tests = "\n".join([setup, *asserts])
    if not asserts:
        raise RowError("no tests: an empty list is passed by every program")
    defined = functions_in(reference)
    function = next((called for called in called_in(asserts[0]) if called in defined), None)
    if function is None:
        raise RowError("its first test calls no function of its solution")
    asks = _Asked(name, statement, function, reference, signature_of(reference, function), example=True)
    return _from_asserts(asks, tests, sandbox)


def read_common(name: str, row: Row, sandbox: GetSandbox, *, example: bool = True) -> Problem:
    """A row of the common form: `question`, `solution`, `tests` and `meta`, which may hold a `signature`.

    `tests` has the `entry_point` and either `stdio`, a list of `input` (a line of JSON for each argument) and `output`
    (the result as JSON), or `setup`, `asserts` and `check`. Without an `entry_point` the `stdio` is a program's.
    """
    tests, meta = mapping(row, "tests"), row.get("meta") or {}
    question = text(row, "question")
    reference = first_program([optional_text(row, "solution")])
    pairs = items(tests, "stdio")
    cases = _pairs(pairs) if pairs else ()
    if not optional_text(tests, "entry_point"):
        if not cases:
            raise RowError("no tests: an empty list is passed by every program")
        given = first_shown(cases) if example else Tests((), cases)
        return Problem(name, question, *given, reference, comparison=Comparison.FLOATS, cpu_s=CPU_S)
    function = _name(tests)
    known = meta.get("signature") if isinstance(meta, dict) else None
    stub = signature_of(question, function)
    statement = f"{_COMPLETE}\n\n{question}" if stub else question
    signature = known if isinstance(known, str) and known else stub or signature_of(reference, function)
    asks = _Asked(name, statement, function, reference, signature, example)
    if cases:
        return asks.problem(cases)
    lines = [optional_text(tests, "setup"), *items(tests, "asserts"), optional_text(tests, "check")]
    return _from_asserts(asks, "\n".join(filter(None, lines)), sandbox)


def _name(row: Row) -> str:
    function = text(row, "entry_point")
    if not function.isidentifier():
        raise RowError(f"'entry_point' is {function!r}, which is no name of a function")
    return function


def _pairs(pairs: Sequence[Row]) -> tuple[Case, ...]:
    if not all(isinstance(pair, dict) for pair in pairs):
        raise RowError("'stdio' is no list of inputs and outputs")
    return program_cases([pair.get("input") for pair in pairs], [pair.get("output") for pair in pairs])


@dataclass(frozen=True, slots=True)
class _Asked:
    """All of a problem but its tests, and whether the first of these is an example."""

    name: str
    statement: str
    function: str
    reference: str
    signature: str
    example: bool

    def problem(
        self,
        cases: tuple[Case, ...],
        comparison: Comparison = Comparison.TOKENS,
        tolerance: float = 1e-6,
        checker: str = "",
    ) -> Problem:
        visible, hidden = first_shown(cases) if self.example else Tests((), cases)
        return Problem(
            name=self.name,
            statement=self.statement,
            visible=visible,
            hidden=hidden,
            reference=self.reference,
            entry_point=self.function,
            signature=self.signature,
            comparison=comparison,
            tolerance=tolerance,
            checker=checker,
            cpu_s=CPU_S,
        )


def _from_asserts(asked: _Asked, tests: str, sandbox: GetSandbox) -> Problem:
    """The problem whose tests are assertions: read where they can be read, else recorded."""
    tree = parse(tests)
    if tree is None:
        raise RowError("its tests are no Python 3")
    plain = read_asserts(tree.body, frozenset({asked.function})) if tree.body else None
    reading = plain or read_asserts(statements_of_check(tests), frozenset({"candidate"}))
    if reading is not None:
        problem = asked.problem(reading.cases, reading.comparison, reading.tolerance)
        if reading.plain or _reference_passes(problem, sandbox):
            return problem
    if not asked.reference:
        raise RowError("its tests have to be run to be read, and there is no solution to run them on")
    cases = record(asked.reference, asked.function, tests, sandbox)
    return asked.problem(cases, Comparison.CHECKER, checker=checker(asked.reference, asked.function, tests))


def _reference_passes(problem: Problem, sandbox: GetSandbox) -> bool:
    """Whether the reference passes when it gets lists in the place of tuples."""
    if not problem.reference:
        return True
    judgement = judge(problem, problem.reference, sandbox())
    return all(verdict is Verdict.PASS for verdict in (*judgement.visible, *judgement.hidden))
