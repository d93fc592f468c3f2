"""Which sandbox one gets by name, and what one is told where there is none."""

import logging
from collections.abc import Iterator

import pytest

from llm_envs.sandbox import describe, docker, get_sandbox, locked, native, registry
from llm_envs.sandbox.base import Program, Sandbox, SandboxError
from llm_envs.sandbox.runner import landlock


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry._shared, "instances", {})
    yield
    for sandbox in registry._shared.instances.values():
        sandbox.close()


@pytest.mark.needs("landlock")
def test_auto_is_the_first_cage_that_works_and_one_instance_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := locked.unavailable():
        pytest.skip(reason)
    monkeypatch.setattr(docker, "unavailable", lambda: "no engine")
    monkeypatch.setattr(native, "unavailable", lambda: "no namespaces")
    sandbox = get_sandbox()
    assert isinstance(sandbox, Sandbox)
    assert sandbox.name == "locked"
    assert get_sandbox("locked") is sandbox
    sandbox.close()
    assert get_sandbox() is not sandbox


def test_an_unknown_name_is_told_what_there_is() -> None:
    with pytest.raises(ValueError, match=r"sandbox name='podman': must be one of auto, docker, native, locked, unsafe"):
        get_sandbox("podman")


def test_nothing_runs_unsafe_but_by_name(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """UC-098: no cage is an error with its reasons, and the uncaged one says so at every start."""
    monkeypatch.setattr(docker, "unavailable", lambda: "no engine")
    monkeypatch.setattr(native, "unavailable", lambda: "no namespaces")
    monkeypatch.setattr(locked, "unavailable", lambda: "the kernel has no Landlock")
    with pytest.raises(
        SandboxError,
        match=r"docker: no engine; native: no namespaces; locked: the kernel has no Landlock.*"
        r"ask for the sandbox 'unsafe' by name",
    ):
        get_sandbox()
    with pytest.raises(SandboxError, match=r"'locked' is not available: the kernel has no Landlock"):
        get_sandbox("locked")
    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            get_sandbox("unsafe").close()
        assert "is no sandbox" in caplog.text


def test_the_description_says_what_is_held_what_not_and_why_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locked, "unavailable", lambda: "no Landlock")
    lines = dict(line.split(": ", 1) for line in describe().splitlines())
    assert lines["locked"] == "not available: no Landlock"
    assert "does not hold files, network, processes" in lines["unsafe"]
    assert "only by name" in lines["unsafe"]
    for kind in registry.KINDS:
        assert kind.guarantees() <= registry.HOLDS.keys()


def test_a_closed_unsafe_sandbox_takes_no_more_programs() -> None:
    sandbox = get_sandbox("unsafe")
    sandbox.close()
    with pytest.raises(SandboxError, match="is closed"):
        sandbox.run([Program("print(1)")])


@pytest.mark.parametrize(
    ("platform", "machine", "abi", "reason"),
    [
        ("darwin", "arm64", 0, "needs Linux and this is darwin"),
        ("linux", "aarch64", 6, "knows x86_64 only and this is aarch64"),
        ("linux", "x86_64", 0, "no Landlock: it takes Linux 5.13"),
    ],
)
def test_the_locked_cage_fails_closed_where_a_part_is_missing(
    monkeypatch: pytest.MonkeyPatch, platform: str, machine: str, abi: int, reason: str
) -> None:
    monkeypatch.setattr(locked.sys, "platform", platform)
    monkeypatch.setattr(locked.os, "uname", lambda: type("Uname", (), {"machine": machine}))
    monkeypatch.setattr(landlock, "abi", lambda: abi)
    with pytest.raises(SandboxError, match=reason):
        locked.LockedSandbox()
