"""Bounded attacks on a cage. Standard library only: they also run where nothing else is installed.

Each program tries one thing that a guarantee rules out, and prints a line that starts with BREACH where it succeeds.
An attack that never came to its end, or did not even start, proves nothing: it prints `tried` when it is through, or
must be stopped with the status given.
"""

from dataclasses import dataclass, field

from llm_envs.sandbox.base import Outcome, Program, Status
from tests.llm_envs.sandbox.target import Target


@dataclass(frozen=True)
class Attack:
    """One hostile program.

    Attributes:
        name: what it tries.
        guarantee: which guarantee rules it out; empty where every sandbox does, whatever else it holds.
        code: the program, with `{places}` of `Target` in braces of the form `<name>`.
        stopped: the statuses that also mean that it failed.
        limits: fields of the program that differ from `LIMITS`.
    """

    name: str
    guarantee: str
    code: str
    stopped: frozenset[Status] = frozenset()
    limits: dict[str, object] = field(default_factory=dict)

    def program(self, target: Target) -> Program:
        """The program, aimed."""
        code = self.code
        for name, value in target.places().items():
            code = code.replace(f"<{name}>", value)
        return Program(f"{PRELUDE}{code}\nprint('tried')\n", **{**LIMITS, **self.limits})  # type: ignore[arg-type]

    def held(self, outcome: Outcome) -> bool:
        """Whether the cage kept its guarantee."""
        if "BREACH" in outcome.stdout or "BREACH" in outcome.stderr:
            return False
        if outcome.status in self.stopped:
            return True
        return outcome.status is Status.OK and "tried" in outcome.stdout


LIMITS: dict[str, object] = {"cpu_s": 5.0, "wall_s": 30.0, "memory_mb": 256, "processes": 8}
PRELUDE = """
import ctypes, os, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def attempt(what, do):
    try:
        result = do()
    except (OSError, ValueError, MemoryError, ImportError) as error:
        print("refused", what, error)
    else:
        print("BREACH", what, repr(result)[:200])
def call(what, number, *arguments):
    #A raw system call: any answer but 'not you' and 'no such call' means that it was let through
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    refused = libc.syscall(ctypes.c_long(number), *arguments) < 0 and ctypes.get_errno() in (1, 13, 38)
    print("refused" if refused else f"BREACH errno {ctypes.get_errno()}", what)
"""


FILES = (
    Attack("read a file of everybody's", "files", 'attempt("read", lambda: open("<file>").read())'),
    Attack("overwrite a file of everybody's", "files", 'attempt("write", lambda: open("<file>", "w"))'),
    Attack("create a file beside it", "files", 'attempt("create", lambda: open("<folder>/new", "w"))'),
    Attack(
        "write into /etc and /tmp",
        "files",
        'for p in "/etc", "/tmp", "/var/tmp", "/dev/shm": attempt(p, lambda: open(p + "/llm-envs-attack", "w"))',
    ),
    Attack(
        "read the system's secrets",
        "files",
        """
import hashlib
for path, digest in <digests>.items():
    try:
        text = open(path, "rb").read()
    except OSError as error:
        print("refused", path, error)
    else:
        print("BREACH" if hashlib.sha256(text).hexdigest() == digest else "another", path)
""",
    ),
    Attack(
        "list folders",
        "files",
        """
for path, folder in <folders>.items():
    try:
        names = os.listdir(path)
    except OSError as error:
        print("refused", path, error)
    else:
        found = os.stat(path)
        print("BREACH" if [found.st_dev, found.st_ino] == folder else "another", path, names)
""",
    ),
    Attack("read the checkout", "files", 'attempt("pyproject", lambda: open("<checkout>/pyproject.toml").read())'),
    Attack(
        "read environments and command lines",
        "files",
        """
for pid in {*range(1, 400), os.getppid(), <pid>} - {os.getpid()}:
    for name in "environ", "mem", "maps", *["cmdline"] * (pid != os.getppid()):  # the runner's says nothing
        attempt(f"{pid}/{name}", lambda: open(f"/proc/{pid}/{name}", "rb").read(100))
""",
    ),
    Attack(
        "find a secret in its own environment",
        "files",
        """
if "<secret_reversed>"[::-1] in str(os.environ) or any("TOKEN" in name for name in os.environ):
    print("BREACH", os.environ)
""",
    ),
    Attack(
        "link to a secret",
        "files",
        """
os.symlink("<file>", "there")
attempt("symlink", lambda: open("there").read())
attempt("hard link", lambda: os.link("<file>", "here"))
attempt("rename", lambda: os.rename("<file>", "mine"))
attempt("unlink", lambda: os.unlink("<file>"))
""",
    ),
    Attack(
        "change a file without opening it",
        "files",
        """
attempt("chmod", lambda: os.chmod("<file>", 0o600))
attempt("utime", lambda: os.utime("<file>"))
attempt("chown", lambda: os.chown("<file>", os.getuid(), os.getgid()))
attempt("truncate", lambda: os.truncate("<file>", 0))
attempt("xattr", lambda: os.setxattr("<file>", "user.x", b"1"))
attempt("library", lambda: os.fchmod(os.open(os.__file__, os.O_RDONLY), 0o777))
""",
    ),
    Attack(
        "start another program",
        "files",
        """
for path in "/bin/sh", "/bin/true", "/usr/bin/python3", sys.executable:
    attempt(path, lambda: os.execv(path, [path]))
call("execveat", 322, -100, ctypes.c_char_p(b"/bin/true"), 0, 0, 0)
""",
    ),
    Attack(
        "find what it was given beside its input",
        "files",
        """
for name in os.listdir("."):
    print("BREACH left over", name)
for number in range(3, 64):
    attempt(f"descriptor {number}", lambda: (os.read(number, 10), os.write(number, b"x")))
""",
    ),
    Attack(
        "fill its folder",
        "files",
        """
for index in range(40):
    with open(f"big{index}", "wb") as file:
        for _ in range(60):
            file.write(bytes(1 << 20))
print("BREACH", "wrote 2.4 GB")
""",
        frozenset({Status.OUTPUT, Status.ERROR}),
    ),
    Attack(
        "fill its folder with names",
        "files",
        """
for index in range(300_000):
    open(f"{index}", "w").close()
print("BREACH", "made 300,000 files")
""",
        frozenset({Status.OUTPUT, Status.TIMEOUT}),
    ),
    Attack(
        "make a file larger than the limit",
        "files",
        """
attempt("write far out", lambda: os.pwrite(os.open("big", os.O_CREAT | os.O_WRONLY), b"x", 1 << 30))
""",
    ),
)

