"""One role of a text environment for TRL's `GRPOTrainer`: a model that acts by tool calls over a whole episode.

    from datasets import Dataset
    from llm_envs.adapters.trl import environment_factory, instances
    from llm_envs.players import ReferencePlayer

    trainer = GRPOTrainer(
        model,
        args=GRPOConfig(...),
        train_dataset=Dataset.from_list(instances(1000)),
        environment_factory=environment_factory("plan_path_v0", "planner", {"tool": ReferencePlayer("oracle")}),
    )

This is for users of TRL who train one policy; `at-grpo` trains several, samples turn by turn, and needs none of this.

The first observation is the prompt. The model answers through the tool `answer(reply)`, which returns the role's next
observation or says that the episode is over. The reward is the role's episode return. An episode that the model
leaves unfinished, because it stopped calling the tool or ran out of tokens, also costs `unfinished`: saying nothing
must not be better than losing.

Every row of the data names its instance (`split`, `index`): TRL compares the completions of one row, so these must have
played the same one. The model's chat template must support tool calls (TRL checks that).
"""

from collections.abc import Callable, Mapping
from typing import Any

from llm_envs.adapters.gymnasium import SingleRoleEnv
from llm_envs.core.errors import UsageError
from llm_envs.core.task import Split
from llm_envs.players import Player
from llm_envs.registry import make


class ToolEpisodes:
    """Episodes of one role, in the form of TRL 1.16: `reset`, `get_reward`, and every other public method is a tool."""

    def __init__(self, env: SingleRoleEnv, unfinished: float) -> None:
        self._env = env
        self._unfinished = unfinished
        self._total = 0.0
        self._over = False

    def reset(self, *, split: str = "train", index: int | None = None, **others: Any) -> str:
        """Start the instance that a row of the data names; the first observation, to stand in the prompt."""
        if index is None:
            raise UsageError("train_dataset: its rows must have a column `index`, as those of instances() do.")
        observation, info = self._env.reset(options={"split": split, "index": index})
        self._total = 0.0
        self._over = info["over"]
        if self._over:
            self._play("")  # the others ended it: take what that paid
        return observation

    def answer(self, reply: str) -> str:
        """Give your answer for this turn.

        Args:
            reply: The answer, in the format that you were asked for.

        Returns:
            What you see next, or that the episode is over.
        """
        if self._over:
            return "The episode is over."
        observation = self._play(reply)
        return "The episode is over." if self._over else observation

    def get_reward(self) -> float:
        """The role's episode return, less what leaving early costs."""
        return self._total if self._over else self._total + self._unfinished

    def _play(self, reply: str) -> str:
        observation, reward, terminated, truncated, _ = self._env.step(str(reply))
        self._total += reward
        self._over = terminated or truncated
        return observation


def environment_factory(
    env: str | Callable[[], Any],
    role: str,
    players: Mapping[str, Player] | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    unfinished: float = -1.0,
) -> Callable[[], ToolEpisodes]:
    """The `environment_factory` of a `GRPOTrainer`.

    Args:
        env: a registry id, or a function that makes an environment.
        role: whom the model plays; one agent must play it.
        players: role -> player of every other role; `all` serves those that are not named.
        options: of the environment, where `env` is an id.
        unfinished: what an episode that is left before its end gets on top of its return, <= 0.

    Raises:
        UsageError: an argument outside what is allowed.
    """
    if unfinished > 0:
        raise UsageError(f"unfinished={unfinished!r}: must be at most 0, or leaving would pay.")
    if options and not isinstance(env, str):
        raise UsageError("options: go into the function that makes the environment.")

    def make_episodes() -> ToolEpisodes:
        made = make(env, **(options or {})) if isinstance(env, str) else env()
        return ToolEpisodes(SingleRoleEnv(made, role, players), float(unfinished))

    make_episodes()  # what is wrong with the arguments shows here and not inside the trainer
    return make_episodes


def instances(count: int, *, split: str = Split.TRAIN, start: int = 0) -> list[dict[str, Any]]:
    """Rows of a `train_dataset`: an empty prompt, which the first observation fills, and an instance."""
    prompt = [{"role": "user", "content": ""}]
    return [{"prompt": prompt, "split": str(split), "index": index} for index in range(start, start + count)]
