"""Generated questions as a function of (families, level, split, index)."""

import random

from llm_envs.core.draws import pick
from llm_envs.core.errors import require, unknown_choice, whole_number
from llm_envs.core.instances import split_of_content
from llm_envs.core.task import Split
from llm_envs.math.families.base import LEVELS, Draft, Family
from llm_envs.math.families.table import FAMILIES
from llm_envs.math.question import Question

LEAST_QUESTIONS = 400  # different ones, not counting wordings, that every family has at every level


def split_of(family: Family, draft: Draft) -> Split:
    """The split that a question belongs to, whatever words it is asked in and at whatever level it was drawn."""
    return split_of_content(f"{family.name}\n{draft.program}".encode())


def generate(families: tuple[str, ...], level: int, split: Split, index: int) -> Question:
    """Question `index` of a split.

    The family is drawn first, each as likely; then questions of that family are drawn until one belongs to the split,
    so that no question is in two splits, whatever the level and the wording. With `LEAST_QUESTIONS` of them, one in
    eight of which belongs to each of the smaller splits, one is always found.

    Args:
        families: names in `FAMILIES`, at least one. Other families, or another order, make other sequences.
        level: of difficulty, one of `LEVELS`.
        split: see `Split`.
        index: place in the sequence, >= 0.

    Raises:
        UsageError: no family, an unknown one, or a level that there is not.
    """
    require(len(families) > 0, "families", families, "the names of at least one family")
    whole_number("level", level, least=LEVELS[0], most=LEVELS[-1])
    rng = random.Random(f"math-v0:{','.join(families)}:{level}:{split}:{index}")
    name = pick(rng, families)
    if name not in FAMILIES:
        raise unknown_choice("families", name, FAMILIES)
    family = FAMILIES[name]
    while True:
        draft = family.draw(rng, level)
        if split_of(family, draft) is split:
            text = f"{draft.text} Give the answer as {family.form}."
            return Question(name, text, draft.answer, draft.program, exact=True)
