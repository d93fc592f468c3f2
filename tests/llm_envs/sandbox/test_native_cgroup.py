"""Where a memory cgroup is made, on systems of either version, and what it counts on this one."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_envs.sandbox.runner import cgroup

MOUNT = "{id} 1 0:{id} {root} {point} rw,nosuid,nodev,noexec,relatime shared:9 - {kind} {kind} rw{options}\n"
OTHERS = "22 27 0:21 / /proc rw,relatime - proc proc rw\n27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"


def mount(kind: str, point: str, root: str = "/", options: str = "") -> str:
    return MOUNT.format(id=40, root=root, point=point, kind=kind, options=options)


V1 = mount("cgroup", "/sys/fs/cgroup/memory", options=",memory")
V2 = mount("cgroup2", "/sys/fs/cgroup")
SYSTEMS = {
    "version 1, below one's own": (
        "9:name=systemd:/\n4:memory:/user.slice/job\n0::/\n",
        V1 + mount("cgroup", "/sys/fs/cgroup/pids", options=",pids") + mount("cgroup2", "/sys/fs/cgroup/unified"),
        [("/sys/fs/cgroup/memory/user.slice/job", 1), ("/sys/fs/cgroup/unified", 2)],
    ),
    "version 1, joined with another controller": (
        "4:cpu,memory:/\n",
        mount("cgroup", "/cg", options=",cpu,memory"),
        [("/cg", 1)],
    ),
    "version 1 in a container": (
        "4:memory:/docker/abc\n",
        mount("cgroup", "/sys/fs/cgroup/memory", root="/docker/abc", options=",memory"),
        [("/sys/fs/cgroup/memory", 1)],
    ),
    "version 2, outwards": (
        "0::/user.slice/user-1000.slice/session-1.scope\n",
        V2,
        [
            (f"/sys/fs/cgroup{below}", 2)
            for below in (
                "/user.slice/user-1000.slice/session-1.scope",
                "/user.slice/user-1000.slice",
                "/user.slice",
                "",
            )
        ],
    ),
    "version 2 at its root": ("0::/\n", V2, [("/sys/fs/cgroup", 2)]),
    "outside what is mounted": ("0::/../other\n4:memory:/elsewhere\n", V2 + V1.replace(" / ", " /docker ", 1), []),
    "nothing mounted": ("4:memory:/a\n0::/a\n", "", []),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_places_are_found_from_what_the_kernel_tells(system: str) -> None:
    own, mounts, expected = SYSTEMS[system]
    assert [(place.folder, place.version) for place in cgroup.candidates(own, OTHERS + mounts)] == expected


def test_in_version_2_a_place_must_pass_the_controller_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One's own holds processes, so it cannot; the one above it does, where memory is enabled for its children."""
    own = tmp_path / "slice" / "scope"
    own.mkdir(parents=True)
    for folder, enabled in ((own, ""), (own.parent, "memory pids\n"), (tmp_path, "cpu memory pids\n")):
        (folder / "cgroup.subtree_control").write_text(enabled)
        (folder / "cgroup.procs").touch()
    places = [cgroup.Place(str(folder), 2) for folder in (own, own.parent, tmp_path)]
    monkeypatch.setattr(cgroup, "candidates", lambda own, mounts: places)
    assert cgroup.find() is places[1]
    (own.parent / "cgroup.subtree_control").write_text("pids\n")
    assert cgroup.find() is places[2]
    (tmp_path / "cgroup.subtree_control").write_text("pids\n")
    assert cgroup.find() is None


@pytest.fixture
def group() -> Iterator[cgroup.Group]:
    if (place := cgroup.find()) is None:
        pytest.skip("no memory cgroup can be made here")
    made = cgroup.Group(place, f"test{os.getpid()}")
    yield made
    made.remove()


def _in(group: cgroup.Group, mib: int) -> int:
    """The exit code of a process in the group that fills so much memory."""
    pid = os.fork()
    if pid == 0:
        group.enter()
        os._exit(len(bytearray(b"x") * (mib << 20)) >> 20)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.needs("namespaces")
def test_only_what_is_over_the_limit_dies_and_it_is_counted(group: cgroup.Group) -> None:
    group.limit(64 << 20)
    assert _in(group, 20) == 20
    assert group.kills() == 0
    assert _in(group, 200) == -signal.SIGKILL
    kills = group.kills()
    assert kills >= 1  # version 2 counts the group beside its processes
    group.limit(256 << 20)
    assert _in(group, 200) == 200
    assert group.kills() == kills


@pytest.mark.needs("namespaces")
def test_a_group_in_use_is_not_swept_and_one_that_nobody_holds_is(group: cgroup.Group) -> None:
    """The lock ends with the last process that has it, however it ends."""
    place = cgroup.find()
    assert place is not None
    name = f"left{os.getpid()}"
    path = Path(place.folder, cgroup.PREFIX + name)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        held = cgroup.Group(place, name)
        os.write(writing, b"x")
        signal.pause()
        held.remove()  # never: it is killed
    assert os.read(reading, 1) == b"x"
    cgroup._sweep(place.folder)
    assert path.exists()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reading)
    os.close(writing)
    cgroup._sweep(place.folder)
    assert not path.exists()
    assert Path(group.folder).exists()
