"""`llm-envs eval`: budgets, forecasts, keys, exit statuses, and what it says."""

import json
from pathlib import Path
from typing import Any

import pytest

from llm_envs.core.errors import UsageError
from llm_envs_bench.store import load_run
from tests.benchmarks import corridor
from tests.benchmarks.calls import call
from tests.benchmarks.endpoint import Endpoint, Reply, completion, endpoint

STEP = completion("step", usage=(100, 10))
OK, RUN_ERROR, BELOW = 0, 1, 3


@pytest.fixture(autouse=True)
def nobody_elses_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("llm_envs_bench.agents.retries.FIRST_WAIT_S", 0.0)
    monkeypatch.chdir(tmp_path)


def step(_number: int, _request: dict[str, Any]) -> Reply:
    return Reply(STEP)


def evaluate(server: Endpoint | None, *arguments: object) -> int:
    """The model walks, one episode after another; the oracle scouts."""
    who = [] if server is None else ["--model", "tiny", "--base-url", server.url, "--role", "scout=oracle"]
    return call("eval", "--env", corridor.ENV_ID, *who, "--out", "run", "--concurrency", 1, *arguments)


def prices(model: str = "tiny", text: str = "input = 1000\noutput = 10000\n") -> Path:
    path = Path("prices.toml")
    path.write_text(f'["{model}"]\n{text}')
    return path


