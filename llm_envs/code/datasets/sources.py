"""Python source that comes with a problem: signatures, and references that run on Python 3."""

import ast
import warnings
from collections.abc import Iterable

_BODIES = ("", "\n    pass", "\n        pass")  # what makes Python of a stub: nothing, a function's or a method's body
# LeetCode and Codewars have these names at hand, and so do the solutions that come from there.
_AT_HAND = (
    "import bisect, collections, functools, heapq, itertools, math, operator, random, re, string, sys\n"
    "from bisect import *\nfrom collections import *\nfrom functools import *\nfrom heapq import *\n"
    "from itertools import *\nfrom typing import *\n"
)


def parse(source: str) -> ast.Module | None:
    """The syntax tree, or None where it is no Python 3. Remarks on old code concern nobody."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
            return None


def signature_of(source: str, name: str) -> str:
    """The `def` line of a function or method, without `self`, in a program or a stub; empty where there is none."""
    for body in _BODIES:
        tree = parse(source.rstrip() + body)
        if tree is None:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return _header(node)
    return ""


def _header(function: ast.FunctionDef) -> str:
    for arguments in (function.args.posonlyargs, function.args.args):
        if arguments and arguments[0].arg == "self":
            del arguments[0]
            break
    result = f" -> {ast.unparse(function.returns)}" if function.returns is not None else ""
    return f"def {function.name}({ast.unparse(function.args)}){result}:"


def functions_in(source: str) -> frozenset[str]:
    """The names of the functions that a program defines outside of classes."""
    tree = parse(source)
    return frozenset() if tree is None else frozenset(n.name for n in tree.body if isinstance(n, ast.FunctionDef))


def first_program(solutions: Iterable[str]) -> str:
    """The first solution that is Python 3, or empty."""
    return next((code for code in solutions if code.strip() and parse(code) is not None), "")


def first_function(solutions: Iterable[str], name: str) -> str:
    """The first solution that is Python 3 and has the function, which may be a method of `class Solution`; or empty."""
    for code in solutions:
        tree = parse(code)
        if tree is None:
            continue
        if any(isinstance(node, ast.FunctionDef) and node.name == name for node in tree.body):
            return f"{_AT_HAND}\n{code}"
        if any(isinstance(node, ast.ClassDef) and node.name == "Solution" for node in tree.body):
            return f"{_AT_HAND}\n{code}\n\n{name} = Solution().{name}\n"
    return ""
