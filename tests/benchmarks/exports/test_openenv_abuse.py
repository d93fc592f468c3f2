"""What the server does with clients that are wrong, hostile or gone: words, a code, and nothing of its inside."""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.env import MAX_ACTION, TextAECEnv
from llm_envs.core.errors import UsageError
from llm_envs_bench.exports.openenv.messages import read_json, read_reset, read_step
from llm_envs_bench.exports.openenv.refusal import STATUS, Code, Refusal
from llm_envs_bench.exports.openenv.server import About, OpenEnvServer
from tests.benchmarks import corridor
from tests.benchmarks.exports.served import INFRASTRUCTURE, Client, with_client
from tests.scale import scaled

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["seed", "episode_id", "session_id", "split", "index", "action", "text", "agent", "metadata"])
ALMOST = st.dictionaries(FIELDS, JSON | st.dictionaries(FIELDS, JSON, max_size=3), max_size=4)
INSIDE = ("Traceback", "site-packages", ".py", "Error:")

NO_JSON = [
    b"",
    b"{",
    b"nothing",
    b"\xff\xfe",
    b"[1]",
    b"null",
    b'"text"',
    b"1" * 5000,
    b"[" * 200_000,
    b'{"a":' * 50_000,
]
WRONG_STEPS: list[dict[str, Any]] = [
    {},
    {"action": None},
    {"action": "up"},
    {"action": {}},
    {"action": {"text": 3}},
    {"action": {"text": None}},
    {"action": {"text": "up", "agent": 3}},
    {"action": {"text": "up", "move": "up"}},
    {"action": {"text": "up"}, "session_id": 3},
    {"action": {"text": "up"}, "session_id": ""},
    {"action": {"text": "up"}, "timeout_s": 3},
    {"text": "up"},
]
WRONG_RESETS: list[dict[str, Any]] = [
    {"seed": -1},
    {"seed": "one"},
    {"seed": True},
    {"seed": 1.5},
    {"index": -1},
    {"index": [0]},
    {"split": "tset"},
    {"split": 3},
    {"episode_id": "x" * 256},
    {"episode_id": ""},
    {"task": {"gold": 1}},
    {"sed": 1},
]


def in_words(answer: dict[str, Any]) -> bool:
    """Whether an error explains itself and tells nothing of the inside."""
    return bool(answer["detail"]) and answer["code"] in set(Code) and not any(part in str(answer) for part in INSIDE)


def test_what_is_no_json_is_refused_in_words() -> None:
    async def scenario(client: Client) -> None:
        for body in NO_JSON:
            for path in ("/reset", "/step"):
                status, answer = await client.ask("POST", path, body=body)
                if path == "/reset" and not body:
                    assert status == 200, "an empty body asks for nothing in particular"
                else:
                    assert (status, answer["code"]) == (400, "INVALID_JSON"), body[:20]
                    assert answer["detail"].startswith("the message must be"), answer

    with_client(scenario)


def test_fields_with_other_values_than_allowed_are_named() -> None:
    async def scenario(client: Client) -> None:
        session_id = (await client.reset(index=0))["metadata"]["session_id"]
        for body in WRONG_STEPS:
            status, answer = await client.ask("POST", "/step", body={"session_id": session_id} | body)
            assert (status, in_words(answer)) == (422, True), (body, answer)
        for body in WRONG_RESETS:
            status, answer = await client.ask("POST", "/reset", body={"session_id": session_id} | body)
            assert (status, in_words(answer)) == (422, True), (body, answer)
            assert len(answer["detail"]) <= 1000
        status, answer = await client.ask("POST", "/step", body={"action": {"text": "up"}})
        assert (status, "session_id" in answer["detail"]) == (422, True)
        assert (await client.state(session_id=session_id))[1]["step_count"] == 0
        assert (await client.step("measure", session_id=session_id))[0] == 200, "the session is as good as before"

    with_client(scenario)


@given(ALMOST)
def test_any_object_is_a_request_or_is_refused(data: dict[str, Any]) -> None:
    for read in (read_reset, read_step):
        assert outcome(read, json.dumps(data)) in {None, 422}


def outcome(read: Callable[[dict[str, Any]], object], text: str) -> int | None:
    """The status of what a message is refused with, or None."""
    try:
        read(read_json(text))
    except Refusal as refusal:
        return STATUS[refusal.code]
    return None


def test_numbers_as_large_as_json_has_them_are_seeds_and_indices() -> None:
    async def scenario(client: Client) -> None:
        for number in (0, 2**31, 2**63, 10**400):
            assert (await client.reset(seed=number))["done"] is False
            assert (await client.reset(index=number, split="test"))["done"] is False

    with_client(scenario)


