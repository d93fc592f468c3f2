"""`at-grpo`, and `python -m at_grpo`: the command line, or in one line what must be installed for it."""

import sys

MISSING_EXTRA = 2


def main() -> int:
    """Run a command; returns the exit status."""
    try:
        from at_grpo.cli import main as run
    except ModuleNotFoundError as error:
        needed = f"needs {error.name}, which is not installed: pip install 'llm-envs[train]'"
        print(f"at-grpo: {needed} brings all that training takes.", file=sys.stderr)
        return MISSING_EXTRA
    return run()


if __name__ == "__main__":
    sys.exit(main())
