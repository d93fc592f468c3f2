"""From a configuration to the engine that plays: environment, roles, sandbox."""

import functools

import llm_envs
from at_grpo.config import RoleSection, TrainConfig
from at_grpo.inference.base import Sampler, SamplingParams
from at_grpo.inference.player import PolicyPlayer
from at_grpo.rollouts.engine import RolloutEngine
from at_grpo.rollouts.limits import Select
from at_grpo.rollouts.tree import Recipe
from at_grpo.tokenization import PromptEncoder
from llm_envs.sandbox import get_sandbox


def build_engine(
    config: TrainConfig, sampler: Sampler, encoder: PromptEncoder
) -> tuple[RolloutEngine, dict[str, PolicyPlayer]]:
    """The engine that samples with the current policies, and the same policies as players for evaluation episodes.

    Args:
        config: of the run.
        sampler: generates for the policies.
        encoder: of the base's tokenizer.
    """
    params = {role: _params(section) for role, section in config.roles.items()}
    recipe = Recipe(
        sampler=sampler,
        encoder=encoder,
        policies={role: section.policy for role, section in config.roles.items()},
        params=params,
        k=config.rollout.k,
        select=Select(config.rollout.select),
        max_prompt_tokens=config.rollout.max_prompt_tokens,
        seed=config.run.seed,
    )
    engine = RolloutEngine(
        functools.partial(llm_envs.make, config.env.id, **config.env.options),
        recipe,
        env_id=config.env.id,
        split=config.env.train_split,
        grouping=config.rollout.grouping,
        sandbox=get_sandbox(config.rollout.sandbox),
        max_lost_share=config.rollout.max_lost_share,
        max_in_flight=config.rollout.max_in_flight,
    )
    players = {
        role: PolicyPlayer(sampler, encoder, recipe.policies[role], params[role], config.run.seed) for role in params
    }
    return engine, players


def _params(section: RoleSection) -> SamplingParams:
    return SamplingParams(temperature=section.temperature, max_tokens=section.max_tokens, stop=section.stop)
