"""A real HTTP server on a thread of its own, whose answers a test writes."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextmanager
def serving(handler: Handler, port: int = 0) -> Iterator[str]:
    """The server's URL, for as long as the context is open; at any free port, if none is named."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    urls: list[str] = []

    async def start() -> web.AppRunner:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        urls.append(f"http://127.0.0.1:{runner.addresses[0][1]}")
        ready.set()
        return runner

    def serve() -> None:
        runner = loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    ready.wait(30)
    try:
        yield urls[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
