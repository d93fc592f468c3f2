"""The system-call filter: an allow list as classic BPF, for x86_64 only; elsewhere there is none, and no cage.

Lists are laid out as binary trees: the kernel walks a filter for every system-call number when it is installed.
"""

import ctypes
import errno
import os

from . import libc, syscalls

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_X86_64, _X32_BIT = 0xC000003E, 0x40000000
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_MODE_FILTER = 2
_OWN_PID = 0xFFFFFFFF  # stands for the pid of the process that installs the filter; no pid is that large

# CLONE_NEW* and CLONE_PARENT (a child that is not the program's own)
_CLONE_REFUSED = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x8000
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONREAD FIONBIO FIONCLEX FIOCLEX
_FCNTLS_REFUSED = (8, 10, 15)  # F_SETOWN F_SETSIG F_SETOWN_EX: they send signals to other processes
# GET_DUMPABLE SET_DUMPABLE SET_NAME GET_NAME GET_SECCOMP SET_SECCOMP GET_NO_NEW_PRIVS SET_VMA
_PRCTLS = (3, 4, 15, 16, 21, 22, 39, 0x53564D41)
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE_MASK = 1, 1, 0xF

Instruction = tuple[int, int, int, int]  # operation, constant, skip if true, skip if false
Block = list[Instruction]


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def _answer(action: int) -> Block:
    return [(_RETURN, action, 0, 0)]


_YES, _NO, _UNKNOWN = _answer(_ALLOW), _answer(_ERRNO | errno.EPERM), _answer(_ERRNO | errno.ENOSYS)


def _load(argument: int, *, high: bool = False) -> Instruction:
    return (_LOAD, _ARGUMENTS + 8 * argument + 4 * high, 0, 0)


def _one_of(argument: int, values: tuple[int, ...], inside: Block = _YES, outside: Block = _NO) -> Block:
    """One single-instruction answer where the argument's low word is among the values, the other elsewhere."""
    tests = [(_EQUAL, value, len(values) - index, 0) for index, value in enumerate(values)]
    return [_load(argument), *tests, *outside, *inside]


_CONDITIONS: dict[int, Block] = {
    syscalls.IOCTL: _one_of(1, _IOCTLS, outside=_answer(_ERRNO | errno.ENOTTY)),
    syscalls.FCNTL: _one_of(1, _FCNTLS_REFUSED, inside=_NO, outside=_YES),
    # the runner ties a program's life to its own; nothing may undo that
    syscalls.PRCTL: [
        _load(0),
        (_EQUAL, libc.PR_SET_PDEATHSIG, 0, 4),
        _load(1),
        (_EQUAL, libc.SIGKILL, 1, 0),
        *_NO,
        *_YES,
        *_one_of(0, _PRCTLS),
    ],
    syscalls.PRLIMIT: _one_of(0, (0,)),
    syscalls.CLONE: [_load(0), (_ANY_BIT, _CLONE_REFUSED, 1, 0), *_YES, *_NO],
    syscalls.MKDIR: [_load(1), (_AND, 0o700, 0, 0), (_EQUAL, 0o700, 1, 0), *_NO, *_YES],
    syscalls.MKDIRAT: [_load(2), (_AND, 0o700, 0, 0), (_EQUAL, 0o700, 1, 0), *_NO, *_YES],
    # a datagram pair could be pointed at any socket with a path; a stream pair is connected for good
    syscalls.SOCKETPAIR: [
        _load(0),
        (_EQUAL, _AF_UNIX, 0, 3),
        _load(1),
        (_AND, _SOCK_TYPE_MASK, 0, 0),
        (_EQUAL, _SOCK_STREAM, 1, 0),
        *_NO,
        *_YES,
    ],
    syscalls.SENDTO: [_load(4), (_EQUAL, 0, 0, 2), _load(4, high=True), (_EQUAL, 0, 1, 0), *_NO, *_YES],
    # whom a signal reaches is for Landlock, the uid or a namespace to say; where none does, `OwnSignalsFilter`
    syscalls.KILL: _YES,
    syscalls.TGKILL: _YES,
    syscalls.TKILL: _YES,
}


