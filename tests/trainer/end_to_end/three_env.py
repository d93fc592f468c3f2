"""Three roles, and whatever they say is valid: its length is what it costs, so that siblings differ."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pettingzoo.env_registry.registration import aec_registry, register

from llm_envs.core.env import TextAECEnv
from llm_envs.core.task import Transition
from llm_envs.sandbox.base import Outcome
from tests.trainer.end_to_end.flat_env import FlatTask
from tests.trainer.toy_env import Count

THREE = "tests/three-v0"


class ThreeTask(FlatTask):
    roles = ("tool", "checker", "planner")

    def apply(self, state: Count, role: str, action: str, results: Sequence[Outcome]) -> Transition[Count]:
        return Transition(replace(state, proposed=f"{len(action)}"), {"length": -min(len(action), 40) / 40})


def three_env(**options: Any) -> TextAECEnv:
    return TextAECEnv(ThreeTask(), name="three_v0", **options)


def register_once() -> None:
    """Processes may be forked from one that has registered it."""
    if THREE not in aec_registry:
        register("aec", THREE, entry_point=f"{__name__}:three_env")
