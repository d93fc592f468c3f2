"""What the runner's process does once, before its first fork, so that no fork has to."""

import builtins
import importlib
import os
import resource
import signal
import sys
from _sitebuiltins import Quitter, _Helper
from types import FrameType

from . import child, libc, watch

_STACK_BYTES = 512 << 20  # the address space bounds it; recursion 50,000 deep through C code needs about 30 MiB
# what short programs import often, less what costs every fork more than it saves an import
_PRELOAD = ("bisect", "collections", "functools", "heapq", "itertools", "math", "operator", "re", "string")
_ENVIRONMENT = ("HOME", "LANG", "PATH", "TMPDIR")


def prepare_process() -> None:
    """Adopt orphans, show our memory to nobody, end with the owner, and bound what programs inherit."""
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)()
    libc.prctl(libc.PR_SET_DUMPABLE, 0)()
    libc.use_one_heap()
    runner = os.getpid()

    def end(number: int, _frame: FrameType | None) -> None:
        if os.getpid() == runner:
            signal.signal(number, signal.SIG_IGN)  # once is enough
            raise SystemExit
        signal.signal(number, signal.SIG_DFL)  # a program, or a process of one: forks do not spend time on this before
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGTERM)()
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


def prepare_interpreter() -> None:
    """Make this the interpreter that a program expects to wake up in."""
    for name in _PRELOAD:
        importlib.import_module(name)
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