# the runner may be the first process of a namespace, of the same uid: the kernel would drop a signal and not refuse it
_NOT_TO_INIT: dict[int, Block] = dict.fromkeys(
    (syscalls.KILL, syscalls.TGKILL, syscalls.TKILL), _one_of(0, (1,), inside=_NO, outside=_YES)
)


def _segments(listed: dict[int, Block], unlisted: Block, unknown: Block) -> list[tuple[int, Block]]:
    """(first number, what to do from it on), neighbours with the same answer joined."""
    segments: list[tuple[int, Block]] = []
    for number in range(max(listed) + 2):
        block = listed.get(number, unlisted if number <= syscalls.LAST_OF_THE_OLD else unknown)
        if not segments or segments[-1][1] is not block:
            segments.append((number, block))
    return segments


def _tree(segments: list[tuple[int, Block]]) -> Block:
    if len(segments) == 1:
        return segments[0][1]
    middle = len(segments) // 2
    below, above = _tree(segments[:middle]), _tree(segments[middle:])
    if len(below) > 255:
        raise ValueError(f"a jump over {len(below)} instructions does not fit a filter: at most 255")
    return [(_AT_LEAST, segments[middle][0], len(below), 0), *below, *above]


class _Filter:
    """A filter ready to be installed."""

    def __init__(self, segments: list[tuple[int, Block]]) -> None:
        """Raises OSError (ENOSYS) on a machine for which there is no table of system calls."""
        machine = os.uname().machine
        if machine != "x86_64":
            raise OSError(errno.ENOSYS, f"no system-call filter for {machine!r}: only x86_64 has a table")
        block = [
            (_LOAD, _ARCHITECTURE, 0, 0),
            (_EQUAL, _X86_64, 1, 0),
            *_answer(_KILL_PROCESS),
            (_LOAD, _NUMBER, 0, 0),
            (_AT_LEAST, _X32_BIT, 0, 1),
            *_answer(_KILL_PROCESS),
            *_tree(segments),
        ]
        self.instructions = (_Instruction * len(block))(*(_Instruction(code, jt, jf, k) for code, k, jt, jf in block))
        self._program = _Program(len(block), self.instructions)
        self._address = ctypes.addressof(self._program)

    def install(self) -> None:
        """Put the filter on the calling process and its later children, for good; needs no_new_privs."""
        libc.prctl(libc.PR_SET_SECCOMP, _MODE_FILTER, self._address)()


class AllowList(_Filter):
    """Nothing but `syscalls`. Meant for the runner: to install one in each fork would cost as much as a tenth of it."""

    def __init__(self, *, unused_uid: bool, below_init: bool = False) -> None:
        """Prepare it.

        Args:
            unused_uid: programs run under a uid that owns nothing, so a few more calls do no harm.
            below_init: the runner is process 1 of a namespace, which a program must not signal.
        """
        free = syscalls.FREE | (syscalls.FREE_UNDER_UNUSED_UID if unused_uid else {})
        conditions = _CONDITIONS | (_NOT_TO_INIT if below_init else {})
        super().__init__(_segments(dict.fromkeys(free.values(), _YES) | conditions, _NO, _UNKNOWN))


class OwnSignalsFilter(_Filter):
    """A process may send signals to itself only. Meant for each program, where nothing else limits them."""

    def __init__(self) -> None:
        """Prepare it; the pid is filled in by the process that installs it."""
        own = _one_of(0, (_OWN_PID,))
        super().__init__(
            _segments({syscalls.KILL: own, syscalls.TGKILL: own, syscalls.TKILL: _NO}, unlisted=_YES, unknown=_YES)
        )
        self._pids = [instruction for instruction in self.instructions if instruction.k == _OWN_PID]

    def install(self) -> None:
        """Let the calling process, and nobody else, be signalled by it and its later children."""
        for instruction in self._pids:
            instruction.k = os.getpid()
        super().install()
