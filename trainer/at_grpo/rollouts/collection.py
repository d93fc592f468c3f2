"""One iteration on its way from the engine to the store: scored, filtered, journalled, handed over."""

import logging
from collections.abc import Iterator
from dataclasses import replace

from at_grpo.advantages import Scale, score
from at_grpo.choices import Filter, Grouping
from at_grpo.config import TrainConfig
from at_grpo.journal import Journal
from at_grpo.rollouts.engine import permute_rewards
from at_grpo.rollouts.filtering import is_kept
from at_grpo.rollouts.played import Played, Programs, Rollout
from at_grpo.seeds import instance_indices
from at_grpo.store import ExperienceStore

logger = logging.getLogger(__name__)

NO_OUTCOME = (  # told when it has happened: an environment does not say which of its roles change the state
    " None at all is what a role gives that leaves the state as it is, such as a tool: at its turn it earns nothing "
    "for the team. Where only such roles are trained, take rollout.filter=reward or rollout.grouping=trajectory."
)


class Collection:
    """The instances of one iteration.

    `rollout.instances` of them are wanted. Those that the journal holds already are taken from it; one that the filter
    leaves out is replaced by a further instance, at most `rollout.refill` times.

    Attributes:
        step: the iteration.
        store: gets its groups.
        kept: instances that are trained on.
        reused: indices of the instances that came from the journal.
        rollout: all of it, once it is sealed.
        seconds: that playing it took.
    """

    def __init__(self, config: TrainConfig, step: int, journal: Journal | None) -> None:
        """Open iteration `step`, and take over what the journal has of it."""
        rollout = config.rollout
        self._config, self._journal = config, journal
        self._filter = Filter(rollout.filter)
        self._played: dict[int, Played] = {}
        self.step = step
        self.store = ExperienceStore(config.optim.micro_batch_size, rollout.stall_s, rollout.staleness)
        self.store.open(step)
        self.kept = 0
        self.rollout = Rollout([], Programs(0, 0))
        self.seconds = 0.0
        for played in [] if journal is None else journal.open(step):
            self._take(played)
        self.reused = frozenset(self._played)

    @property
    def wanted(self) -> int:
        """Instances that are still to be kept."""
        return self._config.rollout.instances - self.kept

    def indices(self) -> Iterator[int]:
        """The instances to play, in their order; the same step of the same run always asks for the same ones."""
        rollout = self._config.rollout
        everything = instance_indices(self._config.run.seed, self.step, rollout.instances + rollout.refill)
        return (index for index in everything if index not in self._played)

    def deliver(self, played: Played) -> bool:
        """Take an instance that is done; returns whether it is kept.

        Raises:
            JournalError: it could not be written down, so it may not be trained on.
        """
        optim, run = self._config.optim, self._config.run
        groups = permute_rewards(played.groups, run.seed) if run.permute_rewards else played.groups
        scored = score(groups, scale=Scale(optim.scale_rewards), factor=optim.advantage_factor)
        played = replace(played, groups=tuple(scored))
        if self._journal is not None and played.episode.error is None:  # one that failed is tried again
            self._journal.append(self.step, played)
        return self._take(played)

    def _take(self, played: Played) -> bool:
        self._played[played.index] = played
        kept = is_kept(played.groups, self._filter)
        if kept:
            self.store.add(played.groups)
            self.kept += 1
        return kept

    def seal(self, programs: Programs, seconds: float) -> None:
        """All that was wanted is there, or nothing more is to be had."""
        self.rollout = Rollout([self._played[index] for index in sorted(self._played)], programs)
        self.seconds = seconds
        if self.wanted:
            at_turns = self._config.rollout.grouping == Grouping.TURN
            logger.warning(
                "step %d: %d of %d instances are trained on: rollout.filter=%s left out %d, and rollout.refill=%d were "
                "tried in their place. Instances of another difficulty, or a larger rollout.k, would leave more.%s",
                *(self.step, self.kept, self._config.rollout.instances, self._filter),
                *(len(self._played) - self.kept, len(self._played) - self._config.rollout.instances),
                NO_OUTCOME if at_turns and self._filter is Filter.OUTCOME and not self.kept else "",
            )
        self.store.seal()
