"""Agents by specification: who they are, what an endpoint may do to a run, and what is said where one can't be used."""

import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_envs.core.errors import UsageError
from llm_envs_bench.agents import Asking, assign_roles, build_cast
from llm_envs_bench.agents.retries import Patience
from llm_envs_bench.attempts import CALLS_AGAIN, Event, Usage, count_events
from llm_envs_bench.runner import FAILURES_IN_A_ROW, evaluate
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


def ask(
    server: Endpoint,
    out: Path,
    *,
    instances: int = 1,
    sampling: Sampling | None = None,
    asking: Asking | None = None,
    served: str | None = None,
    **options: Any,
) -> Run:
    """The model walks, the oracle scouts. `served`: the URL that the run names, where it is another one now."""
    agents = {"scout": "oracle", "walker": f"openai:tiny@{server.url}"}
    spec = RunSpec(env=corridor.ENV_ID, agents=agents, instances=instances, sampling=sampling or Sampling())
    cast = build_cast(spec, asking)
    if served is not None:
        spec = replace(spec, agents={**agents, "walker": f"openai:tiny@{served}"})
    return evaluate(spec, out, cast=cast, **options)


def wins(run: Run) -> list[bool]:
    return [episode.success for episode in run.episodes]


# ---- a good endpoint


def test_a_served_model_plays_and_is_asked_as_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    with endpoint(lambda number, request: Reply(completion("step"))) as server:
        run = ask(server, tmp_path, sampling=Sampling(temperature=0.5, max_tokens=7))
    assert wins(run) == [True]
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

FAULTS = {
    Event.RATE_LIMITED: Reply({"error": {"message": "slow down"}}, 429),
    Event.SERVER_ERROR: Reply({"error": {"message": "oops"}}, 500),
    Event.CONNECTION: Reply(RESET),
    Event.TIMEOUT: Reply(completion("step"), pause=0.05),
    Event.REJECTED: Reply({"error": {"message": "too long"}}, 400),
    Event.BAD_JSON: Reply(b'{"id": "c", "choices": [{"mess'),
    Event.NO_CHOICES: Reply({"id": "c", "object": "chat.completion"}),
}
FURTHER = [
    (Event.SERVER_ERROR, Reply(b"<html>bad gateway</html>", 502)),
    (Event.CONNECTION, Reply(completion("step"), lost=20)),
    (Event.NO_CHOICES, Reply(b"hello", headers={"Content-Type": "text/plain"})),
    (Event.NO_CHOICES, Reply(b"[]")),
    (Event.NO_CHOICES, Reply({"choices": [{"index": 0}]})),
]
STRANGE = [  # the client passes them on as they are
    {"choices": {"first": "step"}},
    {"choices": 5},
    {"choices": [5]},
    {"choices": [{"message": "step", "finish_reason": "stop"}]},
    {"choices": [{"message": {"role": "assistant", "content": [{"type": "text", "text": "step"}]}}]},
    {"choices": [{"message": {"role": "assistant", "content": 5}, "finish_reason": "stop"}]},
    {"choices": []},
    None,
]


@pytest.mark.parametrize("body", STRANGE, ids=lambda body: str(body)[:40])
def test_an_answer_of_another_form_is_owed_and_ends_no_run(body: Any, tmp_path: Path) -> None:
    with endpoint(lambda number, request: Reply(body if number == 0 else completion("step"))) as server:
        run = ask(server, tmp_path, instances=2, concurrency=1)
    assert (run.owed, wins(run)) == (1, [True])
    assert count_events(run.attempts) == {Event.NO_CHOICES: 1}


@pytest.mark.parametrize("usage", [{}, [5], "many", {"prompt_tokens": "12"}, {"completion_tokens": -3}])
def test_a_number_of_tokens_that_is_none_is_missing(usage: Any, tmp_path: Path) -> None:
    with endpoint(lambda number, request: Reply(completion("step") | {"usage": usage})) as server:
        run = ask(server, tmp_path)
    assert (run.owed, wins(run), count_events(run.attempts)) == (0, [True], {Event.USAGE_MISSING: 3})
    assert {call.usage.prompt_tokens for call in run.attempts[0].calls if call.usage is not None} == {None}


