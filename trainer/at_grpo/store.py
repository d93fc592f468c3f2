"""The experience of one policy version: collected, sealed, cut into micro-batches."""

import threading
from collections.abc import Iterable, Iterator

from at_grpo.rollouts.limits import RolloutError
from at_grpo.samples import Group, GroupKey, MicroBatch, Sample


class StalledError(RolloutError):
    """Nothing has come from the rollouts for longer than the run allows."""


class ExperienceStore:
    """Groups of the version that is being collected. One thread may add them while another one trains on them.

    The seal says that the version is complete: no gradient is divided and no step taken before it, since a step on a
    part would weigh the groups that came first. `stream` cuts a sealed version, always alike; `follow` cuts one that
    is still being collected, in the order in which its groups come.
    """

    def __init__(self, micro_batch_size: int, stall_s: float = 3600.0, staleness: int = 0) -> None:
        """A store without a version.

        Args:
            micro_batch_size: most rows of a micro-batch.
            stall_s: seconds for which `follow` waits for a further group.
            staleness: how many versions older than the open one the weights may be that sampled a row.
        """
        self._micro_batch_size = micro_batch_size
        self._stall_s = stall_s
        self._staleness = staleness
        self._changed = threading.Condition()
        self._version = -1
        self._sealed = False
        self._failure: BaseException | None = None
        self._groups: list[Group] = []
        self._keys: set[GroupKey] = set()

    def open(self, version: int) -> None:
        """Start collecting a version; what an earlier one left is dropped."""
        with self._changed:
            self._version, self._sealed, self._failure = version, False, None
            self._groups, self._keys = [], set()

    def add(self, groups: Iterable[Group]) -> None:
        """Add scored groups to the open version.

        Raises:
            RuntimeError: the version is sealed, a group is there already, or a sample comes from a later version or
                one that is too old: no token is trained on twice, nor (with `staleness` 0) one that was not sampled
                from the weights it is trained at.
        """
        with self._changed:
            if self._sealed:
                raise RuntimeError(f"version {self._version} is sealed: open the next one before adding groups")
            for group in groups:
                allowed = range(self._version - self._staleness, self._version + 1)
                others = sorted({sample.version for sample in group.samples}.difference(allowed))
                if others:
                    raise RuntimeError(
                        f"{group.key}: has samples of version {others[0]}, the open one is {self._version} and "
                        f"rollout.staleness={self._staleness}"
                    )
                if group.key in self._keys:
                    raise RuntimeError(f"{group.key}: is in version {self._version} already")
                self._keys.add(group.key)
                self._groups.append(group)
            self._changed.notify_all()

    def seal(self) -> list[Group]:
        """No more groups will come; returns them in the order of their keys, whichever arrived first."""
        with self._changed:
            self._sealed = True
            self._changed.notify_all()
            return self._in_order()

    def fail(self, error: BaseException) -> None:
        """The open version will never be complete: whoever follows it gets the error."""
        with self._changed:
            self._failure = error
            self._changed.notify_all()

    def stream(self, version: int) -> Iterator[MicroBatch]:
        """The micro-batches of a sealed version: one role each, rows of similar length together to save padding.

        A version can be streamed any number of times and gives the same micro-batches in the same order.

        Raises:
            RuntimeError: the version is not the one held, or is not sealed.
        """
        self._check(version, sealed=True)
        rows: dict[str, list[Sample]] = {}
        for group in self._in_order():
            rows.setdefault(group.role, []).extend(group.samples)
        for samples in rows.values():
            yield from self._cut(samples, least=1)

    def follow(self, version: int) -> Iterator[MicroBatch]:
        """The micro-batches of a version that is still being collected, as soon as a role has the rows of one; what is
        left is cut after the seal. Every row comes once, whatever the order in which groups arrive.

        Raises:
            RuntimeError: the version is not the one held.
            StalledError: nothing has come for `stall_s`.
            BaseException: what `fail` was told.
        """
        self._check(version, sealed=False)
        rows: dict[str, list[Sample]] = {}
        taken, sealed = 0, False
        while not sealed:
            fresh, sealed = self._await_groups(taken)
            taken += len(fresh)
            for group in fresh:
                rows.setdefault(group.role, []).extend(group.samples)
            for samples in rows.values():
                yield from self._cut(samples, least=1 if sealed else self._micro_batch_size)

    def _await_groups(self, taken: int) -> tuple[list[Group], bool]:
        """The groups after the first `taken`, at least one unless the version is sealed; and whether it is."""
        with self._changed:
            news = self._changed.wait_for(
                lambda: self._failure is not None or self._sealed or len(self._groups) > taken, self._stall_s
            )
            if self._failure is not None:
                raise self._failure
            if not news:
                raise StalledError(
                    f"version {self._version}: no instance was finished for {self._stall_s:g} s (rollout.stall_s). "
                    "Look at the servers' logs, or raise the limit where instances take longer."
                )
            return self._groups[taken:], self._sealed

    def _in_order(self) -> list[Group]:
        return sorted(self._groups, key=lambda group: group.key)

    def _check(self, version: int, *, sealed: bool) -> None:
        if version != self._version or (sealed and not self._sealed):
            state = "sealed" if self._sealed else "open"
            raise RuntimeError(
                f"version {version} can't be trained on: the store holds version {self._version}, {state}"
            )

    def _cut(self, samples: list[Sample], *, least: int) -> Iterator[MicroBatch]:
        """Take micro-batches of at least so many rows from one role's samples, the shortest ones first."""
        samples.sort(key=lambda sample: len(sample.prompt_ids) + len(sample.completion_ids))
        while len(samples) >= least:
            cut = tuple(samples[: self._micro_batch_size])
            del samples[: self._micro_batch_size]
            yield MicroBatch(policy=cut[0].policy, role=cut[0].role, samples=cut)
