"""The `at-grpo` command line: what it hands to the trainer, what it says, and its exit status."""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from transformers.utils.logging import is_progress_bar_enabled

import llm_envs
from at_grpo import cli, versions
from at_grpo.checkpointing import latest_checkpoint
from at_grpo.cli import INTERRUPTED, USAGE_ERROR, main
from at_grpo.config import ModelSection, PolicySection, RoleSection, RunSection, TrainConfig
from at_grpo.loading import bundled_configs, dump_config
from at_grpo.stopping import InterruptedRun
from llm_envs.core.errors import UsageError
from tests.architecture.paths import ROOT
from tests.trainer.test_checkpointing import save

Call = tuple[TrainConfig, Path | None]


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    return TrainConfig(
        model=ModelSection(base="some/model"),
        policies={"tool": PolicySection(), "planner": PolicySection()},
        roles={"tool": RoleSection("tool"), "planner": RoleSection("planner")},
        run=RunSection(output_dir=str(tmp_path / "run")),
    )


@pytest.fixture
def config_file(config: TrainConfig, tmp_path: Path) -> str:
    path = tmp_path / "config.yaml"
    path.write_text(dump_config(config))
    return str(path)


def replace_run(monkeypatch: pytest.MonkeyPatch, run: Callable[[TrainConfig, Path | None], Any]) -> None:
    """Let `run` stand where training would begin."""
    monkeypatch.setitem(sys.modules, "at_grpo.train", SimpleNamespace(run=run))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """What training is called with."""
    recorded: list[Call] = []
    replace_run(monkeypatch, lambda config, resume: recorded.append((config, resume)))
    return recorded


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == USAGE_ERROR
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err


# ---- train


def test_training_gets_the_file_with_the_overrides_wherever_they_stand(
    config: TrainConfig, config_file: str, calls: list[Call]
) -> None:
    wanted = dataclasses.replace(
        config,
        optim=dataclasses.replace(config.optim, steps=7, learning_rate=1e-3),
        run=dataclasses.replace(config.run, seed=3),
    )
    words = ["optim.steps=7", "--config", config_file, "optim.learning_rate=1e-3", "run.seed=3"]
    for turned in (words, [*words[1:], words[0]], [words[0], words[3], words[4], *words[1:3]]):
        assert main(["train", *turned]) == 0
    assert calls == [(wanted, None)] * 3
    assert not is_progress_bar_enabled(), "transformers' bars for reading and writing files"


def test_the_process_is_confined_to_its_gpu_before_a_library_looks_for_cuda(
    config_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a process sees is fixed when CUDA is first asked; TRL refuses one that sees several."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6")
    monkeypatch.setattr(cli, "visible_gpus", lambda: ("4", "6"))
    seen: list[str] = []
    monkeypatch.setattr(versions, "check_trackers", lambda names: seen.append(os.environ["CUDA_VISIBLE_DEVICES"]))
    replace_run(monkeypatch, lambda config, resume: seen.append(os.environ["CUDA_VISIBLE_DEVICES"]))
    assert main(["train", "--config", config_file, "inference.backend=vllm", "inference.gpus=[0]"]) == 0
    assert seen == ["6", "6"]


def test_a_bundled_configuration_is_named_without_its_folder(calls: list[Call], tmp_path: Path) -> None:
    assert main(["train", "--config", "plan_path/per_role", f"run.output_dir={tmp_path}"]) == 0
    assert calls[0][0].model.base == "Qwen/Qwen3-1.7B"


def test_another_machine_is_planned_for_and_never_trained_on(
    config_file: str, calls: list[Call], capsys: pytest.CaptureFixture[str]
) -> None:
    """`--gpus` and `--memory` say what the machine of a dry run has. UC-178: elsewhere they would be ignored."""
    plan = ["train", "--config", "tiny_cpu", "inference.backend=vllm", "--dry-run", "--gpus", "2"]
    assert main([*plan, "--memory", "80"]) == 0
    page = capsys.readouterr().out
    assert "Planned for a machine with 2 GPU(s)." in page
    assert "server 0: CUDA_VISIBLE_DEVICES=1 " in page
    assert main([*plan, "--memory", "0.001"]) == USAGE_ERROR
    assert "GPU 0: the plan needs about" in capsys.readouterr().err
    for option in ("--gpus", "--memory"):
        assert "no effect without --dry-run" in refused(capsys, "train", "--config", config_file, option, "2")
    assert calls == []


