"""Tree-structured sampling: one environment instance becomes groups of comparable samples (arXiv 2510.11062, Alg. 1).

At each turn the acting agent answers one prompt K times, each answer acts on its own fork of the environment, the K
rewards of that very step form a group, and the episode goes on from one fork. `trajectories` compares whole episodes.
"""

import logging
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from at_grpo.inference.base import Completion, FinishReason, Sampler, SampleRequest, SamplingParams
from at_grpo.rollouts.concurrency import together
from at_grpo.rollouts.frozen import frozen_turn
from at_grpo.rollouts.limits import Select, StopReason, choose
from at_grpo.samples import Group, GroupKey, Sample
from at_grpo.seeds import derive_seed
from at_grpo.tokenization import PromptEncoder, UndecodableError
from llm_envs import fork
from llm_envs.core.roles import role_of
from llm_envs.core.stepping import astep
from llm_envs.episode import Turn
from llm_envs.play import record_turn
from llm_envs.players import Player
from llm_envs.sandbox.base import SandboxError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What stays the same for every tree of a run: who generates, how each role is played, how wide, how to go on."""

    sampler: Sampler
    encoders: Mapping[str, PromptEncoder]  # by role: base models may differ
    policies: Mapping[str, str]  # role -> policy
    params: Mapping[str, SamplingParams]  # by role
    k: int
    select: Select
    max_prompt_tokens: int
    seed: int
    frozen: Mapping[str, Player] = field(default_factory=dict)  # roles that are not trained, and who plays them


@dataclass(slots=True)
class Tree:
    """What one instance gave: groups, the turns of the line that the episode followed, why it ended."""

    groups: list[Group] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    taken: Counter[str] = field(default_factory=Counter)  # turns of each agent
    start: str = ""
    success: bool = False
    stop: StopReason = StopReason.LOST

    def follow(self, env: Any, agent: str, observation: str, text: str) -> None:
        """The episode went on by this turn, which `env` has just taken."""
        self.turns.append(record_turn(env, agent, self.taken[agent], observation, text))
        self.success = bool(env.infos[agent].get("success", False))
        self.taken[agent] += 1


@dataclass(frozen=True, slots=True)
class Branch:
    """One answer and the fork it acted on."""

    env: Any
    sample: Sample


async def grow_tree(env: Any, recipe: Recipe, step: int, instance: int) -> Tree:
    """Play an instance that was just reset, K branches at every turn. T cycles x N agents x K samples, at most."""
    tree = Tree(start=str(env.state()))
    node = "root"
    with recipe.sampler.episode():
        while (agent := live_agent(env, tree)) is not None:
            if role_of(agent) in recipe.frozen:
                if (env := await frozen_turn(env, agent, recipe.frozen, tree)) is None:
                    break
                continue
            key = GroupKey(step, instance, node, agent, tree.taken[agent])
            observation, prompt_ids = prompt_of(env, agent, recipe)
            if len(prompt_ids) > recipe.max_prompt_tokens:
                tree.stop = StopReason.PROMPT_TOO_LONG
                break
            branches = await branch(env, recipe, key, prompt_ids, recipe.k)
            if not branches:
                tree.stop = StopReason.LOST
                break
            rng = random.Random(derive_seed(recipe.seed, step, instance, node, agent, "choose"))
            chosen = branches[choose([branch.sample.reward for branch in branches], recipe.select, rng)]
            samples = tuple(replace(branch.sample, chosen=branch is chosen) for branch in branches)
            tree.groups.append(Group(key, role_of(agent), observation, samples, lost=recipe.k - len(branches)))
            env = chosen.env  # the fork whose reward was read is the fork the episode goes on with
            tree.follow(env, agent, observation, chosen.sample.text)
            node = f"{node}.{chosen.sample.sibling}"
    return tree


def live_agent(env: Any, tree: Tree) -> str | None:
    """The agent that must answer now, after agents that are done have left; None, with the reason set, when nobody is
    alive.
    """
    while env.agents:
        agent: str = env.agent_selection
        if not (env.terminations[agent] or env.truncations[agent]):
            return agent
        tree.stop = StopReason.TERMINATED if env.terminations[agent] else StopReason.TRUNCATED
        env.step(None)  # leaves no sample: a dead agent says nothing
    return None


def prompt_of(env: Any, agent: str, recipe: Recipe) -> tuple[str, tuple[int, ...]]:
    """What the agent sees, as text and as the prompt's token ids."""
    observation = str(env.observe(agent))
    return observation, recipe.encoders[role_of(agent)].encode(observation)


async def branch(env: Any, recipe: Recipe, key: GroupKey, prompt_ids: tuple[int, ...], n: int) -> list[Branch]:
    """n answers to one prompt, each stepped on a fork of its own; a branch that infrastructure took is left out."""
    role = role_of(key.agent)
    seed = derive_seed(recipe.seed, key.step, key.instance, key.node, key.agent)
    request = SampleRequest(recipe.policies[role], prompt_ids, n, seed, recipe.params[role])
    completions = await recipe.sampler.sample(request)

    async def act(sibling: int, completion: Completion) -> Branch | None:
        try:
            text = recipe.encoders[role].decode(completion.token_ids)
            branch = fork(env)
            await astep(branch, text)
        except (SandboxError, UndecodableError) as error:
            logger.warning("branch %d of %s lost: %s", sibling, key.agent, error)
            return None
        sample = Sample(
            policy=request.policy,
            role=role,
            prompt_ids=prompt_ids,
            completion_ids=completion.token_ids,
            logprobs=completion.logprobs,
            reward=float(branch.rewards[key.agent]),
            sibling=sibling,
            truncated=completion.finish_reason is FinishReason.LENGTH,
            version=completion.version,
            text=text,
            info=branch.infos[key.agent],
        )
        return Branch(branch, sample)

    branches = await together(*(act(sibling, reply) for sibling, reply in enumerate(completions)))
    return [branch for branch in branches if branch is not None]
