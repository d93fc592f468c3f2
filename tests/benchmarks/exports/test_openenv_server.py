"""`llm-envs serve`: episodes are those of the environment, sessions are apart, and roles hold what they promise."""

import asyncio
import json
import random
import threading
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import pytest

from llm_envs import code_v0, math_v0, plan_path_v0
from llm_envs.play import play
from llm_envs.players import ReferencePlayer
from llm_envs.sandbox.base import Outcome, Program
from tests.benchmarks import corridor
from tests.benchmarks.exports.replies import OTHER_REPLIES, REPLIES, reply_to
from tests.benchmarks.exports.served import INFRASTRUCTURE, Client, with_client
from tests.scale import scaled

EPISODES = scaled(fast=12, long=300)
SHORT = 3  # characters of a secret that a count or a reward may hold by chance
TRIES = ("nothing", "```python\nprint(input())\n```", r"\boxed{-7}", "<answer>5</answer>")
small_plan_path = partial(plan_path_v0.env, size=4, walls=0.0, min_path=2, max_cycles=3, roles="single")


class Policy:
    """The policy of comparisons."""

    name = "policy"

    def __init__(self, replies: Sequence[str] = REPLIES) -> None:
        self._replies = replies

    def act(self, env: object, agent: str, observation: str) -> str:
        return reply_to(observation, self._replies)


async def episode(client: Client, index: int) -> tuple[dict[str, float], bool, list[float]]:
    """Returns, success and rewards of an episode that the policy plays over HTTP."""
    answer = await client.reset(split="test", index=index)
    session_id, rewards = answer["metadata"]["session_id"], []
    while not answer["done"]:
        status, answer = await client.step(reply_to(answer["observation"]["text"]), session_id=session_id)
        assert status == 200
        rewards.append(answer["reward"])
    await client.ask("DELETE", f"/sessions/{session_id}")
    return answer["metadata"]["returns"], answer["metadata"]["success"], rewards


def test_episodes_over_http_are_those_of_the_environment_however_many_run_at_once() -> None:
    async def scenario(client: Client) -> list[Any]:
        return await asyncio.gather(*(episode(client, index) for index in range(EPISODES)))

    found = with_client(scenario, small_plan_path, max_sessions=EPISODES)

    def ours(replies: Sequence[str]) -> list[Any]:
        played = [play(small_plan_path(), {"all": Policy(replies)}, split="test", index=i) for i in range(EPISODES)]
        return [(dict(one.returns), one.success, [turn.reward for turn in one.turns]) for one in played]

    assert found == ours(REPLIES)
    assert {success for _, success, _ in found} == {True, False}
    assert found != ours(OTHER_REPLIES), "negative control"


def test_an_agents_token_acts_and_looks_and_does_nothing_else() -> None:
    async def scenario(client: Client) -> None:
        first, other = await client.reset(index=0), await client.reset(index=0)
        tokens, other_id = first["metadata"]["agents"], other["metadata"]["session_id"]
        scout, walker = tokens["scout_0"], tokens["walker_0"]

        refusals = [
            await client.ask("POST", "/reset", scout, {}),
            await client.ask("POST", "/reset", scout, {"session_id": other_id}),
            await client.ask("DELETE", f"/sessions/{first['metadata']['session_id']}", scout),
            await client.step("measure", scout, session_id=other_id),
            await client.state(scout, session_id=other_id),
            await client.step("step", scout, agent="walker_0"),
        ]
        assert [status for status, _ in refusals] == [403] * len(refusals)
        assert all(refusal["code"] == "FORBIDDEN" for _, refusal in refusals)
        async with client.connected(scout) as say:
            assert (await say("reset"))["data"]["code"] == "FORBIDDEN"
            assert (await say("state"))["data"]["step_count"] == 0, "nothing was reset or stepped"

        status, answer = await client.step("step", walker)
        assert (status, answer["code"]) == (409, "OUT_OF_TURN")
        assert "scout_0" in answer["detail"]
        status, answer = await client.step("measure", scout)
        assert status == 200
        assert answer["observation"]["text"].startswith("scout of corridor 0"), "an agent sees its own view"
        assert (answer["reward"], answer["observation"]["to_act"]) == (None, "walker_0")
        assert "metadata" not in answer
        status, answer = await client.state(walker)
        assert answer["observation"].startswith("walker of corridor 0")
        assert not {"success", "returns", "reward", "session_id"} & answer.keys()
        status, answer = await client.state(session_id=other_id)
        assert answer["step_count"] == 0, "the other session is as it was"
        status, answer = await client.step("step", session_id=first["metadata"]["session_id"])
        assert (status, answer["reward"]) == (200, pytest.approx(1 / 3 - 0.1)), "infrastructure acts and is told"

    with_client(scenario)