NETWORK = (
    Attack(
        "connect to this machine",
        "network",
        'attempt("tcp", lambda: socket.create_connection(("127.0.0.1", <port>), 1))',
    ),
    Attack("send a datagram", "network", 'attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))'),
    Attack(
        "open other kinds of sockets",
        "network",
        """
for family in socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, 40, 38:
    attempt(f"family {family}", lambda: socket.socket(family, socket.SOCK_RAW))
""",
    ),
    Attack(
        "connect to a socket with a path",
        "network",
        """
def connect(address):
    s = socket.socket(socket.AF_UNIX); s.connect(address)
for address in "<socket>", "\\0<abstract>", "/var/run/docker.sock", "/run/dbus/system_bus_socket":
    attempt(address, lambda: connect(address))
""",
    ),
    Attack(
        "point a connected pair elsewhere",
        "network",
        """
attempt("datagram pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
a, b = socket.socketpair()
attempt("connect", lambda: a.connect("<socket>"))
attempt("sendto", lambda: a.sendto(b"x", "<datagram>"))
attempt("sendmsg", lambda: a.sendmsg([b"x"], [], 0, "<datagram>"))
attempt("bind", lambda: a.bind("mine"))
""",
    ),
)

PROCESSES = (
    Attack(
        "signal its parent and everybody",
        "processes",
        """
import signal
attempt("kill its parent", lambda: os.kill(os.getppid(), signal.SIGKILL))
for pid in <pid>, 1:
    attempt(f"signal {pid}", lambda: os.kill(pid, 0))
call("rt_sigqueueinfo", 129, os.getppid(), 9, ctypes.create_string_buffer(128))
call("tkill", 200, os.getppid(), 9)
call("tgkill", 234, os.getppid(), os.getppid(), 9)
""",
    ),
    Attack(
        "have the kernel signal its parent",
        "processes",
        """
import fcntl
r, w = os.pipe()
attempt("F_SETOWN", lambda: fcntl.fcntl(r, fcntl.F_SETOWN, os.getppid()))
attempt("F_SETSIG", lambda: fcntl.fcntl(r, fcntl.F_SETSIG, 9))
""",
    ),
    Attack(
        "trace its parent",
        "processes",
        """
parent = os.getppid()
for request in 16, 0x4206:
    call("ptrace", 101, request, parent, 0, 0)
call("process_vm_readv", 310, parent, 0, 0, 0, 0, 0)
call("pidfd_getfd", 438, 3, 0, 0)
call("kcmp", 312, parent, os.getpid(), 0, 0, 0)
""",
    ),
    Attack(
        "change its parent's limits and priority",
        "processes",
        """
import resource
attempt("prlimit", lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1)))
attempt("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19))
attempt("affinity", lambda: os.sched_setaffinity(os.getppid(), {0}))
attempt("raise its own", lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40)))
""",
    ),
    Attack(
        "fork 300 times",
        "processes",
        """
children = 0
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(20); os._exit(0)
    except OSError:
        break
    children += 1
else:
    time.sleep(2)  # where they are counted by samples, the next one must not be missed
print("BREACH" if children > 60 else "within limits", children)
""",
        frozenset({Status.ERROR}),
    ),
    Attack(
        "start 300 threads",
        "processes",
        """
import threading
threading.stack_size(1 << 16)
for _ in range(300):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
time.sleep(2)
print("BREACH", "300 threads")
""",
        frozenset({Status.ERROR}),
    ),
    Attack(
        "signal all processes there are",
        "processes",
        """
import signal
for number in signal.SIGSTOP, signal.SIGTERM, signal.SIGINT:
    if os.fork() == 0:
        os.setsid()
        try:
            os.kill(-1, number)
        finally:
            os._exit(0)
time.sleep(0.2)
""",
        frozenset({Status.ERROR, Status.TIMEOUT}),  # it may reach its own parent
        limits={"wall_s": 3.0},
    ),
    Attack(
        "leave 200 zombies",
        "processes",
        """
zombies = 0
for _ in range(200):
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError:
        break
    zombies += 1
else:
    time.sleep(2)
print("BREACH" if zombies > 60 else "within limits", zombies)
""",
        frozenset({Status.ERROR}),
    ),
    Attack(
        "leave daemons that outlive it",
        "processes",
        """
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(3): os.close(number)
            time.sleep(1000)
        os._exit(0)
""",
    ),
    Attack("set the clock", "processes", 'attempt("clock", lambda: time.clock_settime(0, time.time()))'),
    Attack(
        "enter new namespaces",
        "processes",
        """
for flag in 0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000, 0x80:
    call(f"unshare {flag:x}", 272, flag)
    if flag != 0x80:
        call(f"clone {flag:x}", 56, flag | 17, 0, 0, 0, 0)
call("setns", 308, 0, 0)
call("chroot", 161, ctypes.c_char_p(b"."))
call("mount", 165, 0, ctypes.c_char_p(b"."), ctypes.c_char_p(b"tmpfs"), 0, 0)
""",
    ),
    Attack(
        "leave memory to the next program",
        "processes",
        """
call("shmget", 29, 4242, 4096, 0o1666)
call("msgget", 68, 4242, 0o1666)
call("semget", 64, 4242, 1, 0o1666)
call("mq_open", 240, ctypes.c_char_p(b"left"), 66, 0o600, 0)
call("add_key", 248, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"k"), ctypes.c_char_p(b"v"), 1, -4)
call("memfd_create", 319, ctypes.c_char_p(b"m"), 0)
""",
    ),
    Attack(
        "reach more of the kernel",
        "processes",
        """
for name, number in dict(io_uring_setup=425, bpf=321, perf_event_open=298, userfaultfd=323, keyctl=250, init_module=175,
                         clock_settime=227, settimeofday=164, reboot=169, sethostname=170, acct=163, swapon=167,
                         open_by_handle_at=304, fanotify_init=300, clone3=435, landlock_create_ruleset=444).items():
    call(name, number, 0, 0, 0, 0, 0)
""",
    ),
    Attack(
        "call the kernel by its other doors",
        "processes",
        """
import mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid of i386); int 0x80; ret
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
print("BREACH" if ctypes.CFUNCTYPE(ctypes.c_long)(address)() > 0 else "refused", "int 0x80")
""",
        frozenset({Status.ERROR}),
    ),
    Attack(
        "call the kernel by x32 numbers", "processes", 'call("x32 getpid", 0x40000000 + 39)', frozenset({Status.ERROR})
    ),
)

