"""PettingZoo's own tests, with every warning that is not known to be harmless turned into a failure."""

import contextlib
import io
import re
import warnings
from collections.abc import Iterator

from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.test.state_test import state_test

from llm_envs.core.parallel import TurnBasedParallel
from llm_envs.testing.subject import Subject, expect

CYCLES = 20
# Text is neither an array nor a Box; PettingZoo says so, and means no fault.
API_WARNINGS = (
    r"Observation is not a NumPy array",
    r"Observation space for each agent probably should be gymnasium\.spaces\.box or gymnasium\.spaces\.discrete",
    r"Action space for each agent probably should be gymnasium\.spaces\.box or gymnasium\.spaces\.discrete",
)
STATE_WARNINGS = (
    r"State is not NumPy array",
    r"State space for each environment probably should be gymnasium\.spaces\.box or gymnasium\.spaces\.discrete",
)


@contextlib.contextmanager
def strict(test: str, allowed: tuple[str, ...] = ()) -> Iterator[None]:
    """Run a test of PettingZoo quietly; a warning outside `allowed` fails it."""
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            yield
        except AssertionError as error:
            raise AssertionError(f"PettingZoo's {test} says: {error}") from error
    unknown = [str(item.message) for item in caught if not any(re.match(known, str(item.message)) for known in allowed)]
    expect(not unknown, f"PettingZoo's {test} warns: {'; '.join(dict.fromkeys(unknown))}. Mend what it names.")


def check_api(subject: Subject) -> None:
    """`api_test`, with and without the wrappers."""
    with strict("api_test", API_WARNINGS):
        api_test(subject.env(), num_cycles=CYCLES)
        api_test(subject.raw(), num_cycles=CYCLES)


def check_seeds(subject: Subject) -> None:
    """`seed_test`: two environments with one seed play alike."""
    with strict("seed_test"):
        seed_test(subject.env, num_cycles=CYCLES)


def check_parallel(subject: Subject) -> None:
    """`parallel_api_test` on the turn-based view, whose infos are its own."""
    env = subject.env()
    with strict("parallel_api_test"):
        parallel_api_test(TurnBasedParallel(env), num_cycles=CYCLES)
    view = TurnBasedParallel(env)
    view.reset(seed=0)
    view.step(dict.fromkeys(view.agents, ""))
    leaked = [agent for agent, info in env.unwrapped.infos.items() if "active_agent" in info]
    expect(not leaked, "the parallel view wrote active_agent into the environment's infos: return copies of them.")


def check_render(subject: Subject) -> None:
    """`render_test` over all modes; without a mode, `render` is refused in words."""
    with strict("render_test"):
        render_test(lambda render_mode: subject.env(render_mode=render_mode))


def check_state(subject: Subject) -> None:
    """`state_test`."""
    with strict("state_test", STATE_WARNINGS):
        state_test(subject.env(), TurnBasedParallel(subject.env()), num_cycles=CYCLES)