def patience(event: Event) -> Asking:
    """Time enough on a busy machine, but where the fault is that time runs out."""
    return Asking(Patience(retries=4, timeout_s=0.5 if event is Event.TIMEOUT else 60.0))


@pytest.mark.parametrize(("event", "fault"), [*FAULTS.items(), *FURTHER])
def test_a_fault_that_passes_leaves_no_trace_but_its_count_and_one_that_no_retry_mends_is_owed(
    event: Event, fault: Reply, tmp_path: Path
) -> None:
    with endpoint(lambda number, request: fault if number == 1 else Reply(completion("step"))) as server:
        run = ask(server, tmp_path, asking=patience(event))
    assert set(count_events(run.attempts)) == {event}
    if event in CALLS_AGAIN:
        assert (run.owed, wins(run)) == (0, [True])
        assert len(server.requests) == 3 + count_events(run.attempts)[event]
    else:
        assert run.owed == 1
        assert len(server.requests) == 2


@pytest.mark.parametrize(("event", "fault"), [*FAULTS.items(), *FURTHER])
def test_a_lasting_fault_is_owed_under_its_own_name_and_nothing_else_is_lost(
    event: Event, fault: Reply, tmp_path: Path
) -> None:
    """UC-143: within the time that was asked for, and with no retry inside a retry."""

    def script(number: int, request: dict[str, Any]) -> Reply:
        return fault if "corridor 1" in request["messages"][0]["content"] else Reply(completion("step"))

    with endpoint(script) as server:
        run = ask(server, tmp_path, instances=3, asking=patience(event))
        assert [failure.id for failure in run.failures] == ["corridor-v0/1/0"]
        assert str(run.failures[0].error).startswith(f"{event}: ")
        assert [attempt.failure for attempt in run.attempts if attempt.failure] == [event]
        asked = 5 if event in CALLS_AGAIN else 1
        (failed,) = (attempt for attempt in run.attempts if attempt.failure)
        assert failed.calls[-1].usage == Usage(events={event: asked})
        assert wins(run) == [True, True]
    with endpoint(lambda number, request: Reply(completion("step"))) as mended:
        resumed = ask(mended, tmp_path, instances=3, resume=True, served=server.url)
    assert (resumed.owed, wins(resumed)) == (0, [True, True, True])


@pytest.mark.parametrize(
    ("reply", "events"),
    [
        (completion(None), {Event.EMPTY}),
        (completion(""), {Event.EMPTY}),
        (completion(None, refusal="I won't"), {Event.REFUSAL}),
        (completion("on and on", finish="length"), {Event.CUT}),
        (completion("nonsense", usage=None), {Event.USAGE_MISSING}),
        (completion("", usage=None, finish="length"), {Event.EMPTY, Event.CUT, Event.USAGE_MISSING}),
        (completion("nonsense"), set()),
    ],
)
def test_what_a_model_does_itself_is_scored_and_counted(
    reply: dict[str, Any], events: set[Event], tmp_path: Path
) -> None:
    with endpoint(lambda number, request: Reply(reply)) as server:
        run = ask(server, tmp_path)
    assert (run.owed, wins(run)) == (0, [False])
    assert {turn.invalid is not None for turn in run.episodes[0].turns if turn.role == "walker"} == {True}
    assert count_events(run.attempts) == dict.fromkeys(events, 5)


def test_a_refusal_is_what_the_environment_is_told(tmp_path: Path) -> None:
    with endpoint(lambda number, request: Reply(completion(None, refusal="I won't"))) as server:
        run = ask(server, tmp_path)
    assert run.episodes[0].turns[1].reply == "I won't"


