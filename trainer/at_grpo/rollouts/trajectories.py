"""Trajectory grouping: K whole episodes of an instance, compared by their returns (plain multi-agent GRPO).

The paper's baseline, and the right choice for environments that pay later than at the step that earned it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from at_grpo.rollouts.concurrency import together
from at_grpo.rollouts.frozen import frozen_turn
from at_grpo.rollouts.limits import StopReason
from at_grpo.rollouts.tree import Recipe, Tree, branch, live_agent, prompt_of
from at_grpo.samples import TEAM_RETURN, Group, GroupKey, Sample
from llm_envs import fork
from llm_envs.core.roles import role_of


async def grow_trajectories(env: Any, recipe: Recipe, step: int, instance: int) -> Tree:
    """Play K whole episodes of one instance; an agent's samples of all of them form its group, scored by its episode
    return.
    """
    runs = (_play_line(fork(env), recipe, step, instance, sibling) for sibling in range(recipe.k))
    lines = [line for line in await together(*runs) if line.tree.stop is not StopReason.LOST]
    tree = lines[0].tree if lines else Tree(start=str(env.state()))
    for agent in env.possible_agents:
        samples = tuple(sample for line in lines for sample in line.of(agent))
        if samples:
            key = GroupKey(step, instance, "episode", agent, 0)
            lost = recipe.k - len(lines)
            tree.groups.append(Group(key, role_of(agent), "", samples, lost=lost))
    return tree


@dataclass(slots=True)
class _Line:
    """One whole episode: what each agent sampled, what it returned, and what the team earned by everybody's turns."""

    tree: Tree
    samples: list[tuple[str, Sample]] = field(default_factory=list)
    returns: Counter[str] = field(default_factory=Counter)
    team: float = 0.0

    def earn(self, env: Any, agent: str) -> None:
        """What the turn that `agent` has just taken in `env` gave."""
        self.returns.update(env.rewards)
        self.team += float(env.infos[agent].get("team_reward", 0.0))

    def of(self, agent: str) -> Iterable[Sample]:
        own = (sample for owner, sample in self.samples if owner == agent)
        for sample in own:
            yield replace(sample, reward=float(self.returns[agent]), info={**sample.info, TEAM_RETURN: self.team})


async def _play_line(env: Any, recipe: Recipe, step: int, instance: int, sibling: int) -> _Line:
    line = _Line(Tree(start=str(env.state())))
    with recipe.sampler.episode():
        while (agent := live_agent(env, line.tree)) is not None:
            if role_of(agent) in recipe.frozen:
                if (env := await frozen_turn(env, agent, recipe.frozen, line.tree)) is None:
                    break
                line.earn(env, agent)
                continue
            key = GroupKey(step, instance, f"episode.{sibling}.{len(line.samples)}", agent, line.tree.taken[agent])
            observation, prompt_ids = prompt_of(env, agent, recipe)
            if len(prompt_ids) > recipe.max_prompt_tokens:
                line.tree.stop = StopReason.PROMPT_TOO_LONG
                break
            branches = await branch(env, recipe, key, prompt_ids, 1)
            if not branches:
                line.tree.stop = StopReason.LOST
                break
            env = branches[0].env
            line.samples.append((agent, replace(branches[0].sample, sibling=sibling, chosen=True)))
            line.earn(env, agent)
            line.tree.follow(env, agent, observation, branches[0].sample.text)
    return line
