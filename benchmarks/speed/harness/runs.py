"""The suite's runner beside what it does its work with: a bare loop of episodes, and a sandbox that is always busy."""

import asyncio
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import llm_envs
from harness.timing import Row
from llm_envs.play import aplay
from llm_envs.players import ReferencePlayer
from llm_envs.sandbox.base import Program
from llm_envs.sandbox.registry import get_sandbox
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.runner import Limits, play_run
from llm_envs_bench.spec import RunSpec
from llm_envs_bench.store import load_run

ENV = "llm_envs/plan_path-v0"
IN_FLIGHT = 32
ALONE = {"roles": "single"}


def compare_runs(rounds: int, episodes: int) -> list[Row]:
    """Episodes without programs beside a bare loop, and with one each beside the sandbox alone."""
    programs = collect_programs(episodes)
    arms: dict[str, Callable[[int], None]] = {
        "runner": lambda first: run_episodes("solver", ALONE, first, episodes),
        "bare loop": lambda first: asyncio.run(bare_loop(first, episodes)),
        "runner, programs": lambda first: run_episodes("tool planner", {}, first, episodes),
        "sandbox": lambda first: asyncio.run(busy_sandbox(programs, first)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    for number in range(rounds + 1):
        for name, arm in arms.items():
            begin = time.perf_counter()
            arm(number)
            if number:
                seconds[name].append((time.perf_counter() - begin) / episodes)
    median = {name: statistics.median(times) for name, times in seconds.items()}
    return [
        Row("runner: Plan-Path 8x8, single, no programs", median["runner"], "bare loop", median["bare loop"]),
        Row("runner: Plan-Path 8x8, one program each", median["runner, programs"], "sandbox alone", median["sandbox"]),
    ]


def run_episodes(roles: str, options: dict[str, str], first: int, episodes: int) -> None:
    """A run of the oracle from its plan to its files; it must have solved everything."""
    spec = RunSpec(ENV, dict.fromkeys(roles.split(), "oracle"), options, first=first * episodes, instances=episodes)
    with tempfile.TemporaryDirectory() as folder:
        play_run(RunPlan((spec,)), Path(folder, "run"), limits=Limits(IN_FLIGHT))
        run = load_run(Path(folder, "run"))
    check(episode.success for episode in run.episodes)
    if len(run.episodes) != episodes:
        raise SystemExit(f"runner: {len(run.episodes)} of {episodes} episodes")


async def bare_loop(first: int, episodes: int) -> None:
    """The same episodes one after another, kept nowhere."""
    env = llm_envs.make(ENV, **ALONE)
    oracle = {"solver": ReferencePlayer("oracle")}
    indices = range(first * episodes, (first + 1) * episodes)
    check([(await aplay(env, oracle, split="test", index=index)).success for index in indices])


def collect_programs(episodes: int) -> list[Program]:
    """What the oracle's tool runs in so many episodes."""
    task = llm_envs.make(ENV).unwrapped.task
    programs = []
    for index in range(episodes):
        env = llm_envs.make(ENV)
        env.reset(options={"split": "test", "index": index})
        state = env.unwrapped.snapshot
        action = task.parse(state, "tool", ReferencePlayer("oracle").act(env, "tool_0", str(env.observe("tool_0"))))
        programs += task.jobs(state, "tool", action)
    return programs


async def busy_sandbox(programs: list[Program], mark: int) -> None:
    """The sandbox with as many calls in flight as the runner has episodes; every program must end well."""
    sandbox, queue = get_sandbox("auto"), iter(programs)

    async def worker() -> None:
        for program in queue:
            # new code in each round, as the runner's instances are new in each
            code = f"{program.code}# {mark}\n"
            (outcome,) = await sandbox.arun([Program(code, program.stdin)])
            check([outcome.status == "ok" and bool(outcome.stdout)])

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))


def check(verdicts: Iterator[bool] | list[bool]) -> None:
    """Nothing is timed that does not do its work."""
    if not all(verdicts):
        raise SystemExit("an arm does not do its work")


def memory_growth(episodes: int) -> str:
    """Resident memory after a tenth of the episodes and after all of them."""
    spec = RunSpec(ENV, {"solver": "oracle"}, ALONE, instances=episodes)
    sizes: list[float] = []

    def look(_episode: object) -> None:
        sizes.append(_resident_mb() if (len(sizes) + 1) % (episodes // 10) == 0 else 0.0)

    with tempfile.TemporaryDirectory() as folder:
        play_run(RunPlan((spec,)), Path(folder, "run"), limits=Limits(IN_FLIGHT), watch=lambda _owed: nullcontext(look))
    first, *_, last = [size for size in sizes if size]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"memory: {first:.0f} MB after {episodes // 10:,} episodes, {last:.0f} MB after {episodes:,}; "
        f"{peak:.0f} MB at the highest"
    )


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
