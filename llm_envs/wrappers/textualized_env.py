"""`TextualizedEnv`: a foreign PettingZoo game behind text spaces. `llm_envs.wrappers.textualize` makes one."""

import random
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from pettingzoo import AECEnv

from llm_envs.core.env import MAX_ACTION, MAX_OBSERVATION, OnInvalid
from llm_envs.core.errors import UsageError
from llm_envs.core.foreign import Game, Recording
from llm_envs.core.instances import InstanceStream
from llm_envs.core.parsing import Unparsed, clean_text, last_answer, strip_thinking
from llm_envs.core.roles import role_of
from llm_envs.core.spaces import TextObservation, TextSpace
from llm_envs.core.stepping import is_over
from llm_envs.core.task import Split
from llm_envs.wrappers.action_text import Choices
from llm_envs.wrappers.game_text import GameText

SEEDS = 1 << 31  # of the game; what every generator takes
_LEDGERS = (  # what an episode changes in place
    "agents",
    "rewards",
    "terminations",
    "truncations",
    "_cumulative_rewards",
    "_feedback",
    "_returns",
    "_turns",
)


class View(StrEnum):
    """How much an observation says."""

    FULL = "full"
    BRIEF = "brief"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a game is played. `llm_envs.wrappers.textualize` explains the fields, which are its options.

    Attributes:
        seats: text agent -> the game's own name of it, in the game's order.
    """

    seats: Mapping[str, str]
    focal: str
    view: View
    max_cycles: int
    on_invalid: OnInvalid
    invalid_penalty: float
    opening: int
    split: Split
    render_mode: str | None


class RandomPlayer:
    """The reference player that needs no knowledge of a game, in the form in which tasks offer theirs."""

    players = ("random",)

    def __init__(self, view: View) -> None:
        self._view = view

    def reference(self, player: str, state: Choices, role: str, rng: random.Random) -> str:
        """A legal answer, by chance."""
        answer = state.sample(rng)
        return answer if self._view is View.BRIEF else f"<answer>{answer}</answer>"


class TextualizedEnv(AECEnv[str, str, str]):
    """A text environment whose moves are made in a game of others. What it promises stands in `textualize`'s module.

    Attributes:
        roles: agent -> role.
        split, index: the instance being played.
        max_cycles: most turns of one agent, replies that were not valid included.
        task: offers the reference player `random`; there is no pure task behind a foreign game.
        sandbox: never used; it may be set as on other text environments.
    """

    instances_begin_alike = True  # for all we know: a game without chance, and without an opening

    def __init__(self, recording: Recording, text: GameText, manner: Manner, *, name: str) -> None:
        super().__init__()
        modes = render_modes(recording.env)
        self.metadata = {"name": name, "render_modes": modes, "is_parallelizable": False, "render_fps": 2}
        self.possible_agents = list(manner.seats)
        self.roles = {agent: role_of(agent) for agent in self.possible_agents}
        self.max_cycles = manner.max_cycles
        self.render_mode = manner.render_mode
        self.task = RandomPlayer(manner.view)
        self.sandbox: Any = "none"
        self.observation_spaces = {agent: TextSpace(MAX_OBSERVATION) for agent in self.possible_agents}
        self.action_spaces = {agent: TextSpace(MAX_ACTION) for agent in self.possible_agents}
        self.state_space = TextSpace(MAX_OBSERVATION)
        self._recording = recording
        self._text = text
        self._manner = manner
        self._agent_of = {theirs: ours for ours, theirs in manner.seats.items()}
        self._instances = InstanceStream()
        self._choices: Choices | None = None

    # ---- spaces and views

    @property
    def game(self) -> Any:
        """The foreign game. Look, but leave stepping to this environment: forks replace the object."""
        return self._recording.env

    @property
    def cycle(self) -> int:
        """How many turns the agent that is to act has taken."""
        return self._turns[self.agent_selection]

    @property
    def snapshot(self) -> Choices:
        """The legal actions of the agent that is to act."""
        if self._choices is None:
            self._choices = self._text.choices(self.game, self._manner.seats[self.agent_selection])
        return self._choices

    def observation_space(self, agent: str) -> TextSpace:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> TextSpace:
        return self.action_spaces[agent]

    def observe(self, agent: str) -> str:
        brief = self._manner.view is View.BRIEF
        return TextObservation(_checked(self._brief(agent) if brief else self._full(agent)))

    def _brief(self, agent: str) -> str:
        line = f"{self.roles[agent]} {self._text.brief(self.game, self._manner.seats[agent])}"
        if self._may_act(agent):
            line += f" legal {self.snapshot.brief()}"
        return f"{line} invalid" if agent in self._feedback else line

    def _full(self, agent: str) -> str:
        parts = [f"You are {agent}, in the role {self.roles[agent]}."]
        if self._text.rules:
            parts.append(self._text.rules)
        parts.append(self._text.show(self.game, self._manner.seats[agent]))
        if self._may_act(agent):
            parts.append(f"Write your answer as <answer>...</answer>. It must be {self.snapshot.describe()}")
        if agent in self._feedback:
            parts.append(f"Your last reply was not valid and had no effect: {self._feedback[agent]}.")
        return "\n\n".join(parts)

    def _may_act(self, agent: str) -> bool:
        return agent == self.agent_selection and agent in self.agents and not self._is_dead(agent)

    def _is_dead(self, agent: str) -> bool:
        return self.terminations[agent] or self.truncations[agent]

    def state(self) -> str:  # PettingZoo annotates arrays; the global state here is text
        return TextObservation(_checked(self._text.state(self.game)))

    def render(self) -> Any:
        if self.render_mode is None:
            raise UsageError("render_mode=None: pass render_mode='ansi' or 'human' when the environment is made.")
        if self.render_mode == "rgb_array":
            return self.game.render()
        text = self._text.state(self.game)
        if self.render_mode == "ansi":
            return text
        sys.stdout.write(text + "\n")
        return None

    def close(self) -> None:
        self.game.close()

    # ---- episodes

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode.

        Args:
            seed: starts a new private sequence of instances; without it the present one goes on.
            options: `split` and `index` choose the instance; the others are passed to the game.

        Raises:
            UsageError: an option that is known, with a value that is not allowed.
        """
        options = options or {}
        self._instances, self.split, self.index = self._instances.pick(seed, options, self._manner.split)
        others = {key: value for key, value in options.items() if key not in {"split", "index"}}
        self._start(_game_seed(self.split, self.index), others or None)
        self.agents = [self._agent_of[theirs] for theirs in self.game.agents]
        self._choices = None
        self._turns = dict.fromkeys(self.possible_agents, 0)
        self._returns = dict.fromkeys(self.possible_agents, 0.0)
        self._feedback: dict[str, str] = {}
        self._closing = False
        self._skip_agent_selection = None
        self.agent_selection = self._agent_of[self.game.agent_selection]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        plain = {"success": False, "won": False, "invalid": None, "team_reward": 0.0, "local_reward": 0.0}
        self.infos = {agent: {"role": self.roles[agent], **plain} for agent in self.agents}

    def _start(self, seed: int, options: dict[str, Any] | None) -> None:
        """Begin the game and play its opening: legal actions by chance, of which none ends anything."""
        self._recording.reset(seed, options)
        rng, played = random.Random(f"opening:{seed}"), list[Any]()
        while len(played) < self._manner.opening:
            choices = self._text.choices(self.game, self.game.agent_selection)
            played.append(choices.parse(choices.sample(rng)))
            self._recording.step(played[-1])
            if self.game.agents != self.game.possible_agents or any(map(self._has_left, self.game.agents)):
                self._recording.reset(seed, options)
                for action in played[:-1]:
                    self._recording.step(action)
                return

    def _has_left(self, theirs: str) -> bool:
        return bool(self.game.terminations[theirs] or self.game.truncations[theirs])

    def step(self, action: str | None) -> None:
        """Act for `agent_selection`.

        Raises:
            UsageError: text for a dead agent, anything but text for a live one, or no agent left.
        """
        if not self.agents:
            raise UsageError("step() after the last agent left: call reset() first.")
        agent = self.agent_selection
        if self._is_dead(agent):
            if action is not None:
                said = action[:40]
                raise UsageError(f"action={said!r}: must be None, since {agent} is dead and leaves by step(None).")
            self._leave(agent)
            return
        if not isinstance(action, str):
            raise UsageError(f"action={action!r}: must be a str, since {agent} is alive.")
        parsed = self._parse(action)
        self._turns[agent] += 1
        if isinstance(parsed, Unparsed):
            self._refuse(agent, parsed.reason)
        else:
            self._move(agent, parsed)
        if not self._closing and self._turns[self.agent_selection] >= self.max_cycles:
            self.truncations = dict.fromkeys(self.agents, True)
            self._closing = True

    async def astep(self, action: str | None) -> None:
        """`step`; nothing in it waits."""
        self.step(action)

    def _parse(self, reply: str) -> Any:
        if len(reply) > MAX_ACTION:
            return Unparsed(f"your reply had {len(reply)} characters, at most {MAX_ACTION} are read")
        text = strip_thinking(clean_text(reply))
        answer = last_answer(text)
        return self.snapshot.parse(text.strip() if answer is None else answer)

    def _refuse(self, agent: str, reason: str) -> None:
        """Leave the game as it is; the same agent is asked again, unless that ends the episode."""
        self._feedback[agent] = reason
        penalty = 0.0 - self._manner.invalid_penalty
        self._settle(agent, {agent: penalty}, {"invalid": reason, "local_reward": penalty, "format": penalty})
        if self._manner.on_invalid is OnInvalid.TERMINATE:
            self.terminations = dict.fromkeys(self.agents, True)
            self._closing = True

    def _move(self, agent: str, action: Any) -> None:
        self._recording.step(action)
        self._choices = None
        self._feedback.pop(agent, None)
        paid = {self._agent_of[theirs]: float(reward) for theirs, reward in self.game.rewards.items()}
        for other, reward in paid.items():
            self._returns[other] += reward
        self._read_flags()
        won = self._winners() if self._closing else ()
        self._settle(agent, paid, {"invalid": None, "local_reward": paid.get(agent, 0.0)}, won)

    def _read_flags(self) -> None:
        """Who is dead and whose turn it is, as the game says."""
        game, seats = self.game, self._manner.seats
        # An agent that the game no longer knows is dead.
        self.terminations = {agent: bool(game.terminations.get(seats[agent], True)) for agent in self.agents}
        self.truncations = {agent: bool(game.truncations.get(seats[agent], False)) for agent in self.agents}
        self._closing = is_over(game)
        selected = self._agent_of.get(game.agent_selection)
        self.agent_selection = selected if selected in self.agents else self.agents[0]

    def _winners(self) -> Collection[str]:
        seats = self._manner.seats
        returns = {seats[agent]: value for agent, value in self._returns.items()}
        return [self._agent_of[theirs] for theirs in self._text.winners(self.game, returns)]

    def _settle(
        self, agent: str, paid: Mapping[str, float], news: Mapping[str, Any], won: Collection[str] = ()
    ) -> None:
        """Enter a step's rewards, and what is new of the agent that acted."""
        self.rewards = {other: paid.get(other, 0.0) for other in self.agents}
        self._cumulative_rewards[agent] = 0.0  # `last()` has handed it out before this step
        self._accumulate_rewards()
        success = any(self.roles[winner] == self._manner.focal for winner in won)
        told = {**self.infos, agent: {"role": self.roles[agent], "team_reward": 0.0, **news}}
        self.infos = {other: {**info, "success": success, "won": other in won} for other, info in told.items()}

    def _leave(self, agent: str) -> None:
        """A dead agent goes; the game is told as long as others play on."""
        if self._closing:
            self._was_dead_step(None)
            return
        self._recording.step(None)
        self._choices = None
        self.agents.remove(agent)
        for ledger in (self.rewards, self._cumulative_rewards, self.infos):
            del ledger[agent]
        self._clear_rewards()
        self._read_flags()

    # ---- copies

    def fork(self) -> Self:
        """An environment of its own in the same position.

        Raises:
            ForkError: the game can't be forked; the message says why.
        """
        if "agents" not in self.__dict__:
            raise UsageError("fork() before reset(): there is no game to fork yet.")
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._recording = self._recording.fork()
        for name in _LEDGERS:
            setattr(other, name, getattr(self, name).copy())
        other.infos = {agent: info.copy() for agent, info in self.infos.items()}
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A fork: copies of foreign environments by `copy.deepcopy` are new games."""
        return self.fork()

    def __reduce__(self) -> Any:
        raise TypeError(f"{self} can't be pickled: pickles of foreign environments are new games; fork it instead.")


def _game_seed(split: Split, index: int) -> int:
    """The game's seed of an instance; no seed belongs to two splits."""
    splits = list(Split)
    return index % (SEEDS // len(splits)) * len(splits) + splits.index(split)


def render_modes(game: Game) -> list[str]:
    """The state as text, and pictures where the game was made to draw them."""
    return ["ansi", "human", *(["rgb_array"] if getattr(game, "render_mode", None) == "rgb_array" else [])]


def _checked(text: str) -> str:
    if len(text) > MAX_OBSERVATION:
        raise UsageError(
            f"an observation of {len(text)} characters: at most {MAX_OBSERVATION} are allowed. Give textualize() a "
            "GameText that shows less, or the game an option for a smaller observation."
        )
    return text
