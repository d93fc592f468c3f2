"""Forks, deep copies and pickles go on exactly as the original would, and leave it alone."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

from llm_envs.core.fork import fork
from llm_envs.players import Env
from llm_envs.testing.subject import GarbagePlayer, NoisyOracle, Subject, expect

PLIES = 3  # played before the copy is taken
Step = tuple[Any, ...]


def snapshot(env: Env) -> Step:
    """All of an environment that a player or a trainer can see."""
    raw = env.unwrapped
    agents = list(raw.agents)
    return (
        agents,
        raw.agent_selection,
        str(raw.state()),
        {agent: str(raw.observe(agent)) for agent in agents},
        dict(raw.rewards),
        dict(raw._cumulative_rewards),
        dict(raw.terminations),
        dict(raw.truncations),
        {agent: dict(info) for agent, info in raw.infos.items()},
    )


def play_on(env: Env, seed: int) -> list[Step]:
    """Play to the end and on into the next episode; what could be seen after each step."""
    player, steps = NoisyOracle(seed), [snapshot(env)]
    while env.agents:
        agent = env.agent_selection
        dead = env.terminations[agent] or env.truncations[agent]
        env.step(None if dead else player.act(env, agent, str(env.observe(agent))))
        steps.append(snapshot(env))
    env.reset()
    return [*steps, snapshot(env)]


def begun(subject: Subject, index: int) -> Env:
    """An environment in the middle of an episode, or near it."""
    env = subject.env()
    env.reset(seed=index)
    for _ in range(PLIES):
        agent = env.agent_selection
        if not (env.terminations[agent] or env.truncations[agent]):
            env.step(GarbagePlayer().act(env, agent, str(env.observe(agent))))
    return env


def _check_copies(subject: Subject, make_copy: Callable[[Env], Env], kind: str, advice: str) -> None:
    for index in range(subject.episodes):
        env = begun(subject, index)
        before = snapshot(env)
        twin = make_copy(env)
        expect(snapshot(twin) == before, f"a {kind} differs from its original: {advice}")
        played = play_on(twin, index)
        expect(snapshot(env) == before, f"playing a {kind} changed its original: {advice}")
        expect(play_on(env, index) == played, f"a {kind} does not go on as its original does: {advice}")


def _expect_untouched_states(subject: Subject) -> None:
    """No step changes the state that it started from, which forks share."""
    env = subject.env()
    for index in range(subject.episodes):
        env.reset(options={"index": index})
        raw, player = env.unwrapped, NoisyOracle(index)
        while not any(env.terminations.values()) and not any(env.truncations.values()):
            state, agent = raw.snapshot, env.agent_selection
            before = raw.task.text(state)
            env.step(player.act(env, agent, str(env.observe(agent))))
            expect(
                raw.task.text(state) == before,
                "Task.apply changed the state that it was given: keep the state an immutable value, return a new one.",
            )


def check_forks(subject: Subject) -> None:
    """`llm_envs.fork` and `copy.deepcopy`."""
    _expect_untouched_states(subject)
    advice = "keep the state an immutable value and nothing else on the task."
    _check_copies(subject, fork, "fork", advice)
    _check_copies(subject, copy.deepcopy, "deep copy", advice)


def check_pickles(subject: Subject) -> None:
    """Pickles of an environment and of its state."""
    advice = "the task and its state must pickle: no lambdas, open files or generators in them."
    _check_copies(subject, lambda env: pickle.loads(pickle.dumps(env)), "pickle", advice)  # noqa: S301  # our own bytes
