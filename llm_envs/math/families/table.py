"""All families of generated questions."""

from llm_envs.math.families import arithmetic
from llm_envs.math.families.base import Family

FAMILIES: dict[str, Family] = {family.name: family for topic in (arithmetic,) for family in topic.FAMILIES}
