"""What a turn costs the client, by how many episodes are in flight: real trees of Plan-Path, a scripted model."""

import asyncio
import functools
import time
from collections.abc import Sequence
from typing import Any

import llm_envs
from at_grpo.inference.base import Sampler, SamplingParams
from at_grpo.inference.scripted import ScriptedSampler
from at_grpo.rollouts.engine import RolloutEngine
from at_grpo.rollouts.limits import Select
from at_grpo.rollouts.played import Played
from at_grpo.rollouts.tree import Recipe
from at_grpo.tiny import build_tokenizer
from at_grpo.tokenization import PromptEncoder
from harness.timing import Row, medians
from llm_envs.sandbox.base import Outcome, Program, Status

ROLES = ("tool", "planner")
K, CYCLES, REPLY = 4, 2, 'print("up")'
OPTIONS: dict[str, Any] = {"size": 6, "max_cycles": CYCLES, "max_moves": 2, "min_path": 4, "observation": "local"}
EPISODES = 512  # of a slice, at least


class InstantSandbox:
    """Says what the script's program would print: programs are measured elsewhere."""

    name = "instant"
    guarantees: frozenset[str] = frozenset()

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        return [Outcome(Status.OK, exit_code=0, stdout="up\n") for _ in programs]

    async def arun(self, programs: Sequence[Program]) -> list[Outcome]:
        return self.run(programs)

    def close(self) -> None:
        pass


@functools.cache
def encoder() -> PromptEncoder:
    """Of a tokenizer that knows the game's words."""
    env = llm_envs.make("llm_envs/plan_path-v0", **OPTIONS)
    env.reset(options={"index": 0})
    return PromptEncoder(build_tokenizer([str(env.observe(env.agent_selection)), REPLY, "up"]))


def script(policy: str, _prompt: str, _sibling: int) -> str:
    """Says the same whatever the prompt: a move is not enough to arrive."""
    return REPLY if policy == "tool" else "up"


def make_engine(sampler: Sampler, in_flight: int) -> RolloutEngine:
    """An engine that plays so many instances at once."""
    recipe = Recipe(
        sampler=sampler,
        encoders=dict.fromkeys(ROLES, encoder()),
        policies={role: role for role in ROLES},
        params=dict.fromkeys(ROLES, SamplingParams(max_tokens=16)),
        k=K,
        select=Select.GREEDY,
        max_prompt_tokens=4096,
        seed=0,
    )
    return RolloutEngine(
        functools.partial(llm_envs.make, "llm_envs/plan_path-v0", **OPTIONS),
        recipe,
        env_id="plan_path",
        split="train",
        grouping="turn",
        sandbox=InstantSandbox(),
        max_lost_share=0.0,
        max_in_flight=in_flight,
    )


def seconds_a_turn(in_flight: int) -> float:
    """CPU seconds of one sampled turn: prompt, sampling by the script, fork, step, group, record."""
    count, turns = max(EPISODES, in_flight), 0

    def deliver(played: Played) -> bool:
        nonlocal turns
        turns += played.branches
        return True

    engine = make_engine(ScriptedSampler(script, encoder()), in_flight)
    started = time.process_time()
    asyncio.run(engine.play(0, range(count), deliver, wanted=count))
    return (time.process_time() - started) / turns


def compare_in_flight(numbers: Sequence[int], rounds: int) -> list[Row]:
    """A turn with so many episodes in flight, in turns with the fewest."""
    least, *more = numbers
    for number in numbers:  # the instances are made once and remembered
        seconds_a_turn(number)
    found = medians({str(number): functools.partial(seconds_a_turn, number) for number in numbers}, rounds)
    floor = found[str(least)]
    return [
        Row(f"turns, {number} episodes in flight", found[str(number)], f"{least} in flight", floor, "x as long")
        for number in more
    ]
