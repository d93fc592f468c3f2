"""All families by name."""

from llm_envs.code.families import arrays, sorting, stacks, strings, texts, windows
from llm_envs.code.families.base import Family

_MODULES = (arrays, windows, sorting, strings, texts, stacks)

FAMILIES: dict[str, Family] = {family.name: family for module in _MODULES for family in module.FAMILIES}
