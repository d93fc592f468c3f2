"""The system-call filter says what its list says, for every number; read by an interpreter of its own."""

import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.sandbox.runner import seccomp, syscalls

if os.uname().machine != "x86_64":
    pytest.skip("the table is of x86_64", allow_module_level=True)

X86_64, I386 = 0xC000003E, 0x40000003
ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS, ENOTTY = (0x00050000 | number for number in (errno.EPERM, errno.ENOSYS, errno.ENOTTY))
PLAIN = seccomp.AllowList(unused_uid=False)
UNUSED_UID = seccomp.AllowList(unused_uid=True)


def decide(compiled: seccomp._Filter, number: int, *arguments: int, architecture: int = X86_64) -> int:
    """What the kernel would answer: a classic BPF machine for the operations that are used (linux/filter.h)."""
    words = {0: number & 0xFFFFFFFF, 4: architecture}
    for index, argument in enumerate((*arguments, *[0] * (6 - len(arguments)))):
        words[16 + 8 * index], words[20 + 8 * index] = argument & 0xFFFFFFFF, argument >> 32 & 0xFFFFFFFF
    position = accumulator = 0
    while True:
        instruction = compiled.instructions[position]
        code, k = instruction.code, instruction.k
        position += 1
        if code == 0x06:
            return int(k)
        if code == 0x20:
            accumulator = words[k]
        elif code == 0x54:
            accumulator &= k
        else:
            truth = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}[code]
            position += instruction.jt if truth else instruction.jf


def test_every_number_is_answered_as_the_list_says() -> None:
    conditional = seccomp._CONDITIONS.keys()
    for compiled, extra in ((PLAIN, {}), (UNUSED_UID, syscalls.FREE_UNDER_UNUSED_UID)):
        free = {*syscalls.FREE.values(), *extra.values()}
        for number in {*range(1000), 0x3FFFFFFF} - conditional:
            expected = ALLOW if number in free else EPERM if number <= syscalls.LAST_OF_THE_OLD else ENOSYS
            assert decide(compiled, number) == expected, number


def test_the_interpreter_would_see_a_wrong_answer() -> None:
    """Negative control: with one comparison changed, some number is answered otherwise."""
    broken = seccomp.AllowList(unused_uid=False)
    before = [decide(broken, number) for number in range(500)]
    comparison = next(index for index, i in enumerate(broken.instructions) if i.code == 0x35 and i.k < 400)
    broken.instructions[comparison].k += 1
    assert [decide(broken, number) for number in range(500)] != before


@given(number=st.integers(0, 600), architecture=st.integers(0, 2**32 - 1).filter(lambda value: value != X86_64))
def test_no_other_architecture_has_a_door(number: int, architecture: int) -> None:
    assert decide(PLAIN, number, architecture=architecture) == KILL
    assert decide(PLAIN, number, architecture=I386) == KILL
    assert decide(PLAIN, number | 0x40000000) == KILL
    assert decide(PLAIN, number | 0x80000000) == KILL


NEW_NAMESPACES = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
ANSWERS = [
    ("thread", syscalls.CLONE, (0x3D0F00,), ALLOW),
    ("fork", syscalls.CLONE, (0x1200011,), ALLOW),
    *((f"namespace {flag:x}", syscalls.CLONE, (flag | 17,), EPERM) for flag in NEW_NAMESPACES),
    ("sibling", syscalls.CLONE, (0x8000 | 17,), EPERM),
    ("stream pair", syscalls.SOCKETPAIR, (1, 1 | 0x80000, 0), ALLOW),
    ("datagram pair", syscalls.SOCKETPAIR, (1, 2, 0), EPERM),
    ("other pair", syscalls.SOCKETPAIR, (2, 1, 0), EPERM),
    ("send", syscalls.SENDTO, (3, 0x1000, 5, 0, 0, 0), ALLOW),
    ("send to", syscalls.SENDTO, (3, 0x1000, 5, 0, 0x7FFF_0000_0000, 16), EPERM),
    ("send to a low address", syscalls.SENDTO, (3, 0x1000, 5, 0, 0x1000, 16), EPERM),
    ("own limits", syscalls.PRLIMIT, (0, 7), ALLOW),
    ("other's limits", syscalls.PRLIMIT, (1234, 7), EPERM),
    ("is it a terminal", syscalls.IOCTL, (1, 0x5401), ALLOW),
    ("type into a terminal", syscalls.IOCTL, (0, 0x5412), ENOTTY),
    ("duplicate", syscalls.FCNTL, (1, 0), ALLOW),
    *((f"signal by fcntl {command}", syscalls.FCNTL, (1, command, 1), EPERM) for command in (8, 10, 15)),
    ("die with the runner", syscalls.PRCTL, (1, 9), ALLOW),
    ("outlive the runner", syscalls.PRCTL, (1, 0), EPERM),
    ("take orphans", syscalls.PRCTL, (36, 1), EPERM),
    ("name oneself", syscalls.PRCTL, (15, 0x1000), ALLOW),
    ("a folder", syscalls.MKDIR, (0x1000, 0o777), ALLOW),
    ("a closed folder", syscalls.MKDIR, (0x1000, 0o300), EPERM),
    ("a closed folder elsewhere", syscalls.MKDIRAT, (5, 0x1000, 0), EPERM),
]


@pytest.mark.parametrize(("number", "arguments", "expected"), [pytest.param(*row[1:], id=row[0]) for row in ANSWERS])
def test_what_depends_on_arguments_is_answered_by_them(number: int, arguments: tuple[int, ...], expected: int) -> None:
    assert decide(PLAIN, number, *arguments) == expected


@given(pid=st.integers(-(2**31), 2**31 - 1))
def test_without_scoped_signals_a_process_signals_itself_only(pid: int) -> None:
    own = seccomp.OwnSignalsFilter()
    for instruction in own._pids:
        instruction.k = 4711
    expected = ALLOW if pid == 4711 else EPERM
    assert decide(own, syscalls.KILL, pid) == expected
    assert decide(own, syscalls.TGKILL, pid) == expected
    assert decide(own, syscalls.KILL, 4711) == ALLOW
    assert decide(own, syscalls.TKILL, pid) == EPERM
    assert decide(own, 0) == decide(own, 600) == ALLOW


@given(pid=st.integers(-(2**31), 2**31 - 1), number=st.integers(0, 600))
def test_below_the_first_process_of_a_namespace_only_that_one_is_spared(pid: int, number: int) -> None:
    spared = seccomp.AllowList(unused_uid=False, below_init=True)
    signals = (syscalls.KILL, syscalls.TGKILL, syscalls.TKILL)
    for signal in signals:
        assert decide(spared, signal, 1, pid) == EPERM
        assert decide(spared, signal, pid) == (EPERM if pid == 1 else ALLOW)
    if number not in signals:
        assert decide(spared, number, pid) == decide(PLAIN, number, pid)


def test_it_fails_closed_where_there_is_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp.os, "uname", lambda: type("Uname", (), {"machine": "aarch64"}))
    with pytest.raises(OSError, match="no system-call filter for 'aarch64'"):
        seccomp.AllowList(unused_uid=False)
