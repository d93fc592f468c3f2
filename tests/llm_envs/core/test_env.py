"""The shell: ledger, turns, endings, seeds, invalid replies."""

import asyncio
import random
from typing import Any

import numpy as np
import pytest

from llm_envs.core.env import MAX_ACTION, TextAECEnv
from llm_envs.core.errors import UsageError
from llm_envs.core.wrapper import OrderEnforcing
from llm_envs.sandbox.base import Outcome, Program, SandboxError, Status
from tests.llm_envs.ladder import LadderTask, Rung, ladder


class Answers:
    """A sandbox that gives prepared outcomes, or fails."""

    name = "unsafe"
    guarantees: frozenset[str] = frozenset()

    def __init__(self, outcome: Outcome | None) -> None:
        self.outcome = outcome
        self.programs: list[Program] = []

    def run(self, programs: Any) -> list[Outcome]:
        self.programs += programs
        if self.outcome is None:
            raise SandboxError("the engine is gone")
        return [self.outcome for _ in programs]

    async def arun(self, programs: Any) -> list[Outcome]:
        await asyncio.sleep(0)
        return self.run(programs)

    def close(self) -> None:
        pass


def play_script(env: Any, replies: list[str]) -> dict[str, list[float]]:
    """What `last()` handed to each agent over an episode."""
    given: dict[str, list[float]] = {agent: [] for agent in env.possible_agents}
    queue = iter(replies)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        given[agent].append(reward)
        env.step(None if terminated or truncated else next(queue))
    return given


@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("wrapped", [False, True])
def test_last_hands_out_every_reward_exactly_once(alpha: float, wrapped: bool) -> None:
    """UC-007: +0.4 and -0.2 of the team, a fall of -0.1, then the rest of the way; summed by hand."""
    raw = ladder(alpha=alpha)
    env = OrderEnforcing(raw) if wrapped else raw
    env.reset(seed=0)
    given = play_script(env, ["1", "2", "1", "-1", "1", "4"])
    assert sum(given["climber_0"]) == pytest.approx(alpha * 1.0 - 0.1, abs=1e-9)
    assert sum(given["scout_0"]) == pytest.approx(alpha * 1.0 - 0.3, abs=1e-9)
    # A reward given while the other agent acts arrives once, at the agent's next turn.
    assert given["scout_0"] == pytest.approx(
        [0.0, -0.1 + alpha * 0.4, -0.1 - alpha * 0.2, -0.1 + alpha * 0.8], abs=1e-9
    )


def test_rewards_of_a_step_are_the_team_share_for_all_and_the_local_term_for_the_actor() -> None:
    env = ladder(alpha=0.5)
    env.reset(seed=0)
    env.step("7")
    assert env.rewards == {"scout_0": pytest.approx(-0.1), "climber_0": 0.0}
    env.step("2")
    assert env.rewards == {"scout_0": pytest.approx(0.2), "climber_0": pytest.approx(0.2)}
    assert env.infos["climber_0"] == {
        "role": "climber",
        "success": False,
        "invalid": None,
        "team_reward": pytest.approx(0.4),
        "local_reward": 0.0,
        "descent": 0.0,
        "rungs": 2,
    }


def test_every_agent_leaves_once_and_text_for_a_dead_agent_is_refused() -> None:
    """UC-005."""
    env = ladder(agents={"scout": 2, "climber": 3})
    env.reset(seed=0)
    for reply in ("0", "0", "5"):
        env.step(reply)
    assert all(env.terminations.values())
    left: list[str] = []
    for agent in env.agent_iter():
        with pytest.raises(UsageError, match=f"{agent} is dead"):
            env.step("x")
        env.step(None)
        left.append(agent)
    assert sorted(left) == sorted(env.possible_agents)
    assert env.agents == []
    with pytest.raises(UsageError, match="call reset"):
        env.step(None)


@pytest.mark.parametrize("action", [None, 3, b"up", ["up"]])
def test_anything_but_text_for_a_live_agent_is_refused(action: Any) -> None:
    env = ladder()
    env.reset(seed=0)
    before = env.snapshot
    with pytest.raises(UsageError, match="must be a str, since scout_0 is alive"):
        env.step(action)
    assert env.snapshot is before
    assert env.agent_selection == "scout_0"


