"""What a container is made with: the walls around a runner and the programs that it forks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from llm_envs.sandbox.base import Program
from llm_envs.sandbox.docker.seccomp import profile
from llm_envs.sandbox.runner import wire
from llm_envs.sandbox.runner.watch import FOLDER_BYTES, FOLDER_ENTRIES

FOLDER = "/program"  # where programs may write: a mount, so that they cannot move or remove it
_NOBODY = 65534
_READABLE = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/etc/localtime"),
    *("/dev/zero", "/dev/random", "/dev/urandom"),
)
_WRITABLE = ("/dev/null", "/dev/full")
_RUNNER_MB = 64  # the runner, page tables and the kernel's buffers
_SPARE_PROCESSES = 8  # the runner, and room to see that a program goes over its number
_SANDBOXED_KERNEL_PROCESSES = 512  # threads that a runtime with a kernel of its own counts with the container's
_BOOT = f"""
import marshal, os, sys
sys.dont_write_bytecode = True
if sys.version_info < (3, 11):
    sys.exit("the image's python3 is " + sys.version.split()[0] + ": it takes 3.11 or newer")
def take(size):
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            sys.exit()
        data += more
    return data
modules = marshal.loads(take(int.from_bytes(take(4), "little")))
os.mkdir("{FOLDER}/runner")
for name, source in modules.items():
    with open("{FOLDER}/runner/" + name, "w", encoding="utf-8") as file:
        file.write(source)
sys.path[:] = [path for path in sys.path if path]
sys.path.append("{FOLDER}")
from runner.serve import main
sys.path.pop()
for name in modules:
    os.unlink("{FOLDER}/runner/" + name)
os.rmdir("{FOLDER}/runner")
main()
"""


@dataclass(frozen=True, slots=True)
class Size:
    """What one container has room for. The engine's limits are for the container, and a program has it to itself.

    Attributes:
        memory_mb: of a program and all its processes.
        processes: and threads, of a program.
        traffic_mb: code, input, files and output of a program, which pass through the runner.
    """

    memory_mb: int = Program("").memory_mb
    processes: int = Program("").processes
    traffic_mb: int = 4

    def grown(self, programs: Iterable[Program]) -> "Size":
        """The smallest that has room for these programs, too."""
        memory_mb, processes, traffic_mb = self.memory_mb, self.processes, self.traffic_mb
        for program in programs:
            memory_mb = max(memory_mb, program.memory_mb)
            processes = max(processes, program.processes)
            characters = len(program.code) + len(program.stdin) + sum(len(text) for _, text in program.files)
            traffic_mb = max(traffic_mb, 1 + (4 * characters + 2 * program.output_bytes >> 20))
        return Size(memory_mb, processes, traffic_mb)


@dataclass(frozen=True, slots=True)
class Settings:
    """What all containers of a sandbox have in common.

    Attributes:
        image: with a `python3` of 3.11 or newer on its PATH.
        runtime: the engine's runtime by name; None for its default.
        filtered: whether the runner has a system-call filter for programs; else the engine has a wider one.
        newest_abi: the newest version of Landlock to use; 0 is a kernel without it.
    """

    image: str
    runtime: str | None = None
    filtered: bool = True
    newest_abi: int = 6

    def host(self, size: Size) -> Mapping[str, object]:
        """The host configuration: what is out of reach, and how much there is of what is not."""
        memory = size.memory_mb + size.traffic_mb + _RUNNER_MB + (FOLDER_BYTES >> 20)
        spare = _SPARE_PROCESSES if self.runtime is None else _SANDBOXED_KERNEL_PROCESSES
        hardening = ["no-new-privileges:true"]
        if not self.filtered:
            hardening.append(f"seccomp={profile()}")
        folder = f"size={FOLDER_BYTES + (1 << 20)},nr_inodes={FOLDER_ENTRIES + 64}"
        return {
            "auto_remove": True,  # its input ends with its owner, and it ends with its input
            "cap_drop": ["ALL"],
            "init": False,  # the runner is to be process 1
            "ipc_mode": "none",  # private, and without /dev/shm
            "log_config": {"Type": "none"},  # or every byte that is written were kept on disk, too
            "mem_limit": f"{memory}m",
            "memswap_limit": f"{memory}m",  # the same: no swap
            "nano_cpus": 10**9,
            "network_mode": "none",
            "pids_limit": size.processes + spare,
            "read_only": True,
            "runtime": self.runtime,
            "security_opt": hardening,
            "tmpfs": {
                FOLDER: f"{folder},mode=1777",  # root's: who owned it could close it to the runner
                "/dev/mqueue": "ro,size=4k,mode=755",  # in place of one that everybody may write into
            },
        }

    def process(self) -> Mapping[str, object]:
        """What is started inside, as whom, and with what environment."""
        return {
            "entrypoint": ["python3", "-s", "-S", "-c", _BOOT],
            "command": [],
            "environment": {
                "HOME": FOLDER,
                "TMPDIR": FOLDER,
                "LANG": "C.UTF-8",
                "PYTHONHASHSEED": "0",  # the same in every container, as in every cage
                "LD_BIND_NOW": "1",
            },
            "healthcheck": {"test": ["NONE"]},
            "hostname": "sandbox",
            "network_disabled": True,
            "user": f"{_NOBODY}:{_NOBODY}",
            "working_dir": "/",
        }

    def runner(self, preload: Iterable[str]) -> dict[str, wire.Value]:
        """The runner's configuration."""
        confinement: dict[str, wire.Value] = {
            "readable": _READABLE,
            "writable": _WRITABLE,
            "uid": None,
            "newest_abi": self.newest_abi,
            "contained": True,
            "filtered": self.filtered,
        }
        return {"folder": FOLDER, "confinement": confinement, "preload": tuple(sorted(preload))}
