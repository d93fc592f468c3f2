"""`check_env`: run every check, report all that fail."""

from collections.abc import Callable, Mapping
from typing import Any

from llm_envs.core.errors import unknown_choice
from llm_envs.players import Env
from llm_envs.testing import copies, episodes, instances, replies, tasks, upstream
from llm_envs.testing.subject import Subject

Check = Callable[[Subject], None]

CHECKS: dict[str, Check] = {
    "task": tasks.check_task,
    "api": upstream.check_api,
    "seeds": upstream.check_seeds,
    "parallel": upstream.check_parallel,
    "render": upstream.check_render,
    "state": upstream.check_state,
    "instances": instances.check_instances,
    "global random state": instances.check_global_random_state,
    "secrets": instances.check_secrets,
    "ledger": episodes.check_ledger,
    "ending": episodes.check_ending,
    "oracle": episodes.check_oracle,
    "records": episodes.check_records,
    "odd replies": replies.check_odd_replies,
    "random replies": replies.check_random_replies,
    "forks": copies.check_forks,
    "pickles": copies.check_pickles,
}


class ConformanceError(AssertionError):
    """An environment that breaks promises; the message lists each with what to mend."""


def check_env(
    make_env: Callable[..., Env],
    options: Mapping[str, Any] | None = None,
    *,
    episodes: int = 3,
    only: tuple[str, ...] | None = None,
) -> None:
    """Run the checks of `CHECKS` on `make_env(**options)`.

    Args:
        make_env: `env` of an environment module; must take `render_mode`.
        options: the options to check it with. Name a `sandbox` here where the default one should not run.
        episodes: played per check and kind of player.
        only: names of checks, to run a part.

    Raises:
        ConformanceError: the checks that fail, each in words.
        UsageError: `only` names no check.
    """
    subject = Subject(make_env, dict(options or {}), episodes)
    failures: dict[str, Exception] = {}
    names = tuple(CHECKS) if only is None else only
    for name in names:
        if name not in CHECKS:
            raise unknown_choice("only", name, CHECKS)
        try:
            CHECKS[name](subject)
        except Exception as error:  # noqa: BLE001  # the boundary to foreign code: whatever it raises is a finding
            failures[name] = error
            if name == "task":
                break  # what is missing there would fail every other check, in worse words
    if failures:
        lines = "\n".join(f"- {', '.join(checks)}: {words}" for words, checks in _by_words(failures).items())
        waiting = " (the others wait for it)" if "task" in failures else ""
        raise ConformanceError(f"{len(failures)} of {len(names)} checks fail{waiting}:\n{lines}") from next(
            iter(failures.values())
        )


def _by_words(failures: Mapping[str, Exception]) -> dict[str, list[str]]:
    """Finding -> the checks that it fails: one fault often fails several, and is said once."""
    found: dict[str, list[str]] = {}
    for name, error in failures.items():
        found.setdefault(_words(error), []).append(name)
    return found


def _words(error: Exception) -> str:
    """The message of a finding; an exception of the environment's own is named as such."""
    if isinstance(error, AssertionError):
        return str(error) or "an assertion without a message; see the traceback"
    return f"the environment raised {type(error).__name__}: {error}"