async def tries(client: Client, index: int, rng: random.Random) -> list[str]:
    """Every answer to an episode in which all look wherever they may, and agents act at random."""
    before = len(client.answers)
    async with client.connected() as say:
        told = (await say("reset", {"split": "test", "index": index, "episode_id": "e"}))["data"]["metadata"]
        tokens = told["agents"]
        while (acting := (await say("state"))["data"]["to_act"]) is not None:
            for token in tokens.values():
                await client.state(token)
            await client.step(rng.choice(TRIES), tokens[acting])
        for token in tokens.values():
            await client.state(token)
            await client.step("more", token)
    answers = "\n".join(client.answers[before:])
    for name in (told["session_id"], *tokens.values()):
        answers = answers.replace(name, "")  # chance may write anything into these
    return answers.splitlines()


def leaks(secrets: Iterable[str], answers: Iterable[str]) -> list[str]:
    """The answers that hold a secret, as JSON writes it."""
    return [answer for answer in answers for secret in secrets if json.dumps(secret)[1:-1] in answer]


@pytest.mark.parametrize("module", [code_v0, math_v0])
def test_no_answer_holds_what_is_hidden(module: Any) -> None:
    """UC-014: no answer over HTTP or WebSocket, to infrastructure or to agents, in any of many episodes."""
    make_env = partial(module.env, max_cycles=2, stop="budget")
    env, told = make_env(), 0

    async def scenario(client: Client) -> None:
        nonlocal told
        for index in range(scaled(fast=6, long=200)):
            env.reset(options={"split": "test", "index": index})
            hidden = env.unwrapped.task.secrets(env.unwrapped.snapshot)
            secrets = [text for text in hidden if len(text) > SHORT]
            told += len(secrets)
            answers = await tries(client, index, random.Random(index))
            assert len(answers) > 10
            assert leaks(secrets, answers) == []
            if secrets:
                assert leaks(secrets, [json.dumps({"text": secrets[0]})]), "negative control"

    with_client(scenario, make_env)
    assert told > 0


class Vault(corridor.CorridorTask):
    """Its full state and the infos of its steps hold what no observation does."""

    def text(self, state: corridor.State) -> str:
        return "the combination is 60221407607182"

    def apply(self, state: corridor.State, role: str, action: str, results: Any) -> Any:
        moved = super().apply(state, role, action, results)
        return type(moved)(moved.state, moved.penalties, {**moved.info, "gold": "60221407607182"})


def test_neither_the_full_state_nor_infos_are_told() -> None:
    from llm_envs.core.env import TextAECEnv

    def vault() -> TextAECEnv:
        return TextAECEnv(Vault(), name="vault_v0", sandbox=corridor.SANDBOX, max_cycles=3)

    async def scenario(client: Client) -> list[str]:
        answer = await client.reset(index=0)
        session_id, tokens = answer["metadata"]["session_id"], answer["metadata"]["agents"]
        for action in ("measure", "step", "measure", "step", "what?", "step"):
            await client.step(action, session_id=session_id)
            await client.state(session_id=session_id)
            for token in tokens.values():
                await client.state(token)
        for path in ("/health", "/metadata", "/schema"):
            await client.ask("GET", path, None)
        return client.answers

    answers = with_client(scenario, vault)
    assert len(answers) == 1 + 6 * 4 + 3
    assert not any("6022" in answer for answer in answers)
    env = vault()
    played = play(env, {"scout": ReferencePlayer("oracle"), "walker": ReferencePlayer("oracle")})
    assert "6022" in played.to_json(), "negative control: records hold it"


