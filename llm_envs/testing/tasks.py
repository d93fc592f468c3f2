"""Whether the task has what the shell calls: each method of `Task`, with its parameters."""

import inspect
from collections.abc import Callable
from typing import Any

from llm_envs.core.task import Split, Task
from llm_envs.testing.subject import GARBAGE, Subject, expect

_PROMISED: dict[str, Callable[..., Any]] = {
    name: member for name, member in vars(Task).items() if inspect.isfunction(member) and not name.startswith("_")
}


def check_task(subject: Subject) -> None:
    """Nothing is missing, and the first instance can be looked at by every role."""
    raw = subject.raw()
    owner = type(raw.task).__name__
    faults = [fault for name, promised in _PROMISED.items() if (fault := _fault(owner, raw.task, name, promised))]
    expect(not faults, "\n  ".join(faults))
    state = raw.task.instance(Split.TRAIN, 0)
    expect(not raw.task.solved(state), f"{owner}.instance('train', 0) is solved at its start: leave such ones out.")
    level = raw.task.potential(state)
    expect(isinstance(level, (int, float)), f"{owner}.potential gives {level!r}: must be a number in [0, 1].")
    texts = {"text": raw.task.text(state)}
    texts |= {f"observe, for {role},": raw.task.observe(state, role, "") for role in raw.task.roles}
    for method, text in texts.items():
        expect(isinstance(text, str) and text != "", f"{owner}.{method} gives {text!r}: must return text.")
    for role in raw.task.roles:
        for reply in GARBAGE:
            _expect_parsed(raw.task, state, role, reply)


def _expect_parsed(task: Any, state: Any, role: str, reply: str) -> None:
    """A reply that no game understands is answered, and neither raises nor vanishes."""
    mend = "must give an action, or Unparsed(why, in words)."
    try:
        parsed = task.parse(state, role, reply)
    except ValueError as error:
        raise AssertionError(f"Task.parse raised {error!r} for the reply {reply!r} of {role}: {mend}") from error
    expect(parsed is not None, f"Task.parse gives None for the reply {reply!r} of {role}: {mend}")


def _fault(owner: str, task: Any, name: str, promised: Callable[..., Any]) -> str:
    """What is wrong with one method, in words; empty if nothing."""
    parameters = list(inspect.signature(promised).parameters)[1:]
    call = f"{name}({', '.join(parameters)})"
    about = " ".join((promised.__doc__ or "").partition("\n\n")[0].split())
    found = getattr(task, name, None)
    if not callable(found):
        return f"{owner}.{name} is missing: add {call}. {about}"
    try:
        inspect.signature(found).bind(*parameters)
    except TypeError as error:
        return f"{owner}.{name} can't be called as {call} ({error}): give it these parameters. {about}"
    return ""
