"""Golden prompts: what agents read, word for word. `python -m tests.llm_envs.sokoban.golden` writes them anew."""

from pathlib import Path

from tests.llm_envs.sokoban.scenes import PROGRAM, TWO, game, planner_first

FOLDER = Path(__file__).parents[1] / "golden"


def observations() -> dict[str, str]:
    """File name -> observation, over short scenes with programs, invalid replies and blocked moves."""
    found: dict[str, str] = {}
    env = game(printed="right right", max_moves=12)
    found["tool"] = env.observe("tool_0")
    env.step(PROGRAM)
    found["planner"] = env.observe("planner_0")
    env.step("up right right right")
    found["tool_later"] = env.observe("tool_0")
    env.step("no program")
    found["tool_after_invalid"] = env.observe("tool_0")
    found["planner_later"] = env.observe("planner_0")
    env.step("I would push the box to the right.")
    found["planner_after_invalid"] = env.observe("planner_0")
    found["planner_first"] = planner_first().observe("planner_0")
    solver = game(printed="Solved!", roles="single", max_moves=12)
    found["solver"] = solver.observe("solver_0")
    solver.step(PROGRAM)
    found["solver_after_program"] = solver.observe("solver_0")
    alone = game(roles="planners", max_moves=12)
    found["alone"] = alone.observe("planner_0")
    alone.step("right right")
    found["alone_later"] = alone.observe("planner_0")
    on_goal = game(TWO.replace("@ $ .", "  $ +"), roles="planners", max_moves=12)
    found["player_on_goal"] = on_goal.observe("planner_0")
    return {f"sokoban_{name}": str(text) for name, text in found.items()}


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in observations().items():
        (FOLDER / f"{name}.txt").write_text(text + "\n")


if __name__ == "__main__":
    main()
