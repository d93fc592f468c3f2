"""All families of generated questions, topic by topic."""

from llm_envs.math.families import (
    algebra,
    arithmetic,
    calculus,
    counting,
    geometry,
    integrals,
    linear_algebra,
    number_theory,
    probability,
    random_processes,
    sequences,
)
from llm_envs.math.families.base import Family

_MODULES = (
    arithmetic,
    algebra,
    number_theory,
    counting,
    probability,
    random_processes,
    geometry,
    sequences,
    linear_algebra,
    calculus,
    integrals,
)

FAMILIES: dict[str, Family] = {family.name: family for module in _MODULES for family in module.FAMILIES}
