"""What a recorder may take of a program's stack, and which calls it may make: judged from what a plain and a recorded run of a program of
this folder left, or from the agents themselves."""

import re
import struct
import subprocess

STACK_BYTES_MAX = 2048  # that a recorder may take of any stack, beyond what the function takes without it


def depths(run):
    return {line.split(" ", 1)[1]: int(line.split(" ", 1)[0]) for line in run.files.get("depths", b"").decode().splitlines()}


def too_deep(plain, recorded, bytes_max_of=None):
    before, after = depths(plain), depths(recorded)
    if not before:
        return ["the plain run left no depths"]
    if set(before) != set(after):
        return [f"not measured: {sorted(set(before) ^ set(after))}"]
    wrong = []
    for name in before:
        more, bytes_max = after[name] - before[name], (bytes_max_of or {}).get(name, STACK_BYTES_MAX)
        if more > bytes_max:
            wrong.append(f"{name} takes {more} bytes more of the stack, {bytes_max} at most")
    return wrong


def too_deep_with_accesses(plain, recorded):
    """What a thread has logged is written, and its log unmapped, at its end."""
    return too_deep(plain, recorded, {"a thread from begin to end": 3072})


def plain_fits(plain, _):
    return [] if plain.status == 47 else [f"not measured: the plain run ended with {plain.status}, behind {plain.out!r}"]


def end_depth(run):
    """Of the painted stack that a program left in a file: from its frame down to the lowest changed byte."""
    stack = run.files["stack"]
    frame = int.from_bytes(stack[:8], "little")
    lowest = next(at for at in range(8, len(stack)) if stack[at] != 0xA5)
    return frame - lowest


def end_too_deep(plain, recorded):
    if "stack" not in recorded.files:
        return ["not measured"]
    more = end_depth(recorded) - end_depth(plain)
    return [f"takes {more} bytes more of the stack, {STACK_BYTES_MAX} at most"] if more > STACK_BYTES_MAX else []


# --- Which functions are called ---------------------------------------------------------------------------------------

# POSIX.1-2017, 2.4.3: the functions that a signal's handler may call.
ASYNC_SIGNAL_SAFE = set("""
    _Exit _exit abort accept access aio_error aio_return aio_suspend alarm bind cfgetispeed cfgetospeed cfsetispeed cfsetospeed
    chdir chmod chown clock_gettime close connect creat dup dup2 execl execle execv execve faccessat fchdir fchmod fchmodat fchown
    fchownat fcntl fdatasync fexecve ffs fork fstat fstatat fsync ftruncate futimens getegid geteuid getgid getgroups getpeername
    getpgrp getpid getppid getsockname getsockopt getuid htonl htons kill link linkat listen longjmp lseek lstat memccpy memchr
    memcmp memcpy memmove memset mkdir mkdirat mkfifo mkfifoat mknod mknodat ntohl ntohs open openat pause pipe poll
    posix_trace_event pselect pthread_kill pthread_self pthread_sigmask raise read readlink readlinkat recv recvfrom recvmsg rename
    renameat rmdir select sem_post send sendmsg sendto setgid setpgid setsid setsockopt setuid shutdown sigaction sigaddset
    sigdelset sigemptyset sigfillset sigismember siglongjmp signal sigpause sigpending sigprocmask sigqueue sigset sigsuspend sleep
    sockatmark socket socketpair stat stpcpy stpncpy strcat strchr strcmp strcpy strcspn strlen strncat strncmp strncpy strnlen
    strpbrk strrchr strspn strstr strtok_r symlink symlinkat tcdrain tcflow tcflush tcgetattr tcgetpgrp tcsendbreak tcsetattr
    tcsetpgrp time timer_getoverrun timer_gettime timer_settime times umask uname unlink unlinkat utime utimensat utimes wait
    waitpid wcpcpy wcpncpy wcscat wcschr wcscmp wcscpy wcscspn wcslen wcsncat wcsncmp wcsncpy wcsnlen wcspbrk wcsrchr wcsspn
    wcsstr wcstok wmemchr wmemcmp wmemcpy wmemmove wmemset write""".split())
# Called before `main`, by nobody's handler.
CALLED_BY_THE_START = {"__libc_start_main"}


def interposed(contrafact):
    """The functions of the C library that the agents stand in front of."""
    names = set()
    for agent in ["native", "native_sets"]:
        library = contrafact.parent.parent / "lib" / f"libcontrafact_{agent}.so"
        for line in subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines():
            _, kind, name = line.split()
            if kind == "T" and not name.startswith(("contrafact_", "_Z")) and name != "ompt_start_tool":  # OpenMP runtimes' to call
                names.add(name)
    missing = {"_exit", "execve", "pthread_mutex_lock"} - names
    if missing:
        raise AssertionError(f"nm lists no {', '.join(sorted(missing))} in the agents")
    return names - CALLED_BY_THE_START


def never_called(contrafact, program, wanted):
    """Those that no call of a test program is named after."""
    said = subprocess.run([contrafact.parent / program, "names"], capture_output=True, text=True, check=True).stdout
    named = {name for line in said.splitlines() for name in line.split(",")[0].split()}
    found = sorted(wanted(interposed(contrafact)) - named)
    return [f"{program} has no call of {name}, which the agents stand in front of" for name in found]