def test_any_text_is_an_action() -> None:
    """UC-015: lone surrogates, null characters, and the longest text that is read."""

    async def scenario(client: Client) -> None:
        session_id = (await client.reset(index=0))["metadata"]["session_id"]
        for text in ("", "\x00", "\ud800", "𝄞" * MAX_ACTION, "x" * (MAX_ACTION + 1), "</answer>"):
            status, answer = await client.step(text, session_id=session_id)
            assert status == 200
            assert answer["metadata"]["invalid"]

    with_client(scenario)


def test_a_huge_message_is_refused_and_the_next_one_answered() -> None:
    async def scenario(client: Client) -> None:
        huge = json.dumps({"action": {"text": "x" * (2 << 20)}}).encode()
        for path in ("/step", "/reset"):
            status, answer = await client.ask("POST", path, body=huge)
            assert (status, in_words(answer)) == (413, True)
        async with client.connected() as say:
            await say.socket.send_str(huge.decode())
            assert (await say.socket.receive(timeout=60)).type.name in {"CLOSE", "CLOSED", "CLOSING"}
        await client.reset(index=0)

    with_client(scenario, max_sessions=1)


def test_unknown_places_and_sessions_are_refused_in_words() -> None:
    async def scenario(client: Client) -> None:
        for method, path, expected in (
            ("GET", "/", 404),
            ("GET", "/reset", 405),
            ("POST", "/state", 405),
            ("GET", "/../etc/passwd", 404),
            ("DELETE", "/sessions/none", 404),
            ("GET", "/state?session_id=none", 404),
            ("GET", "/ws", 400),
        ):
            status, answer = await client.ask(method, path)
            assert (status, in_words(answer)) == (expected, True), (path, answer)
        status, answer = await client.step("up", session_id="none")
        assert (status, answer["code"]) == (404, "SESSION_ERROR")
        status, answer = await client.ask("POST", "/reset", body={"session_id": "none"})
        assert (status, answer["code"]) == (404, "SESSION_ERROR")

    with_client(scenario)


def test_a_step_after_the_end_is_refused_until_a_reset() -> None:
    async def scenario(client: Client) -> None:
        answer = await client.reset(index=0)
        session_id, tokens = answer["metadata"]["session_id"], answer["metadata"]["agents"]
        while not answer["done"]:
            _, answer = await client.step(
                "step" if answer["observation"]["role"] == "walker" else "measure", session_id=session_id
            )
        assert answer["metadata"]["success"]
        returns = answer["metadata"]["returns"]
        for token, named in ((INFRASTRUCTURE, session_id), (tokens["scout_0"], None), (tokens["walker_0"], None)):
            status, refused = await client.step("step", token, session_id=named)
            assert (status, refused["code"]) == (409, "NO_EPISODE")
            assert "the episode is over" in refused["detail"]
        assert (await client.state(session_id=session_id))[1]["returns"] == returns
        again = await client.reset(session_id=session_id, index=1)
        assert again["metadata"]["agents"] == tokens, "the agents go on with their tokens"
        assert (await client.step("measure", tokens["scout_0"]))[0] == 200

    with_client(scenario)


def test_what_is_no_message_of_a_connection_is_refused_and_the_next_one_answered() -> None:
    async def scenario(client: Client) -> None:
        async with client.connected() as say:
            await say("reset", {"index": 0})
            for kind, data, code in (
                ("mcp", {}, "UNKNOWN_TYPE"),
                (None, {}, "UNKNOWN_TYPE"),
                (["reset"], {}, "UNKNOWN_TYPE"),
                ("step", None, "VALIDATION_ERROR"),
                ("step", {"action": {"text": "measure"}}, "VALIDATION_ERROR"),
                ("reset", [], "VALIDATION_ERROR"),
                ("reset", {"session_id": "another"}, "VALIDATION_ERROR"),
            ):
                answer = await say(kind, data)
                assert (answer["type"], answer["data"]["code"]) == ("error", code), (kind, data)
            for frame in ("{", "[]", "", "[" * 100_000):
                await say.socket.send_str(frame)
                assert (await say.socket.receive_json(timeout=60))["data"]["code"] == "INVALID_JSON"
            await say.socket.send_bytes(b"\x00\xff")
            assert (await say.socket.receive_json(timeout=60))["data"]["code"] == "INVALID_JSON"
            assert (await say("step", {"text": "measure"}))["type"] == "observation"

    with_client(scenario)


def test_clients_that_vanish_leave_no_session() -> None:
    async def scenario(client: Client) -> None:
        for _ in range(scaled(fast=5, long=200)):
            async with client.http.ws_connect(
                client.url + "/ws", headers={"Authorization": f"Bearer {INFRASTRUCTURE}"}
            ) as socket:
                await socket.send_json({"type": "reset", "data": {"index": 0}})
                assert socket._response.connection is not None
                socket._response.connection.transport.abort()
        while (await client.ask("POST", "/reset", body={"index": 0}))[0] != 200:
            await asyncio.sleep(0.01)

    with_client(scenario, max_sessions=1)