class GatedSandbox(corridor.PickySandbox):
    """Programs wait until the gate is open."""

    def __init__(self) -> None:
        super().__init__(lambda code: False)
        self.started = threading.Event()
        self.gate = threading.Event()

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        self.started.set()
        await asyncio.to_thread(self.gate.wait, 60)
        return self.run(programs)


def test_one_of_many_steps_at_once_counts_and_the_others_are_refused() -> None:
    """A second action was meant for the turn that the first one had."""
    sandbox = GatedSandbox()

    async def scenario(client: Client) -> None:
        session_id = (await client.reset(index=0))["metadata"]["session_id"]
        steps = [asyncio.create_task(client.step("measure", session_id=session_id)) for _ in range(6)]
        while sum(step.done() for step in steps) < 5:
            await asyncio.sleep(0.01)
        refused = [step.result() for step in steps if step.done()]
        assert [(status, answer["code"]) for status, answer in refused] == [(409, "BUSY")] * 5
        status, answer = await client.ask("POST", "/reset", body={"session_id": session_id})
        assert (status, answer["code"]) == (409, "BUSY"), "nor is an episode reset below a step"
        sandbox.gate.set()
        assert sorted(status for status, _ in await asyncio.gather(*steps)) == [200] + [409] * 5
        assert (await client.state(session_id=session_id))[1]["step_count"] == 1

    with_client(scenario, lambda: _with_sandbox(sandbox))


def _with_sandbox(sandbox: Any) -> Any:
    env = corridor.env()
    env.sandbox = sandbox
    return env


def test_a_program_that_runs_and_an_instance_that_is_made_hold_nobody_up() -> None:
    sandbox, making, made = GatedSandbox(), threading.Event(), threading.Event()

    class Slow(corridor.CorridorTask):
        def instance(self, split: Any, index: int) -> corridor.State:
            if index == 9:
                making.set()
                made.wait(60)
            return super().instance(split, index)

    def make_env() -> Any:
        env = _with_sandbox(sandbox)
        env.task = Slow()
        return env

    async def scenario(client: Client) -> None:
        first, second = [(await client.reset(index=0))["metadata"]["session_id"] for _ in range(2)]
        running = asyncio.create_task(client.step("measure", session_id=first))
        slow = asyncio.create_task(client.reset(index=9))
        await asyncio.to_thread(sandbox.started.wait, 60)
        await asyncio.to_thread(making.wait, 60)
        status, _ = await client.step("wait", session_id=second)
        assert status == 200
        assert not running.done()
        assert not slow.done()
        sandbox.gate.set()
        made.set()
        await asyncio.gather(running, slow)

    with_client(scenario, make_env)


def test_sessions_are_bounded_and_one_that_ends_makes_room() -> None:
    async def scenario(client: Client) -> None:
        answers = await asyncio.gather(*(client.ask("POST", "/reset", body={"index": 0}) for _ in range(5)))
        assert sorted(status for status, _ in answers) == [200, 200, 503, 503, 503]
        (refusal, *_) = [answer for status, answer in answers if status == 503]
        assert refusal["code"] == "CAPACITY_REACHED"
        assert "all 2 sessions" in refusal["detail"]
        async with client.connected() as say:
            assert (await say("reset"))["data"]["code"] == "CAPACITY_REACHED"
        session_id = next(answer["metadata"]["session_id"] for status, answer in answers if status == 200)
        assert (await client.ask("POST", "/reset", body={"session_id": session_id}))[0] == 200, "a reset needs no room"
        assert (await client.ask("DELETE", f"/sessions/{session_id}"))[0] == 200
        assert (await client.ask("POST", "/reset", body={"index": 0}))[0] == 200
        assert (await client.ask("POST", "/reset", body={"split": "no such"}))[0] == 503

    with_client(scenario, max_sessions=2)


