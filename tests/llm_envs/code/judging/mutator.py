"""Plausible wrong programs: one small change in a syntax tree."""

import ast
import random
import warnings
from collections.abc import Callable, Iterator

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.FloorDiv,
    ast.Mod: ast.FloorDiv,
}
_LARGEST = 10_000  # numbers above are moduli and tables; one more or less of them changes nothing that tests see


def mutants(source: str, count: int, seed: str) -> list[str]:
    """The first `count` mutants, all different from the program and from one another, in an order drawn by the seed."""
    order = list(range(len(list(_changes(_parse(source))))))
    random.Random(seed).shuffle(order)
    found = {ast.unparse(_parse(source)): None}
    for place in order:
        tree = _parse(source)
        list(_changes(tree))[place]()
        found[ast.unparse(tree)] = None
        if len(found) > count:
            break
    return list(found)[1:]


def _parse(source: str) -> ast.AST:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's remarks on old code concern nobody
        return ast.parse(source)


def _changes(tree: ast.AST) -> Iterator[Callable[[], None]]:
    """What could be changed, each as a function that does it; the order is that of the tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
            yield lambda node=node: node.ops.__setitem__(0, _COMPARISONS[type(node.ops[0])]())  # type: ignore[misc]
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            yield lambda node=node: setattr(node, "op", _OPERATORS[type(node.op)]())  # type: ignore[misc]
        elif isinstance(node, ast.BoolOp):
            other = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield lambda node=node, other=other: setattr(node, "op", other())  # type: ignore[misc]
        elif isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < _LARGEST:
            yield lambda node=node: setattr(node, "value", node.value + 1)  # type: ignore[misc]
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            yield lambda node=node: setattr(node, "value", not node.value)  # type: ignore[misc]
        elif isinstance(node, ast.If):
            yield lambda node=node: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))  # type: ignore[misc]
        elif isinstance(node, ast.Return) and node.value is not None:
            yield lambda node=node: setattr(node, "value", ast.Constant(None))  # type: ignore[misc]
