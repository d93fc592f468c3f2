"""Every option row of Sudoku passes the conformance kit."""

from typing import Any

import pytest

from llm_envs import sudoku_v0
from llm_envs.core.options import options_of
from llm_envs.sandbox.base import Sandbox
from llm_envs.testing import check_env
from tests.scale import scaled

ROWS: dict[str, dict[str, Any]] = {
    "default": {"engine": "python"},
    "4x4": {"size": 4, "difficulty": "medium"},
    "6x6": {"size": 6, "difficulty": "hard"},
    "16x16": {"size": 16, "blanks": 40, "engine": "python"},
    "single": {"size": 4, "roles": "single"},
    "planners": {"size": 6, "roles": "planners"},
    "planner first": {"size": 4, "turn_order": ("planner", "tool")},
    "two tools": {"size": 4, "agents": {"tool": 2}},
    "both orders and counts": {
        "size": 4,
        "agents": {"tool": 2, "planner": 2},
        "turn_order": ("planner", "tool"),
    },
    "two solvers": {"size": 4, "roles": "single", "agents": {"solver": 2}},
    "three planners": {"size": 4, "roles": "planners", "agents": {"planner": 3}},
    "half a team": {"size": 4, "alpha": 0.5},
    "no team": {"size": 4, "alpha": 0.0},
    "one cycle": {"size": 4, "max_cycles": 1},
    "invalid ends it": {"size": 4, "on_invalid": "terminate"},
    "validation": {"size": 4, "split": "validation"},
    "test": {"size": 6, "split": "test"},
    "one blank": {"size": 4, "blanks": 1},
    "blanks and techniques": {"size": 6, "blanks": (18, 20), "hardest": "naked_single"},
    "as text, said aloud": {"size": 4, "action_format": "text"},
}


@pytest.mark.parametrize("row", ROWS)
def test_an_option_row_conforms(row: str, sandbox: Sandbox) -> None:
    """UC-001, UC-002, UC-004, UC-005, UC-007, UC-010, UC-011, UC-014; a noisy oracle is among the kit's players."""
    check_env(sudoku_v0.env, {**ROWS[row], "sandbox": sandbox}, episodes=scaled(fast=1, system=3, long=20))


def test_the_rows_cover_every_option() -> None:
    told = {option for row in ROWS.values() for option in row} | {"sandbox", "render_mode"}
    assert set(options_of(sudoku_v0.env)) == told
