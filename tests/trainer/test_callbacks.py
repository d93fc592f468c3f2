"""What a run shows, what it leaves behind, and how it stops: on real training runs of a tiny model."""

import asyncio
import dataclasses
import io
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from transformers import TrainerCallback

from at_grpo.advantages import score
from at_grpo.at_grpo_config import grpo_config
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.callbacks import (
    CURVES,
    METRICS,
    MetricsLog,
    ProgressReport,
    StopOnSignal,
    TurnReport,
    quiet,
    summary_line,
    write_step_episodes,
)
from at_grpo.checkpointing import committing, latest_checkpoint
from at_grpo.config import TrainConfig
from at_grpo.curves import draw_curves, read_metrics
from at_grpo.metrics import step_metrics
from at_grpo.samples import Group, Iteration
from at_grpo.turn_table import shorten, turn_tables
from llm_envs.episode import Ending, Episode, read_episodes
from tests.trainer.samples import group
from tests.trainer.tiny_trainer import ROLES, cut, peft_model, random_samples, run_config, tokenizer

PNG = b"\x89PNG\r\n\x1a\n"


class SavingTrainer(ATGRPOTrainer):
    """Saves as a run does: through `committing`."""

    run_config: TrainConfig

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        with committing(Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}", self.run_config):
            super()._save_checkpoint(model, trial)


def settings(folder: Path, **run: Any) -> TrainConfig:
    config = run_config(folder, steps=4)
    return dataclasses.replace(
        config, run=dataclasses.replace(config.run, **({"log_steps": 2, "save_steps": 100} | run))
    )


def groups_of(step: int) -> list[Group]:
    return score(
        group([0.1 * step, 0.3], role=role, agent=f"{role}_0", step=step, instance=instance, text="up [red]left[/red]")
        for role in ROLES
        for instance in range(2)
    )


def train(
    config: TrainConfig,
    *callbacks: TrainerCallback,
    resume: Path | None = None,
    on_collect: Callable[[int], None] = lambda step: None,
) -> SavingTrainer:
    def collect(step: int) -> Iteration:
        on_collect(step)
        rows = [batch for role in ROLES for batch in cut(random_samples(role, 4, step), 4)]
        return Iteration(rows, step_metrics(groups_of(step)) | {"tree/success": step / 4})

    trainer = SavingTrainer(
        peft_model(config, planted=False),
        args=grpo_config(config),
        policies=config.policies,
        temperatures=dict.fromkeys(ROLES, 1.0),
        collect=collect,
        processing_class=tokenizer(),
        callbacks=list(callbacks),
    )
    trainer.run_config = config
    quiet(trainer)
    trainer.train(resume_from_checkpoint=None if resume is None else str(resume))
    return trainer


# ---- progress


def test_away_from_a_terminal_a_run_prints_a_line_a_log_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = io.StringIO()
    train(settings(tmp_path), ProgressReport(Console(file=out, width=80)))
    lines = out.getvalue().splitlines()
    assert [line.partition("  step ")[2].partition(" ")[0] for line in lines] == ["1/4", "2/4", "4/4"]
    assert lines[-1].endswith("trees solved 62% · planner: reward +0.275, invalid 0% · tool: reward +0.275, invalid 0%")
    assert capsys.readouterr().out == "", "transformers prints its logs unless it is quieted"


def test_on_a_terminal_a_run_shows_a_bar(tmp_path: Path) -> None:
    out = io.StringIO()
    train(settings(tmp_path), ProgressReport(Console(file=out, width=100, force_terminal=True)))
    assert "4/4" in out.getvalue()
    assert "\x1b[" in out.getvalue()
    assert "step 4/4" in out.getvalue(), "the lines stand above the bar"


def test_logs_without_the_followed_numbers_print_no_line() -> None:
    assert summary_line({"train_runtime": 3.0, "loss": 0.1}) == ""
    assert summary_line({"eval_success": 0.5, "tree/success": 0.9}) == "success 50% · trees solved 90%"
    assert summary_line({"eval_success": None}) == ""


# ---- metrics and curve


