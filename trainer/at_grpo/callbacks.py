"""What a run shows and leaves behind while it goes on (progress, metrics, learning curve, turns), and how it stops.

All of it hangs on transformers' callbacks, so that the trainer itself neither prints nor writes.
"""

import json
import logging
import signal
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from transformers import (
    PrinterCallback,
    ProgressCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from at_grpo.checkpointing import write_atomically
from at_grpo.curves import draw_curves, read_metrics
from at_grpo.metrics import roles_of
from at_grpo.samples import Group
from at_grpo.turn_table import turn_tables
from llm_envs.episode import Episode

logger = logging.getLogger(__name__)

METRICS = "metrics.jsonl"
CURVES = "learning_curve.png"
EPISODES = "episodes"


def quiet(trainer: Trainer) -> None:
    """Take off what transformers would print by itself."""
    for callback in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(callback)


def write_step_episodes(folder: Path, step: int, episodes: Iterable[Episode]) -> Path:
    """Write an iteration's episodes to `episodes/step-<n>.jsonl`, whole or not at all; a resumed run replaces them."""
    path = folder / EPISODES / f"step-{step:06d}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join(episode.to_json() + "\n" for episode in episodes))
    return path


class ProgressReport(TrainerCallback):
    """A progress bar on a terminal; elsewhere a line each time something is logged."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console()
        self._bar: Progress | None = None
        self._begin = time.monotonic()

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self._begin = time.monotonic()
        if self._console.is_terminal and state.is_world_process_zero:
            columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, TimeRemainingColumn(), console=self._console)
            self._bar.add_task("training", total=state.max_steps, completed=state.global_step)
            self._bar.start()

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=state.global_step)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        line = summary_line(logs or {})
        if line and state.is_world_process_zero:
            minutes, seconds = divmod(int(time.monotonic() - self._begin), 60)
            head = f"{minutes:3d}:{seconds:02d}  step {state.global_step}/{state.max_steps}"
            self._console.print(f"{head}  {line}", markup=False, highlight=False, soft_wrap=True)

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def summary_line(logs: dict[str, Any]) -> str:
    """The few numbers that a person follows: success in evaluation, trees whose best branches led to the goal, each
    role's reward and invalid rate. Empty if there are none.
    """
    names = {"eval_success": "success", "tree/success": "trees solved"}
    parts = [f"{name} {logs[key]:.0%}" for key, name in names.items() if logs.get(key) is not None]
    for role in roles_of(logs):
        numbers = f"reward {logs[f'{role}/reward']:+.3f}, invalid {logs.get(f'{role}/invalid_rate', 0):.0%}"
        parts.append(f"{role}: {numbers}")
    return " · ".join(parts)


class MetricsLog(TrainerCallback):
    """`metrics.jsonl`, a line each time something is logged, and the learning curve drawn from it.

    A resumed run cuts what an abandoned branch logged beyond the iteration it resumes from.

    Attributes:
        path: of the log.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / METRICS
        self._picture = folder / CURVES

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        if state.is_world_process_zero:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            kept = [entry for entry in read_metrics(self.path) if entry["step"] <= state.global_step > 0]
            write_atomically(self.path, "".join(json.dumps(entry) + "\n" for entry in kept))

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if state.is_world_process_zero and logs:
            entry = {"step": state.global_step, "time": round(time.time(), 3), **logs}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        self._draw(state)

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self._draw(state)

    def _draw(self, state: TrainerState) -> None:
        if state.is_world_process_zero:
            draw_curves(self.path, self._picture)


class TurnReport(TrainerCallback):
    """Prints a table of sampled turns each time the trainer logs."""

    def __init__(self, turns: int, console: Console | None = None) -> None:
        """A report.

        Args:
            turns: groups shown, 0 = none.
            console: where to.
        """
        self._turns = turns
        self._console = console or Console()
        self._latest: tuple[int, Sequence[Group]] | None = None

    def remember(self, step: int, groups: Sequence[Group]) -> None:
        """The scored groups of the iteration that has just been collected."""
        self._latest = (step, groups)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if self._turns and self._latest is not None and state.is_world_process_zero:
            step, groups = self._latest
            self._latest = None  # an evaluation logs as well; the same turns are not shown twice
            self._console.print(turn_tables(step, groups, self._turns))


class StopOnSignal(TrainerCallback):
    """Ctrl-C and SIGTERM end a run in order: the iteration is finished and saved. A second one ends it at once.

    Attributes:
        requested: whether a signal has come.
    """

    def __init__(self) -> None:
        self.requested = False
        self._previous: dict[int, Any] = {}

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self.requested = False
        if threading.current_thread() is threading.main_thread():  # Python sets handlers nowhere else
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            self.restore()
            raise KeyboardInterrupt
        self.requested = True
        logger.warning("stopping: this iteration is finished and saved first; press Ctrl-C again to stop at once")

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        if self.requested:
            control.should_save = True
            control.should_training_stop = True

    def restore(self) -> None:
        """Give the signals back to whoever had them."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self.restore()
