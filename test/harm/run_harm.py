#!/usr/bin/env python3
"""Runs a program plain and recorded, and holds the two runs against each other: status, output, files, and no hang.

usage: run_harm.py --list                  a line "CASE LABEL" for each case
       run_harm.py CONTRAFACT CASE

A case is a command in a folder of its own, run plain and then recorded in each of its ways. What was recorded can be read, and a
program that ended of its own accord is not reported as damage.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

import kills
import waits

WAYS = {"plain recording": [], "sets": ["--sets=always"], "children": ["--children"]}
FURTHER_WAYS = {"children with sets": ["--children", "--sets=always"], "accesses": ["--accesses"]}
STACK_BYTES_MAX = 2048  # that a recorder may take of any stack, beyond what the function takes without it
DEADLINE_S = 20
NAMED_MAX = 5  # recordings of further processes that are looked at
NOT_MEASURED = 77  # what CTest counts as skipped
PROGRAM_FAILED, PROGRAM_CANNOT = (90, 91, 92), 93  # statuses of harm.h

CASES = {}


@dataclasses.dataclass
class Case:
    command: list
    ways: list
    repeats: int = 1          # recorded runs in each way
    recorded: bool = True     # something is: else nothing need be
    clean: bool = True        # it ends by itself: the recording is whole
    sections: int = 0         # critical sections that it executes: each is recorded, or counted as dropped
    sections_max: int = 1 << 62
    tasks: int = 0            # that it runs: each is recorded
    label: str = "native"
    ignored: tuple = ()       # files that are not compared
    judge: object = None      # of the folders of a plain and a recorded run: a list of complaints
    judge_trace: object = None  # of `contrafact`, a recorded run's trace, and its command up to the program's
    needs: str = ""           # a tool of the machine: without it nothing is measured
    java: str = ""            # a source here, compiled first, whose arguments the command is
    environment: dict = dataclasses.field(default_factory=dict)
    around: list = dataclasses.field(default_factory=list)  # what starts the program, or `record` in its place
    only_recorded: bool = False                             # `around` starts the recorded run alone
    run: object = None        # in place of all this: a function of `contrafact` and a folder, which returns complaints


def case(name, command, ways=tuple(WAYS), **more):
    assert name not in CASES, name
    CASES[name] = Case(list(command), list(ways), **more)


@dataclasses.dataclass
class Run:
    status: object  # a number, or "hangs"
    out: str
    err: str
    files: dict
    folder: pathlib.Path


def program(words, programs):
    """harm_NAME at a word's begin is a program built from this folder, %programs is that folder, %libraries that of libraries."""
    def placed(word):
        return word.replace("%programs", str(programs)).replace("%libraries", str(programs.parent / "lib"))

    return [str(programs / word) if word.startswith("harm_") else placed(word) for word in words]


def java_program(name, classes):
    subprocess.run(["javac", "-d", classes, pathlib.Path(__file__).parent / f"{name}.java"], check=True)
    return ["java", "-cp", str(classes), name]


