"""Whole runs by a real vLLM server: two roles train with a swap after every step, and faults end well or in words.

Most name a server that was there before; those whose server is killed, or serves a second base model, start their own.
"""

import asyncio
import os
import random
import re
import signal
import time
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from peft import PeftModel
from transformers import AutoModelForCausalLM

from at_grpo.cli import FAILURE
from at_grpo.config import InferenceSection, PoolSection
from at_grpo.inference.base import Completion, SampleRequest, SamplingParams
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.publishing import load_adapter, unload_adapter
from at_grpo.inference.vllm import VLLMSampler
from at_grpo.warm_start import build_base
from tests.scale import scaled
from tests.shared_vllm import SharedServer
from tests.trainer.end_to_end import behaviour, look, process, vllm_runs
from tests.trainer.end_to_end.inside import NAMES
from tests.trainer.end_to_end.settings import ROLES, small
from tests.trainer.end_to_end.test_control import before_and_after, demo
from tests.trainer.end_to_end.vllm_runs import ENDLESS, FAULT_RUN, command, said, served, wait_for, wait_for_step
from tests.trainer.inference import processes, vllm_fixtures

pytestmark = [pytest.mark.system, pytest.mark.needs("vllm")]

GAP = 1e-4  # between a token's log-probability at the server and in the trainer, float32
STEPS = scaled(fast=5, long=30)


@pytest.fixture(scope="module")
def server(vllm_server: SharedServer) -> SharedServer:
    return vllm_server


@pytest.fixture(scope="module")
def base(server: SharedServer) -> Path:
    return server.base


# ---- runs by a server that was there before


@pytest.fixture(scope="module")
def trained(server: SharedServer, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    before = server.loads()
    run = process.train(served(tmp_path_factory.mktemp("trained") / "run", base, server.url, steps=STEPS))
    assert server.loads() - before == len(names(run)), "the server's own count"
    return run


def names(run: Path) -> list[str]:
    """Under which names its adapters were served, in order."""
    return (run / NAMES).read_text().split()


def test_two_roles_train_and_every_token_is_of_the_weights_that_it_is_trained_at(trained: Path) -> None:
    """UC-137, UC-140, UC-142, UC-160."""
    lines = look.training(trained)
    assert [line["step"] for line in lines] == list(range(1, STEPS + 1))
    for line in lines:
        for role in ROLES:
            assert line[f"{role}/samples"] > 0
            assert 0 < line[f"{role}/sampler_gap_max"] < GAP
            assert line[f"probe/{role}/gap"] < GAP
    changes = [line[f"probe/{role}/change"] for line in lines[1:] for role in ROLES]
    assert max(changes) > 10 * GAP, "weights of the step before would be noticed"
    first, last = look.adapters(trained / "checkpoint-0"), look.adapters(trained / f"checkpoint-{STEPS}")
    for role, other in (ROLES, ROLES[::-1]):
        assert look.distance(last[role], first[role]) > 1e-3
        assert look.distance(last[role], last[other]) > 1e-3


def test_every_version_is_served_under_a_name_of_its_own_and_none_is_left(trained: Path, server: SharedServer) -> None:
    """UC-149; and a run ends no server that it has not started."""
    planted, *published = names(trained)
    word = planted.removeprefix("probe-")
    assert published == [f"{role}-v{version}-{word}" for version in range(STEPS) for role in ROLES]
    assert server.adapters == set()


def test_a_run_that_serves_the_weights_of_its_start_for_ever_is_stopped(
    server: SharedServer, base: Path, tmp_path: Path
) -> None:
    """UC-142, the negative control of the test above: versions go up, weights do not."""
    running = command(served(tmp_path / "run", base, server.url, steps=STEPS), fault="weights of the start")
    assert process.wait(running) == FAILURE
    assert "samples from other weights" in said(tmp_path / "run").splitlines()[-1]
    assert "Traceback" not in said(tmp_path / "run")


def test_a_killed_run_leaves_the_server_and_the_resumed_one_serves_the_saved_adapters_first(
    server: SharedServer, base: Path, tmp_path: Path
) -> None:
    """UC-166; leftovers of the run before are unloaded, with a warning."""
    folder = tmp_path / "run"
    running = command(served(folder, base, server.url, steps=ENDLESS))
    with vllm_runs.ended(running):
        wait_for_step(running, folder, 3)
    left = server.adapters
    assert left
    before = len(names(folder))
    running = command(served(folder, base, server.url, steps=ENDLESS), "--resume", "optim.steps=6")
    assert process.wait(running) == 0, said(folder)[-3000:]
    assert all(f"{name} is left from another run; it is unloaded" in said(folder) for name in left)
    planted, first, *_ = names(folder)[before:]
    assert planted.startswith("probe-")
    step = int(first.split("-v")[1].split("-")[0])
    assert step >= 2
    lines = look.training(folder)
    assert [line["step"] for line in lines] == list(range(1, 7))
    saved, start = look.weights(folder / "checkpoint-6"), look.weights(folder / "checkpoint-0")
    assert look.distance(saved, start) > 1e-3
    assert all(lines[step][f"{role}/sampler_gap_max"] < GAP for role in ROLES)
    assert server.adapters == set()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("adapter cut short", r"publishing (tool|planner)-v2-.*/served/(tool|planner)-v2-.*inference\.patience_s"),
        ("disk full from version 2 on", r"run\.output_dir=.*File too large.*Make room there"),
    ],
)
def test_a_fault_while_adapters_are_published_ends_the_run_with_its_place_and_the_remedy(
    fault: str, words: str, server: SharedServer, base: Path, tmp_path: Path
) -> None:
    running = command(served(tmp_path / "run", base, server.url, steps=ENDLESS, **FAULT_RUN), fault=fault)
    assert process.wait(running) == FAILURE
    assert re.search(words, said(tmp_path / "run").splitlines()[-1])
    assert "Traceback" not in said(tmp_path / "run")
    assert vllm_runs.steps_done(tmp_path / "run") == 2
    assert isinstance(server.adapters, set), "the server goes on"