MEMORY = (
    Attack(
        "take 1.5 GiB",
        "memory",
        """
blocks = []
for _ in range(15):
    blocks.append(bytearray(100 << 20))
print("BREACH", len(blocks))
""",
        frozenset({Status.MEMORY}),
    ),
    Attack("map 1.5 GiB", "memory", 'import mmap\nattempt("mmap", lambda: mmap.mmap(-1, 1536 << 20))'),
    Attack(
        "take 900 MiB in six processes",
        "memory_tree",
        """
for _ in range(6):
    if os.fork() == 0:
        block = bytearray(b"x") * (150 << 20)
        time.sleep(2)
        os._exit(0)
time.sleep(2)
print("BREACH", "six times 150 MiB")
""",
        frozenset({Status.MEMORY}),
    ),
)

UNIVERSAL = (
    Attack(
        "flood standard output",
        "",
        "while True: os.write(1, bytes(1 << 16))",
        frozenset({Status.OUTPUT}),
    ),
    Attack(
        "flood standard error",
        "",
        "while True: os.write(2, bytes(1 << 16))",
        frozenset({Status.OUTPUT}),
    ),
    Attack(
        "run for ever",
        "",
        "import signal\nfor s in {*range(1, 32)} - {9, 19}: signal.signal(s, 1)\nwhile True: pass",
        frozenset({Status.TIMEOUT}),
        limits={"cpu_s": 0.3},
    ),
    Attack("sleep for ever", "", "time.sleep(1e9)", frozenset({Status.TIMEOUT}), limits={"wall_s": 0.3}),
    Attack(
        "recurse without end",
        "",
        "sys.setrecursionlimit(10**9)\ndef f(n): return 1 + f(n + 1)\nf(0)",
        frozenset({Status.ERROR, Status.MEMORY}),
        limits={"memory_mb": 32},
    ),
    Attack("read none of its input", "", "os.close(0)", limits={"stdin": "x" * 3_000_000}),
    Attack(
        "hold its output open beyond its end",
        "",
        "if os.fork() == 0: time.sleep(1000)\nprint('tried', flush=True)\nos._exit(0)",
    ),
)

ATTACKS = (*FILES, *NETWORK, *PROCESSES, *MEMORY, *UNIVERSAL)
