"""All families of generated questions, topic by topic."""

from llm_envs.math.families import (
    algebra,
    arithmetic,
    calculus,
    counting,
    geometry,
    linear_algebra,
    number_theory,
    probability,
    sequences,
)
from llm_envs.math.families.base import Family

_TOPICS = (
    arithmetic,
    algebra,
    number_theory,
    counting,
    probability,
    geometry,
    sequences,
    linear_algebra,
    calculus,
)

FAMILIES: dict[str, Family] = {family.name: family for topic in _TOPICS for family in topic.FAMILIES}
