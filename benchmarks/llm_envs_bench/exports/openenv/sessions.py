"""All sessions of a server: how many, whose a token is, and when they end."""

import asyncio
import hmac
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from llm_envs.core.errors import UsageError
from llm_envs.players import Env
from llm_envs_bench.exports.openenv.refusal import Code, Refusal
from llm_envs_bench.exports.openenv.session import Session

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    Attributes:
        session: an agent's own; None for infrastructure.
        agent: None for infrastructure.
    """

    session: Session | None = None
    agent: str | None = None

    @property
    def is_infrastructure(self) -> bool:
        return self.agent is None

    def require_infrastructure(self, what: str) -> None:
        """`Refusal` for an agent."""
        if not self.is_infrastructure:
            raise Refusal(Code.FORBIDDEN, f"an agent may act and look, but not {what}; that is for infrastructure.")


class Sessions:
    """Opens, finds and ends sessions."""

    def __init__(self, make_env: Callable[[], Env], token: str, *, most: int, idle_s: float) -> None:
        """Nothing is open yet.

        Args:
            make_env: makes an environment; called off the event loop.
            token: infrastructure's.
            most: sessions at once.
            idle_s: seconds after which one that nobody asked anything of ends.

        Raises:
            UsageError: an empty token, which whoever sends none would have.
        """
        if not token:
            raise UsageError("token='': must not be empty, since whoever sends none would be infrastructure.")
        self._make_env = make_env
        self._token = token.encode(errors="surrogateescape")  # headers and variables may hold any bytes
        self._most = most
        self.idle_s = idle_s
        self._sessions: dict[str, Session] = {}
        self._agents: dict[str, Caller] = {}  # token -> whose it is
        self._opening = 0

    def __len__(self) -> int:
        return len(self._sessions) + self._opening

    def caller(self, token: str) -> Caller:
        """Whose token it is; `Refusal` for nobody's."""
        if hmac.compare_digest(token.encode(errors="surrogateescape"), self._token):
            return Caller()
        caller = self._agents.get(token)
        if caller is None or caller.session is None:
            raise Refusal(
                Code.UNAUTHORIZED,
                "needs the header 'Authorization: Bearer TOKEN', the token infrastructure's or that of an agent in a "
                f"session. Sessions end when asked to, or after {self.idle_s:g} s without a request.",
            )
        caller.session.used = time.monotonic()
        return caller

    def find(self, session_id: str) -> Session:
        """A session by its id; `Refusal` where there is none."""
        session = self._sessions.get(session_id)
        if session is None:
            raise Refusal(
                Code.SESSION_ERROR,
                f"no such session; it never was, was ended, or had no request for {self.idle_s:g} s. Reset without a "
                "session_id opens one.",
            )
        session.used = time.monotonic()
        return session

    async def open(self) -> Session:
        """A new session; `Refusal` where there are as many as there may be."""
        if len(self) >= self._most:
            raise Refusal(
                Code.CAPACITY_REACHED,
                f"all {self._most} sessions are in use: end one (DELETE /sessions/ID), reset one by its session_id, or "
                f"wait: each ends after {self.idle_s:g} s without a request.",
            )
        self._opening += 1
        try:
            session = Session(await asyncio.to_thread(self._make_env))
        finally:
            self._opening -= 1
        self._sessions[session.id] = session
        self._agents |= {token: Caller(session, agent) for agent, token in session.tokens.items()}
        return session

    def end(self, session: Session) -> None:
        """Forget a session and its tokens; one that has ended already is no error.

        The boundary to environments that can't be closed: theirs are over like any other, and the log says why.
        """
        if self._sessions.pop(session.id, None) is None:
            return
        for token in session.tokens.values():
            del self._agents[token]
        try:
            session.close()
        except Exception:  # this boundary; else the watch would end with it, and no idle session would end
            _logger.exception("session %s: its environment could not be closed", session.id)

    def end_all(self) -> None:
        """Forget them all."""
        for session in list(self._sessions.values()):
            self.end(session)

    def is_idle(self, session: Session) -> bool:
        """Whether nobody uses it any more."""
        return not session.busy and time.monotonic() - session.used >= self.idle_s

    async def end_idle_ones(self) -> None:
        """Watch, until cancelled, for sessions that nobody uses any more."""
        while True:
            await asyncio.sleep(self.idle_s / 4)
            for session in list(self._sessions.values()):
                if self.is_idle(session):
                    self.end(session)