def test_the_horizon_truncates_and_the_goal_terminates() -> None:
    env = ladder(max_cycles=2)
    env.reset(seed=0)
    for reply in ("0", "1", "0"):
        env.step(reply)
        assert not any(env.truncations.values())
    env.step("1")
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    assert env.cycle == 2
    env.reset(seed=0)
    for reply in ("0", "1", "0", "5"):
        env.step(reply)
    assert all(env.terminations.values())
    assert not any(env.truncations.values()), "solved in the last turn is not cut short"
    assert all(info["success"] for info in env.infos.values())


def test_an_invalid_reply_costs_the_format_penalty_changes_nothing_and_is_explained() -> None:
    env = ladder()
    env.reset(seed=0)
    before = env.snapshot
    env.step("seven")
    assert env.snapshot is before
    assert env.rewards == {"scout_0": -1.0, "climber_0": 0.0}
    assert env.infos["scout_0"]["invalid"] == "not a number"
    assert env.infos["scout_0"]["format"] == -1.0
    assert env.observe("scout_0").endswith("not a number")
    assert "not a number" not in env.observe("climber_0"), "the reason is the author's alone"
    env.step("1")
    env.step("1")
    assert "not a number" not in env.observe("scout_0"), "a valid reply clears it"


def test_an_invalid_reply_ends_the_episode_where_asked() -> None:
    env = ladder(on_invalid="terminate")
    env.reset(seed=0)
    env.step("seven")
    assert all(env.terminations.values())
    assert not any(info["success"] for info in env.infos.values())


def test_a_reply_longer_than_the_action_space_is_refused_unread() -> None:
    env = ladder()
    env.reset(seed=0)
    env.step("1" * (MAX_ACTION + 1))
    assert "at most" in env.infos["scout_0"]["invalid"]


def test_infos_that_were_given_out_do_not_change_later() -> None:
    env = ladder()
    env.reset(seed=0)
    env.step("0")
    held = env.infos["scout_0"]
    env.step("5")
    assert held["success"] is False
    assert env.infos["scout_0"]["success"] is True


def test_a_program_runs_in_the_sandbox_and_its_output_reaches_the_partner_in_the_same_cycle() -> None:
    """UC-020."""
    sandbox = Answers(Outcome(Status.OK, 0, "go up"))
    env = ladder(sandbox=sandbox)
    env.reset(seed=0)
    env.step("run print('go up')")
    assert [program.code for program in sandbox.programs] == ["print('go up')"]
    assert "Note: go up" in env.observe("climber_0")


@pytest.mark.parametrize("outcome", [None, Outcome(Status.LOST)])
def test_a_failing_sandbox_is_an_error_and_leaves_the_episode_as_it_was(outcome: Outcome | None) -> None:
    env = ladder(sandbox=Answers(outcome))
    env.reset(seed=0)
    before = (env.snapshot, dict(env.rewards), env.agent_selection, env.cycle)
    with pytest.raises(SandboxError):
        env.step("run 1")
    with pytest.raises(SandboxError):
        asyncio.run(env.astep("run 1"))
    assert (env.snapshot, env.rewards, env.agent_selection, env.cycle) == before
    env.sandbox = Answers(Outcome(Status.OK, 0, "better"))
    env.step("run 1")
    assert "better" in env.observe("climber_0")


def test_asynchronous_steps_equal_blocking_ones_and_do_not_mix() -> None:
    """UC-019: many episodes at once, one cancelled; each gets the rewards of its own replies."""

    async def episode(number: int) -> float:
        env = ladder(sandbox=Answers(Outcome(Status.OK, 0, str(number))))
        env.reset(options={"index": number})
        total = 0.0
        for _ in range(3):
            await env.astep(f"run {number}")
            await env.astep(str(number % 2))
            total += env.rewards["climber_0"]
        assert str(number) in env.state()
        return total

    async def all_of_them() -> list[Any]:
        tasks = [asyncio.create_task(episode(number)) for number in range(16)]
        await asyncio.sleep(0)
        tasks[5].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    totals = asyncio.run(all_of_them())
    assert isinstance(totals.pop(5), asyncio.CancelledError)
    assert totals == pytest.approx([0.2 * 3 * (number % 2) for number in range(16) if number != 5])


def names(env: TextAECEnv, resets: int) -> list[str]:
    found = []
    for _ in range(resets):
        env.reset()
        found.append(env.snapshot.name)
    return found