def test_a_wrong_configuration_is_a_line_a_problem_and_status_2(
    config_file: str, calls: list[Call], capsys: pytest.CaptureFixture[str]
) -> None:
    """UC-175."""
    said = refused(capsys, "train", "--config", config_file, "optim.stps=7")
    assert said == "at-grpo: optim.stps=7: no such key. Did you mean 'optim.steps'?\n"
    assert calls == []


def test_a_missing_configuration_is_told(calls: list[Call], capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--resume"], ["--dry-run"]):
        assert "--config: is missing" in refused(capsys, "train", *words)
    assert calls == []


@pytest.mark.parametrize("argv", [["train", "--confg", "x"], ["trainn"], [], ["train", "--config"]])
def test_a_command_line_that_is_none_is_status_2(argv: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == USAGE_ERROR
    assert "usage: at-grpo" in capsys.readouterr().err


def test_an_error_of_the_run_that_a_user_can_mend_is_one_line(
    config_file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(config: TrainConfig, resume: Path | None) -> None:
        raise UsageError("model.base='some/model': no folder of that name")

    replace_run(monkeypatch, run)
    assert refused(capsys, "train", "--config", config_file).startswith("at-grpo: model.base='some/model'")


def test_an_error_of_the_program_keeps_its_traceback(config_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_run(monkeypatch, lambda config, resume: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["train", "--config", config_file])


# ---- resume


def test_resume_takes_the_latest_complete_checkpoint(
    config: TrainConfig, config_file: str, calls: list[Call], tmp_path: Path
) -> None:
    for step in (5, 10):
        save(tmp_path / "run", step, config)
    (tmp_path / "run" / "checkpoint-15").mkdir()
    assert main(["train", "--config", config_file, "--resume"]) == 0
    assert main(["train", "--config", config_file, "--resume", "optim.steps=200"]) == 0
    longer = dataclasses.replace(config, optim=dataclasses.replace(config.optim, steps=200))
    assert calls == [(config, tmp_path / "run" / "checkpoint-10"), (longer, tmp_path / "run" / "checkpoint-10")]


def test_resume_takes_the_checkpoint_that_is_named(
    config: TrainConfig, config_file: str, calls: list[Call], tmp_path: Path
) -> None:
    first = save(tmp_path / "run", 5, config)
    save(tmp_path / "run", 10, config)
    assert main(["train", "--config", config_file, "--resume", str(first)]) == 0
    assert calls == [(config, first)]


def test_a_checkpoint_needs_no_configuration_beside_it(config: TrainConfig, calls: list[Call], tmp_path: Path) -> None:
    """It goes on in the folder that it lies in, even if that was moved; a name like a number is no trap."""
    save(tmp_path / "run", 5, config)
    moved = (tmp_path / "run").rename(tmp_path / "1e5")
    assert main(["train", "--resume", str(moved / "checkpoint-5"), "run.log_steps=1"]) == 0
    ((used, resume),) = calls
    assert resume == moved / "checkpoint-5"
    assert used.run == dataclasses.replace(config.run, output_dir=str(moved), log_steps=1)
    assert dataclasses.replace(used, run=config.run) == config


def test_a_checkpoint_of_another_configuration_is_refused_with_the_difference(
    config: TrainConfig, config_file: str, calls: list[Call], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "run", 5, config)
    said = refused(capsys, "train", "--config", config_file, "--resume", "rollout.k=8")
    assert "rollout.k: 4 in the checkpoint, 8 now" in said
    assert calls == []


def test_resume_without_a_complete_checkpoint_is_told(
    config_file: str, calls: list[Call], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run" / "checkpoint-5").mkdir(parents=True)
    assert "holds no complete checkpoint" in refused(capsys, "train", "--config", config_file, "--resume")
    named = str(tmp_path / "run" / "checkpoint-5")
    assert "is no complete checkpoint" in refused(capsys, "train", "--resume", named)


def test_a_new_run_does_not_mix_with_an_old_one(
    config: TrainConfig, config_file: str, calls: list[Call], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """UC-169."""
    save(tmp_path / "run", 5, config)
    assert "Go on with --resume, or name another folder" in refused(capsys, "train", "--config", config_file)
    assert calls == []


# ---- stopping


def test_an_interrupted_run_says_how_to_go_on_and_is_status_130(
    config: TrainConfig,
    config_file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(config: TrainConfig, resume: Path | None) -> None:
        raise InterruptedRun(save(Path(config.run.output_dir), 5, config))

    replace_run(monkeypatch, run)
    assert main(["train", "--config", config_file]) == INTERRUPTED == 130
    command = capsys.readouterr().err.splitlines()[-1].split()
    assert command[:3] == ["at-grpo", "train", "--resume"]
    recorded: list[Call] = []
    replace_run(monkeypatch, lambda config, resume: recorded.append((config, resume)))
    assert main(command[1:]) == 0, "the printed command is one that works"
    assert recorded == [(config, latest_checkpoint(tmp_path / "run"))]


def test_a_run_stopped_at_once_says_what_is_lost(
    config_file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(config: TrainConfig, resume: Path | None) -> None:
        raise KeyboardInterrupt

    replace_run(monkeypatch, run)
    assert main(["train", "--config", config_file]) == INTERRUPTED
    assert "since the last checkpoint is lost" in capsys.readouterr().err


# ---- the other commands


def test_the_version_is_the_package_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"at-grpo {llm_envs.__version__}\n"


def test_a_dry_run_trains_nothing_and_minds_no_earlier_run(
    config: TrainConfig, calls: list[Call], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """UC-124."""
    save(tmp_path, 5, config)
    overrides = ["optim.steps=340", f"run.output_dir={tmp_path}"]
    assert main(["train", "--config", "tiny_cpu", "--dry-run", *overrides]) == 0
    assert "340 iterations, 340 optimizer steps" in capsys.readouterr().out
    assert calls == []


def test_configs_lists_every_configuration_with_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["configs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, title in bundled_configs().items():
        assert any(line.split(None, 1) == [name, title] for line in lines)
        assert title


def test_the_module_is_the_script() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "at_grpo", "configs"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "tiny_cpu" in done.stdout


@pytest.mark.parametrize(("before", "level"), [("main(['configs'])", "ERROR"), ("pass", "WARNING")])
def test_the_hub_s_own_words_on_its_retries_are_not_shown(before: str, level: str) -> None:
    """The second case is the negative control: without the command line they would be."""
    code = f"from at_grpo.cli import main; {before}; import huggingface_hub as hub, logging; "
    code += "print(logging.getLevelName(hub.logging.get_verbosity()))"
    environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_VERBOSITY"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split()[-1] == level


def test_every_configuration_is_in_the_wheel() -> None:
    """The folder is inside the package, so what is listed here is what a user gets."""
    assert (ROOT / "trainer" / "at_grpo" / "configs").resolve() == cli.CONFIGS.resolve()


# ---- versions


def test_the_pinned_versions_lie_in_the_tested_ranges_and_are_installed() -> None:
    """UC-175, UC-182."""
    import tomllib

    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    versions.check_versions()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    pins = {requirement.name: requirement for requirement in map(Requirement, extras["train"])}
    for name, tested in versions.TESTED.items():
        (pin,) = pins[name].specifier
        assert (pin.operator, SpecifierSet(tested).contains(pin.version)) == ("==", True)


@pytest.mark.parametrize(
    ("name", "tested", "expected"),
    [
        ("trl", "<1.0", r"trl=[\d.]+: must be <1\.0"),
        ("no-such-library", ">=1", "no-such-library: is not installed; the trainer needs no-such-library>=1"),
    ],
)
def test_a_library_outside_its_tested_range_is_named_with_the_fix(
    name: str, tested: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UC-175."""
    monkeypatch.setitem(versions.TESTED, name, tested)
    with pytest.raises(UsageError, match=expected) as caught:
        versions.check_versions()
    assert "pip install 'llm-envs[train]'" in str(caught.value)


def test_a_tracker_whose_library_is_not_there_is_named(
    config_file: str, calls: list[Call], capsys: pytest.CaptureFixture[str]
) -> None:
    """UC-178: `report_to` is never silently without effect."""
    said = refused(capsys, "train", "--config", config_file, "run.report_to=[neptune]")
    assert "run.report_to=['neptune']: not installed" in said
    assert calls == []
