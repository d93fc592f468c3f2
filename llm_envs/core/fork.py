"""`llm_envs.fork`: branch an environment, whatever wraps it."""

import copy
from typing import Any, TypeVar

from pettingzoo import AECEnv
from pettingzoo.utils import BaseWrapper

from llm_envs.core.env import TextAECEnv

EnvT = TypeVar("EnvT", bound=AECEnv[Any, Any, Any])


class ForkError(TypeError):
    """The environment can't be branched; the message says why and what would help."""


def fork(env: EnvT) -> EnvT:
    """A copy of the whole wrapper stack whose further steps leave `env` untouched.

    An environment or wrapper with a `fork` method of its own is asked; PettingZoo's wrappers are copied shallowly around the
    fork of what they wrap.

    Raises:
        ForkError: a wrapper or environment that offers no safe copy (foreign environments inherit `EzPickle`, whose copy is a
            new game and not the same one).
    """
    own = type(env).__dict__.get("fork") or getattr(type(env), "fork", None)
    if own is not None:
        return own(env)  # type: ignore[no-any-return]
    if isinstance(env, BaseWrapper):
        other = copy.copy(env)
        other.env = fork(env.env)
        for key, value in vars(env).items():
            if isinstance(value, (dict, list, set)):
                setattr(other, key, copy.deepcopy(value))
        return other
    if isinstance(env.unwrapped, TextAECEnv):
        raise ForkError(f"{type(env).__name__} wraps a text environment but has no fork(): derive it from TextWrapper.")
    raise ForkError(f"{type(env).__name__} can't be forked: textualize it first, or give it a fork() method.")
