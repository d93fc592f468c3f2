"""Tasks that take any reply: one in which all earn the same, so that there is nothing to learn, and one in which
letters pay, so that hardly any two replies of a model of random weights earn the same.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pettingzoo.env_registry.registration import aec_registry, register

from llm_envs.core.env import TextAECEnv
from llm_envs.core.task import Transition
from llm_envs.sandbox.base import Outcome
from tests.trainer.toy_env import Count, CountTask

FLAT, LETTERS = "tests/flat-v0", "tests/letters-v0"


class FlatTask(CountTask):
    def parse(self, state: Count, role: str, text: str) -> str:
        return text

    def jobs(self, state: Count, role: str, action: str) -> tuple[()]:
        return ()

    def apply(self, state: Count, role: str, action: str, results: Sequence[Outcome]) -> Transition[Count]:
        return Transition(replace(state, proposed="something"))

    def potential(self, state: Count) -> float:
        return 0.0


def flat_env(**options: Any) -> TextAECEnv:
    return TextAECEnv(FlatTask(), name="flat_v0", **options)


class LettersTask(FlatTask):
    def apply(self, state: Count, role: str, action: str, results: Sequence[Outcome]) -> Transition[Count]:
        others = sum(not letter.isalpha() for letter in action) / max(1, len(action))
        return Transition(replace(state, proposed="something"), {"others": -others})


def letters_env(**options: Any) -> TextAECEnv:
    return TextAECEnv(LettersTask(), name="letters_v0", **options)


def register_once() -> None:
    """Processes may be forked from one that has registered them."""
    if FLAT not in aec_registry:
        register("aec", FLAT, entry_point=f"{__name__}:flat_env")
        register("aec", LETTERS, entry_point=f"{__name__}:letters_env")
