"""When programs are run, when not, and what follows where that fails."""

import asyncio
from typing import Any

import pytest

from llm_envs import code_v0
from llm_envs.code.problem import Case
from llm_envs.sandbox.base import Outcome, SandboxError, Status
from tests.llm_envs.code.problems import SUM_STDIO
from tests.llm_envs.code.scenes import (
    REFERENCE,
    REPEATED,
    block,
    cases,
    coder_first,
    game,
)


class Ends:
    """A sandbox in which programs end as they are told, by how often they were run."""

    name = "unsafe"
    guarantees: frozenset[str] = frozenset()

    def __init__(self, *statuses: Status) -> None:
        self.ran = 0
        self._statuses = statuses

    def run(self, programs: Any) -> list[Outcome]:
        first, self.ran = self.ran, self.ran + len(programs)
        return [Outcome(self._statuses[min(place, len(self._statuses) - 1)]) for place in range(first, self.ran)]


def test_a_program_that_ends_at_a_limit_on_every_visible_test_is_run_no_more() -> None:
    """UC-073: two visible tests, four hidden ones, one case."""
    runs = {}
    for name, statuses in {
        "limits": (Status.TIMEOUT, Status.MEMORY),
        "one limit": (Status.TIMEOUT, Status.OK, Status.TIMEOUT),
        "errors": (Status.ERROR,),
    }.items():
        sandbox = Ends(*statuses)
        env = game(Forbidden(), max_cycles=9)  # type: ignore[arg-type]
        env.snapshot = env.snapshot._replace(cases=(Case("4 4\n", "8\n"),))
        env.step("no case")
        env.sandbox = sandbox  # type: ignore[assignment]
        env.step(block("..."))
        runs[name] = sandbox.ran
        assert env.infos["coder_0"]["passed_hidden"] == 0
        assert len(env.snapshot.on_cases) == 1
    assert runs == {"limits": 2, "one limit": 7, "errors": 7}


class Fails:
    """A sandbox that is down, or loses programs."""

    name = "unsafe"
    guarantees: frozenset[str] = frozenset()

    def __init__(self, *, loses: bool) -> None:
        self._loses = loses

    def run(self, programs: Any) -> list[Outcome]:
        if self._loses:
            return [Outcome(Status.LOST) for _ in programs]
        raise SandboxError("down")

    async def arun(self, programs: Any) -> list[Outcome]:
        return self.run(programs)


@pytest.mark.parametrize("loses", [True, False])
def test_a_sandbox_that_fails_leaves_the_episode_as_it_was(loses: bool) -> None:
    """UC-098."""
    for env in (game(Fails(loses=loses)), coder_first(Fails(loses=loses))):  # type: ignore[arg-type]
        before = env.snapshot
        for _ in range(2):
            with pytest.raises(SandboxError):
                env.step(f"{block(REFERENCE)}\n{cases(REPEATED)}")
            with pytest.raises(SandboxError):
                asyncio.run(env.astep(f"{block(REFERENCE)}\n{cases(REPEATED)}"))
        assert env.snapshot is before
        assert set(env.rewards.values()) == {0.0}


class Forbidden:
    """A sandbox that nobody may use."""

    name = "unsafe"

    def run(self, programs: Any) -> None:
        raise AssertionError(f"a program was run: {programs}")


@pytest.mark.parametrize("roles", ["team", "single"])
def test_noise_starts_no_program(roles: str) -> None:
    """UC-004: 500 samples of the action space, each an invalid reply."""
    env = code_v0.raw_env(roles=roles, sandbox=Forbidden(), max_cycles=500)  # type: ignore[arg-type]
    env.reset(options={"task": SUM_STDIO})
    for agent in env.possible_agents:
        env.action_space(agent).seed(0)
    for _ in range(500):
        agent = env.agent_selection
        env.step(env.action_space(agent).sample())
        assert env.infos[agent]["invalid"]
        assert env.rewards[agent] == -1.0
