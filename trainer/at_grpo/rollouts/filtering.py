"""Which instances are worth a gradient (dynamic sampling, DAPO, arXiv 2503.14476)."""

from collections.abc import Iterable

from at_grpo.advantages import group_advantages
from at_grpo.choices import Filter
from at_grpo.samples import TEAM_RETURN, Group


def is_kept(groups: Iterable[Group], rule: Filter) -> bool:
    """Whether an instance stays in the batch.

    Judged is the instance as a whole and not each group, since a role that leaves the state as it is (a tool) has no
    team reward of its own. With `Filter.OUTCOME` an instance in which every try failed alike is left out even where
    local penalties differ: a policy that is trained on nothing else unlearns the task
    (verl-project/verl-recipe#125).
    """
    match rule:
        case Filter.NONE:
            return True
        case Filter.REWARD:
            return any(sample.advantage for group in groups for sample in group.samples)
        case Filter.OUTCOME:
            return any(any(group_advantages(_outcomes(group))) for group in groups)


def _outcomes(group: Group) -> list[float]:
    """What each sibling earned for the team: at its turn, or in its episode by everybody's turns (trajectory grouping),
    those of roles that are not trained included.
    """
    earned: dict[int, float] = {}
    for sample in group.samples:
        earned[sample.sibling] = float(sample.info.get(TEAM_RETURN, sample.info.get("team_reward", 0.0)))
    return list(earned.values())
