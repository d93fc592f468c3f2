"""Work that runs at once and ends together: as tasks of one event loop, or as an event loop beside the caller."""

import asyncio
import concurrent.futures
import gc
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")

ALIVE_S = 1.0  # between two looks at whether a loop still runs
CLOSE_S = 60.0  # how long a cancelled loop may take: steps that run in threads can't be cancelled, only waited for


async def together(*work: Coroutine[Any, Any, T]) -> list[T]:
    """The results, in order. Where one fails or the caller is cancelled, the others are cancelled and waited for:
    `asyncio.gather` would leave them running.

    Raises:
        BaseException: the first failure, as it is.
    """
    failure: BaseException | None = None
    tasks: list[asyncio.Task[T]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as failures:
        failure = failures.exceptions[0]
    if failure is not None:
        raise failure  # out here, so that its own cause stays what it is
    return [task.result() for task in tasks]


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Python looks for cycles of garbage every 200,000 new objects inside, instead of every 700: what thousands of
    episodes in flight hold is no garbage, and looking it over again and again costs as much as playing them.
    """
    before = gc.get_threshold()
    gc.set_threshold(200_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Background:
    """A coroutine on an event loop and a thread of its own. It must tell of its failures by itself."""

    def __init__(self, main: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Start it."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(main,), name=name, daemon=True)
        self._thread.start()
        self._started.wait()

    def _run(self, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        asyncio.run(self._cancellable(main))

    async def _cancellable(self, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.create_task(main())
        self._started.set()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.exception()  # told by then; asyncio would log it as forgotten

    def call(self, function: Callable[..., object], *arguments: Any) -> None:
        """Have the event loop call a function soon; nothing happens where it has ended by itself."""
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(function, *arguments)

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of another coroutine on the same event loop, for what can't serve two loops at once; where the
        loop has ended by itself, on one of its own.
        """
        future = self._submit(work())
        while future is not None and self._thread.is_alive() and not future.done():
            concurrent.futures.wait([future], ALIVE_S)
        if future is None or not future.done() or future.cancelled():
            return asyncio.run(work())
        return future.result()

    def _submit(self, coroutine: Coroutine[Any, Any, T]) -> "concurrent.futures.Future[T] | None":
        try:
            if self._loop is not None:
                return asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:  # the loop has ended by itself
            pass
        coroutine.close()
        return None

    def close(self) -> None:
        """Cancel what still runs, and wait until nothing does.

        Raises:
            TimeoutError: a step in a thread does not end.
        """
        if self._task is not None:
            self.call(self._task.cancel)
        self._thread.join(CLOSE_S)
        if self._thread.is_alive():
            raise TimeoutError(f"{self._thread.name}: a step that blocks did not end within {CLOSE_S:g} s")
