"""`llm_envs.fork`: branch an environment, whatever wraps it."""

import copy
from typing import Any, TypeVar

from pettingzoo import AECEnv
from pettingzoo.utils import BaseWrapper

EnvT = TypeVar("EnvT")
WrapperT = TypeVar("WrapperT", bound=BaseWrapper[Any, Any, Any])
_SHARED = (str, int, float, bool, bytes, type(None))  # immutable, so that a copy would be the same object


class ForkError(TypeError):
    """The environment can't be branched; the message says why and what would help."""


def fork(env: EnvT) -> EnvT:
    """A copy of the whole wrapper stack whose further steps leave `env` untouched.

    An environment or wrapper with a `fork` method of its own is asked; other wrappers, PettingZoo's among them, are
    copied around the fork of what they wrap. `copy.deepcopy` would not do: many environments inherit `EzPickle`,
    whose copy is a new, unplayed game. Environments that know nothing of forks are copied as `core.foreign` says.

    Raises:
        ForkError: a wrapper or environment that offers no safe copy.
    """
    if hasattr(type(env), "fork"):
        return env.fork()  # type: ignore[attr-defined, no-any-return]
    if isinstance(env, BaseWrapper) and hasattr(type(env.unwrapped), "fork"):
        return fork_wrapper(env)
    if isinstance(env, AECEnv):
        from llm_envs.core.foreign import fork_foreign  # late: most programs never fork an environment of others

        return fork_foreign(env)  # type: ignore[no-any-return]
    raise ForkError(f"{type(env).__name__} can't be forked: give it a fork() method that returns an independent copy.")


def fork_wrapper(wrapper: WrapperT) -> WrapperT:
    """The wrapper around the fork of what it wraps, its own attributes copied in depth.

    References from those attributes to anything in the stack lead to its fork.
    """
    other = object.__new__(type(wrapper))  # neither `__init__` nor `EzPickle`, which would make a new game
    other.env = fork(wrapper.env)
    memo: dict[int, Any] = {id(wrapper): other}
    inner: AECEnv[Any, Any, Any] = wrapper
    inner_fork: AECEnv[Any, Any, Any] = other
    while isinstance(inner, BaseWrapper) and isinstance(inner_fork, BaseWrapper):
        inner, inner_fork = inner.env, inner_fork.env
        memo[id(inner)] = inner_fork
    for name, value in vars(wrapper).items():
        if name == "env":
            continue
        try:
            other.__dict__[name] = value if isinstance(value, _SHARED) else copy.deepcopy(value, memo)
        except (TypeError, copy.Error) as error:
            raise ForkError(
                f"{type(wrapper).__name__}.{name} can't be copied ({error}): give {type(wrapper).__name__} a fork() "
                "method, or derive it from llm_envs.core.wrapper.TextWrapper and leave out what cannot be copied."
            ) from error
    return other
