"""What every sandbox promises about a program, whatever it holds: a program is a Python main module, judged rightly."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from llm_envs.sandbox.base import Outcome, Program, Sandbox, Status
from tests.scale import scaled

SUMS = {
    "input": "n = int(input())\nprint(sum(int(input()) for _ in range(n)))",
    "readline": "import sys\nn = int(sys.stdin.readline())\nprint(sum(int(sys.stdin.readline()) for _ in range(n)))",
    "lines": "import sys\nprint(sum(int(line) for line in list(sys.stdin)[1:]))",
    "buffer": "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split()[1:])))",
    "descriptor": "print(sum(map(int, open(0).read().split()[1:])))",
    "device": "print(sum(map(int, open('/dev/stdin').read().split()[1:])))",
    "mixed": "import sys\ninput()\nprint(sum(map(int, sys.stdin.read().split())))",
}


def patient(code: str, **fields: object) -> Program:
    """A program with time enough for the busiest machine, unless it is time that is tested."""
    return Program(code, **{"cpu_s": 30.0, "wall_s": 120.0, **fields})  # type: ignore[arg-type]


def run(sandbox: Sandbox, code: str, **fields: object) -> Outcome:
    (outcome,) = sandbox.run([patient(code, **fields)])
    return outcome


@pytest.mark.parametrize("size", [3, 200_000])
def test_every_way_to_read_standard_input_works(sandbox: Sandbox, size: int) -> None:
    """UC-062: also where the input is larger than a pipe (1.2 MB)."""
    stdin = f"{size}\n" + "".join(f"{number}\n" for number in range(size))
    outcomes = sandbox.run([patient(code, stdin=stdin) for code in SUMS.values()])
    wrong = {
        way: outcome for way, outcome in zip(SUMS, outcomes, strict=True) if outcome.stdout != f"{sum(range(size))}\n"
    }
    assert not wrong


MAINS = {
    'if __name__ == "__main__":\n    print(1)': (Status.OK, "1\n"),
    "def main():\n    print(1)": (Status.OK, ""),
    "print(1)\nexit()": (Status.OK, "1\n"),
    "import sys\nprint(1)\nsys.exit(0)": (Status.OK, "1\n"),
    "print(1)\nquit(3)": (Status.ERROR, "1\n"),
    "print(1)\nraise SystemExit('no')": (Status.ERROR, "1\n"),
    '"""A docstring."""\nfrom __future__ import annotations\nprint(1)': (Status.OK, "1\n"),
    "import os\nprint(1, flush=True)\nos._exit(0)": (Status.OK, "1\n"),
    "import atexit\natexit.register(print, 1)": (Status.OK, "1\n"),
    "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), print(1))).start()": (Status.OK, "1\n"),
    "import os\nout = os.fdopen(1, 'w')\nout.write('1\\n')": (Status.OK, "1\n"),
    "import sys, io\nprint(1)\nsys.stdout = io.StringIO()\nprint(2)": (Status.OK, "1\n"),
    "import pickle\nclass A: x = 1\nprint(pickle.loads(pickle.dumps(A())).x)": (Status.OK, "1\n"),
    "import sys\nsys.exit([])": (Status.ERROR, ""),
    "print(1": (Status.ERROR, ""),
    "print(1)\n\0": (Status.ERROR, ""),
    "print('\ud800')": (Status.ERROR, ""),
    "": (Status.OK, ""),
}


def test_a_program_is_a_main_module(sandbox: Sandbox) -> None:
    """UC-067: and ends as `python main.py` would."""
    outcomes = sandbox.run([patient(code) for code in MAINS])
    assert {code: (o.status, o.stdout) for code, o in zip(MAINS, outcomes, strict=True)} == MAINS


def test_a_program_has_its_arguments_files_and_folder(sandbox: Sandbox) -> None:
    code = (
        "import sys, os, helper\nprint(sys.argv[1:], open('data.txt').read(), helper.x, 'data.txt' in os.listdir('.'))"
    )
    files = (("data.txt", "é\n\r\n"), ("helper.py", "x = 7"))
    outcome = run(sandbox, code, argv=("a b", ""), files=files)
    assert (outcome.status, outcome.stdout) == (Status.OK, "['a b', ''] é\n\n 7 True\n")


def test_deep_recursion_and_long_numbers_work(sandbox: Sandbox) -> None:
    """UC-075, UC-076 (in Python frames and through C), and the 4,300-digit limit of section 0.6."""
    deep = "import sys, functools\nsys.setrecursionlimit(10**6)\n{}def f(n): return n and 1 + f(n - 1)\nprint(f({}))"
    assert run(sandbox, deep.format("", 50_000)).stdout == "50000\n"
    assert run(sandbox, deep.format("@functools.lru_cache(None)\n", 20_000)).stdout == "20000\n"
    assert run(sandbox, "print(10**5000)").stdout == f"1{'0' * 5000}\n"
    assert "RecursionError" in run(sandbox, deep.format("", 50_000).replace("sys.setrecursionlimit(10**6)", "")).stderr


def test_endless_recursion_is_the_programs_failure(sandbox: Sandbox) -> None:
    """UC-076: the judge lives."""
    code = "import sys, functools\nsys.setrecursionlimit(10**9)\n{}def f(n): return 1 + f(n + 1)\nf(0)"
    for decorator in ("", "@functools.lru_cache(None)\n"):
        outcome = run(sandbox, code.format(decorator), memory_mb=32)
        assert outcome.status in {Status.ERROR, Status.MEMORY}
    assert run(sandbox, "print(1)").stdout == "1\n"


def test_short_input_is_an_error_that_says_so(sandbox: Sandbox) -> None:
    """UC-077."""
    outcome = run(sandbox, "a = input()\nb = input()\n", stdin="secret\n")
    assert outcome.status is Status.ERROR
    assert outcome.stderr.endswith("EOFError: EOF when reading a line\n")
    assert 'File "main.py", line 2, in <module>' in outcome.stderr
    assert "secret" not in outcome.stderr


def test_a_background_child_does_not_delay_the_outcome(sandbox: Sandbox) -> None:
    """UC-072: it holds standard output open."""
    outcome = run(sandbox, "import os, time\nif os.fork() == 0:\n    time.sleep(1000)\nprint(1)")
    assert (outcome.status, outcome.stdout) == (Status.OK, "1\n")
    assert outcome.wall_s < 60


HANGS = {
    "loop": "while True: pass",
    "sleep": "import time\ntime.sleep(1e9)",
    "ignores signals": "import signal\nfor s in {*range(1, 32)} - {9, 19}: signal.signal(s, 1)\nwhile 1: 1",
    "catches all": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "regular expression": "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
    "sum in C": "sum(range(10**12))",
    "power in C": "x = 3 ** (10**8)",
    "process waits": "import os\nos.wait() if os.fork() else [0 for _ in iter(int, 1)]",
}


def test_whatever_hangs_is_stopped(caged: Sandbox) -> None:
    """UC-071."""
    programs = [Program(code, cpu_s=0.2, wall_s=0.6) for code in HANGS.values()]
    assert {hang: o.status for hang, o in zip(HANGS, caged.run(programs), strict=True)} == dict.fromkeys(
        HANGS, Status.TIMEOUT
    )


def test_whatever_hangs_is_stopped_without_a_cage(unsafe: Sandbox) -> None:
    """UC-071: CPU time is limited in whole seconds there, wall time as asked."""
    assert run(unsafe, HANGS["loop"], wall_s=0.5).status is Status.TIMEOUT
    assert run(unsafe, HANGS["loop"], cpu_s=0.5).status is Status.TIMEOUT


def test_cpu_time_is_judged_not_the_queue(caged: Sandbox) -> None:
    """UC-073: many at once, each well within its CPU limit, on few cores: none is late."""
    count = scaled(fast=12, long=64)
    code = "import time\nwhile time.process_time() < 0.1: pass\nprint({})"
    outcomes = caged.run([Program(code.format(index), cpu_s=0.5, wall_s=60) for index in range(count)])
    assert [(o.status, o.stdout) for o in outcomes] == [(Status.OK, f"{index}\n") for index in range(count)]


FLOODS = {
    "stdout": "while True: print('x' * 1000)",
    "stderr": "import sys\nwhile True: print('x' * 1000, file=sys.stderr)",
    "no newline": "import os\nwhile True: os.write(1, b'x' * 65536)",
    "child": "import os\nos.fork()\nwhile True: os.write(2, b'x' * 65536)",
    "at the end": "print('x' * 20_000)",
}


@pytest.mark.parametrize("flood", FLOODS)
def test_floods_are_stopped_and_cut(caged: Sandbox, flood: str) -> None:
    """UC-095."""
    outcome = run(caged, FLOODS[flood], output_bytes=10_000)
    assert (outcome.status, outcome.truncated) == (Status.OUTPUT, True)
    assert len(outcome.stdout) + len(outcome.stderr) in {10_000, 20_000}


def test_a_flood_does_not_fill_the_memory_of_the_judge(caged: Sandbox) -> None:
    """UC-095: resident memory grows by less than 20 MB where a program writes gigabytes."""
    page, resident = os.sysconf("SC_PAGESIZE"), Path("/proc/self/statm")
    before = int(resident.read_text().split()[1])
    caged.run([Program(f"import os\nwhile True: os.write(1, bytes(1 << 20))\n# {index}") for index in range(8)])
    assert (int(resident.read_text().split()[1]) - before) * page < 20e6


def test_output_up_to_the_limit_is_whole(sandbox: Sandbox) -> None:
    """UC-095: the limit is counted in bytes, and more than the usual may be allowed."""
    assert run(sandbox, "print('é' * 50, end='')", output_bytes=100).stdout == "é" * 50
    assert run(sandbox, "print('é' * 51, end='')", output_bytes=100).status is Status.OUTPUT
    many = run(sandbox, "print('x' * 3_000_000)", output_bytes=4_000_000)
    assert (many.status, len(many.stdout)) == (Status.OK, 3_000_001)
    assert run(sandbox, "print(1)", output_bytes=0).status is Status.OUTPUT
    assert run(sandbox, "", output_bytes=0).status is Status.OK


HOGS = {
    "blocks": "x = []\nwhile True: x.append(bytearray(10 << 20))",
    "small objects": "x = []\nwhile True: x.append(len(x))",
    "one piece": "x = bytearray(1 << 40)",
    "in a function": "def f():\n    x = [0]\n    while True: x += x\nf()",
}


@pytest.mark.parametrize("hog", HOGS)
def test_memory_beyond_the_limit_is_told_as_such(sandbox: Sandbox, hog: str) -> None:
    """UC-097."""
    assert run(sandbox, HOGS[hog], memory_mb=100).status is Status.MEMORY


def test_memory_within_the_limit_is_there(sandbox: Sandbox) -> None:
    """UC-097's control, and a program that handles its MemoryError."""
    assert run(sandbox, "x = bytearray(80 << 20)\nprint(len(x))", memory_mb=100).stdout == f"{80 << 20}\n"
    caught = "try:\n    bytearray(1 << 40)\nexcept MemoryError:\n    print('caught')"
    assert run(sandbox, caught, memory_mb=100).stdout == "caught\n"