def test_a_seed_fixes_the_sequence_of_instances_and_nothing_else_does() -> None:
    """UC-010, UC-011."""
    first, second = ladder(), ladder()
    first.reset(seed=7)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    second.reset(seed=7)
    assert first.snapshot == second.snapshot
    assert names(first, 8) == names(second, 8)
    assert len(set(names(first, 64))) == 64
    other = ladder()
    other.reset(seed=8)
    assert not set(names(other, 64)) & set(names(first, 64)), "another seed is not the same sequence, shifted"


def test_resets_without_a_seed_differ_between_environments() -> None:
    assert names(ladder(), 4) != names(ladder(), 4)


def test_options_of_reset_choose_the_instance_and_unknown_keys_are_ignored() -> None:
    env = ladder(split="validation")
    env.reset(options={"index": np.int64(3), "something": 1})
    assert env.snapshot == Rung("ladder 3 of validation")
    assert (env.split, env.index) == ("validation", 3)
    env.reset(options={"split": "test", "index": 4})
    assert env.snapshot == Rung("ladder 4 of test")
    env.reset(options={"task": "my own"})
    assert env.snapshot == Rung("my own")
    assert env.index is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"split": "training"}, "Did you mean 'train'"),
        ({"index": -1}, "a whole number >= 0"),
        ({"index": 1.5}, "a whole number >= 0"),
        ({"index": True}, "a whole number >= 0"),
        ({"task": 3}, "must be the name of a ladder"),
    ],
)
def test_options_of_reset_with_wrong_values_are_refused_in_words(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ladder().reset(options=options)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("alpha", -1, "a finite number >= 0"),
        ("alpha", float("nan"), "a finite number >= 0"),
        ("max_cycles", 0, "a whole number >= 1"),
        ("max_cycles", 2.0, "a whole number >= 1"),
        ("on_invalid", "stop", "noop, terminate"),
        ("split", "valid", "Did you mean 'validation'"),
        ("render_mode", "rgb_array", "ansi, human"),
        ("sandbox", "lockd", "Did you mean 'locked'"),
        ("agents", {"walker": 1}, "climber, scout"),
        ("agents", {"scout": 0}, "a whole number >= 1"),
        ("agents", 2, "a mapping"),
        ("turn_order", ("scout",), "exactly once"),
        ("turn_order", ("scout", "scout"), "exactly once"),
        ("turn_order", ("scouts", "climber"), "Did you mean 'scout'"),
        ("turn_order", "scout", "a sequence of the roles"),
    ],
)
def test_options_of_the_shell_with_wrong_values_are_refused_in_words(option: str, value: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        ladder(**{option: value})
    assert option in str(caught.value)


@pytest.mark.parametrize("role", ["", "0", "Scout", "two_words", "all", "élan"])
def test_role_names_that_break_agent_names_are_refused(role: str) -> None:
    """UC-008: falsy or odd ids never reach PettingZoo."""

    class Odd(LadderTask):
        roles = (role, "climber")

    with pytest.raises(UsageError, match="role="):
        ladder(Odd())


def test_turn_order_and_counts_give_the_agents_in_the_order_they_act() -> None:
    env = ladder(agents={"scout": 2}, turn_order=("climber", "scout"))
    assert env.possible_agents == ["climber_0", "scout_0", "scout_1"]
    env.reset(seed=0)
    acted = []
    for _ in range(4):
        acted.append(env.agent_selection)
        env.step("0")
    assert acted == ["climber_0", "scout_0", "scout_1", "climber_0"]
    assert env.cycle == 1


def test_render_shows_the_state(capsys: pytest.CaptureFixture[str]) -> None:
    env = ladder(render_mode="ansi")
    env.reset(options={"index": 1})
    assert env.render() == "ladder 1 of train at rung 0, note "
    env = ladder(render_mode="human")
    env.reset(options={"index": 1})
    assert env.render() is None
    assert "ladder 1 of train" in capsys.readouterr().out
    env = ladder()
    env.reset()
    with pytest.raises(UsageError, match="render_mode=None"):
        env.render()
    env = ladder(render_mode="length", renderers={"length": lambda state: len(state.name)})
    env.reset(options={"index": 1})
    assert env.render() == len("ladder 1 of train")
