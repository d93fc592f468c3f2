"""A suite as a taskset and an environment of verifiers (https://github.com/PrimeIntellect-ai/verifiers, 0.4).

    vf-eval llm-envs-bench --env.taskset.suite smoke_v0 --model M --client.base-url URL
    vf-eval llm-envs-bench --env.taskset.environment plan_path_v0 --env.taskset.players '{"tool": "oracle"}' ...

or, in Python:

    import verifiers.v1 as vf

    config = vf.resolve_env_config({"taskset": {"id": "llm-envs-bench", "suite": "smoke_v0"}})
    environment = vf.load_environment(config)

A task is one instance, an episode of verifiers one of ours: the seat `agent` plays every role that `players` gives to
no reference player. Each turn is a run of its own, the observation its only message, and so a trace of its own.

Every trace of an episode has the metrics `success` and `return` (the sum of rewards, the mean over the agents that the
seat plays), and `invalid` of its own turn. Its reward is, by `--env.credit`, the return of the agent that took the turn
(`episode`), or what this very turn paid (`turn`). An episode that infrastructure kept from its end has an error and no
rewards.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from llm_envs.core.messages import to_messages
from llm_envs.core.roles import role_of
from llm_envs.players import Env
from llm_envs_bench.exports.episodes import MODEL, model_return, model_turns, plan_episodes, play_episode
from llm_envs_bench.spec import EpisodeKey, RunSpec

try:
    import verifiers.v1 as vf
    from openai import AsyncOpenAI
except ImportError as error:
    raise ImportError(
        f"the environment of verifiers needs {error.name}; pip install 'llm-envs[verifiers]', not beside 'bench'."
    ) from error


class SuiteTasksetConfig(vf.TasksetConfig):
    """What is played; `plan_episodes` explains the fields, of which `environment` is its `env`."""

    suite: str | None = None
    environment: str | None = None
    players: dict[str, str] | None = None
    options: dict[str, Any] | None = None
    split: str = "test"
    first: int = 0
    instances: int | None = None
    seed: int = 0
    reply_tokens: int | None = None


class SuiteData(vf.TaskData):
    """An instance; in a turn also how many tokens the reply may have."""

    entry: str
    index: int
    max_tokens: int | None = None


class SuiteTask(vf.Task[SuiteData, vf.State, vf.TaskConfig]):
    """An instance, known by its name in every turn."""

    @property
    def key(self) -> str:
        return f"{self.data.entry}/{self.data.index}"


class SuiteTaskset(vf.Taskset[SuiteTask, SuiteTasksetConfig]):
    """The instances of a suite or an environment."""

    def __init__(self, config: SuiteTasksetConfig) -> None:
        """Raises `UsageError` for what can't be played."""
        super().__init__(config)
        plan = plan_episodes(
            config.suite,
            config.environment,
            players=config.players,
            options=config.options,
            split=config.split,
            first=config.first,
            instances=config.instances,
            seed=config.seed,
            reply_tokens=config.reply_tokens,
        )
        self.specs: Mapping[str, RunSpec] = {spec.entry: spec for spec in plan.specs}

    def load(self) -> Iterator[SuiteTask]:
        for spec in self.specs.values():
            for index in spec.indices:
                name = f"{spec.entry}/{index}"
                yield SuiteTask(SuiteData(id=name, name=name, entry=spec.entry, index=index), self.config.task)


class ChatHarness(vf.Harness[vf.HarnessConfig]):
    """One chat completion in this process: a turn needs no program, no tools and no box."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(  # noqa: PLR0917  the signature is verifiers'
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: SuiteData,
    ) -> vf.ProgramResult:
        limit = {} if data.max_tokens is None else {"max_tokens": data.max_tokens}
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0) as client:
            create: Any = client.chat.completions.create
            await create(model=ctx.model, messages=to_messages(data.prompt_text), **limit)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class SuiteEnvConfig(vf.EnvConfig):
    """Who plays, and what a turn is credited with."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    credit: Literal["episode", "turn"] = "episode"


class SuiteEnv(vf.Env[SuiteEnvConfig]):
    """Plays an episode, the seat `agent` in its roles."""

    async def run(self, task: SuiteTask, agents: vf.Agents) -> None:
        spec = self.taskset.specs[task.data.entry]
        traces: list[vf.Trace] = []

        def seat(spec: RunSpec, role: str) -> _SeatPlayer:
            return _SeatPlayer(task.with_data(max_tokens=spec.limit(role)), agents.agent, traces)

        episode = await play_episode(spec, EpisodeKey(spec.entry, task.data.index, 0), seat)
        for trace, turn in zip(traces, model_turns(episode), strict=True):
            of_the_agent = {"episode": episode.returns[turn.agent], "turn": turn.reward}
            trace.record_reward(self.config.credit, of_the_agent[self.config.credit])
            trace.record_metrics(
                {"success": episode.success, "return": model_return(episode), "invalid": turn.invalid is not None}
            )
            trace.info |= {"agent": turn.agent, "role": role_of(turn.agent), "cycle": turn.cycle}


class _SeatPlayer:
    """Whoever sits in a seat of verifiers, in one role of one episode."""

    name = MODEL

    def __init__(self, task: SuiteTask, agent: vf.Agent, traces: list[vf.Trace]) -> None:
        self._task = task
        self._agent = agent
        self._traces = traces

    async def act(self, env: Env, agent: str, observation: str) -> str:
        trace = await self._agent.run(self._task.with_data(prompt=str(observation)))
        if not trace.ok or not trace.assistant_messages:
            raise RuntimeError(f"{agent} gave no reply: {trace.last_error or trace.stop_condition}")
        self._traces.append(trace)
        return str(trace.assistant_messages[-1].content or "")  # `last_reply` is stripped
