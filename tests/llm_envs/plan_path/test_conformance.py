"""Every option row of Plan-Path passes the conformance kit."""

from typing import Any

import pytest

from llm_envs import plan_path_v0
from llm_envs.core.options import options_of
from llm_envs.sandbox.base import Sandbox
from llm_envs.testing import check_env
from tests.scale import scaled

SMALL = {"size": 6, "walls": 0.15}

ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "local": {"observation": "local", **SMALL, "max_moves": 3},
    "single": {"roles": "single", **SMALL},
    "single, local": {"roles": "single", "observation": "local", **SMALL},
    "planner first": {"turn_order": ("planner", "tool"), **SMALL},
    "two tools": {"agents": {"tool": 2}, "observation": "local"},
    "three planners": {"agents": {"planner": 3}, "observation": "local"},
    "both orders and counts": {"agents": {"tool": 2, "planner": 2}, "turn_order": ("planner", "tool"), **SMALL},
    "two solvers": {"roles": "single", "agents": {"solver": 2}},
    "half a team": {"alpha": 0.5, "observation": "local"},
    "no team": {"alpha": 0.0, "observation": "local"},
    "one cycle": {"max_cycles": 1, **SMALL},
    "one move": {"max_moves": 1, "min_path": 8, **SMALL},
    "invalid ends it": {"on_invalid": "terminate", **SMALL},
    "validation": {"split": "validation", "observation": "local"},
    "test": {"split": "test", **SMALL},
    "smallest": {"size": 4, "walls": 0.0, "min_path": 6, "observation": "local"},
    "largest": {"size": 16, "walls": 0.5, "min_path": 30, "max_moves": 256, "observation": "local"},
    "weights": {"weights": 9, **SMALL},
    "weights, local": {"weights": 2, "observation": "local"},
    "diagonal": {"diagonal": True, **SMALL},
    "diagonal, local": {"diagonal": True, "observation": "local", "max_moves": 2},
    "weights and diagonal": {"weights": 5, "diagonal": True, "observation": "local", **SMALL},
    "weights and diagonal, single": {"weights": 3, "diagonal": True, "roles": "single", **SMALL},
    "weights, long way": {"weights": 9, "size": 16, "walls": 0.5, "min_path": 30, "observation": "local"},
    "planners": {"roles": "planners", **SMALL},
    "two planners, local": {"roles": "planners", "agents": {"planner": 2}, "observation": "local", "weights": 3},
    "medium": {"difficulty": "medium", "observation": "local"},
    "hard": {"difficulty": "hard", "observation": "local"},
    "hard, but small": {"difficulty": "hard", "size": 4, "diagonal": True, "observation": "local"},
    "as text, said aloud": {"action_format": "text", "observation": "local"},
    "dense": {"size": 4, "walls": 0.5, "min_path": 1, "observation": "local"},
}


@pytest.mark.parametrize("row", ROWS)
def test_an_option_row_conforms(row: str, sandbox: Sandbox) -> None:
    """UC-001, UC-002, UC-004, UC-005, UC-007, UC-010, UC-011; a noisy oracle is among the kit's players."""
    check_env(plan_path_v0.env, {**ROWS[row], "sandbox": sandbox}, episodes=scaled(fast=1, system=3, long=20))


def test_the_rows_cover_every_option() -> None:
    told = {option for row in ROWS.values() for option in row} | {"sandbox", "render_mode"}
    assert set(options_of(plan_path_v0.env)) == told