def test_a_reset_that_is_refused_leaves_no_session_behind() -> None:
    async def scenario(client: Client) -> None:
        for _ in range(3):
            status, answer = await client.ask("POST", "/reset", body={"split": "no such"})
            assert (status, answer["code"]) == (422, "VALIDATION_ERROR")
            assert "train" in answer["detail"]
        await client.reset(index=0)

    with_client(scenario, max_sessions=1)


def test_unused_sessions_end_and_used_ones_do_not() -> None:
    async def scenario(client: Client) -> None:
        idle, used = [(await client.reset(index=0))["metadata"] for _ in range(2)]
        while True:
            status, answer = await client.state(used["agents"]["scout_0"])
            assert status == 200, "whoever asks now and then keeps the session"
            status, answer = await client.ask("POST", "/reset", body={"index": 0})
            if status == 200:
                break
            await asyncio.sleep(0.02)
        status, answer = await client.state(idle["agents"]["scout_0"])
        assert (status, answer["code"]) == (401, "UNAUTHORIZED")
        assert "without a request" in answer["detail"]
        status, answer = await client.state(session_id=idle["session_id"])
        assert (status, answer["code"]) == (404, "SESSION_ERROR")

    with_client(scenario, max_sessions=2, idle_s=3.0)


def test_a_connection_has_a_session_that_ends_with_it() -> None:
    async def scenario(client: Client) -> None:
        async with client.connected() as say:
            assert (await say("state"))["data"] == {"episode_id": None, "step_count": 0, "done": False, "to_act": None}
            assert (await say("step", {"text": "measure"}))["data"]["code"] == "NO_EPISODE"
            answer = (await say("reset", {"index": 0, "episode_id": "mine"}))["data"]
            token = answer["metadata"]["agents"]["scout_0"]
            assert (await client.step("measure", token))[0] == 200, "agents of it may come over HTTP"
            assert (await say("step", {"text": "step", "agent": "scout_0"}))["data"]["code"] == "OUT_OF_TURN"
            answer = await say("step", {"text": "step", "agent": "walker_0"})
            assert answer["type"] == "observation"
            told = (await say("state"))["data"]
            assert (told["episode_id"], told["step_count"], told["agents"]) == ("mine", 2, ["scout_0", "walker_0"])
            async with client.connected(token) as say_as_scout:
                assert (await say_as_scout("step", {"text": "measure"}))["type"] == "observation"
        while (await client.state(token))[0] == 200:
            await asyncio.sleep(0.01)
        await client.reset(index=0)

    with_client(scenario, max_sessions=1)


def test_who_is_silent_on_a_connection_for_too_long_loses_it() -> None:
    async def scenario(client: Client) -> None:
        async with client.connected() as say:
            await say("reset", {"index": 0})
            last = await say.socket.receive_json(timeout=60)
            assert (last["type"], last["data"]["code"]) == ("error", "SESSION_ERROR")
            assert (await say.socket.receive(timeout=60)).type.name in {"CLOSE", "CLOSED", "CLOSING"}

    with_client(scenario, idle_s=2.0)


def test_infrastructure_is_who_has_its_token() -> None:
    async def scenario(client: Client) -> None:
        for token in (None, "", "wrong", INFRASTRUCTURE + "x", INFRASTRUCTURE[:-1], "tök\u00e9n"):
            for method, path in (("POST", "/reset"), ("POST", "/step"), ("GET", "/state"), ("GET", "/ws")):
                status, answer = await client.ask(method, path, token, {})
                assert (status, answer["code"]) == (401, "UNAUTHORIZED"), (token, path)

    with_client(scenario)
