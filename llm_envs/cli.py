"""The `llm-envs` script: `llm-envs COMMAND ...`."""

import argparse
import sys
from collections.abc import Sequence

import llm_envs
from llm_envs.commands import installed_commands, load_command
from llm_envs.commands.output import leaving_with_the_reader
from llm_envs.core.errors import UsageError
from llm_envs.sandbox.base import SandboxError

USAGE_STATUS, FAILURE_STATUS, INTERRUPT_STATUS = 2, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit status. What the user can mend is one line on standard error and status 2."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with leaving_with_the_reader():
            return _run(arguments)
    except UsageError as error:
        print(f"llm-envs: {error}", file=sys.stderr)
        return USAGE_STATUS
    except SandboxError as error:
        print(f"llm-envs: the sandbox failed: {error}", file=sys.stderr)
        return FAILURE_STATUS
    except KeyboardInterrupt:
        print("llm-envs: interrupted", file=sys.stderr)
        return INTERRUPT_STATUS


def _run(arguments: list[str]) -> int:
    if arguments and not arguments[0].startswith("-"):
        return _run_command(arguments[0], arguments[1:])
    parser = _overview()
    parser.parse_args(arguments)
    parser.print_help()
    return 0


def _run_command(name: str, arguments: Sequence[str]) -> int:
    """Load the one command that is asked for, so that the libraries of others are not."""
    command = load_command(name)
    parser = argparse.ArgumentParser(prog=f"llm-envs {name}", description=command.HELP)
    command.add_arguments(parser)
    return command.run(parser.parse_args(arguments))


def _overview() -> argparse.ArgumentParser:
    """The parser of the bare script, whose help lists the commands."""
    lines: list[str] = []
    for name in installed_commands():
        try:
            lines.append(f"  {name:<14}{load_command(name).HELP}")
        except UsageError as error:
            lines.append(f"  {name:<14}not available: {error}")
    parser = argparse.ArgumentParser(
        prog="llm-envs",
        usage="llm-envs [--help] [--version] COMMAND ...",
        description="Multi-agent LLM tasks as PettingZoo environments.",
        epilog="commands:\n" + "\n".join(lines) + "\n\n`llm-envs COMMAND --help` explains one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"llm-envs {llm_envs.__version__}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