def test_every_log_is_a_line_of_the_metrics_file(tmp_path: Path) -> None:
    """UC-178: `log_steps` changes how many."""
    train(settings(tmp_path / "a"), MetricsLog(tmp_path / "a"))
    train(settings(tmp_path / "b", log_steps=1), MetricsLog(tmp_path / "b"))
    every_second, every = (read_metrics(tmp_path / name / METRICS) for name in "ab")
    assert [entry["step"] for entry in every_second if "tool/reward" in entry] == [1, 2, 4]
    assert [entry["step"] for entry in every if "tool/reward" in entry] == [1, 2, 3, 4]
    assert every[2]["tool/reward"] == pytest.approx(0.25)
    assert every[2]["tree/success"] == 0.5
    assert every[2]["learning_rate"] > 0


def test_a_resumed_run_cuts_what_its_former_self_logged_later(tmp_path: Path) -> None:
    config = settings(tmp_path, log_steps=1, save_steps=2)
    train(config, MetricsLog(tmp_path))
    before = read_metrics(tmp_path / METRICS)
    with (tmp_path / METRICS).open("a") as file:
        file.write('{"step": 4, "torn')
    train(config, MetricsLog(tmp_path), resume=tmp_path / "checkpoint-2")
    after = read_metrics(tmp_path / METRICS)
    steps = [entry["step"] for entry in after if "tool/reward" in entry]
    assert steps == [1, 2, 3, 4]
    assert after[:2] == before[:2]
    assert after[2]["time"] > before[-1]["time"], "steps 3 and 4 are those of the resumed run"


def test_a_new_run_begins_its_metrics_anew(tmp_path: Path) -> None:
    (tmp_path / METRICS).write_text('{"step": 3, "tree/success": 1.0}\n')
    train(settings(tmp_path), MetricsLog(tmp_path))
    assert [entry["step"] for entry in read_metrics(tmp_path / METRICS) if "tree/success" in entry] == [1, 2, 4]


def test_the_learning_curve_is_drawn(tmp_path: Path) -> None:
    train(settings(tmp_path), MetricsLog(tmp_path))
    assert (tmp_path / CURVES).read_bytes().startswith(PNG)


def test_a_curve_without_points_is_not_drawn(tmp_path: Path) -> None:
    (tmp_path / METRICS).write_text('{"step": 1, "loss": 0.0, "tool/reward": null}\n')
    assert not draw_curves(tmp_path / METRICS, tmp_path / CURVES)
    assert not draw_curves(tmp_path / "absent", tmp_path / CURVES)
    assert not (tmp_path / CURVES).exists()


def test_each_panel_has_a_curve_for_each_role_and_for_both_successes() -> None:
    from at_grpo.curves import _curves

    entries = [
        {"step": 1, "tree/success": 0.1, "tool/reward": 0.2, "tool/info/reward": 9.0},
        {"step": 2, "eval_success": 0.3, "planner/reward": 0.4, "tool/reward": 0.5, "tool/reward_std": 1.0},
    ]
    assert list(_curves(entries, "success").values()) == [[(1, 0.1)], [(2, 0.3)]]
    assert _curves(entries, "reward") == {"tool": [(1, 0.2), (2, 0.5)], "planner": [(2, 0.4)]}


# ---- table of turns


def table_text(table: Any) -> str:
    console = Console(file=io.StringIO(), width=160)
    console.print(table)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_the_table_shows_each_branch_with_its_parts() -> None:
    info = {"team_reward": 0.25, "local_reward": -0.05}
    rows = score([group([0.2, -0.8], info=info, text="up up", observation="planner at 3 4", cycle=2)])
    chosen = dataclasses.replace(rows[0].samples[0], chosen=True)
    shown = table_text(turn_tables(7, [dataclasses.replace(rows[0], samples=(chosen, rows[0].samples[1]))], 5))
    assert "Sampled turns of iteration 7" in shown
    first, second = (line for line in shown.splitlines() if "up up" in line)
    assert "planner, turn 2: planner at 3 4" in shown
    for part in ("→", "+0.200", "+0.250", "-0.050", "+0.707"):
        assert part in first
    assert "→" not in second
    assert "-0.800" in second


def test_what_a_model_says_can_neither_style_nor_steer_the_terminal() -> None:
    said = "[bold red]up[/]\x1b[2J\x07\nleft" + "\u202e"
    rows = score([group([0.0, 1.0], text=said, observation="\x1b]0;title\x07")])
    shown = table_text(turn_tables(0, rows, 1))
    assert "[bold red]up[/]·[2J·⏎left·" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_long_texts_keep_their_end() -> None:
    assert shorten("x" * 100 + "answer", 10) == "…xxxanswer"
    assert shorten("short", 10) == "short"


