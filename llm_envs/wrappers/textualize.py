"""Textualize: any PettingZoo game as a text environment.

    from pettingzoo import make
    from llm_envs.wrappers import textualize

    env = textualize(lambda: make("aec", "classic/go-v5", board_size=5))

What comes back is a text environment like all others here: `llm_envs.play`, episode records, forks and the trainer take
it. PettingZoo's classics are ready-made with words of their own in `llm_envs.classic`.

### What may be wrapped

AEC environments with `possible_agents`, and parallel ones, which go through PettingZoo's `parallel_to_aec`: agents act
one after the other, and none sees what the others chose in the same round. Action spaces: `Discrete`, `MultiDiscrete`,
`MultiBinary`, `Box`, `Text`, and `Dict` or `Tuple` of them. Observation spaces: the same. Actions may be masked, by
`action_mask` in a `Dict` observation or in `infos`.

Pass a function that makes the environment rather than the environment itself: a game whose inside can't be copied is
then forked by playing it again.

### Agents and roles

Agents keep their names where these are `<word>_<number>`; the word is the role. `roles=("cross", "nought")` gives each
agent of the game, in its order, a role; agents are then `cross_0`, `nought_0`, and agents with the same role are
numbered. Agents that share a role share a policy.

### Observations

`observation="full"` is a self-contained prompt: role, rules, what the agent sees of the game, its legal actions in
words, and why its last reply was not valid. `observation="brief"` is one line for tiny models: role, state, `legal` and
the actions; `invalid` at its end says that the last reply was not.

Numbers are printed as rows and planes. Where that reads poorly, pass `text=`, a `GameText` whose `show`, `choices` and
`winners` say it better.

### Actions

Text. Closed `<think>` blocks are ignored. The answer stands in the last closed `<answer>` block, or is the whole reply.
It is matched whole, but for case and spacing: a word inside a sentence is never an action.

| space | answer |
|---|---|
| `Discrete` | one of the words in `action_names`, else the action's number |
| `MultiDiscrete`, `MultiBinary`, `Box` | numbers, separated by spaces or commas |
| `Dict`, `Tuple` | a JSON object or array; an entry is what its space asks for |
| `Text` | the answer itself |

A reply without a legal action never reaches the game. The agent sees the reason, is paid `-invalid_penalty`, and is
asked again (`on_invalid="noop"`) or ends the episode for all (`"terminate"`; nobody wins).

### Rewards

On each step every agent receives what the game pays it. `team_reward` is 0 and `local_reward` is the acting agent's
part: games of others pay whom they like and when they like, often only at the end. Group by whole episodes when
training on them (`grouping: trajectory`).

`infos[agent]` holds `role`, `success`, `won`, `invalid`, `team_reward`, `local_reward`, and `format` after an invalid
reply. `won`: this agent has won a game that came to its end, by default with the highest return, above 0. `success`:
an agent of the role `focal` has won; it is the same for all agents. By default `focal` is the first agent's role; where
all agents share a role, success means that someone has won.

### Instances

`reset(options={"split": ..., "index": ...})` seeds the game with a function of both; no seed is in two splits. A game
without chance starts alike in all, unless `opening` has so many legal actions played first, drawn by the instance; an
opening that would end anything for any agent stops before that. What the game pays during it belongs to nobody. Other
options go to the game's own `reset`.

### Ends, copies

An agent that would take more than `max_cycles` turns, invalid replies included, truncates the episode for all. Dead
agents leave by `step(None)`. `llm_envs.fork` and `copy.deepcopy` fork the game (`llm_envs.core.foreign`); the first
fork of a kind of game is tried out, and a game whose forks do not go on alike is refused with the reason. It can't be
pickled.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypedDict, Unpack

from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec

from llm_envs.core.env import OnInvalid
from llm_envs.core.errors import UsageError, require, unknown_choice, whole_number
from llm_envs.core.foreign import Game, Recording
from llm_envs.core.options import options_passed_to
from llm_envs.core.roles import check_role_name, role_of
from llm_envs.core.task import Split
from llm_envs.core.wrapper import OrderEnforcing
from llm_envs.wrappers.game_text import GameText
from llm_envs.wrappers.space_choices import choices_of
from llm_envs.wrappers.textualized_env import Manner, TextualizedEnv, View, render_modes


class TextOptions(TypedDict, total=False):
    """The options of `textualize`; `raw_textualized` explains them and holds their defaults."""

    text: GameText | None
    rules: str | None
    action_names: Sequence[str] | None
    roles: Sequence[str] | None
    focal: str | None
    observation: str
    max_cycles: int
    on_invalid: str
    invalid_penalty: float
    opening: int
    split: str
    render_mode: str | None
    name: str | None


_AGENT_NAME = re.compile(r"[a-z]+_[0-9]+\Z")


def raw_textualized(
    env: Any,
    *,
    text: GameText | None = None,
    rules: str | None = None,
    action_names: Sequence[str] | None = None,
    roles: Sequence[str] | None = None,
    focal: str | None = None,
    observation: str = "full",
    max_cycles: int = 100,
    on_invalid: str = "noop",
    invalid_penalty: float = 1.0,
    opening: int = 0,
    split: str = "train",
    render_mode: str | None = None,
    name: str | None = None,
) -> TextualizedEnv:
    """`textualize` without the wrapper that checks the order of calls.

    Args:
        env: a PettingZoo environment, AEC or parallel, or (better) a function without arguments that makes one.
        text: the game's words; by default spaces are printed as they are.
        rules: what every player has to know, at the head of full observations.
        action_names: words for the actions of a `Discrete` space.
        roles: a role for each of the game's agents.
        focal: the role whose win is the episode's success.
        observation: "full" or "brief".
        max_cycles: most turns of one agent.
        on_invalid: "noop" or "terminate".
        invalid_penalty: what a reply without a legal action costs, >= 0.
        opening: actions that are played by chance before the first turn.
        split: split that `reset` draws from unless its options name one.
        render_mode: None, "ansi" or "human" for the state as text; "rgb_array" where the game was made with it.
        name: of the environment, by default the game's with `_text` behind it.

    Raises:
        UsageError: an option outside what is allowed, or an environment that can't be textualized.
    """
    make: Callable[[], Game] | None = None if isinstance(env, (AECEnv, ParallelEnv)) else lambda: _as_aec(env())
    game = _as_aec(env) if make is None else make()
    words = _words(game, text, rules, action_names)
    affordable = isinstance(invalid_penalty, (int, float)) and 0 <= invalid_penalty < float("inf")
    require(affordable, "invalid_penalty", invalid_penalty, "a finite number >= 0")
    seats = _seat_agents(game, roles)
    known = list(dict.fromkeys(map(role_of, seats)))
    manner = Manner(
        seats=seats,
        focal=known[0] if focal is None else _choice("focal", focal, known),
        view=View(_choice("observation", observation, View)),
        max_cycles=whole_number("max_cycles", max_cycles, least=1),
        on_invalid=OnInvalid(_choice("on_invalid", on_invalid, OnInvalid)),
        invalid_penalty=float(invalid_penalty),
        opening=whole_number("opening", opening, least=0),
        split=Split(_choice("split", split, Split)),
        render_mode=None if render_mode is None else _choice("render_mode", render_mode, render_modes(game)),
    )
    return TextualizedEnv(Recording(game, make), words, manner, name=name or f"{game.unwrapped}_text")


@options_passed_to(raw_textualized)
def textualize(env: Any, **options: Unpack[TextOptions]) -> AECEnv[str, str, str]:
    """A text environment around a game; the module's page tells what it does.

    Args:
        env: a PettingZoo environment, AEC or parallel, or (better) a function without arguments that makes one.
        options: see `raw_textualized`.

    Raises:
        UsageError: an option outside what is allowed, or an environment that can't be textualized.
    """
    return OrderEnforcing(raw_textualized(env, **options))


def _as_aec(env: Any) -> Game:
    if isinstance(env, ParallelEnv):
        env = parallel_to_aec(env)
    if not isinstance(env, AECEnv):
        raise UsageError(f"env={env!r}: must be a PettingZoo environment, or a function that makes one.")
    if getattr(env, "possible_agents", None) is None:
        raise UsageError(f"env={env}: must have possible_agents, since roles are assigned before the first reset.")
    return env


def _words(game: Game, text: GameText | None, rules: str | None, action_names: Sequence[str] | None) -> GameText:
    """The game's own words, or those that its spaces are printed with."""
    require(text is None or (rules is None and action_names is None), "text", text, "given without rules, action_names")
    if text is not None:
        return text
    for agent in game.possible_agents:  # what has no words shows here and not in the first episode
        choices_of(game.action_space(agent), action_names)
    return GameText(rules=rules, action_names=action_names)


def _seat_agents(game: Game, roles: Sequence[str] | None) -> dict[str, str]:
    """Text agent -> the game's own name of it."""
    theirs = list(game.possible_agents)
    if roles is None and all(isinstance(agent, str) and _AGENT_NAME.match(agent) for agent in theirs):
        for agent in theirs:
            check_role_name(role_of(agent))
        return {agent: agent for agent in theirs}
    roles = ["player"] * len(theirs) if roles is None else roles
    fits = not isinstance(roles, str) and len(roles) == len(theirs)
    require(fits, "roles", roles, f"a role for each of {', '.join(map(str, theirs))}")
    counted: Counter[str] = Counter()
    seats: dict[str, str] = {}
    for role, agent in zip(roles, theirs, strict=True):
        check_role_name(role)
        seats[f"{role}_{counted[role]}"] = agent
        counted[role] += 1
    return seats


def _choice(argument: str, value: str, allowed: Iterable[str]) -> str:
    names = [str(name) for name in allowed]
    if value not in names:
        raise unknown_choice(argument, value, names)
    return value
