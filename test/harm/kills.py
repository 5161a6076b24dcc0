"""What is left when a program, or `record`, is killed by signal 9, beside busy processes.

The program numbers and stamps its critical sections (progress.cc) in a file that it maps. A trace that holds the first n of them lacks
what was done between the n-th stamp and the last one: that is how much was lost, whenever the signal came.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import time

from harm_case import not_measured

LOST_NS_MAX = 100_000_000
FAST_BATCH = 256      # sections for each stamp of a fast program (progress.cc)
FAST_THREADS = 4
REAL_TIME_PRIORITY = 50
DEADLINE_S = 60
SLOWER_MAX = 1.5      # of a program whose recorder was killed, against the same recording undisturbed, without waits for a core
FOR_EVER = 1 << 20
PR_SET_CHILD_SUBREAPER = 36
HEAD_BYTES = 24


@contextlib.contextmanager
def busy(count=4, prepare=lambda _: None):
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        for other in others:
            prepare(other)
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def crowded():
    return busy(16)


def real_time():
    """A process that has one core for itself, but for what the kernel leaves others (5 % unless set otherwise)."""
    def prepare(process):
        try:
            os.sched_setscheduler(process.pid, os.SCHED_FIFO, os.sched_param(REAL_TIME_PRIORITY))
        except OSError as error:
            not_measured(f"a real-time priority: {error}")

    return busy(1, prepare)


class Progress:
    def __init__(self, path):
        self.path = path

    def head(self):
        """Sections done, whether the program ended, and how long it waited for a core by then."""
        try:
            with open(self.path, "rb") as file:
                head = file.read(HEAD_BYTES)
        except FileNotFoundError:
            head = b""
        return struct.unpack("<QQq", head) if len(head) == HEAD_BYTES else (0, 0, 0)

    def stamp_ns(self, number):
        """Of the section of this number; the first is 1."""
        with open(self.path, "rb") as file:
            file.seek(HEAD_BYTES + 8 * (number - 1))
            return struct.unpack("<q", file.read(8))[0]

    def all_stamps_ns(self):
        """Of a fast program's batches, ascending."""
        with open(self.path, "rb") as file:
            file.seek(HEAD_BYTES)
            words = file.read(8 * self.head()[0])
        return sorted(stamp for stamp, in struct.iter_unpack("<q", words) if stamp != 0)

    def begins(self):
        """Waits for the first section."""
        end = time.monotonic() + DEADLINE_S
        while self.head()[0] == 0 and time.monotonic() < end:
            time.sleep(0.0005)
        return self.head()[0] > 0


def info(contrafact, trace):
    """What `info` says of a trace, or why it cannot be read."""
    done = subprocess.run([contrafact, "info", "--json", trace], capture_output=True, text=True, timeout=DEADLINE_S)
    return (json.loads(done.stdout), "") if done.returncode == 0 else (None, done.stderr)


def seen(contrafact, trace, event):
    """How many events of a kind a trace holds, or why it cannot be read."""
    found, why = info(contrafact, trace)
    return ({row["event"]: row["count"] for row in found["events"]}.get(event, 0) if found else None), why


def lost(progress, done, held):
    """Complaints about a trace that holds `held` of `done` sections."""
    if held >= done:
        return []
    lost_ns = progress.stamp_ns(done) - progress.stamp_ns(max(held, 1))
    if lost_ns <= LOST_NS_MAX:
        return []
    return [f"{held} of {done} sections are in the trace: {lost_ns / 1e6:.0f} ms before the kill are lost"]


def lost_of(event):
    """The same for a program with an event of this kind at the end of each section."""
    def judge(progress, found):
        held = {row["event"]: row["count"] for row in found["events"]}.get(event, 0)
        return lost(progress, progress.head()[0], held)

    return judge


def lost_of_fast(progress, found):
    """The same of a program that may be faster than the recorder: what was dropped is not lost without a trace, it is counted."""
    stamps_ns = progress.all_stamps_ns()
    held = {row["event"]: row["count"] for row in found["events"]}.get("lock_release", 0)
    dropped = found["trace"]["loss"]["events_dropped"]
    counted = held + held * dropped // max(found["event_count"], 1)
    print(f"{len(stamps_ns) * FAST_BATCH} sections in {(stamps_ns[-1] - stamps_ns[0]) / 1e6:.0f} ms: {held} are in the trace, "
          f"{counted - held} were dropped and counted")
    batches = counted // FAST_BATCH
    if batches >= len(stamps_ns):
        return []
    lost_ns = stamps_ns[-1] - stamps_ns[max(batches, 1) - 1]
    if lost_ns <= LOST_NS_MAX:
        return []
    return [f"of {len(stamps_ns) * FAST_BATCH} sections {held} are in the trace and {dropped} events are counted as dropped: "
            f"{lost_ns / 1e6:.0f} ms before the kill are lost"]


