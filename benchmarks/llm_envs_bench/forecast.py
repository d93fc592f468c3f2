"""What a run would ask and take, without asking anybody: the oracle plays one instance of each entry."""

from collections.abc import Mapping
from dataclasses import dataclass

import llm_envs
from llm_envs.core.roles import role_of
from llm_envs.episode import Episode
from llm_envs.play import play
from llm_envs.players import ReferencePlayer
from llm_envs_bench.agents.names import OPENAI, model_and_url
from llm_envs_bench.plan import RunPlan
from llm_envs_bench.prices import Price
from llm_envs_bench.spec import RunSpec

CHARACTERS = 4  # a token, roughly, in English
UNLIMITED_REPLY = 1024  # tokens of a reply where nothing limits it; models that reason take more


@dataclass(frozen=True, slots=True)
class Forecast:
    """One entry of a run before it is played. Tokens are a guess from the length of texts.

    Attributes:
        prompts: role -> what it would see first in the first instance, given what the oracle says before it.
        requests: of served models: if they play like the oracle, and if every episode takes all of its cycles.
        prompt_tokens, reply_tokens: in the same two cases; replies like the oracle's, and as long as they may be.
        cost: the same in money; None without a price for a served model.
    """

    entry: str
    prompts: Mapping[str, str]
    requests: tuple[int, int]
    prompt_tokens: tuple[int, int]
    reply_tokens: tuple[int, int]
    cost: tuple[float, float] | None


def forecast(plan: RunPlan, prices: Mapping[str, Price]) -> list[Forecast]:
    """A forecast for each entry.

    Raises:
        SandboxError: no sandbox works here, and the oracle's programs need one.
    """
    return [_forecast(spec, prices) for spec in plan.specs]


def _forecast(spec: RunSpec, prices: Mapping[str, Price]) -> Forecast:
    env = llm_envs.make(spec.env, **spec.options)
    known = env.unwrapped.task.players
    oracle = ReferencePlayer("oracle" if "oracle" in known else known[0])
    episode = play(env, {"all": oracle}, split=spec.split, index=spec.first)
    seats = [role_of(agent) for agent in env.possible_agents]
    longest = {role: seats.count(role) * env.unwrapped.max_cycles for role in spec.agents}
    env.close()
    total = _Total()
    for role, agent in spec.agents.items():
        if agent.startswith(OPENAI):
            total.add(episode, role, longest[role], spec, prices.get(model_and_url(agent)[0]))
    first = {turn.role: turn.observation for turn in reversed(episode.turns)}
    prompts = {role: first[role] for role in spec.agents if role in first}
    return Forecast(spec.entry, prompts, total.requests, total.prompts, total.replies, total.cost)


class _Total:
    """Sums over the served roles of an entry, for the two cases."""

    def __init__(self) -> None:
        self.requests, self.prompts, self.replies = (0, 0), (0, 0), (0, 0)
        self.cost: tuple[float, float] | None = (0.0, 0.0)

    def add(self, episode: Episode, role: str, longest: int, spec: RunSpec, price: Price | None) -> None:
        """Count one role, of which `longest` replies may be asked in an episode."""
        turns = [turn for turn in episode.turns if turn.role == role]
        if not turns:
            return
        prompt = sum(len(turn.observation) for turn in turns) // (CHARACTERS * len(turns)) + 1
        reply = sum(len(turn.reply) for turn in turns) // (CHARACTERS * len(turns)) + 1
        limit = spec.limit(role) or UNLIMITED_REPLY
        requests = (len(turns) * spec.episodes, longest * spec.episodes)
        prompts = (requests[0] * prompt, requests[1] * prompt)
        replies = (requests[0] * min(reply, limit), requests[1] * limit)
        self.requests = _plus(self.requests, requests)
        self.prompts = _plus(self.prompts, prompts)
        self.replies = _plus(self.replies, replies)
        if price is None or self.cost is None:
            self.cost = None
        else:
            low, high = (price.of(*tokens) for tokens in zip(prompts, replies, strict=True))
            self.cost = (self.cost[0] + low, self.cost[1] + high)


def _plus(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return first[0] + second[0], first[1] + second[1]
