"""All families by name."""

from llm_envs.code.families import (
    arrays,
    bits,
    boards,
    components,
    connectivity,
    counting,
    distances,
    dynamic_programming,
    games,
    geometry,
    graphs,
    greedy,
    grids,
    number_theory,
    search_trees,
    simulation,
    sorting,
    stacks,
    strings,
    subsequences,
    texts,
    trees,
    windows,
)
from llm_envs.code.families.base import Family

_MODULES = (
    *(arrays, windows, sorting, strings, texts, stacks, greedy, bits),
    *(graphs, connectivity, components, trees, search_trees, grids, boards),
    *(dynamic_programming, subsequences, counting, number_theory, geometry, distances, simulation, games),
)

FAMILIES: dict[str, Family] = {family.name: family for module in _MODULES for family in module.FAMILIES}
