"""Golden prompts: what agents read, word for word. `python -m tests.llm_envs.golden_files` writes them anew."""

from pathlib import Path
from typing import Any

from llm_envs import plan_path_v0
from llm_envs.core.env import TextAECEnv
from llm_envs.sandbox.base import Outcome, Status

FOLDER = Path(__file__).parent / "golden"
GRID = "@.#.\n...#\n.#..\n...G"
DEAR_GRID = "@3#.\n.25#\n4#.2\n.9.G"


class _Prints:
    """A sandbox whose programs print a list."""

    name = "unsafe"
    guarantees: frozenset[str] = frozenset()

    def run(self, programs: Any) -> list[Outcome]:
        return [Outcome(Status.OK, 0, "down right") for _ in programs]


def _game(grid: str = GRID, **options: Any) -> TextAECEnv:
    env = plan_path_v0.raw_env(size=4, max_moves=6, sandbox=_Prints(), **options)
    env.reset(options={"task": grid})
    return env


def observations() -> dict[str, str]:
    """File name -> observation, over one short scene with a program, invalid replies and a blocked move."""
    found: dict[str, str] = {}
    for view in ("full", "local"):
        env = _game(observation=view)
        found[f"plan_path_{view}_tool"] = env.observe("tool_0")
        env.step("print(1)")
        found[f"plan_path_{view}_planner"] = env.observe("planner_0")
        env.step("stand upright")
        found[f"plan_path_{view}_planner_after_invalid"] = env.observe("planner_0")
        env.step("no program")
        env.step("down left right")
        env.step("print(2)")
        found[f"plan_path_{view}_tool_later"] = env.observe("tool_0")
        found[f"plan_path_{view}_planner_later"] = env.observe("planner_0")
        first = _game(observation=view, turn_order=("planner", "tool"))
        found[f"plan_path_{view}_planner_first"] = first.observe("planner_0")
        solver = _game(observation=view, roles="single")
        found[f"plan_path_{view}_solver"] = solver.observe("solver_0")
        solver.step("print(1)")
        found[f"plan_path_{view}_solver_after_program"] = solver.observe("solver_0")
    return {name: str(text) for name, text in (found | _with_options()).items()}


def _with_options() -> dict[str, str]:
    """The same with weights, with diagonal moves, with both, and without a tool."""
    found: dict[str, str] = {}
    both: dict[str, Any] = {"weights": 9, "diagonal": True}
    for view in ("full", "local"):
        found[f"plan_path_{view}_tool_weights"] = _game(DEAR_GRID, observation=view, weights=9).observe("tool_0")
        found[f"plan_path_{view}_tool_diagonal"] = _game(observation=view, diagonal=True).observe("tool_0")
        found[f"plan_path_{view}_tool_both"] = _game(DEAR_GRID, observation=view, **both).observe("tool_0")
        solver = _game(DEAR_GRID, observation=view, roles="single", weights=9)
        found[f"plan_path_{view}_solver_weights"] = solver.observe("solver_0")
        env = _game(DEAR_GRID, observation=view, turn_order=("planner", "tool"), **both)
        found[f"plan_path_{view}_planner_both"] = env.observe("planner_0")
        env.step("down-right up-left dr ur")
        env.step("print(1)")
        found[f"plan_path_{view}_planner_both_later"] = env.observe("planner_0")
        alone = _game(observation=view, roles="planners")
        found[f"plan_path_{view}_alone"] = alone.observe("planner_0")
        alone.step("down left right")
        found[f"plan_path_{view}_alone_later"] = alone.observe("planner_0")
    return found


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in observations().items():
        (FOLDER / f"{name}.txt").write_text(text + "\n")


if __name__ == "__main__":
    main()
