"""The cages that are tested: those that work here, each started once."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_envs.sandbox.base import Sandbox
from llm_envs.sandbox.docker import IMAGE_VARIABLE, DockerSandbox
from llm_envs.sandbox.docker import unavailable as docker_unavailable
from llm_envs.sandbox.docker.engine import unreachable
from llm_envs.sandbox.locked import LockedSandbox
from llm_envs.sandbox.locked import unavailable as locked_unavailable
from llm_envs.sandbox.native import NativeSandbox
from llm_envs.sandbox.native import unavailable as native_unavailable
from llm_envs.sandbox.unsafe import UnsafeSandbox
from tests.llm_envs.sandbox.target import Target, target

# what each cage takes, as a test's `needs` names it, and in which tier it is tested
MARKS = {
    "docker": [pytest.mark.needs("docker"), pytest.mark.system],
    "native": [pytest.mark.needs("namespaces")],
    "locked": [pytest.mark.needs("landlock")],
}


def require_native() -> None:
    """Skip, with the reason, where the cage does not work."""
    if reason := native_unavailable():
        pytest.skip(reason)


def require_locked() -> None:
    """Skip, with the reason, where the cage does not work."""
    if reason := locked_unavailable():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def docker_image() -> str:
    """An image on an engine that answers: the one that the environment names, else one made of this Python."""
    if image := os.environ.get(IMAGE_VARIABLE):
        if reason := docker_unavailable():
            pytest.skip(reason)
        return image
    if reason := unreachable():
        pytest.skip(reason)
    from docker import from_env
    from docker.errors import DockerException

    from tests.llm_envs.sandbox.image import python_image

    try:
        image = os.environ[IMAGE_VARIABLE] = python_image(from_env())  # for those who ask for `docker` by name, too
    except DockerException as error:
        pytest.skip(f"no engine answers: {error}")
    return image


@pytest.fixture(scope="module")  # what it does in the background must not be counted by the next module
def docker(docker_image: str) -> Iterator[DockerSandbox]:
    """The `docker` cage with two slots, whatever the machine."""
    sandbox = DockerSandbox(image=docker_image, slots=2)
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="session")
def native() -> Iterator[NativeSandbox]:
    """The `native` cage with two slots, whatever the machine."""
    require_native()
    sandbox = NativeSandbox(slots=2)
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="session")
def locked() -> Iterator[LockedSandbox]:
    """The `locked` cage with two slots, whatever the machine."""
    require_locked()
    sandbox = LockedSandbox(slots=2)
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="session")
def unsafe() -> Iterator[UnsafeSandbox]:
    """No cage; for what every sandbox promises and no guarantee covers."""
    sandbox = UnsafeSandbox(slots=2)
    yield sandbox
    sandbox.close()


CAGED = [pytest.param(name, marks=marks) for name, marks in MARKS.items()]


@pytest.fixture(params=CAGED)
def caged(request: pytest.FixtureRequest) -> Sandbox:
    """Every cage in turn that holds what it runs."""
    found: Sandbox = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=[*CAGED, "unsafe"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Every cage in turn."""
    found: Sandbox = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="session")
def aim() -> Iterator[Target]:
    """What attacks go for, in a place that file modes protect from nobody."""
    with tempfile.TemporaryDirectory(prefix="llm-envs-target-") as folder:
        Path(folder).chmod(0o777)
        with target(Path(folder)) as found:
            yield found
