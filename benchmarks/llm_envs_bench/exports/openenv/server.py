"""The server: who asks, what for, and an answer in words whatever happens."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import WSMsgType, web

import llm_envs
from llm_envs.players import Env
from llm_envs_bench.exports.openenv import messages
from llm_envs_bench.exports.openenv.refusal import STATUS, Code, Refusal
from llm_envs_bench.exports.openenv.session import Session
from llm_envs_bench.exports.openenv.sessions import Caller, Sessions

_logger = logging.getLogger(__name__)
_BEARER = "Bearer "
_INTERNAL = "the server failed; its log says why."
LONGEST_MESSAGE = 1 << 20  # bytes; the longest action, every character escaped, fits in

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class About:
    """What the server says of its environment."""

    name: str
    description: str


class OpenEnvServer:
    """Serves one environment to many sessions on one event loop."""

    def __init__(
        self, make_env: Callable[[], Env], about: About, token: str, *, max_sessions: int, idle_s: float
    ) -> None:
        """See `Sessions`."""
        self._about = about
        self._sessions = Sessions(make_env, token, most=max_sessions, idle_s=idle_s)
        self._connected: set[web.WebSocketResponse] = set()

    def application(self) -> web.Application:
        """What an `aiohttp.web.AppRunner` runs."""
        app = web.Application(middlewares=[_in_words], client_max_size=LONGEST_MESSAGE)
        app.router.add_get("/health", self._health)
        app.router.add_get("/metadata", self._metadata)
        app.router.add_get("/schema", self._schema)
        app.router.add_post("/reset", self._reset)
        app.router.add_post("/step", self._step)
        app.router.add_get("/state", self._state)
        app.router.add_delete("/sessions/{session_id}", self._end)
        app.router.add_get("/ws", self._connect)
        app.cleanup_ctx.append(self._watch)
        app.on_shutdown.append(self._disconnect)
        return app

    # ---- for anybody

    async def _health(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"status": "healthy"})

    async def _metadata(self, request: web.Request) -> web.StreamResponse:
        about = {"name": self._about.name, "description": self._about.description}
        return web.json_response(about | {"version": llm_envs.__version__})

    async def _schema(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(messages.schema())

    # ---- over HTTP

    async def _reset(self, request: web.Request) -> web.StreamResponse:
        caller = self._caller(request)
        caller.require_infrastructure("reset")
        asked = messages.read_reset(messages.read_json(await request.read() or b"{}"))
        if asked.session_id is not None:
            return web.json_response(await _reset(self._sessions.find(asked.session_id), asked, caller))
        session = await self._sessions.open()
        with contextlib.ExitStack() as undo:
            undo.callback(self._sessions.end, session)  # one that nobody was told of would stay until it is idle
            answer = await _reset(session, asked, caller)
            undo.pop_all()
        return web.json_response(answer)

    async def _step(self, request: web.Request) -> web.StreamResponse:
        caller = self._caller(request)
        action, session_id = messages.read_step(messages.read_json(await request.read()))
        return web.json_response(await _step(self._session_of(caller, session_id), action, caller))

    async def _state(self, request: web.Request) -> web.StreamResponse:
        caller = self._caller(request)
        session = self._session_of(caller, request.query.get("session_id"))
        return web.json_response(messages.state(session, caller))

    async def _end(self, request: web.Request) -> web.StreamResponse:
        caller = self._caller(request)
        caller.require_infrastructure("end a session")
        self._sessions.end(self._sessions.find(request.match_info["session_id"]))
        return web.json_response({"ended": request.match_info["session_id"]})

    def _session_of(self, caller: Caller, session_id: str | None) -> Session:
        """The session that is meant; an agent's is its own."""
        if caller.session is None:
            if session_id is None:
                raise Refusal(Code.VALIDATION_ERROR, "session_id: infrastructure must name the session; reset told it.")
            return self._sessions.find(session_id)
        if session_id not in {None, caller.session.id}:
            raise Refusal(Code.FORBIDDEN, "an agent's token is good for its own session only; leave session_id out.")
        return caller.session

    # ---- over WebSocket

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        """OpenEnv's clients stay connected; infrastructure's session lives as long as the connection."""
        caller = self._caller(request)
        socket = web.WebSocketResponse(max_msg_size=LONGEST_MESSAGE, heartbeat=30)
        await socket.prepare(request)
        self._connected.add(socket)
        try:
            async with self._joined(caller, request.query.get("session_id")) as session:
                await self._converse(socket, session, caller)
        except Refusal as refusal:
            await _send(socket, _error_frame(refusal))
        except Exception:  # the boundary of a connection: a defect's details are for the log
            _logger.exception("a connection could not be served")
            await _send(socket, _error_frame(Refusal(Code.FACTORY_ERROR, _INTERNAL)))
        finally:
            self._connected.discard(socket)
            await socket.close()
        return socket

    @contextlib.asynccontextmanager
    async def _joined(self, caller: Caller, session_id: str | None) -> AsyncIterator[Session]:
        """The session of a connection: a new one for infrastructure, unless it names one."""
        if caller.session is not None or session_id is not None:
            yield self._session_of(caller, session_id)
            return
        session = await self._sessions.open()
        try:
            yield session
        finally:
            self._sessions.end(session)

    async def _converse(self, socket: web.WebSocketResponse, session: Session, caller: Caller) -> None:
        """Answer one message after the other until the client goes, or says nothing for too long."""
        while True:
            try:
                frame = await socket.receive(timeout=self._sessions.idle_s)
            except TimeoutError:
                if self._sessions.is_idle(session):
                    raise Refusal(
                        Code.SESSION_ERROR, f"unused for {self._sessions.idle_s:g} s; connect again."
                    ) from None
                continue  # its agents act over connections of their own
            if frame.type in {WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR}:
                return
            self._sessions.find(session.id)  # it may have ended meanwhile
            try:
                answer = await _answer(frame.data if frame.type is WSMsgType.TEXT else b"", session, caller)
            except Refusal as refusal:
                answer = _error_frame(refusal)
            except Exception:  # the boundary of a message: a defect's details are for the log
                _logger.exception("session %s: a message could not be answered", session.id)
                answer = _error_frame(Refusal(Code.EXECUTION_ERROR, _INTERNAL))
            if answer is None:
                return
            await _send(socket, answer)

    # ---- all along

    def _caller(self, request: web.Request) -> Caller:
        header = request.headers.get("Authorization", "")
        return self._sessions.caller(header[len(_BEARER) :] if header.startswith(_BEARER) else "")

    async def _watch(self, app: web.Application) -> AsyncIterator[None]:
        watch = asyncio.create_task(self._sessions.end_idle_ones())
        yield
        watch.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watch
        self._sessions.end_all()

    async def _disconnect(self, app: web.Application) -> None:
        await asyncio.gather(*(socket.close(code=1001, message=b"the server ends") for socket in self._connected))


