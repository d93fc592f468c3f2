"""Golden prompts: what agents read, word for word. `python -m tests.llm_envs.code.golden` writes them anew."""

from pathlib import Path

from tests.llm_envs.code.problems import SUM_FUNCTION
from tests.llm_envs.code.scenes import LONG, NO_REPEATS, REPEATED, block, cases, coder_first, game

FOLDER = Path(__file__).parents[1] / "golden"


def observations() -> dict[str, str]:
    """File name -> observation, over short scenes with cases, programs that fail, and invalid replies."""
    found: dict[str, str] = {}
    env = game()
    found["tester"] = env.observe("tester_0")
    env.step(cases(REPEATED, LONG))
    found["coder"] = env.observe("coder_0")
    env.step(block(NO_REPEATS))
    found["tester_later"] = env.observe("tester_0")
    env.step("Looks good to me.")
    found["tester_after_invalid"] = env.observe("tester_0")
    found["coder_later"] = env.observe("coder_0")
    env.step(block("print(int(input()))"))
    env.step(cases(REPEATED))
    found["coder_after_error"] = env.observe("coder_0")
    first = coder_first("unsafe", SUM_FUNCTION, stop="budget")
    found["function_coder_first"] = first.observe("coder_0")
    first.step(block("def total(numbers):\n    pass"))
    found["function_tester"] = first.observe("tester_0")
    for stop in ("agreement", "budget"):
        found[f"coder_{stop}"] = game(stop=stop).observe("coder_0")
        found[f"solver_{stop}"] = game(roles="single", stop=stop).observe("solver_0")
    solver = game(roles="single")
    found["solver"] = solver.observe("solver_0")
    solver.step(f"{block(NO_REPEATS)}\n{cases(REPEATED)}")
    found["solver_after_trial"] = solver.observe("solver_0")
    solver.step(block(NO_REPEATS))
    found["solver_later"] = solver.observe("solver_0")
    found["function_solver"] = game(problem=SUM_FUNCTION, roles="single").observe("solver_0")
    return {f"code_{name}": str(text) for name, text in found.items()}


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in observations().items():
        (FOLDER / f"{name}.txt").write_text(text + "\n")


if __name__ == "__main__":
    main()