def test_tokens_are_counted_by_role_as_the_endpoint_counts_them(tmp_path: Path) -> None:
    with endpoint(lambda number, request: Reply(completion("step", usage=(number, 7)))) as server:
        run = ask(server, tmp_path)
    calls = [call for call in run.attempts[0].calls if call.role == "walker"]
    assert [call.usage for call in calls] == [Usage(number, 7) for number in range(3)]
    assert [call.usage for call in run.attempts[0].calls if call.role == "scout"] == [None] * 3


def test_a_server_that_names_the_limit_otherwise_is_asked_as_it_likes(tmp_path: Path) -> None:
    def script(number: int, request: dict[str, Any]) -> Reply:
        if "max_tokens" in request:
            return Reply({"error": {"message": "Unsupported parameter: use 'max_completion_tokens' instead."}}, 400)
        return Reply(completion("step"))

    with endpoint(script) as server:
        run = ask(server, tmp_path, sampling=Sampling(max_tokens=7))
    assert wins(run) == [True]
    assert [request.get("max_completion_tokens") for request in server.requests] == [None, 7, 7, 7]


def test_an_endpoint_that_is_down_is_not_asked_for_ever(tmp_path: Path) -> None:
    """Every episode is owed; after as many failures in a row as make it hopeless nothing more is asked."""
    with endpoint(lambda number, request: Reply({"error": {}}, 503)) as server:
        run = ask(server, tmp_path, instances=500, concurrency=4, asking=Asking(Patience(retries=1)))
    assert run.owed == 500
    assert FAILURES_IN_A_ROW <= len(run.failures) < FAILURES_IN_A_ROW + 4
    assert len(server.requests) == 2 * len(run.failures)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_that_no_retry_mends_stops_the_run_at_once(status: int, tmp_path: Path) -> None:
    with (
        endpoint(lambda number, request: Reply({"error": {"message": "no such model"}}, status)) as server,
        pytest.raises(UsageError, match=rf"HTTP {status}: .*no such model.* OPENAI_API_KEY"),
    ):
        ask(server, tmp_path, instances=50, concurrency=1)
    assert len(server.requests) == 1


def test_no_more_requests_are_under_way_than_were_asked_for(tmp_path: Path) -> None:
    """UC-146: a slow server is not asked for more than it was meant to answer at once."""
    lock, under_way, most = threading.Lock(), 0, 0

    def script(number: int, request: dict[str, Any]) -> Reply:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.005)
        with lock:
            under_way -= 1
        return Reply(completion("step"))

    with endpoint(script) as server:
        run = ask(server, tmp_path, instances=40, concurrency=5)
    assert wins(run) == [True] * 40
    assert 1 < most <= 5


def test_a_missing_extra_is_told_before_the_first_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    """UC-181."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(UsageError, match=r"needs the openai package; pip install 'llm-envs\[bench\]'"):
        build_cast(RunSpec(env=corridor.ENV_ID, agents=dict.fromkeys(ROLES, "openai:m@http://localhost/v1")))


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(UsageError, match="needs a key in OPENAI_API_KEY"):
        build_cast(RunSpec(env=corridor.ENV_ID, agents=dict.fromkeys(ROLES, "openai:gpt-5")))


@pytest.mark.parametrize("key", ["sk-secret\r", "sk-secret\n", " sk-secret", "sk-s\u00e9cret", "sk-\udce9secret"])
def test_a_key_that_no_header_holds_is_refused_without_being_shown(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own error would quote it, and end up in the run folder."""
    monkeypatch.setenv("MINE", key)
    spec = RunSpec(env=corridor.ENV_ID, agents=dict.fromkeys(ROLES, "openai:m@http://localhost/v1"))
    with pytest.raises(UsageError, match=r"the key in MINE must be printable ASCII") as refused:
        build_cast(spec, Asking(key_variables={"": "MINE"}))
    assert "cret" not in str(refused.value)
    monkeypatch.setenv("MINE", "sk-secret")
    assert build_cast(spec, Asking(key_variables={"": "MINE"})).agents.keys() == set(ROLES)


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
