"""Programs that reach for other processes, the kernel and what is left of them."""

from llm_envs.sandbox.base import Status
from tests.llm_envs.sandbox.attack import Attack

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
