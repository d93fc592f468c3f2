"""Batches from many episodes: requests wait until every episode in flight waits, then all are generated at once.

Who shares a batch depends on the episodes then and not on how long their programs ran, so a run repeats bit for bit.
"""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from at_grpo.inference.base import Completion, SampleRequest, SamplerError

# A task that takes the place of a finished episode announces it a few turns of the event loop later; waiting for that
# keeps the batches full, and the same whichever of the two came first.
SETTLE_TURNS = 4

_EPISODES: ContextVar[Mapping["BatchingSampler", object]] = ContextVar("episodes in flight in this task")


@dataclass(slots=True, eq=False)
class _Waiter:
    request: SampleRequest
    future: "asyncio.Future[Sequence[Completion]]"
    episode: object | None


@dataclass(slots=True, eq=False)
class _Room:
    """Who is in flight and who waits, on one event loop."""

    episodes: set[object] = field(default_factory=set)
    waiters: dict[_Waiter, None] = field(default_factory=dict)  # an ordered set
    waiting: Counter[object] = field(default_factory=Counter)  # episode -> its requests that wait
    changes: int = 0
    settling: bool = False

    @property
    def ready(self) -> bool:
        """Whether every episode waits. It is asked at every change, so it must not look at all of them."""
        return bool(self.waiters) and len(self.waiting) == len(self.episodes)

    def admit(self, waiter: _Waiter) -> None:
        self.waiters[waiter] = None
        if waiter.episode is not None:
            self.waiting[waiter.episode] += 1

    def withdraw(self, waiter: _Waiter) -> None:
        if waiter in self.waiters:
            del self.waiters[waiter]
            if waiter.episode in self.waiting:
                self.waiting[waiter.episode] -= 1
                if not self.waiting[waiter.episode]:
                    del self.waiting[waiter.episode]

    def empty(self) -> list[_Waiter]:
        waiters = list(self.waiters)
        self.waiters.clear()
        self.waiting.clear()
        return waiters


class BatchingSampler(ABC):
    """A `Sampler` that generates in this process, on the thread of the event loop, which stands still meanwhile.

    An episode makes one request at a time; a request from outside any announced episode joins the next batch.
    Announcing an episode inside itself changes nothing. Several event loops may use the sampler one after another.
    """

    def __init__(self) -> None:
        self._rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, _Room] = WeakKeyDictionary()

    @abstractmethod
    def generate(self, requests: Sequence[SampleRequest]) -> Sequence[Sequence[Completion]]:
        """Completions of each request, in the order of the requests."""

    @abstractmethod
    def check(self, request: SampleRequest) -> None:
        """Raise `SamplerError` for a request that can't be served, before it joins a batch."""

    @contextmanager
    def episode(self) -> Iterator[None]:
        """See `Sampler.episode`; needs a running event loop."""
        room = self._room()
        others = _EPISODES.get({})
        if others.get(self) in room.episodes:
            yield
            return
        episode = object()
        token = _EPISODES.set({**others, self: episode})
        room.episodes.add(episode)
        try:
            yield
        finally:
            room.episodes.remove(episode)
            room.waiting.pop(episode, None)
            _EPISODES.reset(token)
            self._changed(room)  # the others may have waited for this one only

    async def sample(self, request: SampleRequest) -> Sequence[Completion]:
        """See `Sampler.sample`."""
        self.check(request)
        room = self._room()
        episode = _EPISODES.get({}).get(self)
        future = asyncio.get_running_loop().create_future()
        waiter = _Waiter(request, future, episode if episode in room.episodes else None)
        room.admit(waiter)
        self._changed(room)
        try:
            return await waiter.future
        finally:
            room.withdraw(waiter)  # where it was cancelled

    def _room(self) -> _Room:
        return self._rooms.setdefault(asyncio.get_running_loop(), _Room())

    def _changed(self, room: _Room) -> None:
        room.changes += 1
        if room.ready and not room.settling:
            room.settling = True
            asyncio.get_running_loop().call_soon(self._settle, room, room.changes, SETTLE_TURNS)

    def _settle(self, room: _Room, changes: int, turns: int) -> None:
        """Generate once nothing has changed for some turns of the event loop and still everyone waits."""
        if room.changes != changes:
            turns = SETTLE_TURNS
        if turns and room.ready:
            asyncio.get_running_loop().call_soon(self._settle, room, room.changes, turns - 1)
            return
        room.settling = False
        if room.ready:
            self._serve(sorted(room.empty(), key=lambda waiter: _order(waiter.request)))

    def _serve(self, waiters: Sequence[_Waiter]) -> None:
        """Generate for all who wait: the boundary at which any failure becomes the `SamplerError` of each of them."""
        try:
            results = self.generate([waiter.request for waiter in waiters])
        except Exception as error:  # noqa: BLE001 -- whoever waits must hear of it, whatever it is
            for waiter in waiters:
                if not waiter.future.done():
                    failure = SamplerError(f"generation failed: {type(error).__name__}: {error}")
                    failure.__cause__ = error
                    waiter.future.set_exception(failure)
            return
        for waiter, completions in zip(waiters, results, strict=True):
            if not waiter.future.done():
                waiter.future.set_result(completions)


def _order(request: SampleRequest) -> tuple[Any, ...]:
    """A key that equal requests share, so that their order in a batch says nothing of who came first."""
    params = request.params
    return (
        request.policy,
        len(request.prompt_ids),
        request.prompt_ids,
        request.seed,
        request.n,
        (params.temperature, params.max_tokens, params.stop),
    )