def test_the_table_has_as_many_turns_as_asked_and_alternates_roles() -> None:
    """UC-178: `log_turns` changes the table."""
    rows = score(
        group([0.0, 1.0], role=role, agent=f"{role}_0", instance=instance)
        for role, count in (("tool", 9), ("planner", 2))
        for instance in range(count)
    )
    shown = table_text(turn_tables(0, rows, 4))
    assert (shown.count("tool, turn"), shown.count("planner, turn")) == (2, 2)
    assert table_text(turn_tables(1, rows, 4)) == table_text(turn_tables(1, rows, 4))


def test_a_run_prints_its_table_at_each_log_and_only_if_asked(tmp_path: Path) -> None:
    """UC-178: `log_turns: 0` prints none."""
    for turns, tables in ((2, 3), (0, 0)):
        out = io.StringIO()
        report = TurnReport(turns, Console(file=out, width=160))
        train(settings(tmp_path), report, on_collect=lambda step, to=report: to.remember(step, groups_of(step)))
        assert out.getvalue().count("Sampled turns of iteration") == tables
        assert ("up [red]left[/red]" in out.getvalue()) == bool(turns)


# ---- episodes


def episode(index: int) -> Episode:
    return Episode(
        env="llm_envs/plan_path-v0",
        split="train",
        index=index,
        players={"tool": "tool"},
        start="#",
        turns=(),
        returns={"tool_0": 0.5},
        success=True,
        ending=Ending.TERMINATED,
    )


def test_a_step_s_episodes_are_records_that_everything_reads(tmp_path: Path) -> None:
    path = write_step_episodes(tmp_path, 12, [episode(1), episode(2)])
    assert path == tmp_path / "episodes" / "step-000012.jsonl"
    assert list(read_episodes(path)) == [episode(1), episode(2)]
    write_step_episodes(tmp_path, 12, [episode(3)])
    assert list(read_episodes(path)) == [episode(3)], "a resumed run replaces what it plays again"


# ---- stopping


def handlers() -> list[Any]:
    return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_iteration_finish_and_leaves_a_checkpoint_to_go_on_from(
    number: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = handlers()
    stop = StopOnSignal()
    config = settings(tmp_path)

    async def interrupted() -> None:
        os.kill(os.getpid(), number)

    # The rollouts run in an event loop, which has a way of its own with Ctrl-C.
    trainer = train(config, stop, on_collect=lambda step: asyncio.run(interrupted()) if step == 1 else None)
    assert stop.requested
    assert trainer.state.global_step == 2
    assert latest_checkpoint(tmp_path) == tmp_path / "checkpoint-2"
    assert handlers() == before
    assert "this iteration is finished and saved first" in caplog.text
    resumed = train(config, StopOnSignal(), resume=tmp_path / "checkpoint-2")
    assert resumed.state.global_step == 4


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    before = handlers()

    def twice(step: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(settings(tmp_path), StopOnSignal(), on_collect=twice)
    latest = latest_checkpoint(tmp_path)
    assert latest is not None
    assert latest.name == "checkpoint-0", "the start, saved before the first signal; nothing after it"
    assert handlers() == before


def test_without_a_signal_the_run_goes_to_its_end(tmp_path: Path) -> None:
    before = handlers()
    stop = StopOnSignal()
    assert train(settings(tmp_path), stop).state.global_step == 4
    assert not stop.requested
    assert handlers() == before


# ---- checkpoints of a real trainer


def test_a_real_trainer_s_checkpoint_holds_every_policy_and_its_configuration(tmp_path: Path) -> None:
    """UC-160: an adapter for each role, different from each other and from the start."""
    train(settings(tmp_path, save_steps=2))
    newest = latest_checkpoint(tmp_path)
    assert newest is not None
    assert newest.name == "checkpoint-4"
    marker = json.loads((newest / "complete.json").read_text())
    names = {f"{role}/adapter_model.safetensors" for role in ROLES}
    assert names | {"config.yaml", "optimizer.pt", "scheduler.pt", "rng_state.pth"} <= set(marker["files"])
    weights = {(newest / name).read_bytes() for name in names}
    weights |= {(tmp_path / "checkpoint-2" / name).read_bytes() for name in names}
    assert len(weights) == 4