def test_threads_do_not_eat_the_memory(caged: Sandbox) -> None:
    """Each would reserve 64 MiB of address space for a heap of its own."""
    code = (
        "from threading import Barrier, Thread\nmeet = Barrier(6)\n"
        "def work(n):\n    block = bytearray(1 << 20)\n    meet.wait()\n    print(len(block) + n)\n"
        "for n in range(6): Thread(target=work, args=(n,)).start()"
    )
    outcome = run(caged, code, memory_mb=100)
    assert sorted(outcome.stdout.split()) == [str((1 << 20) + n) for n in range(6)]


def test_input_that_is_never_read_does_no_harm(sandbox: Sandbox) -> None:
    assert run(sandbox, "print(1)", stdin="x" * 3_000_000).stdout == "1\n"
    assert run(sandbox, "import os\nos.close(0)\nprint(1)", stdin="x" * 3_000_000).stdout == "1\n"


def test_outcomes_keep_the_order_and_equal_programs_share_a_run(sandbox: Sandbox) -> None:
    program = patient("import os\nprint(os.urandom(8).hex())")
    first, other, second = sandbox.run([program, patient("print(2)"), replace(program)])
    assert first == second
    assert other.stdout == "2\n"
    assert sandbox.run([]) == []
    assert asyncio.run(sandbox.arun([program]))[0].stdout != first.stdout


