"""One sampler in front of several: policies on different base models play the same episodes."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from at_grpo.inference.base import Completion, Sampler, SampleRequest, SamplerError
from at_grpo.inference.batching import BatchingSampler

Completions = Sequence[Sequence[Completion]]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Who generates for some policies.

    Attributes:
        begin: has requests generated; what it returns gives the completions of each, and may be waited for.
        check: raises `SamplerError` for a request that can't be served; None where `begin` finds out.
    """

    begin: Callable[[Sequence[SampleRequest]], Callable[[], Completions]]
    check: Callable[[SampleRequest], None] | None = None


def part_of(sampler: BatchingSampler) -> Part:
    """A sampler of this process, which generates when its completions are asked for."""
    return Part(lambda requests: partial(sampler.generate, requests), sampler.check)


class PooledSampler(BatchingSampler):
    """Batches across policies on several base models, so that an episode is announced once for all of them.

    Samplers that batch by themselves would wait for one another: each until every episode waits for it.
    """

    def __init__(self, parts: Mapping[str, Part]) -> None:
        """Args:
        parts: policy -> who generates for it; those of other processes before those of this one generate at once.
        """
        super().__init__()
        self._parts = dict(parts)

    def check(self, request: SampleRequest) -> None:
        """See `BatchingSampler.check`."""
        _known(request, self._parts)
        check = self._parts[request.policy].check
        if check is not None:
            check(request)

    def generate(self, requests: Sequence[SampleRequest]) -> list[Sequence[Completion]]:
        """See `BatchingSampler.generate`."""
        places: dict[Part, list[int]] = defaultdict(list)
        for place, request in enumerate(requests):
            places[self._parts[request.policy]].append(place)
        begun = [(own, part.begin([requests[place] for place in own])) for part, own in places.items()]
        found = {place: result for own, end in begun for place, result in zip(own, end(), strict=True)}
        return [found[place] for place in range(len(requests))]


class RoutedSampler:
    """A `Sampler` that hands each request to the sampler of its policy; for samplers that do not wait for episodes."""

    def __init__(self, samplers: Mapping[str, Sampler]) -> None:
        """Args:
        samplers: policy -> its sampler.
        """
        self._samplers = dict(samplers)

    @contextmanager
    def episode(self) -> Iterator[None]:
        """See `Sampler.episode`."""
        with ExitStack() as stack:
            for sampler in dict.fromkeys(self._samplers.values()):
                stack.enter_context(sampler.episode())
            yield

    async def sample(self, request: SampleRequest) -> Sequence[Completion]:
        """See `Sampler.sample`."""
        _known(request, self._samplers)
        return await self._samplers[request.policy].sample(request)


def _known(request: SampleRequest, policies: Mapping[str, object]) -> None:
    if request.policy not in policies:
        raise SamplerError(f"policy={request.policy!r}: not served here; must be one of {', '.join(sorted(policies))}")