def child_of(process):
    """The program that `record` started."""
    return int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


def kill_program(contrafact, folder, command, judge, options, delay_s):
    """`command` runs until it is killed, and stamps its progress in the file that is its first argument."""
    folder.mkdir()
    progress, trace = Progress(folder / "progress"), folder / "run.cft"
    record = subprocess.Popen([contrafact, "record", "-o", trace, *options, "--", *command(progress.path)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        if not progress.begins():
            record.kill()
            return [f"the program did not begin\n{record.communicate()[1]}"]
        program = child_of(record)
        time.sleep(delay_s)
        os.kill(program, signal.SIGKILL)
        err = record.communicate(timeout=DEADLINE_S)[1]
    finally:
        record.kill()
    wrong = [] if record.returncode == 128 + signal.SIGKILL else [f"status {record.returncode}\n{err}"]
    if not trace.exists():
        return wrong + [f"no recording, {progress.head()[0]} sections were done\n{err}"]
    found, why = info(contrafact, trace)
    return wrong + (judge(progress, found) if found else [why])


def kills(contrafact, base, command, judge, options, delays_s, beside):
    wrong = []
    with beside():
        for number, delay_s in enumerate(delays_s):
            for text in kill_program(contrafact, base / str(number), command, judge, options, delay_s):
                wrong.append(f"killed {delay_s * 1e3:.0f} ms after its first section: {text}")
    return wrong


def delays_s(seed, count, most_s):
    """Half of them early: a recording must begin with the program."""
    numbers = random.Random(seed)
    return [numbers.uniform(0, 0.03) if i % 2 else numbers.uniform(0.1, most_s) for i in range(count)]


def native(contrafact, base, options, count, beside):
    def command(path):
        return [contrafact.parent / "harm_progress", path, str(FOR_EVER)]

    return kills(contrafact, base, command, lost_of("lock_release"), options, delays_s(7, count, 0.8), beside)


def fast(contrafact, base, options, count, beside):
    def command(path):
        return [contrafact.parent / "harm_progress", path, "fast", str(FAST_THREADS)]

    return kills(contrafact, base, command, lost_of_fast, options, delays_s(11, count, 0.8), beside)


def jvm(contrafact, base, count, beside):
    source = pathlib.Path(__file__).parent / "Progress.java"
    subprocess.run(["javac", "-d", base, source], check=True)

    def command(path):
        return ["java", "-cp", base, "Progress", path, str(FOR_EVER)]

    return kills(contrafact, base, command, lost_of("task_end"), [], delays_s(8, count, 0.8), beside)


# The statuses of FirstLine.java.
FIRST_LINES = {"halts": 33, "killed": 128 + signal.SIGKILL, "killed_by_other": 128 + signal.SIGKILL}


def jvm_first_line(contrafact, base, name, count):
    """However soon a Java program ends, it began: there is a recording of it."""
    source = pathlib.Path(__file__).parent / "FirstLine.java"
    subprocess.run(["javac", "-d", base, source], check=True)
    killer = contrafact.parent.parent / "lib" / "libharm_killer.so"
    wrong = []
    for number in range(count):
        trace = base / f"run{number}.cft"
        done = subprocess.run([contrafact, "record", "-o", trace, "--", "java", "-cp", base, "FirstLine", name, killer],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S)
        if done.returncode != FIRST_LINES[name]:
            wrong.append(f"status {done.returncode}\n{done.stderr}")
        if "before it was up" in done.stderr or not trace.exists():
            wrong.append(f"no recording: {done.stderr}")
            continue
        found, why = info(contrafact, trace)
        if not found:
            wrong.append(f"the recording cannot be read: {why}")
        elif found["facts"].get("jvm.up") != "yes":
            wrong.append(f"the recording does not say that the JVM was up: {found['facts']}")
    return wrong


# --- The recorder killed ------------------------------------------------------------------------------------------------

SECTIONS = 20_000


def reap(program):
    """The status of a program whose parent died, and that is ours since."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        pid, status = os.waitpid(program, os.WNOHANG)
        if pid == program:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(program, signal.SIGKILL)
    os.waitpid(program, 0)
    return f"hangs after {DEADLINE_S} s"


def section_ns(progress):
    """How long a section took, but for what other processes took of the cores."""
    done, _, waited_ns = progress.head()
    return (progress.stamp_ns(done) - progress.stamp_ns(1) - waited_ns) / (done - 1)


def undisturbed(contrafact, path, options):
    """The program recorded with these options to its end. What recording itself costs is no matter of these cases."""
    progress = Progress(path)
    subprocess.run([contrafact, "record", "-q", "-o", f"{path}.cft", *options, "--", contrafact.parent / "harm_progress", path,
                    str(SECTIONS)], check=False)
    return progress


def held_up(progress, whole):
    slower = section_ns(progress) / section_ns(whole)
    return [f"a section took {slower:.1f} times as long as with a recorder that lives"] if slower > SLOWER_MAX else []


def record_until_signal(contrafact, folder, options, **more):
    """The program runs until end_by_signal, however long this process is kept from what it does meanwhile."""
    folder.mkdir()
    progress, trace = Progress(folder / "progress"), folder / "run.cft"
    return progress, trace, subprocess.Popen([contrafact, "record", "-o", trace, *options, "--", contrafact.parent / "harm_progress",
                                              progress.path, "until-signal"], stdout=subprocess.DEVNULL, **more)


def end_by_signal(progress, program, done):
    """Lets it execute SECTIONS more than `done`, which are most of all then. Returns whether it went on and ended."""
    end = time.monotonic() + DEADLINE_S
    while progress.head()[0] < done + SECTIONS and time.monotonic() < end:
        time.sleep(0.001)
    os.kill(program, signal.SIGUSR1)
    while not progress.head()[1] and time.monotonic() < end:
        time.sleep(0.001)
    return progress.head()[1] != 0


def recorded_files(contrafact, folder, event):
    """How much the fullest readable file holds, of those that `info` reads or names."""
    asked = subprocess.run([contrafact, "info", folder / "run.cft"], capture_output=True, text=True, timeout=DEADLINE_S)
    held = -1
    for path in folder.glob("run.cft*"):
        if path.name == "run.cft" or str(path) in asked.stderr + asked.stdout:
            count, _ = seen(contrafact, path, event)
            held = max(held, -1 if count is None else count)
    return held, [path.name for path in folder.iterdir()], asked.stderr


def kill_recorder(contrafact, folder, options, delay_s, whole):
    progress, _, record = record_until_signal(contrafact, folder, options, stderr=subprocess.DEVNULL)
    if not progress.begins():
        record.kill()
        return ["the program did not begin"]
    program = child_of(record)
    time.sleep(delay_s)
    done = progress.head()[0]
    record.kill()
    record.wait()
    ended = end_by_signal(progress, program, done)
    status = reap(program)
    if not ended or status != 33:
        return [f"the program ended with {status}, alone with 33"]
    wrong = held_up(progress, whole)
    held, files, said = recorded_files(contrafact, folder, "lock_release")
    if held < 0:
        return wrong + [f"no readable recording: {files}; info says {said}"]
    return wrong + lost(progress, done, held)


def recorder(contrafact, base, options, count, beside=contextlib.nullcontext):
    """The program goes on, as fast as before, and ends with its own status."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wrong = []
    for number, delay_s in enumerate(delays_s(9, count, 0.3)):
        with beside():
            whole = undisturbed(contrafact, base / f"whole{number}", options)
            found = kill_recorder(contrafact, base / str(number), options, delay_s, whole)
        for text in found:
            wrong.append(f"`record` killed {delay_s * 1e3:.0f} ms after the first section: {text}")
    return wrong


def stop_recorder(contrafact, folder, options, delay_s, whole):
    progress, trace, record = record_until_signal(contrafact, folder, options, stderr=subprocess.PIPE, text=True)
    if not progress.begins():
        record.kill()
        return [f"the program did not begin\n{record.communicate()[1]}"]
    program = child_of(record)
    time.sleep(delay_s)
    record.send_signal(signal.SIGSTOP)
    ended = end_by_signal(progress, program, progress.head()[0])
    record.send_signal(signal.SIGCONT)
    err = record.communicate(timeout=DEADLINE_S)[1]
    wrong = [] if record.returncode == 33 else [f"status {record.returncode}\n{err}"]
    if not ended:
        return wrong + ["the program was held up until the recorder went on"]
    wrong += held_up(progress, whole)
    held, why = seen(contrafact, trace, "lock_release")
    return wrong + ([why] if held is None else [])


def stopped_recorder(contrafact, base, options, count):
    """Nor does a program wait for a recorder that does not run."""
    wrong = []
    for number, delay_s in enumerate(delays_s(10, count, 0.3)):
        whole = undisturbed(contrafact, base / f"whole{number}", options)
        for text in stop_recorder(contrafact, base / str(number), options, delay_s, whole):
            wrong.append(f"`record` stopped {delay_s * 1e3:.0f} ms after the first section: {text}")
    return wrong
