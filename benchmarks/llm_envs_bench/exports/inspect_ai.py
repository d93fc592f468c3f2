"""A suite as a task of Inspect (https://inspect.aisi.org.uk): its models, its logs, its viewer.

    inspect eval llm_envs_bench/suite -T suite=smoke_v0 --model openai/gpt-5-mini
    inspect eval llm_envs_bench/suite -T suite=core_v0 -T samples=4 -T "players={tool: oracle}" --model vllm/...
    inspect eval llm_envs_bench/suite -T env=plan_path_v0 -T "options={size: 6}" --model-role planner=... --model ...

A sample is one instance, an epoch one time that it is played: a whole episode of all roles. The model under evaluation
plays every role that `players` gives to no reference player; `--model-role ROLE=MODEL` asks another one in a role.
Every turn is a chat of its own, the observation its only message, as in `llm-envs eval`.

| score | |
|---|---|
| `success` | 1 where the episode was solved |
| `return` | the sum of rewards, the mean over the model's agents |
| `invalid` | the share of the model's replies that held no action |

Standard errors are clustered by instance. The whole episode, in the format of `episodes.jsonl`, is in each sample's
store under `episode`. Where a sandbox fails the sample has an error and no score (`--retry-on-error` plays it again).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llm_envs.core.messages import to_messages
from llm_envs.episode import Episode
from llm_envs.players import Env
from llm_envs_bench.exports.episodes import MODEL, model_return, model_turns, plan_episodes, play_episode
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.spec import EpisodeKey, RunSpec

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, get_model
    from inspect_ai.scorer import Metric, Score, Scorer, Target, grouped, mean, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
except ImportError as error:
    raise ImportError(f"the task of Inspect needs {error.name}; pip install 'llm-envs[inspect]'.") from error

EPISODE = "episode"  # where a sample's store keeps it
ENTRY, INDEX, INSTANCE = "entry", "index", "instance"  # metadata of a sample; an instance is a cluster

# Inspect puts an installed package's name before a task's, but not one of an editable install under another name.
TASK = "suite" if "site-packages" in Path(__file__).parts else "llm_envs_bench/suite"


@task(name=TASK)
def suite(
    suite: str | None = None,
    *,
    env: str | None = None,
    players: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    split: str = "test",
    first: int = 0,
    instances: int | None = None,
    samples: int | None = None,
    seed: int = 0,
    reply_tokens: int | None = None,
) -> Task:
    """A frozen suite or one environment; `plan_episodes` explains the arguments and raises `UsageError`."""
    plan = plan_episodes(
        suite,
        env,
        players=players,
        options=options,
        split=split,
        first=first,
        instances=instances,
        samples=samples,
        seed=seed,
        reply_tokens=reply_tokens,
    )
    return Task(
        name=plan.suite or plan.specs[0].entry,
        dataset=MemoryDataset([_sample(spec, index) for spec in plan.specs for index in spec.indices]),
        solver=team(plan),
        scorer=outcome(),
        metrics=_metrics_by_entry() if len(plan.specs) > 1 else None,
        epochs=max(spec.samples for spec in plan.specs),
        metadata={"suite": plan.suite, "suite_hash": plan.suite_hash},
    )


@solver
def team(plan: RunPlan) -> Solver:
    """Plays a sample's episode, the model or its models in their roles."""
    specs = {spec.entry: spec for spec in plan.specs}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  the signature is Inspect's
        spec = specs[state.metadata[ENTRY]]
        key = EpisodeKey(spec.entry, state.metadata[INDEX], state.epoch - 1)
        episode = await play_episode(spec, key, lambda spec, role: _ModelPlayer(state, role, spec.limit(role)))
        state.store.set(EPISODE, episode.to_json())
        state.completed = True
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr(cluster=INSTANCE)]})
def outcome() -> Scorer:
    """What the episode came to."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  same
        episode = Episode.from_json(state.store.get(EPISODE))
        mine = model_turns(episode)
        invalid = sum(turn.invalid is not None for turn in mine) / len(mine) if mine else 0.0
        value = {"success": float(episode.success), "return": model_return(episode), "invalid": invalid}
        return Score(value=value, metadata={"returns": dict(episode.returns), "ending": str(episode.ending)})

    return score


class _ModelPlayer:
    """The model that Inspect has for a role, in one episode; the sample's messages are the episode's."""

    name = MODEL

    def __init__(self, state: TaskState, role: str, max_tokens: int | None) -> None:
        self._state = state
        self._model = get_model(role=role)
        self._config = GenerateConfig() if max_tokens is None else GenerateConfig(max_tokens=max_tokens)

    async def act(self, env: Env, agent: str, observation: str) -> str:
        messages: list[ChatMessage] = [
            ChatMessageUser(content=message["content"]) for message in to_messages(observation)
        ]
        output = await self._model.generate(messages, config=self._config)
        self._state.messages.extend([*messages, output.message])
        self._state.output = output
        return str(output.completion)


def _sample(spec: RunSpec, index: int) -> Sample:
    instance = f"{spec.entry}/{index}"
    return Sample(
        id=instance,
        input=f"{spec.env}, {spec.split} split, instance {index}: {', '.join(spec.agents)}",
        metadata={ENTRY: spec.entry, INDEX: index, INSTANCE: instance},
    )


def _metrics_by_entry() -> dict[str, list[Metric]]:
    """The scorer's, and the mean of each entry."""
    return {"*": [mean(), stderr(cluster=INSTANCE), grouped(mean(), ENTRY, all=False)]}
