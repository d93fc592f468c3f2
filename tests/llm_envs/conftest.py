"""What the tests of the environments share."""

from collections.abc import Iterator, Sequence

import pytest

from llm_envs.sandbox import get_sandbox
from llm_envs.sandbox.base import Outcome, Program, Sandbox, SandboxError


class OnceEach:
    """A sandbox that runs equal programs once: reference players repeat a few, and the tests wait for each."""

    def __init__(self, inner: Sandbox) -> None:
        self.name = inner.name
        self.guarantees = inner.guarantees
        self._inner = inner
        self._outcomes: dict[Program, Outcome] = {}

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        new = [program for program in dict.fromkeys(programs) if program not in self._outcomes]
        self._outcomes |= dict(zip(new, self._inner.run(new), strict=True))
        return [self._outcomes[program] for program in programs]

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        new = [program for program in dict.fromkeys(programs) if program not in self._outcomes]
        self._outcomes |= dict(zip(new, await self._inner.arun(new), strict=True))
        return [self._outcomes[program] for program in programs]

    def close(self) -> None:
        self._inner.close()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The embedded cage, or plain processes on a machine that has not what it needs."""
    try:
        inner = get_sandbox("locked")
        inner.run([Program("pass")])
    except SandboxError:
        inner = get_sandbox("unsafe")
    yield OnceEach(inner)
    inner.close()
