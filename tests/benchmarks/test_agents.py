"""Agents by specification: who they are, what an endpoint may do to a run, and what is said where one can't be used."""

from pathlib import Path
from typing import Any

import pytest

from llm_envs.core.errors import UsageError
from llm_envs_bench.agents import assign_roles, build_cast
from llm_envs_bench.metrics import summarise
from llm_envs_bench.runner import evaluate
from llm_envs_bench.spec import RunSpec, Sampling
from llm_envs_bench.store import Run
from tests.benchmarks import corridor
from tests.benchmarks.endpoint import RESET, Endpoint, Reply, completion, endpoint

ROLES = ("scout", "walker")


@pytest.fixture(autouse=True)
def no_key_and_no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key of whoever runs the tests is used; the client's back-off between retries is cut to nothing."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setattr("llm_envs_bench.agents.retries.FIRST_WAIT_S", 0.0)


def ask(server: Endpoint, out: Path, *, instances: int = 1, sampling: Sampling | None = None, **options: Any) -> Run:
    """The model walks, the oracle scouts."""
    agents = {"scout": "oracle", "walker": f"openai:tiny@{server.url}"}
    spec = RunSpec(env=corridor.ENV_ID, agents=agents, instances=instances, sampling=sampling or Sampling())
    return evaluate(spec, out, **options)


# ---- a good endpoint


def test_a_served_model_plays_and_is_asked_as_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    with endpoint(lambda number, request: Reply(completion("step"))) as server:
        run = ask(server, tmp_path, sampling=Sampling(temperature=0.5, max_tokens=7))
    assert summarise(run).success.value == 1.0
    (first, *_) = server.requests
    assert (first["model"], first["temperature"], first["max_tokens"]) == ("tiny", 0.5, 7)
    assert first["path"] == "/v1/chat/completions"
    assert first["key"] == "Bearer secret-key"
    assert first["messages"] == [{"role": "user", "content": "walker of corridor 0: walked 0 of 3."}]
    assert not any("secret-key" in path.read_text() for path in tmp_path.iterdir()), "a key is never on the disk"


def test_what_is_not_set_is_left_to_the_server(tmp_path: Path) -> None:
    with endpoint(lambda number, request: Reply(completion("step"))) as server:
        ask(server, tmp_path)
    assert {"temperature", "max_tokens"}.isdisjoint(server.requests[0])


def test_the_same_players_can_play_on_one_event_loop_after_another(tmp_path: Path) -> None:
    """UC-148."""
    with endpoint(lambda number, request: Reply(completion("step"))) as server:
        agents = {"scout": "oracle", "walker": f"openai:tiny@{server.url}"}
        spec = RunSpec(env=corridor.ENV_ID, agents=agents, instances=3)
        cast = build_cast(spec)
        runs = [evaluate(spec, tmp_path / name, cast=cast) for name in ("first", "second")]
    assert [run.owed for run in runs] == [0, 0]
    assert runs[0].episodes == runs[1].episodes


# ---- a bad one


@pytest.mark.parametrize(
    "fault",
    [
        Reply({"error": {"message": "slow down"}}, 429),
        Reply({"error": {"message": "oops"}}, 500),
        Reply(b"<html>bad gateway</html>", 502),
        Reply(RESET),
    ],
    ids=["429", "500", "502", "reset"],
)
def test_a_passing_fault_of_the_endpoint_leaves_no_trace(fault: Reply, tmp_path: Path) -> None:
    with endpoint(lambda number, request: fault if number % 2 == 0 else Reply(completion("step"))) as server:
        run = ask(server, tmp_path, instances=2)
    assert (run.owed, summarise(run).success.value) == (0, 1.0)
    assert len(server.requests) == 12


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (Reply({"error": {"message": "slow down"}}, 429), "HTTP 429"),
        (Reply({"error": {"message": "oops"}}, 503), "HTTP 503"),
        (Reply({"error": {"message": "too long"}}, 400), "HTTP 400"),
        (Reply(RESET), "APIConnectionError"),
        (Reply(b'{"id": "c", "choices": [{"mess'), "JSONDecodeError"),
        (Reply({"id": "c", "object": "chat.completion"}), "without choices"),
        (Reply(b"hello", headers={"Content-Type": "text/plain"}), "without choices"),
    ],
    ids=["429", "503", "400", "reset", "truncated", "no choices", "no json"],
)
def test_a_lasting_fault_is_owed_under_its_own_name(fault: Reply, name: str, tmp_path: Path) -> None:
    def script(number: int, request: dict[str, Any]) -> Reply:
        return fault if "corridor 1" in request["messages"][0]["content"] else Reply(completion("step"))

    with endpoint(script) as server:
        run = ask(server, tmp_path, instances=3)
    assert [failure.index for failure in run.failures] == [1]
    assert name in str(run.failures[0].error)
    assert (summarise(run).success.value, summarise(run).success.n) == (1.0, 2)


@pytest.mark.parametrize("message", [completion(None), completion(""), completion(None, refusal="I won't")])
def test_an_empty_reply_or_a_refusal_is_the_models_own_doing(message: dict[str, Any], tmp_path: Path) -> None:
    with endpoint(lambda number, request: Reply(message)) as server:
        run = ask(server, tmp_path)
    assert summarise(run).invalid["walker"] == 1.0
    assert (run.owed, summarise(run).success.value) == (0, 0.0)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_that_no_retry_mends_stops_the_run_at_once(status: int, tmp_path: Path) -> None:
    with (
        endpoint(lambda number, request: Reply({"error": {"message": "no such model"}}, status)) as server,
        pytest.raises(UsageError, match=rf"HTTP {status}: .*no such model.* OPENAI_API_KEY"),
    ):
        ask(server, tmp_path, instances=50, concurrency=1)
    assert len(server.requests) == 1


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(UsageError, match="needs a key in OPENAI_API_KEY"):
        build_cast(RunSpec(env=corridor.ENV_ID, agents=dict.fromkeys(ROLES, "openai:gpt-5")))


# ---- who plays


def test_roles_are_assigned_by_name_or_to_everyone() -> None:
    assert assign_roles(ROLES, "oracle", {}) == {"scout": "oracle", "walker": "oracle"}
    assert assign_roles(ROLES, "oracle", {"walker": "idle"}) == {"scout": "oracle", "walker": "idle"}
    assert assign_roles(ROLES, None, {"walker": "idle", "scout": "silent"}) == {"scout": "silent", "walker": "idle"}


def test_a_role_that_does_not_exist_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"role='walkr': must be one of scout, walker. Did you mean 'walker'\?"):
        assign_roles(ROLES, "oracle", {"walkr": "idle"})


def test_a_role_that_nobody_plays_is_named() -> None:
    with pytest.raises(UsageError, match="nobody plays scout; add --agent"):
        assign_roles(ROLES, None, {"walker": "idle"})


def test_an_agent_that_does_not_exist_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"agent='oracel': .*checkpoint:FOLDER.* Did you mean 'oracle'\?"):
        build_cast(RunSpec(env=corridor.ENV_ID, agents=dict.fromkeys(ROLES, "oracel")))
