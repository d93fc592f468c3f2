"""Golden prompts: what agents read, word for word. `python -m tests.llm_envs.sudoku.golden` writes them anew."""

from pathlib import Path
from typing import Any

from llm_envs import sudoku_v0
from llm_envs.core.env import TextAECEnv
from tests.llm_envs.sudoku.boards import CLASSIC, SMALL, SMALL_SOLUTION
from tests.llm_envs.sudoku.test_task import PROGRAM, Prints

FOLDER = Path(__file__).parents[1] / "golden"


def _game(stdout: str, task: str = SMALL, **options: Any) -> TextAECEnv:
    env = sudoku_v0.raw_env(**{"size": 4, "sandbox": Prints(stdout), **options})
    env.reset(options={"task": task})
    return env


def observations() -> dict[str, str]:
    """File name -> observation, over short scenes with programs, invalid replies, illegal and clashing placements."""
    found: dict[str, str] = {}
    env = _game("r1c2=3 r1c3=2")
    found["tool"] = env.observe("tool_0")
    env.step(PROGRAM)
    found["planner"] = env.observe("planner_0")
    env.step("r1c1=2 r1c2=4 r1c4=4 r2c2=1 r2c1=4")
    found["tool_later"] = env.observe("tool_0")
    env.step("no program")
    found["tool_after_invalid"] = env.observe("tool_0")
    found["planner_without_candidate"] = env.observe("planner_0")
    env.step("I would put a 3 there.")
    found["planner_after_invalid"] = env.observe("planner_0")
    grid = _game(SMALL_SOLUTION)
    grid.step(PROGRAM)
    found["planner_with_grid"] = grid.observe("planner_0")
    solver = _game("Solved!", roles="single")
    found["solver"] = solver.observe("solver_0")
    solver.step(PROGRAM)
    found["solver_after_program"] = solver.observe("solver_0")
    found["alone"] = _game("", roles="planners").observe("planner_0")
    found["planner_9x9"] = _game("", CLASSIC, size=9).observe("planner_0")
    return {f"sudoku_{name}": str(text) for name, text in found.items()}


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in observations().items():
        (FOLDER / f"{name}.txt").write_text(text + "\n")


if __name__ == "__main__":
    main()
