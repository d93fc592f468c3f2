"""From a configuration to the engine that plays: environment, roles, sandbox."""

import functools
from collections.abc import Mapping

import llm_envs
from at_grpo.config import TrainConfig
from at_grpo.inference.base import Sampler
from at_grpo.inference.frozen import sampling_params
from at_grpo.inference.player import PolicyPlayer
from at_grpo.rollouts.engine import RolloutEngine
from at_grpo.rollouts.limits import Select
from at_grpo.rollouts.tree import Recipe
from at_grpo.tokenization import PromptEncoder
from llm_envs.players import Player
from llm_envs.sandbox import get_sandbox


def build_engine(
    config: TrainConfig, sampler: Sampler, encoders: Mapping[str, PromptEncoder], frozen: Mapping[str, Player]
) -> tuple[RolloutEngine, dict[str, Player]]:
    """The engine that samples with the current policies, and who plays each role in evaluation episodes: the same
    policies, and the players of roles that are not trained.

    Args:
        config: of the run.
        sampler: generates for the policies.
        encoders: policy -> encoder of its base model's tokenizer.
        frozen: role -> who plays it, for the roles that are not trained.
    """
    params = {role: sampling_params(section) for role, section in config.trained.items()}
    policies = {role: section.policy for role, section in config.trained.items()}
    recipe = Recipe(
        sampler=sampler,
        encoders={role: encoders[policy] for role, policy in policies.items()},
        policies=policies,
        params=params,
        k=config.rollout.k,
        select=Select(config.rollout.select),
        max_prompt_tokens=config.rollout.max_prompt_tokens,
        seed=config.run.seed,
        frozen=frozen,
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
        role: PolicyPlayer(sampler, encoders[policy], policy, params[role], config.run.seed)
        for role, policy in policies.items()
    }
    return engine, {**players, **frozen}
