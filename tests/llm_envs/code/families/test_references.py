"""References agree with slow programs that go by the words of the statement alone."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from llm_envs.code.families.base import LEVELS
from llm_envs.code.families.programs import mutant_functions
from llm_envs.code.families.table import FAMILIES
from tests.llm_envs.code.families import slow_graphs, slow_lists, slow_numbers, slow_texts
from tests.scale import scaled

TRIALS = scaled(fast=12, system=60, long=600)
SLOW: dict[str, Callable[..., Any]] = {
    name: function
    for module in (slow_graphs, slow_numbers, slow_lists, slow_texts)
    for name, function in vars(module).items()
    if name in FAMILIES
}
SMALL: dict[str, Callable[..., bool]] = {  # where the slow program ends soon, or goes so far
    "cheapest_route": lambda nodes, _roads: nodes <= 8,
    "spanning_forest": lambda _nodes, roads: len(roads) <= 12,
    "product_order": lambda sizes: len(sizes) <= 7,
    "arrangement_rank": lambda word: len(word) <= 7,
    "later_arrangement": lambda values: len(values) <= 7,
    "rising_choice": lambda values: len(values) <= 13,
    "spaced_sum": lambda values: len(values) <= 13,
    "multiples_count": lambda _divisors, limit: limit <= 10**5,
    "totients": lambda numbers: max(numbers, default=0) <= 10**4,
    "negative_base": lambda numbers: all(abs(number) <= 5 for number in numbers),
    "winning_take": lambda heaps: len(heaps) <= 4,
    "coin_ways": lambda _coins, amount: amount <= 16,
    "merge_cost": lambda sizes: len(sizes) <= 6,
    "even_split": lambda values: len(values) <= 12,
    "best_rest": lambda digits: len(digits) <= 14,
    "edit_cost": lambda old, new: max(len(old), len(new)) <= 4,
}


def trials(name: str, level: int) -> list[tuple[dict[str, Any], tuple[Any, ...]]]:
    family, rng = FAMILIES[name], random.Random(f"{name}:{level}")
    found: list[tuple[dict[str, Any], tuple[Any, ...]]] = []
    while len(found) < TRIALS:
        parameters = family.parameters(rng, level)
        arguments = family.draw(rng, level, parameters)
        if name not in SMALL or SMALL[name](*arguments):
            found.append((parameters, arguments))
    return found


@pytest.mark.parametrize("name", sorted(SLOW))
@pytest.mark.parametrize("level", LEVELS)
def test_the_reference_gives_what_the_statement_asks_for(name: str, level: int) -> None:
    for parameters, arguments in trials(name, level):
        assert FAMILIES[name].solve(*arguments, **parameters) == SLOW[name](*arguments, **parameters), (
            parameters,
            arguments,
        )


def test_a_wrong_reference_would_be_noticed() -> None:
    """Negative control: every mutant of these families differs somewhere from the slow program."""
    for name in ("bridges", "convex_hull", "shared_choice"):
        for mutant in mutant_functions(FAMILIES[name]):
            given = [
                mutant(*arguments, **parameters) == SLOW[name](*arguments, **parameters)
                for level in LEVELS
                for parameters, arguments in trials(name, level)
            ]
            assert not all(given)
