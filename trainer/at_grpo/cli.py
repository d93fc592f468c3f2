"""The `at-grpo` command line. Only a command that needs torch imports it, when it is given."""

import argparse
import json
import logging
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

import llm_envs
from at_grpo import doctor, serve
from at_grpo.checkpointing import check_same_config, check_unused, latest_checkpoint, read_config
from at_grpo.config import TrainConfig
from at_grpo.inference.base import SamplerError
from at_grpo.loading import CONFIGS, bundled_configs, load_config
from at_grpo.placement import place, visible_gpus
from at_grpo.rollouts.limits import RolloutError
from at_grpo.stopping import InterruptedRun, WorkerError
from at_grpo.storage import StorageError, telling_when_full
from llm_envs.commands.output import leaving_with_the_reader
from llm_envs.core.errors import UsageError
from llm_envs.sandbox.base import SandboxError

LATEST = "latest"
EPILOG = "`at-grpo COMMAND --help` explains one."
FAILURE, USAGE_ERROR, INTERRUPTED = 1, 2, 130  # 128 + SIGINT, what a shell reports


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    for package in ("at_grpo", "llm_envs"):
        logging.getLogger(package).setLevel(logging.INFO)
    # The hub's retries end in one message of ours. When its client is imported, it sets its logger's level to this.
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    parser = _parser()
    words = list(sys.argv[1:] if argv is None else argv)
    mark = words.index("--") if "--" in words else len(words)
    words, foreign = words[:mark], words[mark + 1 :]
    args, rest = parser.parse_known_args(words)
    overrides = [*getattr(args, "overrides", []), *rest]
    if unknown := [word for word in rest if word.startswith("-")]:
        parser.error(f"unknown option {' '.join(unknown)}")
    if foreign and args.command != "serve":
        parser.error(f"{' '.join(foreign)}: only `serve` takes options after --")
    try:
        with leaving_with_the_reader():
            return _run(args, overrides, foreign)
    except UsageError as error:
        print(f"at-grpo: {error}", file=sys.stderr)
        return USAGE_ERROR
    except SandboxError as error:
        print(f"at-grpo: the sandbox failed: {error}", file=sys.stderr)
        return FAILURE
    except (RolloutError, SamplerError, StorageError, WorkerError) as error:
        print(f"at-grpo: {error}", file=sys.stderr)
        return FAILURE
    except InterruptedRun as stop:
        again = shlex.join(["at-grpo", "train", "--resume", str(stop.checkpoint)])
        print(f"\nStopped; everything up to {stop.checkpoint} is saved. Go on with:\n  {again}", file=sys.stderr)
        return INTERRUPTED
    except KeyboardInterrupt:
        print("\nStopped at once; what was done since the last checkpoint is lost.", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="at-grpo", description="Train several LLM roles by AT-GRPO.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"at-grpo {llm_envs.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    train_help = "train the policies of a configuration"
    train = commands.add_parser("train", help=train_help, description=train_help)
    train.add_argument("--config", help="a YAML file, or a name that `at-grpo configs` lists")
    train.add_argument(
        "--resume",
        nargs="?",
        const=LATEST,
        metavar="CHECKPOINT",
        help="go on from a checkpoint folder, by default from the latest one in run.output_dir",
    )
    train.add_argument("--dry-run", action="store_true", help="print the plan: batches, processes, memory")
    train.add_argument(
        "--memory", type=float, metavar="GIB", help="with --dry-run: what a GPU has; a plan that needs more is refused"
    )
    train.add_argument(
        "--gpus", type=int, metavar="N", help="with --dry-run: plan for a machine with N GPUs, whatever this one has"
    )
    train.add_argument("overrides", nargs="*", metavar="section.key=value", help="values that win over the file's")
    configs_help = "list the configurations that come with the package"
    commands.add_parser("configs", help=configs_help, description=configs_help)
    serve.add_arguments(commands.add_parser("serve", help=serve.HELP, description=serve.HELP))
    doctor.add_arguments(commands.add_parser("doctor", help=doctor.HELP, description=doctor.HELP))
    return parser


def _run(args: argparse.Namespace, overrides: list[str], foreign: list[str]) -> int:
    match args.command:
        case "configs":
            return _configs()
        case "serve":
            return serve.run(args, overrides, foreign)
        case "doctor":
            return doctor.run(args, overrides)
    return _train(args, overrides)


def _configs() -> int:
    for name, title in bundled_configs().items():
        print(f"{name:26} {title}")
    print(f"\nThey are files below {CONFIGS}. A file that begins with `extends: <name>` says only what is to differ.")
    return 0


def _train(args: argparse.Namespace, overrides: list[str]) -> int:
    resume = args.resume
    if resume is not None and "=" in resume and not Path(resume).exists():
        overrides, resume = [resume, *overrides], LATEST  # argparse took the first override for the checkpoint
    config, checkpoint = resolve(args.config, overrides, resume)
    if args.dry_run:
        from at_grpo.dry_run import dry_run

        dry_run(config, Console(), None if args.memory is None else int(args.memory * 2**30), args.gpus)
        return 0
    if args.memory is not None or args.gpus is not None:
        raise UsageError("--memory, --gpus: have no effect without --dry-run; remove them.")
    from at_grpo.versions import check_trackers, check_versions

    check_versions()
    place(config, visible_gpus()).confine()  # now: libraries that look for CUDA fix what this process sees
    check_trackers(config.run.report_to)
    if checkpoint is None:
        check_unused(Path(config.run.output_dir))
    from transformers.utils.logging import disable_progress_bar

    from at_grpo.train import run

    disable_progress_bar()  # a bar for each file it reads or writes; the run has one of its own
    with telling_when_full(Path(config.run.output_dir)):
        run(config, checkpoint)
    return 0


def resolve(source: str | None, overrides: Sequence[str], resume: str | None) -> tuple[TrainConfig, Path | None]:
    """The configuration and the checkpoint that a command line asks for.

    A checkpoint knows its configuration, so `--resume CHECKPOINT` needs no `--config`; the run's folder is then the one
    that the checkpoint lies in, wherever it was moved.

    Raises:
        UsageError: neither a configuration nor a checkpoint, no complete checkpoint, or one of another configuration.
    """
    if source is None and resume in {None, LATEST}:
        raise UsageError("--config: is missing; name a YAML file or one of `at-grpo configs`.")
    if source is None:
        checkpoint = Path(str(resume))
        read_config(checkpoint)  # complete, or refused with the reason
        config = load_config(
            checkpoint / "config.yaml", [f"run.output_dir={json.dumps(str(checkpoint.parent))}", *overrides]
        )
    else:
        config = load_config(source, overrides)
    run_dir = Path(config.run.output_dir)
    if resume is None:
        return config, None
    found = latest_checkpoint(run_dir) if resume == LATEST else Path(resume)
    if found is None:
        raise UsageError(f"--resume: {run_dir} holds no complete checkpoint; name one, or leave --resume out.")
    check_same_config(found, config)
    return config, found
