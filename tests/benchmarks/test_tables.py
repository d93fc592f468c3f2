"""Tables, CSV, LaTeX and plots of runs: what was measured stands in them, what was not has no column."""

import csv
import dataclasses
import io
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.core.errors import UsageError
from llm_envs_bench import references
from llm_envs_bench.agents import plan_run
from llm_envs_bench.attempts import Attempt, Call, Usage
from llm_envs_bench.commands.report import tables
from llm_envs_bench.costs import RoleCost, role_costs
from llm_envs_bench.grid import Grid
from llm_envs_bench.metrics import summarise
from llm_envs_bench.optimality import excess
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.prices import Price
from llm_envs_bench.report import cost_table, leaderboard, suite_table
from llm_envs_bench.report_csv import COLUMNS, to_csv
from llm_envs_bench.report_plots import write_plots
from llm_envs_bench.runner import evaluate, play_run
from llm_envs_bench.standing import Standing, load_standing
from llm_envs_bench.store import Run
from tests.benchmarks import corridor
from tests.benchmarks.conftest import Play


def standing(folder: Path, agent: str, samples: int = 3) -> Standing:
    """Two entries of the test game, of which the oracle solves the second."""
    specs = []
    for cycles in (2, 5):
        options, entry = {"max_cycles": cycles}, f"cycles_{cycles}"
        specs.append(plan_run(corridor.ENV_ID, agent, {}, options=options, instances=4, samples=samples, entry=entry))
    play_run(RunPlan(tuple(specs), suite="test_v0", suite_hash="abc"), folder / agent)
    return load_standing(folder / agent)


def row_of(grid: Grid, row: int) -> dict[str, str]:
    return dict(zip(grid.header, grid.rows[row], strict=True))


# ---- tables


def test_a_suite_has_a_score_and_a_column_for_each_entry(tmp_path: Path) -> None:
    idle, oracle = standing(tmp_path, "idle"), standing(tmp_path, "oracle")
    grid = suite_table([idle], [oracle])
    assert grid.header == ("agent", "score", "95%", "cycles 2", "cycles 5", "episodes")
    assert row_of(grid, 0) | {"95%": ""} == {
        "agent": "idle",
        "score": "0.0%",
        "95%": "",
        "cycles 2": "0.0%",
        "cycles 5": "0.0%",
        "episodes": "8 × 3",
    }
    assert row_of(grid, 1)["score"] == "50.0%"
    assert grid.references == 1


def test_several_samples_have_their_chances_and_one_has_none(play: Play, tmp_path: Path) -> None:
    several = leaderboard(standing(tmp_path, "oracle").summaries[1:])
    assert (row_of(several, 0)["pass@3"], row_of(several, 0)["pass^3"]) == ("100.0%", "100.0%")
    assert not any(name.startswith("pass") for name in leaderboard([summarise(play("idle"))]).header)


def test_chances_over_samples_are_absent_where_some_are_owed(tmp_path: Path) -> None:
    whole = standing(tmp_path, "oracle").summaries[1]
    assert [rate.k for rate in whole.passes] == [1, 2, 3]
    folder = tmp_path / "oracle"
    lines = (folder / "episodes.jsonl").read_text().splitlines(keepends=True)
    (folder / "episodes.jsonl").write_text("".join(lines[:-1]))
    cut = load_standing(folder).summaries[1]
    assert ([rate.k for rate in cut.passes], cut.owed) == ([1, 2], 1)


def test_every_table_of_a_report_is_there_once(tmp_path: Path) -> None:
    runs = [standing(tmp_path, "idle"), standing(tmp_path, "oracle")]
    titles = [title for title, _ in tables(runs, [])]
    assert titles == ["test_v0: success on each entry, and its average", "cycles_2", "cycles_5"], "nobody waited"
    slow = dataclasses.replace(runs[0].summaries[0], costs={"walker": RoleCost(3, None, None, None, 0.5, 1.5)})
    waited = dataclasses.replace(runs[0], summaries=(slow,))
    assert [title for title, _ in tables([waited], [])] == ["cycles_2", "What an episode took"]


