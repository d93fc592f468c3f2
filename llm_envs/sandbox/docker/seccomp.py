"""The system-call filter for engines on machines for which the runner has none of its own (see `runner.seccomp`).

The engine puts it on the whole container, and takes names, so it is the same on every processor. It refuses what the
engine's default refuses to a container without capabilities, and beyond that what a program could do to the runner,
which has the same uid, or leave behind for the next program.
"""

import errno
import json

_REFUSE = "SCMP_ACT_ERRNO"
_TO_THE_RUNNER = """
ioprio_set kcmp migrate_pages move_pages pidfd_getfd process_madvise process_mrelease process_vm_readv
process_vm_writev ptrace sched_setaffinity sched_setattr sched_setparam sched_setscheduler setpriority
"""
_LEFT_BEHIND = """
add_key ipc keyctl mq_open mq_unlink msgctl msgget msgrcv msgsnd request_key semctl semget semop semtimedop
semtimedop_time64 shmat shmctl shmdt shmget
"""
_DEEP_IN_THE_KERNEL = """
acct adjtimex bpf chroot clock_adjtime clock_adjtime64 clock_settime clock_settime64 create_module delete_module
fanotify_init finit_module fsconfig fsmount fsopen fspick get_mempolicy init_module io_uring_enter io_uring_register
io_uring_setup ioperm iopl kexec_file_load kexec_load lookup_dcookie mbind modify_ldt mount mount_setattr move_mount
name_to_handle_at nfsservctl open_by_handle_at open_tree perf_event_open personality pivot_root quotactl quotactl_fd
reboot set_mempolicy setdomainname sethostname setns settimeofday stime swapoff swapon syslog umount umount2 unshare
userfaultfd vhangup vm86 vm86old
"""
_NEW_NAMESPACES = (1 << 7, 1 << 17, *(1 << bit for bit in range(25, 31)))  # CLONE_NEW*, linux/sched.h


def profile() -> str:
    """The filter, as the engine's `seccomp=` option takes it (the format of runc's and Docker's profiles)."""
    names = f"{_TO_THE_RUNNER} {_LEFT_BEHIND} {_DEEP_IN_THE_KERNEL}".split()
    refused: list[dict[str, object]] = [
        {"names": names, "action": _REFUSE},
        # the limits of any process but the caller
        {"names": ["prlimit64"], "action": _REFUSE, "args": [{"index": 0, "value": 0, "op": "SCMP_CMP_NE"}]},
        # flags in memory cannot be looked at: libraries fall back on `clone` where this is missing
        {"names": ["clone3"], "action": _REFUSE, "errnoRet": errno.ENOSYS},
    ]
    refused += [
        {
            "names": ["clone"],
            "action": _REFUSE,
            "args": [{"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"}],
        }
        for flag in _NEW_NAMESPACES
    ]
    return json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": refused})
