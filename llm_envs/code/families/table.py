"""All families by name."""

from llm_envs.code.families import arrays
from llm_envs.code.families.base import Family

_MODULES = (arrays,)

FAMILIES: dict[str, Family] = {family.name: family for module in _MODULES for family in module.FAMILIES}
