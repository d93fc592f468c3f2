"""Programs of one iteration are shared."""

import asyncio

import pytest

from at_grpo.rollouts.programs import SharedRuns
from llm_envs.sandbox.base import Program, SandboxError
from tests.trainer.toy_env import EchoSandbox


def test_equal_programs_run_once_and_what_is_asked_together_leaves_together() -> None:
    echo = EchoSandbox()
    runs = SharedRuns(echo)

    async def ask() -> list[str]:
        outcomes = await asyncio.gather(*(runs.arun((Program(code),)) for code in ("1", "2", "1", "1")))
        again = await runs.arun((Program("2"), Program("3")))
        return [outcome.stdout for (outcome,) in outcomes] + [outcome.stdout for outcome in again]

    assert asyncio.run(ask()) == ["1", "2", "1", "1", "2", "3"]
    assert echo.batches == [["1", "2"], ["3"]]
    assert (runs.asked, runs.ran) == (6, 3)


def test_programs_that_differ_in_a_limit_or_an_input_are_not_shared() -> None:
    echo = EchoSandbox()
    runs = SharedRuns(echo)
    asyncio.run(runs.arun((Program("1"), Program("1", stdin="x"), Program("1", cpu_s=1.0))))
    assert runs.ran == 3


def test_a_failed_run_fails_for_everyone_who_shares_it_and_may_be_asked_again() -> None:
    runs = SharedRuns(EchoSandbox())

    async def ask() -> list[object]:
        first = await asyncio.gather(*(runs.arun((Program("lost"),)) for _ in range(2)), return_exceptions=True)
        with pytest.raises(SandboxError):
            await runs.arun((Program("lost"),))
        return first

    assert all(isinstance(result, SandboxError) for result in asyncio.run(ask()))


def test_one_asker_that_is_cancelled_does_not_take_the_run_from_the_others() -> None:
    runs = SharedRuns(EchoSandbox())

    async def ask() -> str:
        first = asyncio.ensure_future(runs.arun((Program("7"),)))
        second = asyncio.ensure_future(runs.arun((Program("7"),)))
        await asyncio.sleep(0)
        first.cancel()
        return (await second)[0].stdout

    assert asyncio.run(ask()) == "7"
