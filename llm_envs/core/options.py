"""Options of environments: the ones all share, and how an unknown one is refused with the nearest that exists."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypedDict, TypeVar, get_args

from pettingzoo import AECEnv, ParallelEnv

from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import unknown_option
from llm_envs.core.parallel import TurnBasedParallel
from llm_envs.core.wrapper import OrderEnforcing
from llm_envs.sandbox.base import Sandbox

P = ParamSpec("P")
R = TypeVar("R")


class ShellOptions(TypedDict, total=False):
    """The options that every environment takes beside its own; `TextAECEnv` documents them and holds their defaults.

    `max_cycles` is not among them, since each environment has a horizon of its own.
    """

    agents: Mapping[str, int] | None
    turn_order: Sequence[str] | None
    alpha: float
    on_invalid: str
    split: str
    render_mode: str | None
    sandbox: str | Sandbox


def named_options(make: Callable[P, R]) -> Callable[P, R]:
    """`make` with a signature that lists every option, `**shell: Unpack[ShellOptions]` spelled out, and unknown ones
    refused.

    Raises (when called):
        UsageError: an option that does not exist, with the nearest name that does.
    """
    return options_passed_to(TextAECEnv)(make)


def options_passed_to(shell: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`named_options` for a function whose `**shell` goes to another callable than `TextAECEnv`."""

    def spell_out(make: Callable[P, R]) -> Callable[P, R]:
        signature = _spelled_out(inspect.signature(make), inspect.signature(shell).parameters)
        owner = make.__module__.rpartition(".")[2]

        @functools.wraps(make)
        def checked(*args: P.args, **options: P.kwargs) -> R:
            for name in options:
                if name not in signature.parameters:
                    raise unknown_option(owner, name, signature.parameters)
            return make(*args, **options)

        checked.__signature__ = signature  # type: ignore[attr-defined]
        return checked

    return spell_out


def _spelled_out(signature: inspect.Signature, shell: Mapping[str, inspect.Parameter]) -> inspect.Signature:
    """The signature with the shell's options in place of the parameter that collects them."""
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            parameters.append(parameter)
            continue
        (options,) = get_args(parameter.annotation)
        taken = {known.name for known in parameters}
        parameters += [shell[name] for name in options.__annotations__ if name not in taken]
    return signature.replace(parameters=parameters)


def entry_points(
    raw_env: Callable[P, AECEnv[str, str, str]],
) -> tuple[Callable[P, AECEnv[str, str, str]], Callable[P, ParallelEnv[str, str, str]]]:
    """`env` and `parallel_env` of an environment module, with the options of its `raw_env`."""

    @functools.wraps(raw_env)
    def env(*args: P.args, **options: P.kwargs) -> AECEnv[str, str, str]:
        return OrderEnforcing(raw_env(*args, **options))

    @functools.wraps(raw_env)
    def parallel_env(*args: P.args, **options: P.kwargs) -> ParallelEnv[str, str, str]:
        return TurnBasedParallel(env(*args, **options))

    env.__name__ = env.__qualname__ = "env"
    parallel_env.__name__ = parallel_env.__qualname__ = "parallel_env"
    return env, parallel_env


def options_of(make: Callable[..., Any]) -> dict[str, Any]:
    """Option -> default of a function made by `named_options` or `entry_points`."""
    return {name: parameter.default for name, parameter in inspect.signature(make).parameters.items()}