# ---- budgets


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (("--max-tokens", 600), "660 of at most 600 tokens are used"),
        (("--max-cost", 1.1), "1.20 of at most 1.10 is spent"),
    ],
)
def test_a_run_stops_at_its_budget_and_goes_on_with_a_larger_one(
    bound: tuple[object, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A walk takes three replies of 110 tokens, which cost 0.6."""
    with endpoint(step) as server:
        assert evaluate(server, "--instances", 10, *bound, "--prices", prices()) == RUN_ERROR
        assert words in capsys.readouterr().out
        assert len(load_run(Path("run")).episodes) == 2
        assert evaluate(server, "--instances", 10, *bound, "--prices", prices(), "--resume") == RUN_ERROR
        assert len(server.requests) == 6, "what was spent before counts"
        assert evaluate(server, "--instances", 10, "--resume") == OK
        assert len(server.requests) == 30


def test_an_episode_that_a_budget_ends_is_owed_and_what_it_took_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(step) as server:
        assert evaluate(server, "--instances", 2, "--max-tokens", 200) == RUN_ERROR
        run = load_run(Path("run"))
        assert [failure.error for failure in run.failures] == [
            "budget: 220 of at most 200 tokens are used (--max-tokens)"
        ]
        assert [attempt.failure for attempt in run.attempts] == ["budget"]
        assert run.owed == 2
        assert "2 episodes are owed; play them with --resume" in capsys.readouterr().out
        assert evaluate(server, "--instances", 2, "--max-tokens", 880, "--resume") == OK
        assert len(server.requests) == 8


def test_time_is_a_budget_too(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(step) as server:
        assert evaluate(server, "--instances", 5, "--max-minutes", 1e-9) == RUN_ERROR
        assert server.requests == []
    assert "minutes have passed (--max-minutes)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--max-cost", 1), "needs the price of tiny; add it to the file of --prices"),
        (("--max-tokens", 0), "max_tokens=0: must be a whole number >= 1"),
        (("--max-minutes", -1), "max_minutes=-1.0: must be a number > 0"),
        (("--prices", "nowhere.toml"), "can't be read"),
        (("--fail-under", 2), "fail_under=2.0: must be a number from 0 to 1"),
        (("--agent", "oracle"), "plays what --agent would play"),
        (("--temperature", -1), "temperature=-1.0"),
        (("--samples", 0), "samples=0"),
        (("--retries", -1), "retries=-1"),
        (("--timeout", 0), "timeout=0.0"),
        (("--concurrency", 0), "concurrency=0"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(arguments: tuple[object, ...], message: str) -> None:
    with endpoint(step) as server, pytest.raises(UsageError, match=message):
        evaluate(server, *arguments)
    assert server.requests == []
    assert not Path("run").exists()


@pytest.mark.parametrize("text", ["input = 1\n", "input = -1\noutput = 1\n", "input = 'a'\noutput = 1\n"])
def test_a_price_is_two_numbers(text: str) -> None:
    with endpoint(step) as server, pytest.raises(UsageError, match="must hold two numbers >= 0"):
        evaluate(server, "--prices", prices(text=text))


def test_a_bound_on_costs_that_nobody_causes_is_refused() -> None:
    with pytest.raises(UsageError, match="no agent is a served model"):
        evaluate(None, "--agent", "oracle", "--max-cost", 1)


# ---- forecasts


def test_a_dry_run_shows_the_first_prompts_and_what_the_run_would_take(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(step) as server:
        arguments = ("--instances", 10, "--samples", 2, "--reply-tokens", 50, "--dry-run", "--prices", prices())
        assert evaluate(server, *arguments) == OK
        assert server.requests == []
    assert not Path("run").exists()
    out = capsys.readouterr().out
    assert "first prompt of the walker\nwalker of corridor 0: walked 0 of 3." in out
    assert "first prompt of the scout\nscout of corridor 0" in out
    assert "20 episodes" in out
    # An oracle's walk takes 3 of the 5 cycles, a reply of it one or two tokens and at most 50.
    assert "requests       60 to 100" in out
    assert "reply tokens   120 to 5,000" in out
    assert "cost           1.80 to 51.00" in out


def test_a_forecast_without_prices_or_models_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(step) as server:
        evaluate(server, "--dry-run")
    assert "--prices names a file" in capsys.readouterr().out
    evaluate(None, "--agent", "oracle", "--dry-run")
    assert "No served model plays, so nothing is spent." in capsys.readouterr().out


# ---- keys


def test_each_endpoint_gets_its_own_key_and_none_is_written_down(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable, key in {"MINE": "sk-mine", "THEIRS": "sk-theirs"}.items():
        monkeypatch.setenv(variable, key)

    def script(number: int, request: dict[str, Any]) -> Reply:
        if "corridor 1" in request["messages"][0]["content"]:
            return Reply({"error": {"message": "the key sk-theirs and sk-mine are odd"}}, 400)
        return Reply(completion("measure" if request["model"] == "other" else "step"))

    with endpoint(script) as first, endpoint(script) as second:
        roles = ("--role", f"scout=other@{second.url}", "--key-env", "MINE", "--key-env", "scout=THEIRS")
        arguments = ("--model", "tiny", "--base-url", first.url, "--out", "run", "--instances", 2, *roles)
        assert call("eval", "--env", corridor.ENV_ID, *arguments) == RUN_ERROR
    assert {request["key"] for request in first.requests} == {"Bearer sk-mine"}
    assert {request["key"] for request in second.requests} == {"Bearer sk-theirs"}
    written = "".join(path.read_text() for path in Path("run").iterdir())
    assert "scout" in written
    assert "the key [key] and" in written
    assert "sk-theirs" not in written + "".join(capsys.readouterr())


@pytest.mark.parametrize("variable", ["planner=MINE", "scout=MINE"])
def test_a_key_for_a_role_that_no_model_plays_is_not_ignored(variable: str) -> None:
    """UC-178."""
    with endpoint(step) as server, pytest.raises(UsageError, match=r"no served model plays (planner|scout)"):
        evaluate(server, "--key-env", variable)
    with pytest.raises(UsageError, match="no served model plays any role"):
        evaluate(None, "--agent", "oracle", "--key-env", "MINE")


def test_a_key_whose_variable_is_not_set_is_told_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MINE", raising=False)
    with endpoint(step) as server, pytest.raises(UsageError, match="--key-env names MINE, which is not set"):
        evaluate(server, "--key-env", "MINE")
    assert server.requests == []


@pytest.mark.parametrize("url", ["http://me:secret@localhost/v1", "http://localhost/v1?api_key=secret"])
def test_a_url_that_holds_a_secret_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="must hold no user, password or query") as refusal:
        call("eval", "--env", corridor.ENV_ID, "--model", "tiny", "--base-url", url, "--out", "run")
    assert "secret" not in str(refusal.value)


# ---- what it says


@pytest.mark.parametrize(
    ("agent", "bound", "status"), [("oracle", 1.0, OK), ("idle", 0.0, OK), ("idle", 0.01, BELOW), ("silent", 1, BELOW)]
)
def test_success_below_the_bound_has_a_status_of_its_own(agent: str, bound: float, status: int) -> None:
    assert evaluate(None, "--agent", agent, "--instances", 3, "--fail-under", bound) == status


def test_what_is_owed_counts_before_what_is_too_low() -> None:
    corridor.SANDBOX.is_down = lambda code: code == "1"
    arguments = ("--agent", "idle", "--role", "scout=oracle", "--instances", 3, "--fail-under", 1)
    assert evaluate(None, *arguments) == RUN_ERROR
    corridor.SANDBOX.is_down = lambda code: True
    assert call("eval", "--env", corridor.ENV_ID, "--agent", "oracle", "--instances", 3, "--out", "x") == RUN_ERROR


def test_faults_are_listed_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(lambda number, _: Reply({"error": {}}, 500) if number < 2 else Reply(completion("", None))) as server:
        evaluate(server, "--instances", 1)
    assert "endpoint and models: empty 5, usage_missing 5, server_error 2" in capsys.readouterr().out


def test_without_a_folder_the_run_names_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    call("eval", "--suite", "smoke_v0", "--instances", 1, "--agent", "oracle", "--role", "planner=random")
    assert "run: runs/smoke_v0-oracle_planner=random" in capsys.readouterr().out
    assert len(list(Path("runs/smoke_v0-oracle_planner=random").iterdir())) == 3


def test_a_suite_ends_with_a_line_an_entry_and_its_score(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--instances", 1, "--agent", "oracle", "--role", "coder=random", "--out", "run")
    assert call("eval", "--suite", "smoke_v0", *arguments) == OK
    out, err = capsys.readouterr()
    for entry in ("plan_path_easy", "sokoban_easy", "sudoku_easy", "code_easy", "math_easy"):
        assert entry in out
    assert "score, the average of the entries: 80.0%" in out
    assert "5/5 episodes, 4 solved" in err


@pytest.mark.parametrize("option", [("--set", "size=6"), ("--split", "test"), ("--first", 3), ("--first", 0)])
def test_an_option_of_an_environment_is_not_ignored_with_a_suite(option: tuple[object, ...]) -> None:
    """UC-178."""
    with pytest.raises(UsageError, match=f"{option[0]}: belongs to --env"):
        call("eval", "--suite", "smoke_v0", "--agent", "oracle", *option)


@pytest.mark.parametrize("option", ["samples", "instances"])
def test_none_of_a_suite_is_refused_and_is_not_all_of_it(option: str) -> None:
    with pytest.raises(UsageError, match=f"{option}=0: must be a whole number >= 1"):
        call("eval", "--suite", "smoke_v0", "--agent", "oracle", f"--{option}", 0)


def test_ablations_are_played_beside_the_run() -> None:
    arguments = ("--agent", "silent", "--role", "walker=idle", "--instances", 2)
    assert evaluate(None, *arguments, "--ablate-roles") == OK
    assert sorted(path.name for path in Path("run/ablations").iterdir()) == [
        "scout+walker=oracle",
        "scout=oracle",
        "scout=random",
        "walker=oracle",
        "walker=random",
    ]
    assert load_run(Path("run/ablations/walker=oracle")).spec.agents == {"scout": "silent", "walker": "oracle"}
    assert evaluate(None, *arguments, "--ablate-roles", "--resume") == OK, "nothing is played again"


def test_a_run_and_its_ablations_share_a_budget(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(step) as server:
        assert evaluate(server, "--instances", 2, "--max-tokens", 800, "--ablate-roles") == RUN_ERROR
        assert len(server.requests) == 8
    assert "880 of at most 800 tokens are used" in capsys.readouterr().out


def test_a_person_plays_one_episode_at_a_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = iter(["step\n", ".\n"] * 6)
    monkeypatch.setattr("sys.stdin", said)
    assert evaluate(None, "--agent", "human", "--role", "scout=silent", "--instances", 2, "--concurrency", 8) == OK
    out, err = capsys.readouterr()
    assert out.count("--- walker_0") == 6
    assert err == "", "no bar runs through what is typed"
    assert json.loads(Path("run/run.json").read_text())["specs"][0]["agents"]["walker"] == "human"


def test_suites_are_listed_shown_and_frozen(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("suites") == OK
    assert len(capsys.readouterr().out.splitlines()) == 8
    assert call("suites", "core_v0") == OK
    assert "math_hard" in capsys.readouterr().out
    Path("own.json").write_text(
        json.dumps(
            {
                "format": 1,
                "name": "own",
                "about": "",
                "entries": [{"name": "a", "env": corridor.ENV_ID, "options": {}, "instances": 2}],
            }
        )
    )
    assert call("suites", "--freeze", "own.json") == OK
    assert "own.json: 2 episodes" in capsys.readouterr().out
    assert call("eval", "--suite", "own.json", "--agent", "oracle", "--out", "run") == OK
