"""An image for tests without a registry: the Python that runs them, its standard library and the shared libraries.

As a script it makes the image and prints its name, for a shell:

    export LLM_ENVS_SANDBOX_IMAGE=$(python tests/llm_envs/sandbox/image.py)
"""

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import docker

REPOSITORY = "llm-envs-test-python"
LIBRARY = Path(os.__file__).resolve().parent
LEFT_OUT = {"site-packages", "test", "idlelib", "tkinter", "lib2to3", "ensurepip", "turtledemo"}


def python_image(client: docker.DockerClient) -> str:
    """The name of the image, made where the engine does not have it yet."""
    tag = sys.version.split()[0]
    name = f"{REPOSITORY}:{tag}"
    if not client.images.list(name):
        client.api.import_image_from_data(archive(), repository=REPOSITORY, tag=tag)
    return name


def archive() -> bytes:
    """A root file system as a tar file."""
    python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for folder in ("tmp", "proc", "dev", "sys", "etc", "usr/bin"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        tar.add(python, f"usr/local/bin/{version}", filter=_for_everybody)
        link = tarfile.TarInfo("usr/local/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, version
        tar.addfile(link)
        tar.add(LIBRARY, f"usr/local/lib/{version}", filter=_without_the_rest)
        for library in sorted(_shared_libraries(python)):
            # where the loader looks by itself: the path that is built into the interpreter may not be there
            folder = "lib64" if library.name.startswith("ld-linux") else f"lib/{os.uname().machine}-linux-gnu"
            tar.add(library.resolve(), f"{folder}/{library.name}", filter=_for_everybody)
    return buffer.getvalue()


def _shared_libraries(python: Path) -> Iterator[Path]:
    modules = [str(path) for path in (LIBRARY / "lib-dynload").glob("*.so") if "tkinter" not in path.name]
    listed = subprocess.run(["ldd", str(python), *modules], capture_output=True, text=True, check=True).stdout
    return iter({Path(word) for word in listed.split() if word.startswith("/") and not word.endswith(":")})


def _for_everybody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode |= 0o444 | (0o111 if entry.isdir() or entry.mode & 0o100 else 0)
    return entry


def _without_the_rest(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if LEFT_OUT & set(entry.name.split("/")) or entry.name.endswith(".a") else _for_everybody(entry)


if __name__ == "__main__":
    sys.stdout.write(f"{python_image(docker.from_env())}\n")
