"""Programs that try to get out of a cage, by what they reach for."""

from llm_envs.sandbox.base import Status
from tests.llm_envs.sandbox.attack import Attack
from tests.llm_envs.sandbox.attacks_on_processes import PROCESSES

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
        limits={"cpu_s": 0.3, "wall_s": 5.0},
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
