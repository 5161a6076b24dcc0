#!/usr/bin/env python3
"""usage: record_programs.py BUILD --java PATH [--program NAME]... [--pass NAME]... [--jobs N] [--list]

Records the programs of test/programs on one JDK, by `contrafact record` and with the classes and binaries of a build folder.
Passes:
  facts     every program as it is and recorded: same output, errors and exit code; the recording holds what expectations.py
            says
  verified  the same under -XX:+BytecodeVerificationLocal, which checks the rewritten classes of the JDK too
  killed    a recorded program killed with SIGKILL: the trace is readable and says that it was cut off
  starved   programs whose pools starve, killed then: advise says so first, and what waits for what; not so where the pool compensates
  methods   a recording by a trace-config whose method counts are known, exits by exception included
  contexts  every program, interpreted and compiled: each context that the agent's own walk of the stack finds is the one that
            JVMTI's walk gives
  specs     every spec that advise writes for the recordings of some of them can be applied; methods with a time limit are known as such
  options   the agent's own options and refusals (agent_options.py), and whose code places are (code_places.py)
--list prints what is asserted of each recording. Nothing is asserted about times. Temporary files only.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent / "golden"))

import agent_options
import code_places
import expectations
import specs_apply
from recording import Model, RecordedFile, Recording

RUN_SECONDS_MAX = 120
PROGRAMS = HERE.parent / "programs"
VERIFY = agent_options.VERIFY


def classes_of(build, entry):
    return f"{build}/java/programs" + ("" if entry["jdk_min"] <= 17 else "21")


class Setup:
    def __init__(self, arguments, scratch):
        self.build = arguments.build
        self.contrafact = f"{arguments.build}/bin/contrafact"
        self.java = arguments.java
        self.list = arguments.list
        self.scratch = pathlib.Path(scratch)

    def command(self, entry, jvm_options=()):
        return [self.java, *jvm_options, "-cp", classes_of(self.build, entry), entry["program"]]

    def trace(self, entry, suffix=""):
        return str(self.scratch / f"{entry['program']}{suffix}.cft")

    def record(self, entry, trace, options=(), jvm_options=()):
        return [self.contrafact, "record", "-q", "-o", trace, *options, "--", *self.command(entry, jvm_options)]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    return done.returncode, done.stdout, done.stderr


def jdk_release(java):
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    return int(re.search(r'version "(\d+)', text).group(1))


def differences(plain, recorded):
    for what, before, after in zip(("exit code", "standard output", "standard error"), plain, recorded):
        if before != after:
            yield f"{what} changed: {before!r} became {after!r}"


def pass_facts(setup, entry, jvm_options=(), suffix=""):
    plain = run(setup.command(entry, jvm_options))
    trace = setup.trace(entry, suffix)
    recorded = run(setup.record(entry, trace, jvm_options=jvm_options))
    yield from differences(plain, recorded)
    code, _, errors = run([setup.contrafact, "info", trace])
    if code != 0:
        yield f"info ended with {code}: {errors.strip()}"
    recording = Recording(setup.build, trace)
    counts = json.loads(plain[1].strip().split("\n")[-1])
    name = entry["program"].split(".")[-1]
    if setup.list:
        for what, _, wanted in expectations.expected(name, recording, counts):
            print(f"{name}: {what}: {wanted}")
    yield from expectations.differences(name, recording, counts)


def pass_verified(setup, entry):
    yield from pass_facts(setup, entry, VERIFY, "-verified")


# Frames are laid out by the interpreter and by each compiler. -Xcomp also makes many that are deoptimised later.
COMPILERS = {"interpreted": ["-Xint"], "tiered": [], "compiled": ["-Xcomp", "-XX:CompileOnly=programs.*"]}
# Of these so many contexts are known by their frames, at the least.
REPEATING = {"programs.ThreadPoolSubmit": 200, "programs.FutureAsync": 150, "programs.ManyThreads": 9000,
             "programs.PoolsAtOnce": 1000, "programs.VirtualThreads": 3000}


def pass_contexts(setup, entry):
    for name, options in COMPILERS.items():
        trace = setup.trace(entry, "-" + name)
        agent = f"-agentpath:{setup.build}/lib/libcontrafact_jvm.so=output={trace},strict=1,compare_contexts=1"
        code, _, errors = run(setup.command(entry, [agent, *options]))
        if code != entry["exit"]:
            yield f"{name}: exit code {code}: {errors[-400:]!r}"
            continue
        facts = RecordedFile(f"{setup.build}/bin/cft_dump", trace).facts
        if "context.walk_missing" in facts:
            yield f"{name}: the stack is not walked: no {facts['context.walk_missing']}"
        elif facts["context.different"] != "0":
            yield f"{name}: {facts['context.different']} of {facts['context.compared']} contexts differ"
        elif entry["program"] in REPEATING and int(facts["context.compared"]) < REPEATING[entry["program"]]:
            yield f"{name}: only {facts['context.compared']} contexts were found by walking the stack"


def children(pid):
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(child) for child in path.read_text().split()]
    except OSError:
        return []


def holds_tasks(setup, trace):
    """Of a recording that is still being written, which every command can read too."""
    try:
        return bool(Model(setup.contrafact, trace).pooled())
    except ValueError:
        return False


def pass_killed(setup, entry):
    """Kills the JVM, not the tool, once its recording holds tasks."""
    trace = setup.trace(entry, "-killed")
    tool = subprocess.Popen(setup.record(entry, trace), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + RUN_SECONDS_MAX
    while not holds_tasks(setup, trace + ".recording") and tool.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    jvms = children(tool.pid)
    for jvm in jvms:
        subprocess.run(["kill", "-9", str(jvm)], check=False)
    code = tool.wait(RUN_SECONDS_MAX)
    if not jvms:
        yield "the program was not running when it was to be killed"
        return
    if code != 128 + signal.SIGKILL:
        yield f"record ended with {code} instead of {128 + signal.SIGKILL}"
    info = subprocess.run([setup.contrafact, "info", trace], capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    if info.returncode != 0:
        yield f"info ended with {info.returncode}: {info.stderr.strip()}"
    elif "missing: the file has no end" not in info.stdout:
        yield f"info does not say that the recording was cut off: {info.stdout[-400:]!r} {info.stderr!r}"
    model = Model(setup.contrafact, trace)
    if not model.loss["cut_off"]:
        yield "the trace of the killed program is not marked as cut off"
    if not model.pooled():
        yield "the trace of the killed program holds no task"


# What starves, by the argument of programs.Starved: workers of how many pools, all of them waiting.
STARVED = {"one": (3, 1), "nested": (6, 2), "forkjoin": (0, 0)}


def record_starved(setup, entry, kind):
    """The trace; the JVM is killed once all wait, if it does not end."""
    trace = setup.trace(entry, "-" + kind)
    tool = subprocess.Popen([*setup.record(entry, trace), kind], stdout=subprocess.PIPE, text=True)
    line = tool.stdout.readline()
    if line == "starved\n":
        # What was committed is in the file 55 ms later at the latest (docs/format.md).
        time.sleep(0.5)
        for jvm in children(tool.pid):
            subprocess.run(["kill", "-9", str(jvm)], check=False)
    tool.wait(RUN_SECONDS_MAX)
    return trace, line


def pass_starved(setup, entry):
    for kind, (workers, pools) in STARVED.items():
        trace, line = record_starved(setup, entry, kind)
        if line != ("starved\n" if workers else "done\n"):
            yield f"{kind}: the program says {line!r}"
            continue
        shown = [run([setup.contrafact, "advise", trace, *options]) for options in ((), ("--json",))]
        if any(code != 0 for code, _, _ in shown):
            yield f"{kind}: advise ended with {[code for code, _, _ in shown]}: {shown[0][2]!r}"
            continue
        starved = json.loads(shown[1][1])["starvation"]["starved"]
        found = [(one["workers"], len(one["pools"])) for one in starved]
        if found != ([(workers, pools)] if workers else []):
            yield f"{kind}: {found} starve instead of {workers} workers of {pools} pools"
        if not workers or not starved:
            continue
        if not shown[0][1].startswith("Deadlock by starvation: "):
            yield f"{kind}: advise does not say so first: {shown[0][1][:400]!r}"
        waits = {(wait["task"].split(" ")[0], wait["where"].split("(")[0].strip(), wait["waits_for"].split(" ")[0])
                 for wait in starved[0]["waits"]}
        if {where for _, where, _ in waits} != {"Starved.ask"} or starved[0]["ended_by"] != "nothing" or \
                starved[0]["queued"] != workers:
            yield f"{kind}: {starved[0]}"


# Calls that the programs make, by method; test/programs/java says why.
METHODS = {
    "programs.NestedPools": {"programs.NestedPools.work": 42, "programs.NestedPools.main": 1},
    "programs.TaskThrows": {"programs.TaskThrows.fail": 20, "programs.TaskThrows.main": 1},
    "programs.FutureStages": {"programs.FutureStages.body": 170, "programs.FutureStages.main": 1},
    "programs.DeepStacks": {"programs.DeepStacks.recurse": 11 * 1501, "programs.DeepStacks.main": 1},
}


def pass_methods(setup, entry):
    expected = dict(METHODS[entry["program"]])
    trace = setup.trace(entry, "-methods")
    plain = run(setup.command(entry))
    if entry["program"] == "programs.FutureStages":
        expected["programs.FutureStages.body"] = json.loads(plain[1])["bodies"]
    yield from differences(plain, run(setup.record(entry, trace, ["--include", entry["program"] + ".*"])))
    calls = Model(setup.contrafact, trace).calls()
    for name, count in expected.items():
        entered, left = calls.get(name, (0, 0))
        if (entered, left) != (count, count):
            yield f"{name}: entered {entered} times and left {left} times instead of {count}"


# Pools, fork-join pools, stages, virtual threads, tasks that fail, that wait for others, that are cancelled.
SPECS = {"ThreadPoolSubmit", "ForkJoinFib", "FutureAsync", "FutureStages", "InvokeAll", "InvokeAny", "CompletionService", "TaskThrows",
         "Cancel", "TimedGet", "NestedPools", "WorkStealing", "VirtualThreads"}


# In which a `get` waits that takes a time limit.
TIMED = {"programs.TimedGet"}


def pass_specs(setup, entry):
    trace = setup.trace(entry, "-specs")
    run(setup.record(entry, trace))
    with tempfile.TemporaryDirectory(dir=setup.scratch) as folder:
        written, complaints = specs_apply.refused(setup.contrafact, trace, pathlib.Path(folder))
    yield from complaints
    # These tasks may not be moved at all.
    if not written and entry["program"] not in ("programs.Cancel", "programs.InvokeAny", "programs.TimedGet"):
        yield "no spec was written"
    facts = RecordedFile(f"{setup.build}/bin/cft_dump", trace).facts
    methods = Model(setup.contrafact, trace).methods
    timed = [methods[int(key.rsplit(".", 1)[1])][0] for key in facts if key.startswith("method.timed.")]
    if any(name.endswith(".get") for name in timed) != (entry["program"] in TIMED):
        yield f"methods with a time limit: {timed}"


def pass_options(setup, _):
    for check in agent_options.CHECKS + code_places.CHECKS:
        with tempfile.TemporaryDirectory(dir=setup.scratch) as folder:
            try:
                check(setup.build, setup.java, folder)
            except AssertionError as error:
                yield f"{check.__name__}: {error}"


PASSES = {"facts": pass_facts, "verified": pass_verified, "killed": pass_killed, "starved": pass_starved, "methods": pass_methods, "contexts": pass_contexts,
          "specs": pass_specs, "options": pass_options}
# What the other passes run on, beside programs.json.
KILLED = {"program": "programs.KillMe", "jdk_min": 17}
STARVING = {"program": "programs.Starved", "jdk_min": 17}
TRACED = {"program": "traced.Traced", "jdk_min": 17}


def chosen(pass_name, entries):
    if pass_name == "killed":
        return [KILLED]
    if pass_name == "starved":
        return [STARVING]
    if pass_name == "options":
        return [TRACED]
    if pass_name == "specs":
        return [e for e in entries if e["program"].split(".")[-1] in SPECS]
    return [e for e in entries if pass_name != "methods" or e["program"] in METHODS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--java", required=True)
    parser.add_argument("--program", action="append", help="only these")
    parser.add_argument("--pass", action="append", dest="passes", choices=PASSES)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    release = jdk_release(arguments.java)
    entries = json.loads((PROGRAMS / "programs.json").read_text())
    able = [e for e in entries if e["jdk_min"] <= release and pathlib.Path(classes_of(arguments.build, e)).exists()]
    if arguments.program:
        able = [e for e in able if e["program"].split(".")[-1] in arguments.program]
    failed = ran = 0
    with tempfile.TemporaryDirectory(prefix="contrafact-jvm-") as scratch, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        setup = Setup(arguments, scratch)
        work = [(name, e) for name in arguments.passes or PASSES for e in chosen(name, able)]

        def faults(item):
            name, entry = item
            try:
                return list(PASSES[name](setup, entry))
            except subprocess.TimeoutExpired as error:
                return [f"did not end within {RUN_SECONDS_MAX} s: {error.cmd[:4]}"]
            except ValueError as error:
                return [str(error)]

        for (name, entry), problems in zip(work, pool.map(faults, work)):
            ran += 1
            failed += bool(problems)
            for problem in problems:
                print(f"{entry['program']} ({name}, JDK {release}): {problem}", flush=True)
    print(f"JDK {release}: {ran} checks, {failed} failed")
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