def test_many_inputs_for_one_code_are_not_mixed_up(caged: Sandbox) -> None:
    """Compiled once where that pays: long code, several inputs; then other code, then the first again."""
    long = "\n".join(f"def f{index}(x): return x + {index}" for index in range(300)) + "\nprint(f7(int(input())))"
    programs = [patient(long, stdin=f"{number}\n") for number in range(12)]
    mixed = [*programs[:6], patient("print(1)"), *programs[6:]]
    expected = [f"{number + 7}\n" for number in range(12)]
    assert [o.stdout for o in caged.run(mixed)] == [*expected[:6], "1\n", *expected[6:]]
    assert [o.stdout for o in caged.run(programs)] == expected
    broken = caged.run([patient(f"{long}(", stdin=str(number)) for number in range(12)])
    assert {(o.status, o.stderr.splitlines()[-1]) for o in broken} == {
        (Status.ERROR, "SyntaxError: '(' was never closed")
    }


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cpu_s": 0.0}, r"Program.cpu_s=0.0: must be seconds above 0 and at most 86400"),
        ({"cpu_s": float("nan")}, r"Program.cpu_s=nan"),
        ({"wall_s": float("inf")}, r"Program.wall_s=inf"),
        ({"memory_mb": 0}, r"Program.memory_mb=0: must be a whole number from 1 to 16777216"),
        ({"memory_mb": 0.5}, r"Program.memory_mb=0.5: must be a whole number"),
        ({"processes": 0}, r"Program.processes=0: must be a whole number from 1 to 4194304"),
        ({"output_bytes": -1}, r"Program.output_bytes=-1: must be a whole number from 0 to 1073741824"),
        ({"files": (("../x", ""),)}, r"Program.files: '../x' must be a plain file name"),
        ({"files": (("..", ""),)}, r"Program.files: '..' must be a plain file name"),
        ({"files": (("x" * 256, ""),)}, r"of 255 bytes at most"),
        ({"files": (("x", "y" * (65 << 20)),)}, r"Program.files: 68157440 characters in all: must be at most 67108864"),
    ],
)
def test_a_program_that_cannot_be_meant_is_refused(sandbox: Sandbox, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(sandbox, "print(1)", **fields)