# --- What a recording says --------------------------------------------------------------------------------------------


def is_alone(_, trace, __):
    return [f"a child is recorded: {path.name}" for path in trace.parent.iterdir() if path != trace]


def is_unrestricted(contrafact, trace, record):
    """What a program that restricts nothing of its own gets: its sets to the end, and with --children its child's recording."""
    said = subprocess.run([contrafact, "info", "--json", trace], capture_output=True, text=True, check=True).stdout
    wrong = ["the recording of sets has ended"] if "sets.ended" in said else []
    others = [path.name for path in trace.parent.iterdir() if path != trace]
    return wrong + ([f"recordings of children: {others}"] if len(others) != ("--children" in record) else [])


def names_bodies(contrafact, trace, _):
    """Threads that were given a function or a method are named after it, and made where the program's code makes them."""
    said = subprocess.run([contrafact, "tasks", trace], capture_output=True, text=True, check=True).stdout
    wrong = [f"no task is named after {name}" for name in ["sections", "Shop::open"] if name not in said]
    made = said.count(" own_blocks (")
    return wrong + ([] if made == 4 else [f"{made} of 4 tasks are spawned in own_blocks"])


# --- Allocations and locks --------------------------------------------------------------------------------------------


def further_counts(plain, recorded):
    before, after = (struct.unpack("ii", run.files["counted"]) for run in (plain, recorded))
    return [f"{now} {what} for {own}" for what, own, now in zip(("allocations", "locks"), before, after) if own != now]


# --- System calls -----------------------------------------------------------------------------------------------------


def system_calls(run):
    """By name, those between the marks in the log of a tracer, of the thread that set them."""
    names = dict(line.split(" ", 1) for line in run.files.get("calls", b"").decode().splitlines())
    found, thread, at = {}, None, None
    for line in run.files["traced"].decode(errors="replace").splitlines():
        by, text = line.split(None, 1)
        mark = re.match(r"getpgid\(-1(\d{3})\b", text)
        if mark:
            thread, at = by, names.get(mark[1].lstrip("0") or "0")
        # A handler's return is no call of the program's: a signal may come once more while the tracer holds the thread up.
        elif by == thread and at and re.match(r"\w+\(", text) and not text.startswith("rt_sigreturn("):
            found.setdefault(at, []).append(text.split("(")[0])
    return found


def further_system_calls(plain, recorded):
    before, after = system_calls(plain), system_calls(recorded)
    if len(before) < 30 or not after:
        return [f"the tracer saw few calls: {len(before)} and {len(after)}"]
    wrong = []
    for name in sorted(set(before) | set(after)):
        own, now = before.get(name, []), after.get(name, [])
        # What becomes of the recording is settled at an exec, which may take system calls; but nothing waits there.
        if own != now and (not name.startswith(("exec", "fexec")) or "futex" in now):
            wrong.append(f"{name}: the system calls {own} became {now}")
    return wrong


OPENING = ("creat", "dup", "epoll_create", "eventfd", "fanotify_init", "inotify_init", "io_uring_setup", "memfd_", "open", "perf_event_open",
           "pidfd_", "pipe", "signalfd", "socket", "timerfd_create", "userfaultfd")


def opened(run):
    """The calls that may open a descriptor, from the first mark on, of the thread that set it and of those that it started; sorted."""
    lines = [line.split(None, 1) for line in run.files["traced"].decode(errors="replace").splitlines()]
    begin = next((at for at, (_, text) in enumerate(lines) if re.match(r"getpgid\(-1000\b", text)), None)
    if begin is None:
        return []
    threads = {lines[begin][0]}
    for by, text in lines:
        started = re.match(r"(?:clone3?\(|<\.\.\. clone3? ).* = (\d+)", text)
        if by in threads and started:
            threads.add(started[1])
    # A call that another thread's cuts in two is there as it began.
    return sorted(re.sub(r" +=.*|<unfinished.*", "", text).strip().rstrip(")") for by, text in lines[begin:]
                  if by in threads and text.startswith(OPENING))


def further_descriptors(plain, recorded):
    before, after = opened(plain), opened(recorded)
    if not before:
        return ["the tracer saw no mark, or nothing opened"]
    wrong = {call: (before.count(call), after.count(call)) for call in set(before) | set(after) if before.count(call) != after.count(call)}
    return [f"{call}: {own} times, recorded {now}" for call, (own, now) in sorted(wrong.items())]


# --- What the agents hand to the program -------------------------------------------------------------------------------


def exported(contrafact):
    """What the agents would hand to the program that is C++'s: its `new` is its own."""
    wrong = []
    for agent in ["native", "native_sets"]:
        library = contrafact.parent.parent / "lib" / f"libcontrafact_{agent}.so"
        for line in subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines():
            _, kind, name = line.split()
            if name.startswith("_Z") and kind in "TWVu":
                wrong.append(f"{library.name} exports {name}")
    return wrong
