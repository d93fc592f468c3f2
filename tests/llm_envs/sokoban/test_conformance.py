"""Every option row of Sokoban passes the conformance kit."""

from typing import Any

import pytest

from llm_envs import sokoban_v0
from llm_envs.core.options import options_of
from llm_envs.sandbox.base import Sandbox
from llm_envs.testing import check_env
from tests.scale import scaled

ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "medium": {"difficulty": "medium"},
    "expert": {"difficulty": "expert", "node_budget": 100},
    "single": {"roles": "single"},
    "planners": {"roles": "planners", "difficulty": "medium"},
    "planner first": {"turn_order": ("planner", "tool")},
    "two tools": {"agents": {"tool": 2}},
    "both orders and counts": {"agents": {"tool": 2, "planner": 2}, "turn_order": ("planner", "tool")},
    "two solvers": {"roles": "single", "agents": {"solver": 2}},
    "three planners": {"roles": "planners", "agents": {"planner": 3}},
    "half a team": {"alpha": 0.5},
    "no team": {"alpha": 0.0},
    "one cycle": {"max_cycles": 1, "max_moves": 40},
    "one move": {"max_moves": 1, "max_cycles": 24},
    "invalid ends it": {"on_invalid": "terminate"},
    "deadlocks end it": {"terminate_on_deadlock": True, "difficulty": "medium"},
    "validation": {"split": "validation"},
    "test": {"split": "test"},
    "smallest": {"size": 6, "walls": 0.0, "min_pushes": 1, "shape": "scattered"},
    "long and low": {"size": (6, 16), "boxes": 2, "walls": 0.5},
    "largest": {"size": 16, "boxes": 2, "min_pushes": 12, "max_moves": 256},
    "as text, said aloud": {"action_format": "text"},
}


@pytest.mark.parametrize("row", ROWS)
def test_an_option_row_conforms(row: str, sandbox: Sandbox) -> None:
    """UC-001, UC-002, UC-004, UC-005, UC-007, UC-010, UC-011, UC-014; a noisy oracle is among the kit's players."""
    check_env(sokoban_v0.env, {**ROWS[row], "sandbox": sandbox}, episodes=scaled(fast=1, system=3, long=20))


def test_the_rows_cover_every_option() -> None:
    told = {option for row in ROWS.values() for option in row} | {"sandbox", "render_mode"}
    assert set(options_of(sokoban_v0.env)) == told
