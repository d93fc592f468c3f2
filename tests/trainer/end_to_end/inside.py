"""What a run does in a process of its own: the real `train.run`, recorded, with at most one fault built in.

A process runs once, so nothing that is replaced here has to be put back.
"""

import functools
import hashlib
import json
import logging
import multiprocessing
import os
import resource
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from tqdm import tqdm
from transformers.utils.logging import disable_progress_bar

from at_grpo import train
from at_grpo.at_grpo_trainer import ATGRPOTrainer
from at_grpo.cli import main
from at_grpo.config import TrainConfig
from at_grpo.inference import publishing
from at_grpo.inference.base import Completion, SampleRequest
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.merged import MergedPolicies
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.rollouts.engine import RolloutEngine
from at_grpo.updates import remote
from llm_envs.episode import Episode
from llm_envs.sandbox import registry
from tests.trainer.end_to_end import disk_faults, flat_env, three_env
from tests.trainer.end_to_end.process import OUTPUT

SMALL = 16384  # bytes: less than an adapter, more than what a run says
TAPE, BASE_DIGESTS, EVALUATED, NAMES = "tape.jsonl", "base_digests.json", "evaluated.jsonl", "names.txt"


def train_once(config: TrainConfig, resume: Path | None, fault: str) -> None:
    """`train.run`, with what it says in `output.txt` of its folder and what it sampled in `tape.jsonl`."""
    folder = Path(config.run.output_dir)
    begin(folder)
    _record(folder)
    if fault:
        FAULTS[fault]()
    train.run(config, resume)


def watched(config: TrainConfig, resume: Path | None) -> None:
    """`train.run`, watched as `watched` says."""
    import_module("tests.trainer.end_to_end.watched").run(config, resume)


def command_line(argv: Sequence[str], folder: Path, fault: str) -> None:
    """The `at-grpo` script, up to its exit status."""
    begin(folder)
    if fault:
        FAULTS[fault]()
    sys.exit(main(argv))


def begin(folder: Path) -> None:
    """What every process here does first: say everything in its folder, alike each time."""
    folder.mkdir(parents=True, exist_ok=True)
    output = os.open(folder / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(output, stream)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    disable_progress_bar()
    torch.set_num_threads(1)  # one thread adds numbers in one order
    remote.CONTEXT = multiprocessing.get_context("fork")  # importing TRL anew takes longer than a run
    tqdm.set_lock(threading.RLock())  # its own is a semaphore of the system, which a killed process leaves behind
    flat_env.register_once()
    three_env.register_once()
    _record_names(folder)


# ---- recording, hung onto the classes, so that it holds wherever they are put together


def _record(folder: Path) -> None:
    generate, evaluate, fit = TransformersSampler.generate, RolloutEngine.evaluate, ATGRPOTrainer.train

    def generate_and_record(self: Any, requests: Sequence[SampleRequest]) -> list[list[Completion]]:
        results = generate(self, requests)
        with (folder / TAPE).open("a") as file:
            for request, completions in zip(requests, results, strict=True):
                entry = {
                    "step": completions[0].version,
                    "policy": request.policy,
                    "prompt": request.prompt_ids,
                    "replies": [completion.token_ids for completion in completions],
                }
                file.write(json.dumps(entry) + "\n")
        return results

    def evaluate_and_record(self: Any, *args: Any) -> list[Episode]:
        episodes = evaluate(self, *args)
        with (folder / EVALUATED).open("a") as file:
            file.writelines(episode.to_json() + "\n" for episode in episodes)
        return episodes

    def fit_and_compare(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = _digest_base(self.model)
        result = fit(self, *args, **kwargs)
        (folder / BASE_DIGESTS).write_text(json.dumps([before, _digest_base(self.model)]))
        return result

    TransformersSampler.generate = generate_and_record
    RolloutEngine.evaluate = evaluate_and_record
    ATGRPOTrainer.train = fit_and_compare


def _record_names(folder: Path) -> None:
    """The names under which servers have acknowledged adapters, in order."""
    load = publishing.load_adapter

    async def load_and_record(endpoint: Endpoint, name: str, files: Path, **options: Any) -> None:
        await load(endpoint, name, files, **options)
        with (folder / NAMES).open("a") as file:
            file.write(f"{name}\n")

    publishing.load_adapter = load_and_record


def _digest_base(model: PeftModel) -> str:
    digest = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters()):
        if "lora_" not in name:
            digest.update(name.encode() + parameter.detach().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


# ---- faults, for negative controls and for what only another machine shows


def _forget_moments() -> None:
    restore = ATGRPOTrainer._load_optimizer_and_scheduler

    def without_moments(self: ATGRPOTrainer, checkpoint: str | None) -> None:
        restore(self, checkpoint)
        self.optimizer.state.clear()

    ATGRPOTrainer._load_optimizer_and_scheduler = without_moments


def _forget_adapters() -> None:
    ATGRPOTrainer._load_from_checkpoint = lambda self, checkpoint, model=None: None


def _serve_stale_adapters() -> None:
    """The sampler folds each adapter in once and never again."""
    fold = MergedPolicies.model
    MergedPolicies.model = functools.lru_cache(fold)


def _take_the_cages_away() -> None:
    registry.Kind.unavailable = lambda kind: "the kernel has no Landlock"


def _publish_the_start_for_ever() -> None:
    """Versions go up, weights do not."""
    save, states = publishing.get_peft_model_state_dict, {}

    def first_state(model: PeftModel, adapter_name: str) -> Any:
        if adapter_name not in states:
            states[adapter_name] = {key: value.clone() for key, value in save(model, adapter_name=adapter_name).items()}
        return states[adapter_name]

    publishing.get_peft_model_state_dict = first_state


def _cut_an_adapter_short() -> None:
    save = publishing.save_file

    def save_half(tensors: Any, path: Path) -> None:
        save(tensors, path)
        if "-v2-" in path.parent.name:
            os.truncate(path, path.stat().st_size // 2)

    publishing.save_file = save_half


def _fill_the_disk() -> None:
    """A limit on the size of files looks to a process like a disk without room, and needs no privileges."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, resource.RLIM_INFINITY))


def _fill_the_disk_later() -> None:
    save = publishing.save_file

    def save_or_fail(tensors: Any, path: Path) -> None:
        if "-v2-" in path.parent.name:
            _fill_the_disk()
        save(tensors, path)

    publishing.save_file = save_or_fail


FAULTS: dict[str, Callable[[], None]] = {
    "moments not restored": _forget_moments,
    "adapters not restored": _forget_adapters,
    "stale adapters": _serve_stale_adapters,
    "no cage": _take_the_cages_away,
    "weights of the start": _publish_the_start_for_ever,
    "adapter cut short": _cut_an_adapter_short,
    "disk full": _fill_the_disk,
    "disk full from version 2 on": _fill_the_disk_later,
    **disk_faults.FAULTS,
}
