"""Golden prompts: what agents read, word for word. `python -m tests.llm_envs.math.golden` writes them anew."""

from pathlib import Path

from llm_envs.sandbox.base import Status
from tests.llm_envs.math.scenes import PROGRAM, Prints, boxed, game, tool_says

FOLDER = Path(__file__).parents[1] / "golden"


def observations() -> dict[str, str]:
    """File name -> observation, over a short scene with programs, answers and invalid replies in every view."""
    found: dict[str, str] = {}
    for view in ("full", "local"):
        env = game(sandbox=Prints("43"), observation=view)
        found[f"{view}_tool"] = env.observe("tool_0")
        env.step(PROGRAM)
        found[f"{view}_reasoner"] = env.observe("reasoner_0")
        env.step("It is 43.")
        found[f"{view}_reasoner_after_invalid"] = env.observe("reasoner_0")
        env.step("no program")
        env.step(boxed("43"))
        found[f"{view}_tool_later"] = env.observe("tool_0")
        env.sandbox = Prints("", Status.ERROR, "ZeroDivisionError: division by zero")
        env.step(PROGRAM)
        found[f"{view}_reasoner_without_output"] = env.observe("reasoner_0")
        solver = game(sandbox=Prints("41\n42"), observation=view, roles="single")
        found[f"{view}_solver"] = solver.observe("solver_0")
        solver.step(boxed("41"))
        solver.step(PROGRAM)
        found[f"{view}_solver_later"] = solver.observe("solver_0")
    for stop in ("agreement", "budget"):
        found[f"full_reasoner_{stop}"] = tool_says("42", stop=stop).observe("reasoner_0")
        found[f"full_solver_{stop}"] = game(roles="single", stop=stop).observe("solver_0")
    return {f"math_{name}": str(text) for name, text in found.items()}


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in observations().items():
        (FOLDER / f"{name}.txt").write_text(text + "\n")


if __name__ == "__main__":
    main()