def contents(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def run(command, folder, environment):
    folder.mkdir()
    child = subprocess.Popen(command, cwd=folder, env=dict(os.environ, **environment), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(timeout=DEADLINE_S)
        status = child.returncode
    except subprocess.TimeoutExpired:
        where = folder / "progress"
        at = where.read_bytes().split(b"\0")[0].decode() if where.exists() else ""
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        status = f"hangs after {DEADLINE_S} s" + (f" in {at}" if at else "")
    if isinstance(status, int) and status < 0:
        status = 128 - status  # as a shell says it, and `record` too
    return Run(status, out.decode(errors="replace"), err.decode(errors="replace"), contents(folder), folder)


def own_lines(text):
    """Of standard error, without what `record` says."""
    return [line for line in text.splitlines() if not line.startswith("contrafact: ")]


def differences(plain, recorded, ignored):
    """What of a recorded run is not as it is plain."""
    wrong = []
    if plain.status != recorded.status:
        wrong.append(f"status {plain.status}, recorded {recorded.status}")
    if plain.out != recorded.out:
        wrong.append(f"output {plain.out!r}, recorded {recorded.out!r}")
    if own_lines(plain.err) != own_lines(recorded.err):
        wrong.append(f"standard error {own_lines(plain.err)}, recorded {own_lines(recorded.err)}")
    for name in sorted(set(plain.files) | set(recorded.files)):
        if name in ignored or plain.files.get(name) == recorded.files.get(name):
            continue
        one, other = (len(run.files[name]) if name in run.files else "no" for run in (plain, recorded))
        wrong.append(f"file {name}: {one} bytes, recorded {other}")
    return wrong


def unreadable(contrafact, trace, chosen):
    """What is wrong with a recording."""
    if not trace.exists():
        return [f"no recording; there are {[path.name for path in trace.parent.iterdir()]}"]
    done = subprocess.run([contrafact, "info", "--json", trace], capture_output=True, text=True, timeout=DEADLINE_S)
    if done.returncode != 0:
        return [f"the recording cannot be read: {done.stderr}"]
    info = json.loads(done.stdout)
    loss = info["trace"]["loss"]
    wrong = []
    if info["event_count"] == 0 and not info["threads"]:
        wrong.append("the recording is empty")
    if loss.get("blocks_damaged"):
        wrong.append(f"damage: {loss}")
    if chosen.clean and loss["cut_off"]:
        wrong.append("a clean end, reported as cut off")
    held = {row["event"]: row["count"] for row in info["events"]}.get("lock_release", 0)
    if held + loss["events_dropped"] < chosen.sections or held > chosen.sections_max:
        wrong.append(f"{held} of {chosen.sections} critical sections are in the recording, {loss['events_dropped']} events dropped")
    if info["task_count"] < chosen.tasks:
        wrong.append(f"{info['task_count']} of {chosen.tasks} tasks are in the recording")
    return wrong


def unnamed(contrafact, trace, said):
    """What is wrong with the recordings of further processes: each is named, up to five by name, and can be read."""
    others = sorted(path for path in trace.parent.iterdir() if path != trace)
    match = re.search(r"the program started (\d+) more process", said)
    wrong = []
    if len(others) != (int(match[1]) if match else 0):
        wrong.append(f"{match[0] if match else 'no further process'} is said, but there are {[path.name for path in others]}")
    for path in others[:NAMED_MAX]:
        done = subprocess.run([contrafact, "info", path], capture_output=True, text=True, timeout=DEADLINE_S)
        if done.returncode != 0:
            wrong.append(f"{path.name} cannot be read: {done.stderr}")
    return wrong


def not_measured(why):
    print(f"not measured: {why}")
    sys.exit(NOT_MEASURED)


def judge_case(contrafact, name, base):
    chosen = CASES[name]
    if chosen.needs and not shutil.which(chosen.needs):
        not_measured(f"there is no {chosen.needs}")
    if chosen.run:
        return chosen.run(contrafact, base)
    command = (java_program(chosen.java, base / "classes") if chosen.java else []) + program(chosen.command, contrafact.parent)
    around = program(chosen.around, contrafact.parent)
    environment = dict(zip(chosen.environment, program(chosen.environment.values(), contrafact.parent)))
    plain = run(([] if chosen.only_recorded else around) + command, base / "plain", environment)
    if not isinstance(plain.status, int):
        return [f"the plain run {plain.status}"]
    if plain.status in PROGRAM_FAILED:
        return [f"the plain run failed: {plain.err}"]
    if plain.status == PROGRAM_CANNOT:
        not_measured(plain.err.strip())
    wrong = []
    for way in chosen.ways:
        for repeat in range(chosen.repeats):
            folder = base / f"{way}.{repeat}"
            trace = base / f"traces.{way}.{repeat}" / "run.cft"
            trace.parent.mkdir()
            record = [str(contrafact), "record", "-o", str(trace), *(WAYS | FURTHER_WAYS)[way], "--"]
            recorded = run(around + record + command, folder, environment)
            found = differences(plain, recorded, chosen.ignored)
            if chosen.judge:
                found += chosen.judge(plain, recorded)
            if chosen.recorded and isinstance(recorded.status, int):
                found += unreadable(contrafact, trace, chosen)
                found += unnamed(contrafact, trace, recorded.err)
                if chosen.judge_trace:
                    found += chosen.judge_trace(contrafact, trace, record)
            if found:
                found += [line for line in recorded.err.splitlines() if line.startswith("contrafact: ")]
            wrong += [f"{way}: {text}" for text in found]
            if not isinstance(recorded.status, int):
                return wrong  # each further way may take as long
            if found:
                break  # the next repeat says the same
    return wrong


# --- Stacks -----------------------------------------------------------------------------------------------------------


def depths(run):
    return {line.split(" ", 1)[1]: int(line.split(" ", 1)[0]) for line in run.files.get("depths", b"").decode().splitlines()}


def too_deep(plain, recorded, bytes_max_of={}):
    before, after = depths(plain), depths(recorded)
    if set(before) != set(after):
        return [f"not measured: {sorted(set(before) ^ set(after))}"]
    wrong = []
    for name in before:
        more, bytes_max = after[name] - before[name], bytes_max_of.get(name, STACK_BYTES_MAX)
        if more > bytes_max:
            wrong.append(f"{name} takes {more} bytes more of the stack, {bytes_max} at most")
    return wrong


def too_deep_with_accesses(plain, recorded):
    """What a thread has logged is written, and its log unmapped, at its end."""
    return too_deep(plain, recorded, {"a thread from begin to end": 3072})


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
            if kind == "T" and not name.startswith(("contrafact_", "_Z")):
                names.add(name)
    return names - CALLED_BY_THE_START


def never_called(contrafact, program, wanted):
    """Those that no call of a test program is named after."""
    said = subprocess.run([contrafact.parent / program, "names"], capture_output=True, text=True, check=True).stdout
    named = {name for line in said.splitlines() for name in line.split(",")[0].split()}
    found = sorted(wanted(interposed(contrafact)) - named)
    return [f"{program} has no call of {name}, which the agents stand in front of" for name in found]


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


# --- The cases --------------------------------------------------------------------------------------------------------

VICTIMS = ["malloc", "calloc", "threads", "dlopen", "printf", "fopen", "locks", "conditions"]
ENDS = ["_exit", "_Exit", "quick_exit", "execve", "execv", "execl", "execle", "fexecve", "kill", "abort"]


def declare_handlers():
    own = ("progress", "file")
    for victim in VICTIMS:
        case(f"handlers.{victim}", ["harm_handlers", "all", victim], ignored=own)
        case(f"handlers.{victim}.of_threads", ["harm_handlers", "all", victim, "threads"], ["plain recording", "sets"], ignored=own)
    case("handlers.jumps", ["harm_handlers", "jumps"])
    case("handlers.every_function", [], needs="nm",
         run=lambda contrafact, _: never_called(contrafact, "harm_handlers", lambda names: names & ASYNC_SIGNAL_SAFE))
    for end in ENDS:
        clean = end not in ("kill", "abort")
        # At the third signal, and so on: each shell run is one program after the other.
        for victim in ["malloc", "threads"]:
            case(f"handlers.{end}.{victim}", ["sh", "-c", f"for at in 1 2 3 4 5; do %programs/harm_handlers {end} {victim} $at; "
                 "echo $?; done"], ["children"], ignored=own)
            case(f"handlers.{end}.{victim}.repeated", ["harm_handlers", end, victim, "3"], ["plain recording"], repeats=25,
                 clean=clean, ignored=own, label="slow")
        for victim in ["dlopen", "locks"]:
            if end == "quick_exit" and victim == "dlopen":
                continue  # the C library itself has a lock for its functions of the end, which loading takes, too
            case(f"handlers.{end}.{victim}", ["harm_handlers", end, victim, "3"], ["plain recording", "sets"], clean=clean,
                 ignored=own)


def declare_descriptors():
    sections = {"listing": 101_000, "lowest": 0, "overwrite_all": 1_000_000, "close_each": 600_000, "close_from": 600_000,
                "close_all": 600_000, "close_all_bare": 300_000, "overwrite_in_a_loop": 0, "close_standard": 300_000}
    for name, count in sections.items():
        case(f"descriptors.{name}", ["harm_descriptors", name], sections=count)
    for name in ["four", "three"]:
        case(f"descriptors.{name}", ["harm_descriptors", name], ["plain recording"], sections=600_000)
    case("descriptors.shell", ["bash", "-c", "exec 3>q; echo hello >&3; echo again >&3; exec 3>&-; exit 3"])
    case("descriptors.shell_many", ["bash", "-c", "for n in 3 4 5 6 7 8 9 10 20 63 100 251 252 253 254; do eval \"exec $n>q$n; "
         "echo $n >&$n\"; done; true | true; exit 4"])
    # Whoever checks a descriptor before writing to it does so 20 ms before.
    slowly = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fstat", "-e", "inject=fstat:delay_exit=20000"]
    case("descriptors.overwrite_when_checked", ["harm_descriptors", "overwrite_slowly"], around=slowly, only_recorded=True,
         needs="strace")
    for name in ["list", "overwrite"]:
        case(f"descriptors.jvm.{name}", [name, "%libraries/libharm_duplicate.so"], ["plain recording"], tasks=30_000, label="jvm",
             needs="javac", java="Descriptors")
    case("descriptors.limit_by_shell", ["sh", "-c", "ulimit -n 7; exec %programs/harm_descriptors lowest"], ["plain recording"])


def declare_stacks():
    case("stacks.depths", ["harm_stacks", "depths"], ignored=("depths", "file"), judge=too_deep)
    case("stacks.depths_with_accesses", ["harm_stacks", "depths"], ["accesses"], ignored=("depths", "file"),
         judge=too_deep_with_accesses)
    for name in ["small_threads", "alternate_stack", "coroutine_stack"]:
        case(f"stacks.{name}", ["harm_stacks", name])
    case("stacks.every_function", [], needs="nm", run=lambda contrafact, _: never_called(contrafact, "harm_stacks", set))
    case("stacks.many_threads", ["harm_stacks", "many_threads"], sections=50_000)
    for end in ENDS:
        clean = end not in ("kill", "abort")
        case(f"stacks.end_depth.{end}", ["harm_stacks", "end_on_painted_stack", end], ["plain recording", "sets"], clean=clean,
             ignored=("stack",), judge=end_too_deep)
        for where in ["end_in_small_thread", "end_on_alternate_stack"]:
            case(f"stacks.{where}.{end}", ["harm_stacks", where, end], ["plain recording", "sets"], clean=clean)


MANY = 400_000


def declare_sandboxes():
    # In strict mode, as without time stamps, no thread can know the time: what comes then is not recorded. Nobody hears of
    # a restriction by the program's own system call instruction: recording goes on, but for sets, which need the kernel, and
    # in strict mode, where time stamps are forbidden (docs/native.md).
    sections = {"early_prctl": MANY, "early_syscall": MANY, "early_bare": MANY, "late_prctl": 2 * MANY + 200_000,
                "late_syscall": 2 * MANY + 200_000, "late_bare": 2 * MANY + 200_000, "strict": 1000,
                "synchronised": MANY, "synchronised_bare": MANY, "with_threads": 150_000, "exec_after": MANY,
                "errors_instead": MANY, "no_time_stamps": 1000, "unshare_user": MANY, "unshare_mounts": MANY,
                "unshare_thread": MANY, "unshare_and_fork": 1000, "enter_namespaces": MANY, "become_nobody": MANY,
                "not_dumpable": MANY, "little_memory": MANY, "little_data": MANY, "no_files": MANY, "small_files": 3 * MANY,
                "no_processes": MANY}
    for name, count in sections.items():
        ways = ["plain recording", "children"] if name.endswith("_bare") else tuple(WAYS)
        case(f"sandbox.{name}", ["harm_sandbox", name], ways, sections=count)
    for by in ["prctl", "syscall", "bare"]:
        ways = ["plain recording", "children"] if by == "bare" else tuple(WAYS)
        case(f"sandbox.exec_static_after_{by}", ["harm_sandbox", f"exec_static_after_{by}"], ways)
    case("sandbox.change_root", ["harm_sandbox", "change_root"], sections=MANY)
    case("sandbox.strict_and_exit", ["harm_sandbox", "strict_and_exit"], clean=False)
    case("sandbox.memory_by_shell", ["sh", "-c", "ulimit -v 60000; exec %programs/harm_sandbox locks"], recorded=False)
    case("sandbox.files_by_shell", ["sh", "-c", "ulimit -f 1; exec %programs/harm_sandbox locks"])


FATAL = ["aborts", "sigkill", "sigterm", "sigint", "sighup", "sigquit", "sigill", "sigfpe", "sigbus", "sigsys", "sigtrap",
         "sigalrm", "sigusr1", "sigxcpu", "sigrtmin", "segfaults", "killed_by_other", "broken_pipe", "without_core"]


def declare_quiet():
    case("quiet.counts", ["harm_quiet", "counts"], ignored=("file",))
    for end in ENDS:
        clean = end not in ("kill", "abort")
        more = dict(ignored=("file",), judge=further_counts, clean=clean)
        case(f"quiet.counts.{end}", ["harm_quiet", "ends", end], **more)
        case(f"quiet.counts.{end}.of_child", ["harm_quiet", "ends", end, "child"], ["plain recording", "children"], **more)
    case("quiet.system_calls", ["harm_quiet", "marked"], ["plain recording"], ignored=("file", "traced"),
         around=["strace", "-f", "-qq", "-o", "traced"], judge=further_system_calls, needs="strace")
    case("quiet.forks", ["harm_quiet", "forks"], [*WAYS, *FURTHER_WAYS])
    case("quiet.unknown_thread", ["harm_quiet", "unknown_thread"], sections=1)
    keys = dict(environment={"LD_PRELOAD": "%libraries/libharm_keys.so"})
    case("quiet.counts_of_many_keys", ["harm_quiet", "counts"], ignored=("file",), **keys)
    case("quiet.unknown_thread_of_many_keys", ["harm_quiet", "unknown_thread"], sections=1, **keys)
    case("quiet.exports", [], needs="nm", run=lambda contrafact, _: exported(contrafact))
    case("quiet.descriptors", ["harm_quiet", "libraries"], ignored=("traced",), around=["strace", "-f", "-qq", "-o", "traced"],
         judge=further_descriptors, needs="strace", sections=1200)


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


def declare_unloads():
    for name in ["in_turns", "without_build_id"]:
        case(f"unloads.{name}", ["harm_unloads", name], ["plain recording", "sets"], sections=96_000)


def declare_becomes():
    for name in ["with_empty_environment", "with_null_environment", "with_cleared_environment", "with_many_entries",
                 "with_many_arguments", "at_the_limit"]:
        case(f"becomes.{name}", ["harm_becomes", name], ["plain recording", "sets"])
    for name in ["by_bare_call", "by_syscall", "by_path"]:
        case(f"becomes.{name}", ["harm_becomes", name])
    case("becomes.many_children", ["sh", "-c", "for n in 1 2 3 4 5 6; do for m in 1 2 3 4 5; do %programs/harm_becomes child & done; "
                                   "wait; done; exit 9"], ["plain recording", "children"])
    for name in ["bare_child", "library_child", "forked_child"]:
        case(f"becomes.{name}", ["harm_becomes", name], sections=2000, sections_max=2010)
    case("becomes.both_at_once", ["harm_becomes", "both_at_once"], sections=300_000, sections_max=300_010)
    copies = ("mkdir root && cp --parents $(ldd %programs/harm_ends | grep -o '/[^ ]*' | grep -v contrafact) root && "
              "cp %programs/harm_ends root && ")
    case("becomes.in_other_root", ["sh", "-c", copies + "exec chroot root /harm_ends destructors"])
    case("becomes.child_in_other_root", ["sh", "-c", copies + "chroot root /harm_ends destructors; echo $?"])
    case("becomes.with_four_files", ["sh", "-c", "ulimit -n 4; exec %programs/harm_ends returns"])


def declare_waits():
    ways = [*WAYS, *FURTHER_WAYS]
    for family in waits.FAMILIES:
        case(f"waits.{family}", ["harm_waits", family], ways,
             judge_trace=lambda contrafact, trace, record, family=family: waits.complaints(contrafact, trace, record, family))
    case("waits.anywhere", ["harm_waits", "anywhere"], ways, sections=200_400, sections_max=200_400)


def declare_ends():
    for name in FATAL:
        case(f"ends.{name}", ["harm_ends", name], ["plain recording", "sets"], clean=False)
    for name in ["returns", "exits", "exits_at_once", "exits_quickly", "exits_quickly_beside_walk", "exits_barely", "exits_by_syscall", "main_ends_first",
                 "last_thread_ends", "thread_exits_barely", "ends_while_others_lock", "ends_inside_section", "destructors",
                 "executes_dynamic", "executes_static", "executes_script", "executes_itself", "executes_itself_often",
                 "executes_in_thread", "parent_ends_first", "becomes_daemon", "forks_twice", "vfork_and_exec", "vfork_and_fail",
                 "spawns", "spawns_in_threads", "runs_shells", "clones", "clones_memory", "forks_barely", "forks_by_library",
                 "forks_while_others_lock", "forks_in_thread", "ignores_children", "stopped_and_continued", "traced"]:
        case(f"ends.{name}", ["harm_ends", name])
    case("ends.fails_to_execute", ["harm_ends", "fails_to_execute"], sections=2000)
    for name in ["ends_in_handler", "ends_in_alarm", "ended_by_watchdog"]:
        case(f"ends.{name}", ["harm_ends", name], ["plain recording"], repeats=25)
        case(f"ends.{name}.sets", ["harm_ends", name], ["sets", "children"], repeats=8)


def declare_pointers():
    case("pointers.bad", ["harm_pointers", "bad"], [*WAYS, *FURTHER_WAYS], sections=5000)


def declare_starts():
    """By a shell or another program, or with something closed or set at the start."""
    ends = "%programs/harm_ends"
    shells = {
        "sh": f"{ends} returns; echo $?; {ends} aborts 2>&1; echo $?; exit 3",
        "pipeline": f"{ends} executes_script | cat | (cat; {ends} returns); echo $?",
        "xargs": f"printf '%s\\n' returns exits destructors | xargs -n 1 {ends}; echo $?",
        "timeout": f"timeout 20 {ends} destructors; echo $?; timeout -s KILL 20 {ends} sigkill; echo $?",
        "nohup": f"nohup {ends} destructors",
        "nice": f"nice -n 19 {ends} destructors; nice -n 19 %programs/harm_sandbox locks",
        "standard_closed": f"{ends} returns <&- >&- 2>&-",
        "input_closed": f"{ends} destructors <&-",
        "static_in_a_child": "%programs/harm_static; echo $?",
        "background": f"{ends} returns & wait $!; echo $?",
        "subshells": f"(({ends} returns); {ends} exits); (exec {ends} exits_at_once); echo $(({ends} destructors) | wc -l)",
        "trap": "trap 'echo trapped; exit 5' TERM; kill $$; sleep 5",
    }
    for name, text in shells.items():
        case(f"starts.{name}", ["sh", "-c", text])
    # The environment of a child that is recorded too names the agent.
    alone = ["plain recording", "sets"]
    case("starts.environment", ["harm_ends", "prints_environment"], alone)
    case("starts.environment_after_exec", ["harm_ends", "executes_for_environment"], alone)
    case("starts.empty_environment", ["sh", "-c", f"env -i {ends} prints_environment"], alone)
    # A shell that brings its own functions for the environment.
    case("starts.bash_environment", ["bash", "-c", "env | grep -cE 'LD_PRELOAD|CONTRAFACT_'; echo \"[$LD_PRELOAD]\"; exit 6"], alone)
    case("starts.preloaded", ["sh", "-c", f"LD_PRELOAD=libm.so.6 {ends} prints_environment | grep preloaded"], alone)
    case("starts.preloaded_before", ["harm_ends", "prints_environment"], alone, environment={"LD_PRELOAD": "libm.so.6"})
    # Started in its turn, plain or recorded, by something that sets a scene.
    scenes = {
        "input_closed": 'exec "$@" <&-',
        "standard_closed": 'exec "$@" >seen <&- 2>&-',
        "further_descriptors": 'exec "$@" 3>three 7>seven',
        "signals_ignored": "trap '' PIPE CHLD TERM INT HUP USR1; exec \"$@\"",
        "as_it_is": 'exec "$@"',
        "nice": 'exec nice -n 19 "$@"',
        "own_session": 'exec setsid -w "$@"',
        "tiny_stack": 'ulimit -s 128; exec "$@"',
        "no_core": 'ulimit -c 0; exec "$@"',
        "umask": 'umask 077; exec "$@"',
    }
    for name, text in scenes.items():
        case(f"starts.inherits.{name}", ["harm_ends", "prints_inheritance"], around=["sh", "-c", text, "sh"])
    for name, text in {"few_files": "ulimit -n 12", "little_memory": "ulimit -v 200000"}.items():
        case(f"starts.inherits.{name}", ["harm_ends", "destructors"], around=["sh", "-c", f'{text}; exec "$@"', "sh"],
             recorded=False)
    signalled = '"$@" & while [ ! -e ready ]; do sleep 0.01; done; exec 2>/dev/null; kill -TERM $!; wait $!; echo $?'
    case("starts.signal", ["harm_ends", "waits_for_signal"], alone, around=["sh", "-c", signalled, "sh"], clean=False)
    case("starts.signal_handled", ["harm_ends", "handles_signal"], alone, around=["sh", "-c", signalled, "sh"])
    script = ("echo '#!/bin/sh\n[ -z \"$JAVA\" ] || java -version\nexec %programs/harm_ends returns' >office; chmod +x office; "
              'exec "$@"')
    case("starts.java_in_a_script", ["./office"], alone, around=["sh", "-c", script, "sh"])
    tracer = ["strace", "-f", "-qq", "-o", "/dev/null"]
    case("starts.traces", tracer + ["harm_ends", "forks_in_thread"], needs="strace")
    case("starts.traced", ["harm_ends", "forks_in_thread"], around=tracer, needs="strace")
    case("starts.bash", ["bash", "-c", f"{ends} returns & wait; cat <({ends} destructors) <({ends} executes_dynamic); "
                         f"exec -a other {ends} exits"])


def declare_kills():
    def declare(name, label, run):
        case(f"kills.{name}", [], run=run, label=label, needs="javac" if name.startswith("jvm") else "")

    for beside, place in [(contextlib.nullcontext, "quiet"), (kills.busy, "busy")]:
        for way, options in [("plain", []), ("sets", ["--sets=always"])]:
            declare(f"{way}.{place}", "native", lambda *where, o=options, b=beside: kills.native(*where, o, 6, b))
            declare(f"{way}.{place}.repeated", "slow", lambda *where, o=options, b=beside: kills.native(*where, o, 60, b))
        declare(f"jvm.{place}", "jvm", lambda *where, b=beside: kills.jvm(*where, 4, b))
        declare(f"jvm.{place}.repeated", "slow", lambda *where, b=beside: kills.jvm(*where, 20, b))
    for name in kills.FIRST_LINES:
        declare(f"jvm.first_line.{name}", "jvm", lambda *where, n=name: kills.jvm_first_line(*where, n, 5))
    for way, options in [("plain", []), ("sets", ["--sets=always"])]:
        declare(f"recorder.{way}", "native", lambda *where, o=options: kills.recorder(*where, o, 3))
        declare(f"recorder_stopped.{way}", "native", lambda *where, o=options: kills.stopped_recorder(*where, o, 2))


declare_handlers()
declare_descriptors()
declare_stacks()
declare_sandboxes()
declare_quiet()
declare_unloads()
declare_becomes()
declare_waits()
declare_ends()
declare_pointers()
declare_starts()
declare_kills()


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(f"{name} {chosen.label}" for name, chosen in CASES.items()))
        return
    name = sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        wrong = judge_case(pathlib.Path(sys.argv[1]).resolve(), name, pathlib.Path(folder))
    if wrong:
        sys.exit(f"FAILED {name}:\n  " + "\n  ".join(wrong))
    print(f"harm {name}: ok")


if __name__ == "__main__":
    main()
