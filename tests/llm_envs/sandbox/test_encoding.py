"""What goes over the wire comes out the same, and code is compiled as often as pays."""

import marshal

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
    for step in encoding.plan(programs, kept, encoding.worth_compiling_once(programs)):
        header, body, stdin = read(step.frame)
        assert header[3:] == (
            step.program.cpu_s,
            step.program.wall_s,
            step.program.memory_mb << 20,
            step.program.processes,
            step.program.output_bytes,
        )
        if step.kind == wire.COMPILE:
            code, *_ = body
            continue
        if step.kind == wire.RUN:
            code = None
        source, files, argv = body
        ran.append((code if step.kind == wire.RUN_KEPT else source, files, argv, stdin))
    assert ran == [(p.code, p.files, p.argv, p.stdin.encode(errors="replace")) for p in programs]


def test_code_that_comes_often_is_compiled_once_and_other_code_is_not() -> None:
    """Also where a batch holds one program of it only: what was compiled is kept for the next batch."""
    long, short = [Program("x" * 2500, str(index)) for index in range(4)], Program("x")
    once = encoding.worth_compiling_once([*long, short, short])
    assert once == {encoding.compilation_key(long[0])}
    first = encoding.plan(long[:1], None, once)
    assert [step.kind for step in first] == [wire.COMPILE, wire.RUN_KEPT]
    then = encoding.plan([*long[1:], short], encoding.compilation_key(long[0]), once)
    assert [step.kind for step in then] == [wire.RUN_KEPT] * 3 + [wire.RUN]
    assert not encoding.worth_compiling_once([long[0], *[short] * 100])


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
