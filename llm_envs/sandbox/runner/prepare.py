"""What the runner's process does once, before its first fork, so that no fork has to."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` would bring `enum` along
import builtins
import os
import resource
import sys
from _sitebuiltins import Quitter, _Helper

from . import child, libc, watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

_STACK_BYTES = 512 << 20  # the address space bounds it; recursion 50,000 deep through C code needs about 30 MiB
_ENVIRONMENT = ("HOME", "LANG", "PATH", "TMPDIR")


def prepare_process() -> None:
    """Adopt orphans, show our memory to nobody, end with the owner, and bound what programs inherit."""
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)()
    libc.prctl(libc.PR_SET_DUMPABLE, 0)()
    libc.use_one_heap()
    if os.getpid() == 1:
        _trust_the_namespace()
    else:
        _end_on_request()
    _bound_what_programs_inherit()


def _trust_the_namespace() -> None:
    """As the first process of a namespace: without a handler no signal from inside reaches us, nor need we tidy up."""
    for number in (_signal.SIGINT, libc.SIGTERM):
        _signal.signal(number, _signal.SIG_DFL)
    libc.prctl(libc.PR_SET_PDEATHSIG, libc.SIGKILL)()


def _end_on_request() -> None:
    """End, in order, when the owner asks or dies."""
    runner = os.getpid()

    def end(number: int, _frame: FrameType | None) -> None:
        if os.getpid() == runner:
            _signal.signal(number, _signal.SIG_IGN)  # once is enough
            raise SystemExit
        # a program, or a process of one: forks do not spend time on this before
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)

    _signal.signal(libc.SIGTERM, end)
    libc.prctl(libc.PR_SET_PDEATHSIG, libc.SIGTERM)()


def _bound_what_programs_inherit() -> None:
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, watch.FOLDER_BYTES),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_NOFILE, child.OPEN_FILES),
        (resource.RLIMIT_STACK, _STACK_BYTES),
    ):
        hard = resource.getrlimit(limit)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (value, value))


def prepare_interpreter(preload: Iterable[str]) -> None:
    """Make this the interpreter that a program expects to wake up in, with these modules imported."""
    for name in preload:
        __import__(name)
    builtins.exit, builtins.quit = Quitter("exit", "Ctrl-D"), Quitter("quit", "Ctrl-D")
    builtins.help = _Helper()
    compile("", "", "exec")  # the first call creates the hundred types of syntax trees, a third of a fork's time
    sys.set_int_max_str_digits(0)
    sys.dont_write_bytecode = True
    for name in os.environ.keys() - set(_ENVIRONMENT):
        del os.environ[name]
    # a program's own module that happens to be called like this package must be found before it
    for name in [name for name in sys.modules if name.partition(".")[0] == __package__]:
        del sys.modules[name]
