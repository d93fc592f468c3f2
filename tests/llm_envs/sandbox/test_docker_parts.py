"""What a container is made with, and the stream to it. Without an engine."""

import json
import socket
import struct
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.sandbox.base import Program
from llm_envs.sandbox.cage import CageLostError
from llm_envs.sandbox.docker.channel import AttachedChannel
from llm_envs.sandbox.docker.seccomp import profile
from llm_envs.sandbox.docker.settings import Settings, Size
from llm_envs.sandbox.runner import syscalls


def packed(stream: int, data: bytes) -> bytes:
    return struct.pack(">BxxxI", stream, len(data)) + data


@given(
    packets=st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=300)), max_size=20),
    cuts=st.lists(st.integers(1, 400), max_size=20),
)
def test_what_the_runner_says_arrives_whole_however_it_is_packed_and_cut(
    packets: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        channel = AttachedChannel(ours)
        channel.deadline = time.monotonic() + 60
        rest = b"".join(packed(*packet) for packet in packets)
        for cut in cuts:
            channel._accept(rest[:cut])
            rest = rest[cut:]
        channel._accept(rest)
        said = b"".join(data for stream, data in packets if stream == 1)
        assert channel.read_exactly(len(said)) == said
        assert channel._received == b""
        assert channel._stderr == b"".join(data for stream, data in packets if stream == 2)[-4096:]
        theirs.close()
        with pytest.raises(CageLostError, match="the runner ended"):
            channel.read_exactly(1)


def test_a_large_answer_does_not_wait_for_a_large_question_nor_the_other_way_round() -> None:
    ours, theirs = socket.socketpair()
    message = bytes(range(256)) * 20_000
    found: list[bytes] = []

    def speak_first_and_listen_then() -> None:
        theirs.sendall(packed(1, message))
        with theirs.makefile("rb") as stream:
            found.append(stream.read(len(message)))
        theirs.sendall(packed(1, b"."))

    with ours, theirs:
        channel = AttachedChannel(ours)
        channel.deadline = time.monotonic() + 60
        other = threading.Thread(target=speak_first_and_listen_then)
        other.start()
        channel.send(message)
        assert channel.read_exactly(len(message) + 1) == message + b"."
        other.join()
        assert found == [message]


def test_a_stream_that_is_shut_down_from_another_thread_ends_like_one_whose_runner_died() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        channel = AttachedChannel(ours)
        channel.deadline = time.monotonic() + 60
        channel.shut_down()
        channel.shut_down()
        assert theirs.recv(1) == b""
        with pytest.raises(CageLostError, match="the runner ended"):
            channel.read_exactly(1)
        channel.close()
        channel.shut_down()


def test_a_container_is_made_with_every_wall() -> None:
    """UC-095 (nothing is logged), UC-097 (no swap), UC-101."""
    host = Settings("image").host(Size(memory_mb=512, processes=20))
    assert host["network_mode"] == "none"
    assert host["ipc_mode"] == "none"
    assert host["cap_drop"] == ["ALL"]
    assert host["security_opt"] == ["no-new-privileges:true"]
    assert host["read_only"] is True
    assert host["log_config"] == {"Type": "none"}
    assert host["mem_limit"] == host["memswap_limit"] == f"{512 + 4 + 64 + 64}m"
    assert host["pids_limit"] == 28
    assert set(host["tmpfs"]) == {"/program", "/dev/mqueue"}  # type: ignore[call-overload]
    assert not {"binds", "mounts", "privileged", "cap_add", "devices", "volumes_from"} & set(host)
    assert Settings("image").process()["user"] == "65534:65534"


def test_a_container_has_room_for_the_largest_program() -> None:
    usual = Size()
    assert usual.grown([Program("1"), Program("2")]) == usual
    large = usual.grown([Program("1", memory_mb=1024), Program("2", processes=64), Program("3", output_bytes=8 << 20)])
    assert large == Size(memory_mb=1024, processes=64, traffic_mb=17)
    assert large.grown([Program("1", stdin="x" * (8 << 20))]).traffic_mb > 32


def test_the_engines_filter_leaves_a_program_all_that_the_runners_own_allows() -> None:
    """Which it stands in for. What is allowed there under conditions is not refused outright here."""
    rules = json.loads(profile())
    assert rules["defaultAction"] == "SCMP_ACT_ALLOW"
    outright = {name for rule in rules["syscalls"] if "args" not in rule for name in rule["names"]}
    assert not outright & syscalls.FREE.keys()
    assert {"ptrace", "setpriority", "shmget", "mq_open", "unshare", "mount", "bpf", "io_uring_setup"} <= outright
    flags = {arg["value"] for rule in rules["syscalls"] if rule["names"] == ["clone"] for arg in rule["args"]}
    assert sum(flags) == 0x7E020080  # CLONE_NEWTIME, NS, CGROUP, UTS, IPC, USER, PID, NET