def test_a_sandbox_that_is_down_is_told_and_the_same_step_works_when_it_is_up() -> None:
    async def scenario(client: Client) -> None:
        session_id = (await client.reset(index=0))["metadata"]["session_id"]
        corridor.SANDBOX.is_down = lambda code: True
        status, answer = await client.step("measure", session_id=session_id)
        assert (status, answer["code"]) == (503, "EXECUTION_ERROR")
        assert "engine" not in answer["detail"], "what a sandbox says is for the log"
        corridor.SANDBOX.is_down = lambda code: False
        assert (await client.state(session_id=session_id))[1]["step_count"] == 0
        assert (await client.step("measure", session_id=session_id))[0] == 200

    with_client(scenario)


class Broken(corridor.CorridorTask):
    """Fails when it is played, or its fifth instance is made, and says what it should not."""

    def instance(self, split: Any, index: int) -> corridor.State:
        if index == 5:
            raise RuntimeError("the gold answer is 60221407607182")
        return super().instance(split, index)

    def apply(self, state: Any, role: str, action: str, results: Any) -> Any:
        raise RuntimeError("the gold answer is 60221407607182")


def test_a_defect_is_told_without_its_details_which_are_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(client: Client) -> list[str]:
        for _ in range(3):
            status, answer = await client.ask("POST", "/reset", body={"index": 5})
            assert (status, in_words(answer)) == (500, True), "and no session is left"
        session_id = (await client.reset(index=0))["metadata"]["session_id"]
        status, answer = await client.step("measure", session_id=session_id)
        assert (status, in_words(answer)) == (500, True)
        status, answer = await client.step("measure", session_id=session_id)
        assert (status, answer["code"]) == (409, "NO_EPISODE"), "the environment may have stopped half-way"
        await client.reset(session_id=session_id, index=0)
        async with client.connected() as say:
            await say("reset", {"index": 0})
            assert (await say("step", {"text": "measure"}))["data"]["code"] == "EXECUTION_ERROR"
        return client.answers

    with caplog.at_level(logging.ERROR):
        answers = with_client(
            scenario, lambda: TextAECEnv(Broken(), name="broken_v0", sandbox=corridor.SANDBOX), max_sessions=2
        )
    assert not any("6022" in answer for answer in answers)
    failures = [record for record in caplog.records if record.exc_info is not None]
    assert ["60221407607182" in str(record.exc_info) for record in failures] == [True] * 5


def test_an_environment_that_cannot_be_made_is_told_over_both() -> None:
    def make_env() -> Any:
        raise OSError("a secret path")

    async def scenario(client: Client) -> None:
        status, answer = await client.ask("POST", "/reset", body={})
        assert (status, in_words(answer)) == (500, True)
        async with client.connected() as say:
            assert (await say("reset"))["data"]["code"] == "FACTORY_ERROR"
        assert not any("secret" in answer for answer in client.answers)

    with_client(scenario, make_env, max_sessions=1)


class Stuck(TextAECEnv):
    """Can't be closed."""

    def close(self) -> None:
        raise OSError("a secret window")


def test_an_environment_that_cannot_be_closed_ends_and_keeps_no_other_session_from_its_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ended by request, with a connection, as idle ones, and with the server."""

    async def scenario(client: Client) -> None:
        session_id = (await client.reset(index=0))["metadata"]["session_id"]
        assert (await client.ask("DELETE", f"/sessions/{session_id}"))[0] == 200
        async with client.connected() as say:
            await say("reset", {"index": 0})
        for _ in range(3):  # after the connection's, the watch ends two
            while (await client.ask("POST", "/reset", body={"index": 0}))[0] == 503:
                await asyncio.sleep(0.05)
        assert not any("secret" in answer for answer in client.answers)

    def make_env() -> Any:
        return Stuck(corridor.CorridorTask(), name="stuck_v0", sandbox=corridor.SANDBOX)

    with caplog.at_level(logging.ERROR):
        with_client(scenario, make_env, max_sessions=1, idle_s=0.5)
    failures = [record for record in caplog.records if record.exc_info is not None]
    assert len(failures) == 5
    assert all("a secret window" in str(record.exc_info) for record in failures)


def test_a_server_without_a_token_is_none() -> None:
    """Whoever sends no token would be infrastructure."""
    with pytest.raises(UsageError, match="token='': must not be empty"):
        OpenEnvServer(corridor.env, About("test", "a test"), "", max_sessions=1, idle_s=1.0)
