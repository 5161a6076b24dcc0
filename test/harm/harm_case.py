"""A case: a command in a folder of its own, run plain and then recorded in each of its ways, and the two runs held against each other."""

import dataclasses
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

WAYS = {"plain recording": [], "sets": ["--sets=always"], "children": ["--children"]}
FURTHER_WAYS = {"children with sets": ["--children", "--sets=always"], "accesses": ["--accesses"]}
SET_WINDOWS = {"windows of sets": ["--sets=20ms/60ms"]}
DEADLINE_S = 20
NAMED_MAX = 5  # recordings of further processes that are looked at
NOT_MEASURED = 77  # what CTest counts as skipped
SLOWER_S_MAX = 3  # of a recorded run, beside what it takes plain
TRIES = {"strace": ["strace", "-f", "-o", "/dev/null", "true"]}  # of tools that a machine may have and forbid
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
    possible: list = dataclasses.field(default_factory=list)  # a command: where it fails the machine forbids what is measured
    java: str = ""            # a source here, compiled first, whose arguments the command is
    before: list = dataclasses.field(default_factory=list)  # run once, plain, in the folder "before" beside those of the runs
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
    took_s: float


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
    begin_s = time.monotonic()
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
    took_s = time.monotonic() - begin_s
    if isinstance(status, int) and status < 0:
        status = 128 - status  # as a shell says it, and `record` too
    return Run(status, out.decode(errors="replace"), err.decode(errors="replace"), contents(folder), folder, took_s)


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
    """What is wrong with the recordings of further processes: each is named, by its own name or by a pattern behind a count of those
    that are not, and can be read."""
    others = sorted(path for path in trace.parent.iterdir() if path != trace)
    match = re.search(r"the program started (\d+) more process.* own: (.*?)(?: and (\d+) more: (.+))?$", said, re.MULTILINE)
    count, names, more, pattern = match.groups() if match else ("0", "", None, None)
    wrong = []
    if len(others) != int(count):
        wrong.append(f"{match[0] if match else 'no further process'} is said, but there are {[path.name for path in others]}")
    by_pattern = [path for path in others if str(path) not in names.split(", ")]
    if len(by_pattern) != int(more or 0):
        wrong.append(f"{more or 0} more are said, but these are not named: {[path.name for path in by_pattern]}")
    for path in by_pattern:
        if not pattern or path not in (pathlib.Path(name) for name in glob.glob(pattern)):
            wrong.append(f"{path} is not named, by itself or by the pattern {pattern}")
    for path in others[:NAMED_MAX]:
        done = subprocess.run([contrafact, "info", path], capture_output=True, text=True, timeout=DEADLINE_S)
        if done.returncode != 0:
            wrong.append(f"{path.name} cannot be read: {done.stderr}")
    return wrong


def slower(plain, recorded):
    """What waits at the program's end, or at a call, for something that does not come."""
    if recorded.took_s - plain.took_s <= SLOWER_S_MAX:
        return []
    return [f"took {recorded.took_s:.1f} s, plain {plain.took_s:.1f} s: {SLOWER_S_MAX} s more at most"]


def forbidden(command):
    """Why this machine does not do what a case is about."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S)
    return "" if done.returncode == 0 else f"{' '.join(command)}: {done.stderr.strip() or f'status {done.returncode}'}"


def not_measured(why):
    print(f"not measured: {why}")
    sys.exit(NOT_MEASURED)


def judge_case(contrafact, name, base):
    chosen = CASES[name]
    if chosen.needs and not shutil.which(chosen.needs):
        not_measured(f"there is no {chosen.needs}")
    tries = TRIES.get(chosen.needs, chosen.possible)
    if tries and (why := forbidden(tries)):
        not_measured(why)
    if chosen.run:
        return chosen.run(contrafact, base)
    command = (java_program(chosen.java, base / "classes") if chosen.java else []) + program(chosen.command, contrafact.parent)
    around = program(chosen.around, contrafact.parent)
    environment = dict(zip(chosen.environment, program(chosen.environment.values(), contrafact.parent)))
    if chosen.before and (before := run(program(chosen.before, contrafact.parent), base / "before", environment)).status != 0:
        return [f"what is run before ended with {before.status}: {before.err}"]
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
            record = [str(contrafact), "record", "-o", str(trace), *(WAYS | FURTHER_WAYS | SET_WINDOWS)[way], "--"]
            recorded = run(around + record + command, folder, environment)
            found = differences(plain, recorded, chosen.ignored)
            if not chosen.java:  # a JVM takes its time to load an agent
                found += slower(plain, recorded)
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
