"""Tests written as assertions, read without running them: the call, and the result that it must have.

An assertion that runs beside a program can be fooled by it. So each becomes a case: its arguments go into the cage, and
the result is compared outside.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llm_envs.code.datasets.cases import arguments_text
from llm_envs.code.datasets.sources import parse
from llm_envs.code.problem import Case, Comparison
from llm_envs.data.errors import RowError
from llm_envs.data.fields import to_json

_TOLERANCE = 1e-6  # of `Problem`, where an assertion has none of its own
_ORDERED, _UNORDERED = ("list", "tuple"), ("set", "sorted", "Counter")
_LITERALS = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)  # what `literal_eval` raises


@dataclass(frozen=True, slots=True)
class Reading:
    """What the assertions of a row say.

    Attributes:
        cases: one for each assertion.
        comparison, tolerance: of their results.
        plain: whether JSON gives every argument back as it was: a tuple comes back as a list.
    """

    cases: tuple[Case, ...]
    comparison: Comparison
    tolerance: float
    plain: bool


@dataclass(frozen=True, slots=True)
class _Claim:
    call: ast.Call
    result: Any
    ordered: bool = True
    tolerance: float | None = None


def read_asserts(statements: Sequence[ast.stmt], names: frozenset[str]) -> Reading | None:
    """The reading of assertions about calls of one of `names`, or None where one of them takes more than reading."""
    claims = []
    for statement in statements:
        if _says_nothing(statement):
            continue
        claim = _claim(statement.test, names) if isinstance(statement, ast.Assert) else None
        if claim is None:
            return None
        claims.append(claim)
    if len({claim.ordered for claim in claims}) != 1:  # none at all, or of both kinds
        return None
    try:
        calls = [([ast.literal_eval(argument) for argument in claim.call.args], claim.result) for claim in claims]
        cases = [Case(arguments_text(arguments), to_json(result, "a result")) for arguments, result in calls]
    except (*_LITERALS, RowError):
        return None
    return Reading(
        cases=tuple(dict.fromkeys(cases)),
        comparison=Comparison.TOKENS if claims[0].ordered else Comparison.UNORDERED,
        tolerance=max((claim.tolerance for claim in claims if claim.tolerance is not None), default=_TOLERANCE),
        plain=all(_is_plain(arguments) for arguments, _ in calls),
    )


def _says_nothing(statement: ast.stmt) -> bool:
    """An import, a docstring, or `assert True`."""
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and bool(statement.test.value)
    is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_docstring or isinstance(statement, ast.Import | ast.ImportFrom)


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    return value is None or isinstance(value, bool | int | float | str)


def statements_of_check(source: str) -> list[ast.stmt]:
    """The body of the function `check` in a test of HumanEval; empty where it has none."""
    tree = parse(source)
    for node in [] if tree is None else tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "check":
            return node.body
    return []


def called_in(source: str) -> list[str]:
    """The names of the functions that are called, in the order of the tree."""
    tree = parse(source)
    calls = [] if tree is None else [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [node.func.id for node in calls if isinstance(node.func, ast.Name)]


def _claim(test: ast.expr, names: frozenset[str]) -> _Claim | None:
    """What one assertion says, or None."""
    if call := _call(test, names):
        return _Claim(call, result=True)
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand) if call := _call(operand, names):
            return _Claim(call, result=False)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            return _equality(left, right, names) or _equality(right, left, names)
        case ast.Compare(left=ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp() as difference]), comparators=[bound]):
            if isinstance(test.ops[0], ast.Lt | ast.LtE) and isinstance(difference.op, ast.Sub):
                return _near(difference.left, difference.right, bound, names)
        case ast.Call(func=ast.Attribute(attr="isclose"), args=[left, right], keywords=[ast.keyword(value=bound)]):
            return _near(left, right, bound, names)
    return None


def _call(node: ast.expr, names: frozenset[str]) -> ast.Call | None:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    return node if called and isinstance(node, ast.Call) and not node.keywords else None


def _equality(left: ast.expr, right: ast.expr, names: frozenset[str]) -> _Claim | None:
    """`f(x) == result`, or both sides in `tuple(...)`, `sorted(...)` and the like."""
    ordered = True
    if _wrapper(left) is not None and _wrapper(left) == _wrapper(right):
        ordered = _wrapper(left) in _ORDERED
        left, right = _inside(left), _inside(right)
    elif _wrapper(left) in _UNORDERED:
        ordered, left = False, _inside(left)
    call = _call(left, names)
    try:
        result = ast.literal_eval(right)
    except _LITERALS:
        return None
    if call is None:
        return None
    if not ordered and isinstance(result, set | frozenset):
        result = sorted(result, key=repr)
    return _Claim(call, result, ordered)


def _wrapper(node: ast.expr) -> str | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        return node.func.id if node.func.id in (*_ORDERED, *_UNORDERED) else None
    return None


def _inside(node: ast.expr) -> ast.expr:
    return node.args[0] if isinstance(node, ast.Call) else node


def _near(left: ast.expr, right: ast.expr, bound: ast.expr, names: frozenset[str]) -> _Claim | None:
    """A result within a tolerance, as a float, since whole numbers have none."""
    call = _call(left, names)
    try:
        result, tolerance = float(ast.literal_eval(right)), float(ast.literal_eval(bound))
    except _LITERALS:
        return None
    return None if call is None else _Claim(call, result, tolerance=tolerance)
