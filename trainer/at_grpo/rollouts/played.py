"""What rollouts leave: for each instance, and for an iteration."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from at_grpo.rollouts.limits import StopReason
from at_grpo.samples import Group
from llm_envs.episode import Episode


@dataclass(frozen=True, slots=True)
class Played:
    """One instance, played to its end.

    Attributes:
        index: of the instance in the training split.
        groups: its groups, scored or not.
        episode: the line that it followed, as a record.
        stop: why it ended.
        lost: branches that infrastructure took.
    """

    index: int
    groups: tuple[Group, ...]
    episode: Episode
    stop: StopReason
    lost: int

    @property
    def branches(self) -> int:
        """Branches that it had or should have had."""
        return self.lost + sum(len(group.samples) for group in self.groups)


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs that agents asked for, and those that were really run, since equal ones run once."""

    asked: int
    ran: int


@dataclass(frozen=True, slots=True)
class Rollout:
    """One iteration: its instances in the order of their indices, and the programs that ran for them."""

    played: Sequence[Played]
    programs: Programs

    @property
    def groups(self) -> list[Group]:
        """All groups in the order of their keys."""
        return sorted((group for played in self.played for group in played.groups), key=lambda group: group.key)

    @property
    def episodes(self) -> list[Episode]:
        """A record an instance."""
        return [played.episode for played in self.played]

    @property
    def stops(self) -> Counter[str]:
        """How many instances ended for which reason."""
        return Counter(str(played.stop) for played in self.played)
