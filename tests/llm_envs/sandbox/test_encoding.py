"""What goes over the wire comes out the same, and code is compiled as often as pays."""

import marshal
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.sandbox import encoding
from llm_envs.sandbox.base import Outcome, Program, Status
from llm_envs.sandbox.runner import wire

TEXT = st.text(st.characters(), max_size=20)  # lone surrogates, too
PROGRAMS = st.builds(
    Program,
    code=st.sampled_from(["a", "b", "c" * 5000, "d" * 2000]),
    stdin=TEXT,
    argv=st.tuples(TEXT),
    files=st.just((("name", "text"),)),
    cpu_s=st.sampled_from([1.0, 2.0]),
)


def read(frame: bytes) -> tuple[tuple[int | float, ...], object, bytes]:
    header = wire.REQUEST.unpack(frame[: wire.REQUEST.size])
    body = frame[wire.REQUEST.size : wire.REQUEST.size + header[1]]
    stdin = frame[wire.REQUEST.size + header[1] :]
    assert len(stdin) == header[2]
    return header, marshal.loads(body), stdin


@given(programs=st.lists(PROGRAMS, max_size=12), kept=st.one_of(st.none(), PROGRAMS.map(encoding.compilation_key)))
def test_a_runner_that_follows_the_plan_runs_each_program_with_its_own_code(
    programs: list[Program], kept: encoding.Key | None
) -> None:
    code = kept[0] if kept else None
    ran = []
    for step in encoding.plan(programs, kept):
        header, body, stdin = read(step.frame)
        assert header[3:] == (
            step.program.cpu_s,
            step.program.wall_s,
            step.program.memory_mb << 20,
            step.program.processes,
            step.program.output_bytes,
        )
        if step.kind == wire.COMPILE:
            (code,) = body
            continue
        if step.kind == wire.RUN:
            code = None
        source, files, argv = body
        ran.append((code if step.kind == wire.RUN_KEPT else source, files, argv, stdin))
    assert ran == [(p.code, p.files, p.argv, p.stdin.encode(errors="replace")) for p in programs]


def test_neighbours_of_equal_long_code_are_compiled_once_and_others_not() -> None:
    long, short = Program("x" * 5000), Program("x")
    kinds = [step.kind for step in encoding.plan([long, long, long, short, short, long], None)]
    assert [(kind, len(list(group))) for kind, group in groupby(kinds)] == [
        (wire.COMPILE, 1),
        (wire.RUN_KEPT, 3),
        (wire.RUN, 3),
    ]
    assert [step.kind for step in encoding.plan([long], encoding.compilation_key(long))] == [wire.RUN_KEPT]


@given(
    status=st.sampled_from(list(Status)),
    exit_code=st.integers(-64, 255),
    stdout=st.binary(max_size=50),
    stderr=st.binary(max_size=50),
    truncated=st.booleans(),
)
def test_a_reply_becomes_its_outcome(
    status: Status, exit_code: int, stdout: bytes, stderr: bytes, truncated: bool
) -> None:
    """Output that is no UTF-8 is replaced, never an error."""
    number = wire.STATUSES.index(status)
    data = wire.REPLY.pack(number, truncated, exit_code, 0.5, 0.25, len(stdout), len(stderr)) + stdout + stderr
    chunks = iter(data)
    outcome = encoding.read_reply(lambda size: bytes(next(chunks) for _ in range(size)))
    texts = (stdout.decode(errors="replace"), stderr.decode(errors="replace"))
    assert outcome == Outcome(status, exit_code, *texts, 0.5, 0.25, truncated)


def test_the_statuses_of_the_wire_are_those_of_outcomes() -> None:
    assert [*Status, "not_compiled"] == list(wire.STATUSES)


@pytest.mark.parametrize("value", ["", "\ud800", "é" * 100, ("a", ("b", None)), {"a": 1, "b": 2.5, "c": True}])
def test_values_survive_the_wire(value: wire.Value) -> None:
    data = wire.framed(wire.pack(value))
    position = 0

    def read_exactly(size: int) -> bytes:
        nonlocal position
        position += size
        return data[position - size : position]

    assert marshal.loads(wire.read_framed(read_exactly)) == value
