"""Every option row of the math environment passes the conformance kit."""

from typing import Any

import pytest

from llm_envs import math_v0
from llm_envs.core.options import options_of
from llm_envs.sandbox.base import Sandbox
from llm_envs.testing import check_env
from tests.scale import scaled

ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "local": {"observation": "local"},
    "single": {"roles": "single"},
    "single, local": {"roles": "single", "observation": "local"},
    "agreement": {"stop": "agreement"},
    "agreement, single": {"stop": "agreement", "roles": "single"},
    "budget": {"stop": "budget"},
    "budget, single, local": {"stop": "budget", "roles": "single", "observation": "local", "max_cycles": 2},
    "reasoner first": {"turn_order": ("reasoner", "tool")},
    "two tools": {"agents": {"tool": 2}, "observation": "local"},
    "debate": {"agents": {"tool": 2, "reasoner": 2}, "turn_order": ("reasoner", "tool"), "stop": "agreement"},
    "two solvers": {"roles": "single", "agents": {"solver": 2}, "stop": "agreement"},
    "half a team": {"alpha": 0.5, "observation": "local"},
    "no team": {"alpha": 0.0, "observation": "local"},
    "one cycle": {"max_cycles": 1},
    "invalid ends it": {"on_invalid": "terminate"},
    "validation": {"split": "validation", "observation": "local"},
    "test": {"split": "test"},
    "medium": {"difficulty": "medium", "observation": "local"},
    "hard": {"difficulty": "hard"},
    "a topic": {"topics": "number_theory", "observation": "local"},
    "topics": {"topics": ["arithmetic", "counting"], "difficulty": "medium"},
    "a family": {"families": "work_rate"},
    "families of a topic": {
        "topics": ["arithmetic"],
        "families": ("work_rate", "percent_chain"),
        "observation": "local",
    },
}


@pytest.mark.parametrize("row", ROWS)
def test_an_option_row_conforms(row: str, sandbox: Sandbox) -> None:
    """UC-001, UC-002, UC-004, UC-005, UC-007, UC-010, UC-011, UC-014; a noisy oracle is among the kit's players."""
    check_env(math_v0.env, {**ROWS[row], "sandbox": sandbox}, episodes=scaled(fast=1, system=3, long=20))


def test_the_rows_cover_every_option() -> None:
    of_data_sets = {"dataset", "path", "config"}  # test_datasets.py
    told = {option for row in ROWS.values() for option in row} | {"sandbox", "render_mode"} | of_data_sets
    assert set(options_of(math_v0.env)) == told