# ---- costs


def timed(run: Run, tokens: tuple[int | None, int | None] = (100, 10)) -> Run:
    """The run as if a model had played the walker: two attempts at the first episode, seconds that rise."""
    attempts = []
    ids = [episode.id for episode in run.episodes]
    for number, name in enumerate([ids[0], *ids]):
        calls = (Call("scout", 0.5), Call("walker", float(number), Usage(*tokens)))
        attempts.append(Attempt(name, "timeout" if number == 0 else None, 1.0, calls))
    spec = dataclasses.replace(run.spec, agents={"scout": "idle", "walker": "openai:m@http://x/v1"})
    return dataclasses.replace(run, attempts=tuple(attempts), spec=spec)


def test_tokens_and_money_are_counted_for_each_scored_episode_failed_attempts_included(play: Play) -> None:
    costs = role_costs(timed(play("idle")), {"m": Price(1.0, 10.0)})
    walker = costs["walker"]
    assert walker.prompt_tokens is not None
    assert walker.prompt_tokens.value == pytest.approx(100 * 7 / 6)
    assert walker.prompt_tokens.low < walker.prompt_tokens.value < walker.prompt_tokens.high
    assert walker.money is not None
    assert walker.money.value == pytest.approx((100 * 1 + 10 * 10) / 1e6 * 7 / 6)
    assert (walker.replies, walker.seconds) == (7, 3.0)
    assert 5 < walker.slow_seconds <= 6
    assert (costs["scout"].prompt_tokens, costs["scout"].money) == (None, None), "no model, so no tokens"


def test_what_is_not_known_is_not_guessed(play: Play) -> None:
    assert role_costs(timed(play("idle")), {})["walker"].money is None, "no price"
    unknown = role_costs(
        timed(play("idle2", agents={"scout": "idle", "walker": "idle"}), (100, None)), {"m": Price(1, 1)}
    )
    assert (unknown["walker"].completion_tokens, unknown["walker"].money) == (None, None), "usage is missing"


def test_the_table_of_costs_has_a_line_a_role(play: Play) -> None:
    grid = cost_table([summarise(timed(play("idle")), prices={"m": Price(1.0, 10.0)})])
    row = row_of(grid, 0)
    assert row["role"] == "scout\nwalker"
    assert row["prompt tokens"] == "–\n117"
    assert row["cost"] == "–\n0.0002"
    assert row["seconds median"] == "0.50\n3.00"


# ---- optimality


@pytest.mark.parametrize(("env", "wanderer"), [("plan_path_v0", "weak"), ("sokoban_v0", "greedy")])
def test_the_oracle_is_optimal_and_a_wanderer_is_not(env: str, wanderer: str, tmp_path: Path) -> None:
    gaps = {}
    for agent in ("oracle", wanderer):
        run = evaluate(plan_run(env, agent, {}, options={"roles": "single"}, instances=12), tmp_path / agent)
        gaps[agent] = [excess(episode) for episode in run.episodes if episode.success]
        assert all(excess(episode) is None for episode in run.episodes if not episode.success)
        assert (summarise(run).gap is None) == (not gaps[agent])
    assert set(gaps["oracle"]) == {0.0}
    assert all(gap is not None and gap >= 0 for gap in gaps[wanderer])
    assert env != "plan_path_v0" or any(gaps[wanderer]), "a control: some solved it on a detour"


def test_a_game_without_a_stated_optimum_has_no_gap(play: Play) -> None:
    summary = summarise(play("oracle"))
    assert summary.gap is None
    assert "optimality gap" not in leaderboard([summary]).header


# ---- forms