def test_a_server_that_samples_ahead_serves_the_weights_that_each_row_says(
    server: SharedServer, base: Path, tmp_path: Path
) -> None:
    """With bounded staleness the version before stays loaded while its requests are on their way. UC-152."""
    folder = tmp_path / "run"
    config = served(folder, base, server.url, steps=STEPS)
    config = replace(
        config,
        rollout=replace(config.rollout, staleness=1, instances=4, max_in_flight=1),
        run=replace(config.run, keep_checkpoints=STEPS + 1),
    )
    assert process.wait(process.start("watched", config, None)) == 0, said(folder)[-3000:]
    behaviour.check(base, folder, STEPS, 1, GAP)
    lines = look.training(folder)
    assert all(line[f"probe/{role}/gap"] < GAP for line in lines for role in ROLES)
    assert sum(line["version_lag"] for line in lines) > 0
    assert max(line[f"{role}/sampler_gap_max"] for line in lines for role in ROLES) > 10 * GAP, "older weights' rows"
    assert server.adapters == set()


# ---- every level of specialisation


@pytest.fixture(scope="module")
def two_bases(server: SharedServer, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base model for each role: the planner's has the shared server, the tool's one that the run starts."""
    folder = tmp_path_factory.mktemp("two_bases")
    made = vllm_runs.warm(folder)
    assert made.model.warm_start is not None
    made = replace(made, model=replace(made.model, warm_start=replace(made.model.warm_start, seed=1)))
    other = build_base(made, folder / "base")
    config = served(folder / "run", base, steps=2)
    policies = config.policies | {"tool": replace(config.policies["tool"], base=str(other))}
    pools = {"planner": PoolSection(urls=(server.url,))}
    return process.train(replace(config, policies=policies, pools=pools))


def test_roles_on_different_base_models_train_each_by_its_own_servers(two_bases: Path, server: SharedServer) -> None:
    """L3: served log-probabilities are the trainer's also where another process trains."""
    for line in look.training(two_bases):
        for role in ROLES:
            assert line[f"{role}/samples"] > 0
            assert 0 < line[f"{role}/sampler_gap_max"] < GAP
            assert line[f"probe/{role}/gap"] < GAP
    first, last = look.adapters(two_bases / "checkpoint-0"), look.adapters(two_bases / "checkpoint-2")
    assert all(look.distance(last[role], first[role]) > 1e-3 for role in ROLES)
    assert server.adapters == set()


def test_adapters_of_every_level_play_on_a_server_that_never_trained_them_as_in_plain_peft(
    server: SharedServer, base: Path, trained: Path, two_bases: Path, tmp_path: Path
) -> None:
    """L0 to L3. UC-160."""
    single = small(tmp_path / "l0", base, policies={"solver": "solver"}, options={"roles": "single"})
    shared = small(tmp_path / "l1", base, policies=dict.fromkeys(ROLES, "team"))
    adapters = [process.train(single) / "checkpoint-2" / "solver", process.train(shared) / "checkpoint-2" / "team"]
    adapters += [trained / f"checkpoint-{STEPS}" / role for role in ROLES] + [two_bases / "checkpoint-2" / "planner"]
    scores = []
    for number, adapter in enumerate(adapters):
        served_scores, own = compare_with_peft(server.url, base, adapter, f"level-v{number}")
        assert max(abs(one - other) for one, other in zip(served_scores, own, strict=True)) < GAP
        scores.append(tuple(own))
    assert len(set(scores)) == len(adapters)
    assert server.adapters == set()


def compare_with_peft(url: str, base: Path, adapter: Path, name: str) -> tuple[list[float], list[float]]:
    """Log-probabilities of tokens that a server samples with an adapter: its own, and those of plain PEFT."""
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), adapter)
    prompt_ids = vllm_fixtures.prompt(model, 100)

    async def ask() -> Completion:
        endpoint = Endpoint(url)
        await load_adapter(endpoint, name, adapter.resolve())
        sampler = VLLMSampler([endpoint], {}, stop_token_ids=())
        request = SampleRequest(name, prompt_ids, 1, 0, SamplingParams(max_tokens=16))
        (completion,) = await sampler.sample_as(name, 0, request)
        await unload_adapter(endpoint, name)
        return completion

    completion = asyncio.run(ask())
    return list(completion.logprobs), vllm_fixtures.scores(model, "default", prompt_ids, completion.token_ids)


