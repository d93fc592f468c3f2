"""Whether forks of a foreign environment can be trusted: tried once for each kind of environment, by playing on."""

import copy
import random
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from llm_envs.core.foreign import Game, Recording, Way, stack_of
from llm_envs.core.fork import ForkError
from llm_envs.core.stepping import is_over

PLIES = 20  # actions that are compared in all
ROUNDS = 24  # games that may be begun to get there; some end after one action
DEEPEST = 3  # actions before the second fork, since a copy that starts anew is right only at the start

_known: dict[tuple[Any, ...], Way | str] = {}


@dataclass(frozen=True, slots=True)
class Trial:
    """What playing on forks showed: how many actions were compared, and what was wrong, if anything."""

    compared: int
    fault: str | None = None


def trusted_way(game: Recording) -> Way:
    """The first way of forking that holds for this kind of environment.

    Raises:
        ForkError: none does.
    """
    kind = (*map(_kind, stack_of(game.env)), game.can_replay)
    found = _known.get(kind)
    if found is None:
        found, conclusive = _try_ways(game)
        if conclusive:
            _known[kind] = found
    if isinstance(found, Way):
        return found
    raise ForkError(f"{game.env} can't be forked {found}.")


def _try_ways(game: Recording) -> tuple[Way | str, bool]:
    """The first sound way or what is wrong with each, and whether that says something of other positions too."""
    faults: list[str] = []
    for way in Way:
        trial = try_forks(game, way)
        if trial.fault is None:
            return way, trial.compared > 0  # a game that is over shows nothing
        faults.append(f"by {way}: {trial.fault}")
    return "; ".join(faults), True


def _kind(layer: Any) -> tuple[Any, ...]:
    """What tells whether two layers are copied alike: the class and, where known, the arguments it was made with."""
    kept = vars(layer)
    return type(layer), repr(kept.get("_ezpickle_args")), repr(kept.get("_ezpickle_kwargs"))


def try_forks(game: Recording, way: Way) -> Trial:
    """Fork a game, play on, fork the fork, and see whether both go on alike.

    The two are played one after the other, so that state which they share shows. `game` must be as it was at the end.
    """
    compared = 0
    try:
        before = view(game.env)
        for number in range(ROUNDS):
            trial = _round(game, way, number, before)
            compared += trial.compared
            if trial.fault is not None:
                return Trial(compared, trial.fault)
            if compared >= PLIES:
                break
        if view(game.env) != before:
            return Trial(compared, "playing on a fork changes its original")
    except Exception as error:  # noqa: BLE001  # foreign code: whatever it raises is why its forks are refused
        return Trial(compared, str(error) if isinstance(error, ForkError) else f"{type(error).__name__}: {error}")
    return Trial(compared)


def _round(game: Recording, way: Way, number: int, before: Any) -> Trial:
    rng = random.Random(number)
    first = game.fork_by(way)
    if view(first.env) != before:
        return Trial(0, "a fork shows something else than its original")
    _play(first, rng, DEEPEST - number % (DEEPEST + 1))
    second, start = first.fork_by(way), view(first.env)
    line = _play(first, rng, PLIES)
    if view(second.env) != start:
        return Trial(0, "playing on a fork changes another one")
    for count, (action, seen) in enumerate(line, start=1):
        second.step(action)
        if view(second.env) != seen:
            return Trial(count, f"two forks of one position differ after {count} equal actions")
    return Trial(len(line))


def _play(game: Recording, rng: random.Random, plies: int) -> list[tuple[Any, Any]]:
    """Random legal actions, and what could be seen after each; shorter where the game ends."""
    line: list[tuple[Any, Any]] = []
    while len(line) < plies and not is_over(game.env):
        action = random_action(game.env, rng)
        game.step(action)
        line.append((action, view(game.env)))
    return line


def action_mask(env: Game, agent: str, observation: Any) -> Any:
    """The mask of legal actions, wherever the environment keeps it (PettingZoo knows two places), or None."""
    if isinstance(observation, dict) and "action_mask" in observation:
        return observation["action_mask"]
    return env.infos.get(agent, {}).get("action_mask")


def random_action(env: Game, rng: random.Random) -> Any:
    """A legal action of the agent whose turn it is, or None for a dead one; generators of spaces stay untouched."""
    agent = env.agent_selection
    if env.terminations[agent] or env.truncations[agent]:
        return None
    space = env.action_space(agent)
    mask = action_mask(env, agent, env.observe(agent))
    if isinstance(space, gymnasium.spaces.Discrete):
        legal = range(space.n) if mask is None else np.flatnonzero(mask)
        return int(space.start) + int(rng.choice(legal))
    space = copy.deepcopy(space)
    space.seed(rng.getrandbits(31))
    return space.sample(mask)


def view(env: Game) -> Any:
    """All of an environment that its agents can see, as a value that compares exactly."""
    return (
        list(env.agents),
        env.agent_selection,
        [_value(ledger) for ledger in (env.rewards, env.terminations, env.truncations)],
        [(_value(env.observe(agent)), _value(action_mask(env, agent, None))) for agent in env.agents],
    )


def _value(thing: Any) -> Any:
    """A value that compares by content, NaN equal to NaN."""
    if isinstance(thing, dict):
        return [(key, _value(item)) for key, item in thing.items()]
    if isinstance(thing, (list, tuple)):
        return [_value(item) for item in thing]
    if isinstance(thing, (np.ndarray, np.generic, bool, int, float)):
        array = np.asarray(thing)
        return array.shape, str(array.dtype), array.tobytes()
    return thing