def test_csv_holds_every_number_with_its_interval(tmp_path: Path) -> None:
    found = standing(tmp_path, "oracle")
    rows = list(csv.DictReader(io.StringIO(to_csv([found]))))
    assert tuple(rows[0]) == COLUMNS
    success = next(row for row in rows if (row["entry"], row["measure"]) == ("cycles_5", "success"))
    assert (success["suite"], success["agent"], success["value"], success["n"]) == ("test_v0", "oracle", "1", "4")
    assert float(success["low"]) == pytest.approx(found.summaries[1].success.low, rel=1e-5)
    measures = {row["measure"] for row in rows}
    assert {"score", "pass@3", "pass^3", "return", "invalid", "turns", "tool_quality", "seconds_median"} <= measures
    assert "optimality_gap" not in measures


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=30)


@given(texts)
def test_no_label_breaks_a_latex_table(label: str) -> None:
    """What has a meaning in LaTeX is written such that it has none."""
    latex = Grid(("agent", "success"), ((label, "1.0%"),)).to_latex("caption")
    row = next(line for line in latex.splitlines() if line.endswith(r"1.0\% \\"))
    bare = row.replace(r"\&", "").replace(r"\%", "").replace(r"\$", "").replace(r"\#", "").replace(r"\_", "")
    assert bare.count("&") == 1
    assert not set("%#_") & set(bare.replace(r" \\", ""))


def test_references_stand_behind_a_rule() -> None:
    grid = Grid(("agent", "role", "success"), (("a", "x\ny", "1%"), ("b", "x", "2%"), ("c", "x", "3%")), references=1)
    lines = grid.to_latex("What & why").splitlines()
    assert r"\begin{tabular}{llr}" in lines
    assert r"\caption{What \& why}" in lines
    assert r"a & \makecell[l]{x \\ y} & 1\% \\" in lines
    assert lines.index(r"\midrule", lines.index(r"\midrule") + 1) == lines.index(r"c & x & 3\% \\") - 1


def test_plots_are_written_and_are_the_same_for_the_same_runs(tmp_path: Path, play: Play) -> None:
    several = [standing(tmp_path, "oracle")]
    written = write_plots(tmp_path / "several", several, several)
    assert {path.name for path in written} == {"success.svg", "success.png", "samples.svg", "samples.png"}
    assert "cycles_5" in (tmp_path / "several/success.svg").read_text()
    play("idle")
    one = [load_standing(tmp_path / "idle")]
    wide = [dataclasses.replace(summary, entry=f"entry {n}") for n in range(6) for summary in one[0].summaries]
    write_plots(tmp_path / "wide", [dataclasses.replace(one[0], summaries=tuple(wide))])
    assert all(f"entry {n}" in (tmp_path / "wide/success.svg").read_text() for n in range(6)), "in two rows"
    assert [path.name for path in write_plots(tmp_path / "one", one)] == ["success.svg", "success.png"]
    write_plots(tmp_path / "two", one)
    for suffix in ("svg", "png"):
        assert (tmp_path / f"one/success.{suffix}").read_bytes() == (tmp_path / f"two/success.{suffix}").read_bytes()


# ---- committed results


def test_a_result_survives_being_written(tmp_path: Path, play: Play) -> None:
    found = standing(tmp_path, "oracle")
    again = Standing.from_json(found.to_json())
    assert again == found
    single = dataclasses.replace(found, summaries=(summarise(play("idle", instances=1)),))
    assert math.isnan(Standing.from_json(single.to_json()).summaries[0].turns.low), "NaN is null in JSON"
    with pytest.raises(UsageError, match="must be what llm-envs report"):
        Standing.from_json('{"label": 1}')


def test_references_are_of_the_very_suite_that_was_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = standing(tmp_path, "oracle")
    (tmp_path / "results/test_v0").mkdir(parents=True)
    (tmp_path / "results/test_v0/oracle.json").write_text(found.to_json())
    monkeypatch.setattr(references, "RESULTS", tmp_path / "results")
    assert references.references_for([found]) == [found]
    assert references.references_for([dataclasses.replace(found, suite_hash="other")]) == []
    assert references.references_for([dataclasses.replace(found, suite="", suite_hash="")]) == []
