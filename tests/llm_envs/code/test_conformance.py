"""Every option row of the programming environment passes the conformance kit."""

from typing import Any

import pytest

from llm_envs import code_v0
from llm_envs.core.options import options_of
from llm_envs.sandbox.base import Sandbox
from llm_envs.testing import check_env
from tests.scale import scaled

FEW = ("circular_sum", "frequent_values", "range_updates")  # programs of a few families repeat, and run once

ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "function": {"style": "function", "families": FEW},
    "single": {"roles": "single", "families": FEW},
    "single, function": {"roles": "single", "style": "function", "families": FEW, "max_cycles": 2},
    "agreement": {"stop": "agreement", "families": FEW},
    "agreement, single": {"stop": "agreement", "roles": "single", "families": FEW},
    "budget": {"stop": "budget", "max_cycles": 2, "families": FEW},
    "coder first": {"turn_order": ("coder", "tester"), "families": FEW},
    "two of each": {"agents": {"tester": 2, "coder": 2}, "max_cycles": 2, "families": FEW},
    "two solvers": {"roles": "single", "agents": {"solver": 2}, "stop": "agreement", "families": FEW},
    "one cycle, many cases": {"max_cycles": 1, "cases": 10, "families": FEW},
    "half a team, validation": {"alpha": 0.5, "split": "validation", "difficulty": "medium", "families": FEW},
    "no team, test, invalid ends it": {"alpha": 0.0, "split": "test", "on_invalid": "terminate", "families": FEW},
    "hard": {"difficulty": "hard", "max_cycles": 2},
}


@pytest.mark.parametrize("row", ROWS)
def test_an_option_row_conforms(row: str, sandbox: Sandbox) -> None:
    """UC-001, UC-002, UC-004, UC-005, UC-007, UC-010, UC-011, UC-014; a noisy oracle is among the kit's players."""
    check_env(code_v0.env, {**ROWS[row], "sandbox": sandbox}, episodes=scaled(fast=1, system=3, long=20))


def test_the_rows_cover_every_option() -> None:
    of_data_sets = {"dataset", "path", "config"}  # test_datasets.py
    told = {option for row in ROWS.values() for option in row} | {"sandbox", "render_mode"} | of_data_sets
    assert set(options_of(code_v0.env)) == told
