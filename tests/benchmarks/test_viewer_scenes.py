"""Each family's scene shows what its states say; a page of many entries, samples and episodes stays a page."""

import dataclasses
import json
import random
from collections.abc import Mapping
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from llm_envs.code.judging import Verdict
from llm_envs.code.problem import Case
from llm_envs.code.state import Report, State, render
from llm_envs.code.task import CodeTask
from llm_envs.core.task import Split
from llm_envs_bench.agents import plan_run
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.runner import evaluate, play_run
from llm_envs_bench.store import Run, load_runs
from llm_envs_bench.viewer import build_page
from llm_envs_bench.viewer import page as page_module
from tests.benchmarks import corridor
from tests.benchmarks.chromium import Page
from tests.benchmarks.conftest import Play
from tests.benchmarks.pages import board, count, open_runs, text

pytestmark = pytest.mark.needs("chromium")


def run_of(folder: Path, env: str, agent: str, options: Mapping[str, Any], instances: int = 1) -> Run:
    return evaluate(plan_run(env, agent, {}, options=options, instances=instances), folder)


# ---- games


@pytest.mark.parametrize(
    ("env", "options", "tiles", "pieces"),
    [
        ("plan_path_v0", {"size": 6}, 36, [".tile.here", ".tile.goal"]),
        ("sokoban_v0", {}, 49, [".tile.here", ".crate", ".ring"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_cell_of_a_game_is_drawn(
    page: Page, tmp_path: Path, *, env: str, options: dict[str, Any], tiles: int, pieces: list[str]
) -> None:
    run = run_of(tmp_path / "run", env, "greedy", options)
    open_runs(page, tmp_path, {"greedy": run})
    assert count(page, ".tile") == tiles
    assert [count(page, piece) for piece in pieces] == [1] * len(pieces)
    page.press("End")
    assert board(page) == run.episodes[0].turns[-1].state


def test_a_sudoku_tells_what_was_given_from_what_was_placed(page: Page, tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", "sudoku_v0", "greedy", {"size": 6})
    open_runs(page, tmp_path, {"greedy": run})
    page.press("End")
    episode = run.episodes[0]
    given = sum(glyph.isdigit() for glyph in episode.start)
    now = sum(glyph.isdigit() for glyph in episode.turns[-1].state.partition("now:")[2])
    assert (count(page, ".tile"), count(page, ".bar")) == (36, 3)
    assert (count(page, ".glyph.given"), count(page, ".glyph.piece:not(.given)")) == (given, now - given)
    assert now > given


# ---- programs


def test_a_problem_shows_its_tests_with_their_verdicts(page: Page, tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", "code_v0", "oracle", {})
    open_runs(page, tmp_path, {"oracle": run})
    assert "no program yet" in text(page, ".hidden-tests")
    assert (text(page, ".verdict"), text(page, "#turn")) == ("under way", "start")
    returns = text(page, ".returns")
    assert returns.index("tester_0") < returns.index("coder_0"), "in the order in which they act"
    page.press("End")
    last = run.episodes[0].turns[-1].info
    assert f"{last['passed_hidden']} of {last['hidden_tests']} hidden tests passed" in text(page, ".hidden-tests")
    assert count(page, ".tests tr.pass") == last["visible_tests"] + last["cases"]
    assert count(page, ".tests tr.fail, .tests tr.open") == 0
    assert "def " in text(page, ".board-box .code")
    assert count(page, ".code .keyword") > 0


def problem_state(**fields: Any) -> State:
    return CodeTask().instance(Split.TEST, 0)._replace(**fields)


FORGED = "print(1)\nexample 1: pass\nexample 2: pass\nexample 3: pass\ncase 1: pass"


def test_a_program_cannot_write_itself_a_verdict(page: Page, play: Play, tmp_path: Path) -> None:
    """What stands in the state is the author's; only the lines that the environment put behind it are verdicts."""
    open_runs(page, tmp_path, {"idle": play("idle")})
    visible = problem_state().problem.visible
    failed = tuple(Report(case, Verdict.WRONG) for case in visible)
    for cases in ((), (Case("1\n", "2\n"),)):
        state = problem_state(program=FORGED, on_visible=failed, cases=cases)
        page.evaluate(f"window.found = parseProblem({json.dumps(render(state))})")
        assert page.evaluate("found.tests.map((test) => test.verdict ?? null)") == [
            *["wrong"] * 3,
            *[None] * len(cases),
        ]
        assert page.evaluate("found.program") == FORGED
    page.evaluate(f"window.found = parseProblem({json.dumps(render(problem_state(program=FORGED)))})")
    assert page.evaluate("found.tests.length") == 3


def test_inputs_are_shown_as_they_are(page: Page, play: Play, tmp_path: Path) -> None:
    open_runs(page, tmp_path, {"idle": play("idle")})
    odd = 'it\'s "odd"\\n\t\n<b>\x00é€😀\n'
    page.evaluate(f"window.found = parseProblem({json.dumps(render(problem_state(cases=(Case(odd, odd),))))})")
    assert page.evaluate("found.tests.at(-1).given") == odd
    assert page.evaluate("found.tests.at(-1).wanted") == odd
    assert page.evaluate("[' x\\n', '\\n', ''].map((shown) => drawText(shown).textContent)") == [
        " x\n",
        "(blank)",
        "(empty)",
    ]


# ---- mathematics


def test_answers_stand_with_their_verdicts_and_formulas_can_be_read(page: Page, tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", "math_v0", "weak", {"families": ["determinant"]})
    open_runs(page, tmp_path, {"weak": run})
    assert "pmatrix" not in text(page, ".statement")
    assert "pmatrix" in str(page.evaluate("document.querySelector('.statement .formula').title")), "the source is kept"
    page.press("End")
    verdicts = [turn.info["verdict"] for turn in run.episodes[0].turns if "verdict" in turn.info]
    assert page.evaluate("[...document.querySelectorAll('.verdicts .mark-of')].map((one) => one.innerText)") == verdicts


def test_a_formula_is_lightened_and_its_box_found(page: Page, play: Play, tmp_path: Path) -> None:
    open_runs(page, tmp_path, {"idle": play("idle")})
    source = r"So $x \le \frac{1}{2}$ and \(2 \times 3\), thus \boxed{\{1, \frac{2}{3}\}}. It costs $5."
    page.evaluate(f"window.nodes = drawFormulas({json.dumps(source)})")
    parts = page.evaluate("nodes.map((node) => node.className ? [node.className, node.textContent] : node)")
    assert parts == [
        "So ",
        ["formula", r"x ≤ \frac{1}{2}"],
        " and ",
        ["formula", "2 × 3"],
        ", thus ",
        ["formula boxed", r"{1, \frac{2}{3}}"],
        ". It costs $5.",
    ]


@pytest.mark.parametrize("env", ["code_v0", "math_v0", "sudoku_v0"])
def test_no_scene_runs_over_the_edge_of_a_phone(page: Page, tmp_path: Path, env: str) -> None:
    open_runs(page, tmp_path, {"oracle": run_of(tmp_path / "run", env, "oracle", {})}, width=400, height=800)
    page.press("End")
    assert page.evaluate("document.documentElement.scrollWidth") == 400


# ---- suites


def suite_runs(folder: Path, agent: str, samples: int = 2) -> tuple[Run, ...]:
    """Two entries of the test game."""
    specs = [
        plan_run(
            corridor.ENV_ID, agent, {}, options={"max_cycles": n}, instances=3, samples=samples, entry=f"cycles_{n}"
        )
        for n in (2, 5)
    ]
    play_run(RunPlan(tuple(specs)), folder / agent)
    return load_runs(folder / agent)


def test_entries_and_samples_are_told_apart_and_chosen(page: Page, tmp_path: Path) -> None:
    open_runs(page, tmp_path, {"oracle": suite_runs(tmp_path, "oracle")})
    assert count(page, "#episodes button") == 12
    assert text(page, "#heading") == "cycles_2, instance 0, sample 1"
    page.press("ArrowDown")
    assert text(page, "#heading") == "cycles_2, instance 0, sample 2"
    page.press("e")
    page.press("e")
    assert count(page, "#episodes button") == 6
    assert text(page, "#heading") == "cycles_5, instance 0, sample 1"
    page.press("f")
    assert text(page, "#filters [aria-pressed=true]").startswith("Solved")
    assert count(page, "#episodes button") == 6, "with five cycles all are solved"
    page.press("e")
    page.press("e")
    assert count(page, "#episodes button") == 0, "with two cycles none is"
    assert page.evaluate("document.getElementById('empty').hidden") is False


def test_a_suite_is_compared_entry_by_entry(page: Page, tmp_path: Path) -> None:
    runs = {name: suite_runs(tmp_path, name) for name in ("idle", "oracle")}
    open_runs(page, tmp_path, runs)
    assert "50.0%" in text(page, ".score.run-1"), "the average of nothing and everything"
    assert "+50.0" in text(page, ".score.difference")
    page.press("f")
    assert count(page, "#episodes button") == 6, "gained"


def test_what_is_owed_is_shown_with_its_reason(page: Page, play: Play, tmp_path: Path) -> None:
    corridor.SANDBOX.is_down = lambda code: code == "2"
    open_runs(page, tmp_path, {"oracle": play("oracle")})
    assert count(page, "#episodes .outcome.owed") == 1
    for _ in range(3):
        page.press("f")
    assert text(page, "#heading") == "Instance 2"
    page.press("End")
    assert "owed: sandbox: the engine is gone" in text(page, ".verdict")


def many(run: Run, episodes: int, letters: int) -> Run:
    """The run with as many instances of 16 turns, each with random replies, which can hardly be compressed."""
    rng = random.Random(0)
    original = run.episodes[0]
    played = list(islice(cycle(original.turns), 16))
    made = []
    for index in range(episodes):
        turns = (dataclasses.replace(turn, reply=rng.randbytes(letters // 2).hex()) for turn in played)
        made.append(dataclasses.replace(original, index=index, id=f"corridor-v0/{index}/0", turns=tuple(turns)))
    return dataclasses.replace(run, spec=dataclasses.replace(run.spec, instances=episodes), episodes=tuple(made))


def test_a_thousand_episodes_fit_and_open(page: Page, tmp_path: Path) -> None:
    """16 turns of 1,000 letters; the last episode lies in another group than the first."""
    run = run_of(tmp_path / "run", "plan_path_v0", "random", {})
    big = many(run, 1_000, letters=1_000)
    open_runs(page, tmp_path, {"model": big})
    assert (tmp_path / "page.html").stat().st_size < 30_000_000
    assert count(page, "#episodes button") == 1_000
    assert page.evaluate("unpacked.size") == 1, "only what is looked at is unpacked"
    page.evaluate("setEpisode(999, 16)")
    assert big.episodes[999].turns[15].reply in text(page, ".card.current .said")


def test_a_page_never_grows_beyond_its_limit(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    big = many(play("oracle"), 300, letters=4_000)
    whole = len(build_page({"model": (big,)}, title="x").encode())
    monkeypatch.setattr(page_module, "PAGE_BYTES", 2_000_000)
    cut = build_page({"model": (big,)}, title="x")
    assert len(cut.encode()) < 2_000_000 < whole
    assert '"total":300' in cut
