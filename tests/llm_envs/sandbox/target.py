"""What attacks go for. Standard library only, like the attacks."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
# a container may have files and folders of the same names: only these very ones are anybody's
FILES = ("/etc/passwd", "/etc/shadow", "/etc/hostname")
FOLDERS = ("/", "/root", "/home", "/etc", "/proc", "/tmp", str(CHECKOUT))


@dataclass(frozen=True)
class Target:
    """What there is to steal, to damage and to reach outside the cage."""

    folder: Path
    port: int
    abstract: str
    pid: int
    secret: str

    def places(self) -> dict[str, str]:
        """Text to put into the programs."""
        return {
            "file": str(self.folder / "secret.txt"),
            "socket": str(self.folder / "socket"),
            "datagram": str(self.folder / "datagram"),
            "folder": str(self.folder),
            "port": str(self.port),
            "abstract": self.abstract,
            "pid": str(self.pid),
            "secret_reversed": self.secret[::-1],  # a program that searches for it must not find itself
            "checkout": str(CHECKOUT),
            "digests": repr({path: sha256(Path(path).read_bytes()).hexdigest() for path in FILES if readable(path)}),
            "folders": repr({path: [Path(path).stat().st_dev, Path(path).stat().st_ino] for path in FOLDERS}),
        }


def readable(path: str) -> bool:
    return os.access(path, os.R_OK)


@contextmanager
def target(folder: Path) -> Iterator[Target]:
    """A folder with a secret that everybody may read, listening sockets, and a secret in the environment."""
    secret = "hf_" + os.urandom(12).hex()
    os.environ["HF_TOKEN"] = secret
    with ExitStack() as stack:
        stack.callback(os.environ.pop, "HF_TOKEN")
        (folder / "secret.txt").write_text(secret)
        folder.chmod(0o777)
        (folder / "secret.txt").chmod(0o666)
        abstract = f"llm-envs-{secret[-8:]}"
        tcp = stack.enter_context(socket.socket())
        tcp.bind(("127.0.0.1", 0))
        kinds = (
            (socket.SOCK_STREAM, str(folder / "socket")),
            (socket.SOCK_DGRAM, str(folder / "datagram")),
            (socket.SOCK_STREAM, f"\0{abstract}"),
        )
        for kind, address in kinds:
            unix = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            unix.bind(address)
            if kind == socket.SOCK_STREAM:
                unix.listen()
        for name in ("socket", "datagram"):
            (folder / name).chmod(0o777)
        tcp.listen()
        yield Target(folder, tcp.getsockname()[1], abstract, os.getpid(), secret)