async def _reset(session: Session, asked: messages.ResetRequest, caller: Caller) -> dict[str, Any]:
    position = await session.reset(asked.episode_id, asked.seed, asked.options)
    return messages.observation(session, position, caller, fresh=True)


async def _step(session: Session, action: messages.Action, caller: Caller) -> dict[str, Any]:
    if caller.agent is not None and action.agent not in {None, caller.agent}:
        raise Refusal(Code.FORBIDDEN, f"this token acts for {caller.agent} only; leave the agent out.")
    position = await session.step(action.text, caller.agent or action.agent)
    return messages.observation(session, position, caller)


async def _answer(text: str | bytes, session: Session, caller: Caller) -> dict[str, Any] | None:
    """The answer to one message over WebSocket; None where it asks to close."""
    message = messages.read_json(text)
    kind, data = message.get("type"), message.get("data")
    if kind == "close":
        return None
    if kind == "state":
        return {"type": "state", "data": messages.state(session, caller)}
    if kind == "step":
        return {"type": "observation", "data": await _step(session, messages.read_action(data), caller)}
    if kind == "reset":
        caller.require_infrastructure("reset")
        asked = messages.read_reset({} if data is None else messages.as_object("data", data))
        if asked.session_id not in {None, session.id}:
            raise Refusal(Code.VALIDATION_ERROR, "session_id: a connection has one session; leave it out.")
        return {"type": "observation", "data": await _reset(session, asked, caller)}
    raise Refusal(Code.UNKNOWN_TYPE, f"type={str(kind)[:40]!r}: must be one of close, reset, state, step.")


async def _send(socket: web.WebSocketResponse, answer: dict[str, Any]) -> None:
    """Tell a client that may have gone meanwhile."""
    with contextlib.suppress(ConnectionError):
        await socket.send_json(answer)


def _error_frame(refusal: Refusal) -> dict[str, Any]:
    return {"type": "error", "data": {"message": refusal.message, "code": refusal.code}}


@web.middleware
async def _in_words(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The boundary of the server: a client gets words and a code, never a traceback."""
    try:
        return await handler(request)
    except Refusal as refusal:
        return _error(STATUS[refusal.code], refusal.code, refusal.message)
    except web.HTTPRequestEntityTooLarge:
        return _error(413, Code.VALIDATION_ERROR, f"the message has more than {LONGEST_MESSAGE:,} bytes.")
    except web.HTTPException as error:
        code = Code.NOT_FOUND if error.status == 404 else Code.VALIDATION_ERROR
        return _error(error.status, code, f"{request.method} {request.path}: {error.reason}.")
    except Exception:  # the boundary of a request: a defect's details are for the log
        _logger.exception("%s %s could not be answered", request.method, request.path)
        return _error(500, Code.EXECUTION_ERROR, _INTERNAL)


def _error(status: int, code: Code, words: str) -> web.StreamResponse:
    return web.json_response({"detail": words, "code": code}, status=status)


async def start(app: web.Application, host: str, port: int) -> tuple[web.AppRunner, int]:
    """Listen.

    Args:
        app: what to serve.
        host, port: where; port 0 takes a free one.

    Returns:
        What `cleanup` ends, and the port.

    Raises:
        OSError: the port is taken, or the host is none of this machine's.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    try:
        await site.start()
    except OSError:
        await runner.cleanup()
        raise
    return runner, int(runner.addresses[0][1])
