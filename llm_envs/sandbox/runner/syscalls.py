"""The system calls of x86_64 that a Python program needs; numbers from arch/x86/entry/syscalls/syscall_64.tbl.

Whatever is not named here is refused. Left out on purpose, beside all that changes the system: `socket` and what
belongs to it (a unix socket with a path, such as a container engine's, is beyond Landlock), `execve`, `ptrace` and
reading other processes, `chmod`/`chown`/`utime`/`xattr`/`truncate` by path (beyond Landlock, and a caged program may
have the user's own uid), shared memory and queues that outlive a program, other processes' limits and priorities,
`umask` and folders without all rights for their owner (the runner could not empty them).
"""

_TABLE = """
# streams and files
read 0  write 1  open 2  close 3  stat 4  fstat 5  lstat 6  poll 7  lseek 8  pread64 17  pwrite64 18  readv 19
writev 20  access 21  pipe 22  select 23  dup 32  dup2 33  sendfile 40  flock 73  fsync 74  fdatasync 75
ftruncate 77  getdents 78  getcwd 79  chdir 80  fchdir 81  rename 82  rmdir 84  creat 85  link 86
unlink 87  symlink 88  readlink 89  statfs 137  fstatfs 138  getdents64 217  fadvise64 221  openat 257
newfstatat 262  unlinkat 263  renameat 264  linkat 265  symlinkat 266  readlinkat 267  faccessat 269
pselect6 270  ppoll 271  splice 275  tee 276  sync_file_range 277  fallocate 285  dup3 292  pipe2 293  preadv 295
pwritev 296  renameat2 316  copy_file_range 326  preadv2 327  pwritev2 328  statx 332  close_range 436
faccessat2 439
# events
epoll_create 213  epoll_wait 232  epoll_ctl 233  epoll_pwait 281  signalfd 282  eventfd 284  signalfd4 289
eventfd2 290  epoll_create1 291  epoll_pwait2 441
# memory
mmap 9  mprotect 10  munmap 11  brk 12  mremap 25  msync 26  madvise 28
# time
nanosleep 35  getitimer 36  alarm 37  setitimer 38  gettimeofday 96  times 100  time 201  timer_create 222
timer_settime 223  timer_gettime 224  timer_getoverrun 225  timer_delete 226  clock_gettime 228  clock_getres 229
clock_nanosleep 230  timerfd_create 283  timerfd_settime 286  timerfd_gettime 287
# the process and its threads
sched_yield 24  pause 34  getpid 39  fork 57  vfork 58  exit 60  wait4 61  uname 63  getrlimit 97  getrusage 98
sysinfo 99  getuid 102  getgid 104  geteuid 107  getegid 108  setpgid 109  getppid 110  getpgrp 111  setsid 112
getgroups 115  getresuid 118  getresgid 120  getpgid 121  getsid 124  capget 125  getpriority 140
sched_getparam 143  sched_getscheduler 145  sched_get_priority_max 146  sched_get_priority_min 147  arch_prctl 158
setrlimit 160  gettid 186  futex 202  sched_getaffinity 204  set_tid_address 218  restart_syscall 219
exit_group 231  waitid 247  set_robust_list 273  getcpu 309  getrandom 318  membarrier 324  rseq 334
pidfd_open 434
# signals to oneself
rt_sigaction 13  rt_sigprocmask 14  rt_sigreturn 15  rt_sigpending 127  rt_sigtimedwait 128  rt_sigsuspend 130
sigaltstack 131
# a connected pair of sockets, as event loops use it
recvfrom 45  sendmsg 46  recvmsg 47  shutdown 48  getsockname 51  getpeername 52  setsockopt 54  getsockopt 55
"""

FREE = {
    name: int(number)
    for line in _TABLE.splitlines()
    if not line.startswith("#")
    for name, number in zip(*[iter(line.split())] * 2, strict=True)
}

# what the runner needs as well, to put a fork into its cage; a program gains nothing by them
FREE["landlock_restrict_self"] = 446
FREE_UNDER_UNUSED_UID = {"fchmod": 91, "setresuid": 117, "setresgid": 119}

IOCTL, SENDTO, SOCKETPAIR, CLONE, KILL, FCNTL, MKDIR, PRCTL, TKILL = 16, 44, 53, 56, 62, 72, 83, 157, 200
TGKILL, MKDIRAT, PRLIMIT = 234, 258, 302

LAST_OF_THE_OLD = 334  # libraries fall back on older calls where a newer number answers ENOSYS, so those do