# ---- runs that start their own server, which is killed


@dataclass(frozen=True)
class Killed:
    """What was there when a run was killed whose server had been killed before."""

    run: Path
    sessions: list[int]
    folder: Path
    restarts: int


def kill_server(running: BaseProcess, run: Path, rng: random.Random) -> int:
    """SIGKILL to one of the server's processes at a random moment; returns its session."""
    wait_for_step(running, run, vllm_runs.steps_done(run) + 1)
    time.sleep(rng.uniform(0, 3))
    assert running.pid is not None
    folder = processes.folder_kept_by(running.pid)
    assert folder is not None
    (session,) = processes.leaders(folder)
    victims = [one for one in processes.all_processes() if one.session == session]
    victim = rng.choice([one for one in victims if not any("resource_tracker" in word for word in one.words)])
    os.kill(victim.pid, signal.SIGKILL)
    return session


def kills_survived(running: BaseProcess, run: Path, rng: random.Random, kills: int) -> list[int]:
    """Kill its server so often, and see each time that the run goes on; returns the sessions."""
    sessions = []
    for _ in range(kills):
        sessions.append(kill_server(running, run, rng))
        wait_for(lambda: not processes.members(sessions[-1]), "the end of the server's other processes")
        wait_for_step(running, run, vllm_runs.steps_done(run) + 3)
    return sessions


@pytest.fixture(scope="module")
def killed(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """A run whose server is killed, and then the run itself."""
    run, kills = tmp_path_factory.mktemp("killed") / "run", scaled(fast=1, long=6)
    running = command(served(run, base, steps=ENDLESS, restarts=kills))
    with vllm_runs.ended(running):
        sessions = kills_survived(running, run, random.Random(0), kills)
        assert running.pid is not None
        folder = processes.folder_kept_by(running.pid)
        assert folder is not None
        sessions += processes.leaders(folder)
    return Killed(run, sessions, folder, kills)


def test_a_server_that_is_killed_is_started_again_and_samples_what_is_trained(killed: Killed) -> None:
    """UC-143: in every step, those in which the server died included."""
    lines = look.training(killed.run)
    assert [line["step"] for line in lines] == list(range(1, len(lines) + 1))
    assert len(lines) >= 4
    for line in lines:
        for role in ROLES:
            assert line[f"{role}/sampler_gap_max"] < GAP
            assert line[f"probe/{role}/gap"] < GAP
    assert said(killed.run).count("It is started again.") == killed.restarts
    assert len(set(killed.sessions)) == killed.restarts + 1


def test_a_run_that_is_killed_leaves_no_server_no_worker_and_no_socket(killed: Killed) -> None:
    wait_for(lambda: not any(map(processes.members, killed.sessions)), "the end of the server")
    wait_for(lambda: not killed.folder.exists(), "the end of its folder")


@pytest.mark.long
def test_it_is_resumed_and_ends_in_words_when_the_restarts_are_used_up(killed: Killed, base: Path) -> None:
    """UC-143, UC-166."""
    kills = 4
    before, rng = vllm_runs.steps_done(killed.run), random.Random(1)
    config = served(killed.run, base, steps=ENDLESS, restarts=killed.restarts)
    running = command(config, "--resume", f"inference.restarts={kills}")
    with vllm_runs.ended(running):
        wait_for_step(running, killed.run, before + 1)
        sessions = kills_survived(running, killed.run, rng, kills)
        sessions.append(kill_server(running, killed.run, rng))
        wait_for(lambda: running.exitcode is not None, "the end of the run")
    assert running.exitcode == FAILURE
    last = said(killed.run).splitlines()[-1]
    assert re.match(r"at-grpo: .*unix:.*the vLLM server (was|ended).*its log is .*inference\.restarts allows", last)
    assert "Traceback" not in said(killed.run)
    assert not any(map(processes.members, sessions))
    lines = look.training(killed.run)
    assert [line["step"] for line in lines] == list(range(1, len(lines) + 1))
    assert all(line[f"{role}/sampler_gap_max"] < GAP for line in lines for role in ROLES)


# ---- at full size


@pytest.mark.long
def test_the_demo_learns_by_a_server_as_it_does_in_the_process(tmp_path: Path) -> None:
    """The median of three seeds reaches the demo's bar within one and a half times its steps."""
    reached = []
    for seed in range(3):
        config = demo(tmp_path / f"run-{seed}", seed)
        steps = config.optim.steps * 3 // 2
        config = replace(
            config,
            optim=replace(config.optim, steps=steps),
            run=replace(config.run, eval_steps=steps),
            inference=InferenceSection(backend="vllm", options=vllm_runs.OPTIONS),
        )
        reached.append(before_and_after(process.train(config), "eval_success")[1])
    assert sorted(reached)[1] >= 0.7
