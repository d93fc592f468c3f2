"""The experience of one policy version: collected, sealed, then cut into micro-batches."""

from collections.abc import Iterable, Iterator

from at_grpo.samples import Group, MicroBatch, Sample


class ExperienceStore:
    """Groups of the version that is being collected.

    The seal says that the version is complete: training on a part of it would weigh the groups that came first. A
    sealed version can be streamed any number of times and gives the same micro-batches in the same order.
    """

    def __init__(self, micro_batch_size: int) -> None:
        self._micro_batch_size = micro_batch_size
        self._version = -1
        self._sealed = False
        self._groups: list[Group] = []

    def open(self, version: int) -> None:
        """Start collecting a version; what an earlier one left is dropped."""
        self._version, self._sealed, self._groups = version, False, []

    def add(self, groups: Iterable[Group]) -> None:
        """Add scored groups to the open version.

        Raises:
            RuntimeError: the version is sealed, or a sample comes from another one: no token is trained on that was not
                sampled from the weights it is trained at.
        """
        if self._sealed:
            raise RuntimeError(f"version {self._version} is sealed: open the next one before adding groups")
        for group in groups:
            stale = {sample.version for sample in group.samples} - {self._version}
            if stale:
                raise RuntimeError(f"{group.key}: has samples of version {min(stale)}, the open one is {self._version}")
            self._groups.append(group)

    def seal(self) -> list[Group]:
        """No more groups will come; returns them in the order of their keys, whichever arrived first."""
        self._groups.sort(key=lambda group: group.key)
        self._sealed = True
        return self._groups

    def stream(self, version: int) -> Iterator[MicroBatch]:
        """The micro-batches of a sealed version: one role each, rows of similar length together to save padding.

        Raises:
            RuntimeError: the version is not the one held, or is not sealed.
        """
        if version != self._version or not self._sealed:
            state = "sealed" if self._sealed else "open"
            raise RuntimeError(
                f"version {version} can't be trained on: the store holds version {self._version}, {state}"
            )
        rows: dict[str, list[Sample]] = {}
        for group in self._groups:
            rows.setdefault(group.role, []).extend(group.samples)
        for role, samples in rows.items():
            samples.sort(key=lambda sample: len(sample.prompt_ids) + len(sample.completion_ids))
            for start in range(0, len(samples), self._micro_batch_size):
                cut = tuple(samples[start : start + self._micro_batch_size])
                yield MicroBatch(policy=cut[0].policy, role=role, samples=cut)
