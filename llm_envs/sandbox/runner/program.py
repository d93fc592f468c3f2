"""One program as `__main__`: what `python main.py` does before, around and after it, without the start of a Python."""

from __future__ import annotations

import atexit
import builtins
import gc
import marshal
import resource
import sys
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import TextIO

FILENAME = "main.py"
_reserve = mmap(-1, 8 << 20, MAP_PRIVATE | MAP_ANONYMOUS)  # address space, given back to report a MemoryError


def run_main(source: str, code: CodeType | None, argv: tuple[str, ...], folder: str) -> int:
    """Run a program (its code, where it is compiled already) and return its exit code."""
    module = ModuleType("__main__")
    scope = module.__dict__
    scope["__file__"] = FILENAME
    scope["__builtins__"] = builtins
    sys.modules["__main__"] = module
    sys.argv = [FILENAME, *argv]
    sys.path.insert(0, folder)
    gc.enable()
    main = _Main(source, folder)
    exit_code = main.at_exit(main.guarded(_execute, source if code is None else code, scope))
    scope.clear()  # files that the program left open are flushed when they go, as at the end of a Python
    return exit_code


def run_compiler(source: str, folder: str) -> int:
    """Compile a program and write (source, code) marshalled to standard output; the exit code."""
    main = _Main(source, folder)
    return main.at_exit(main.guarded(_write_compiled, source))


def limit_memory(limit_bytes: int) -> None:
    """Bound the address space."""
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))


def _execute(code: CodeType | str, scope: dict[str, object]) -> None:
    exec(_compiled(code) if isinstance(code, str) else code, scope)


def _write_compiled(source: str) -> None:
    sys.stdout.buffer.write(marshal.dumps((source, _compiled(source))))


def _compiled(source: str) -> CodeType:
    return compile(source, FILENAME, "exec", dont_inherit=True)


class _Main:
    """What the interpreter does around a main module."""

    __slots__ = ("_folder", "_source")

    def __init__(self, source: str, folder: str) -> None:
        """For the report of an error."""
        self._source, self._folder = source, folder

    def guarded(self, run: Callable[..., object], *arguments: object) -> int:
        """The exit code of what is run, whatever escapes from it."""
        try:
            run(*arguments)
        except SystemExit as stop:
            return _exit_code(stop)
        except MemoryError as error:
            _reserve.close()  # before all else: there may not be room for a single object
            return self._report(error)
        except BaseException as error:  # noqa: BLE001  # the boundary of a program
            return self._report(error)
        return 0

    def at_exit(self, exit_code: int) -> int:
        """Wait for threads, run exit functions, flush."""
        try:
            if threading := sys.modules.get("threading"):
                threading._shutdown()  # waits for the threads that are not daemons
            atexit._run_exitfuncs()
        except BaseException as error:  # noqa: BLE001  # the same boundary: threads and exit functions are its, too
            self._report(error)
        # the original stream as well: what a program printed before it put another in its place
        flushed = _flush(sys.stdout) & _flush(sys.stderr) & (sys.stdout is sys.__stdout__ or _flush(sys.__stdout__))
        return exit_code if flushed else exit_code or 120

    def _report(self, error: BaseException) -> int:
        """Let the interpreter print it; it takes lines from the file, which is not there until they are wanted."""
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
            frames = frames.tb_next
        error.__traceback__ = frames
        try:
            with open(f"{self._folder}/{FILENAME}", "x", encoding="utf-8") as file:
                file.write(self._source)
        except Exception:  # noqa: BLE001, S110  # then without lines; the program may have put anything in the way
            pass
        sys.excepthook(type(error), error, frames)
        return 1


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code & 0xFF
    print(stop.code, file=sys.stderr)
    return 1


def _flush(stream: TextIO | None) -> bool:
    try:
        if stream is not None and not stream.closed:
            stream.flush()
    except Exception:  # noqa: BLE001  # the program may have put anything in the stream's place
        return False
    return True
