"""One program as `__main__`: what `python main.py` does before, around and after it, without the start of a Python."""

import atexit
import builtins
import gc
import linecache
import marshal
import resource
import sys
import traceback
from collections.abc import Callable
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from types import CodeType, ModuleType, TracebackType
from typing import TextIO

FILENAME = "main.py"
_reserve = mmap(-1, 8 << 20, MAP_PRIVATE | MAP_ANONYMOUS)  # address space, given back to report a MemoryError
_MOST_FRAMES = 1000


def run_main(source: str, code: CodeType | None, argv: tuple[str, ...], folder: str) -> int:
    """Run a program (its code, where it is compiled already) and return its exit code."""
    main = ModuleType("__main__")
    scope = main.__dict__
    scope["__file__"] = FILENAME
    scope["__builtins__"] = builtins
    sys.modules["__main__"] = main
    sys.argv = [FILENAME, *argv]
    sys.path.insert(0, folder)
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(keepends=True), FILENAME)
    gc.enable()
    exit_code = _at_exit(_guarded(_execute, source if code is None else code, scope))
    scope.clear()  # files that the program left open are flushed when they go, as at the end of a Python
    return exit_code


def run_compiler(source: str) -> int:
    """Compile a program and write (source, code) marshalled to standard output; the exit code."""
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(keepends=True), FILENAME)
    return _at_exit(_guarded(_write_compiled, source))


def limit_memory(limit_bytes: int) -> None:
    """Bound the address space."""
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))


def _execute(code: CodeType | str, scope: dict[str, object]) -> None:
    exec(_compiled(code) if isinstance(code, str) else code, scope)


def _write_compiled(source: str) -> None:
    sys.stdout.buffer.write(marshal.dumps((source, _compiled(source))))


def _compiled(source: str) -> CodeType:
    return compile(source, FILENAME, "exec", dont_inherit=True)


def _guarded(run: Callable[..., object], *arguments: object) -> int:
    try:
        run(*arguments)
    except SystemExit as stop:
        return _exit_code(stop)
    except MemoryError as error:
        _reserve.close()  # before all else: there may not be room for a single object
        return _report(error)
    except BaseException as error:  # noqa: BLE001  # the boundary of a program
        return _report(error)
    return 0


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code & 0xFF
    print(stop.code, file=sys.stderr)
    return 1


def _report(error: BaseException) -> int:
    frames = _innermost(error.__traceback__)
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(type(error), error, frames)  # knows the source lines, which are in no file
    else:
        sys.excepthook(type(error), error, frames)
    return 1


def _innermost(frames: TracebackType | None) -> TracebackType | None:
    """As many frames as the interpreter itself would print; `traceback` takes seconds to skip a million."""
    first, depth = frames, 0
    while frames is not None:
        frames = frames.tb_next
        depth += 1
    while first is not None and depth > _MOST_FRAMES:
        first = first.tb_next
        depth -= 1
    return first


def _at_exit(exit_code: int) -> int:
    try:
        if threading := sys.modules.get("threading"):
            threading._shutdown()  # waits for the threads that are not daemons
        atexit._run_exitfuncs()
    except BaseException as error:  # noqa: BLE001  # the same boundary: threads and exit functions are its, too
        _report(error)
    # the original stream as well: what a program printed before it put another in its place
    flushed = _flush(sys.stdout) & _flush(sys.stderr) & (sys.stdout is sys.__stdout__ or _flush(sys.__stdout__))
    return exit_code if flushed else exit_code or 120


def _flush(stream: TextIO | None) -> bool:
    try:
        if stream is not None and not stream.closed:
            stream.flush()
    except Exception:  # noqa: BLE001  # the program may have put anything in the stream's place
        return False
    return True
