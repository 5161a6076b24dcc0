#!/usr/bin/env python3
"""usage: record_programs.py CONTRAFACT CLASSES --java PATH [--classes21 CLASSES] [--program NAME]... [--pass NAME]... [--jobs N]

Records the programs of test/programs on one JDK. Passes:
  facts     every program as it is and recorded: same output, errors and exit code; the trace holds the counts that the program
            prints, names its tasks by host class and line, and its contexts by file and line
  verified  every program recorded under -XX:+BytecodeVerificationLocal: same output, errors and exit code
  killed    a recorded program killed with SIGKILL: the trace is readable and says that it was cut off
  methods   a recording by a trace-config whose method counts are known, exits by exception included
Nothing is asserted about times. Temporary files only.
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

import facts as fact_rules
from recording import Recording

RUN_SECONDS_MAX = 120
PROGRAMS = pathlib.Path(__file__).parent.parent / "programs"
# Traces of these may lack what was written last: they end without hooks.
HALTED = {"programs.Halt"}


class Setup:
    def __init__(self, arguments, scratch):
        self.contrafact = arguments.contrafact
        self.java = arguments.java
        self.classes = arguments.classes
        self.classes21 = arguments.classes21
        self.scratch = pathlib.Path(scratch)

    def command(self, entry, jvm_options=()):
        classes = self.classes if entry["jdk_min"] <= 17 else self.classes21
        return [self.java, *jvm_options, "-cp", classes, entry["program"]]

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


def pass_facts(setup, entry):
    plain = run(setup.command(entry))
    trace = setup.trace(entry)
    recorded = run(setup.record(entry, trace))
    yield from differences(plain, recorded)
    try:
        recording = Recording(setup.contrafact, trace)
        printed = json.loads(plain[1].strip().split("\n")[-1])
    except (ValueError, OSError) as error:
        yield str(error)
        return
    yield from fact_rules.check(entry["program"], printed, recording, entry["program"] in HALTED)


def pass_verified(setup, entry):
    options = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"]
    yield from differences(run(setup.command(entry, options)),
                           run(setup.record(entry, setup.trace(entry, "-verified"), jvm_options=options)))


def children(pid):
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(child) for child in path.read_text().split()]
    except OSError:
        return []


GROWN_BYTES = 8192  # some thousand events; a loaded machine may need seconds until the first task


def pass_killed(setup, entry):
    """Kills the JVM, not the tool, a while after the recording has grown to more than a JVM's start makes."""
    trace = setup.trace(entry, "-killed")
    tool = subprocess.Popen(setup.record(entry, trace), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + RUN_SECONDS_MAX
    growing = pathlib.Path(trace + ".recording")
    grown = lambda: growing.exists() and growing.stat().st_size > GROWN_BYTES
    while not grown() and tool.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.8)
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
    recording = Recording(setup.contrafact, trace)
    if not recording.loss["cut_off"]:
        yield "the trace of the killed program is not marked as cut off"
    if not recording.pooled():
        yield "the trace of the killed program holds no task"


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
    calls = Recording(setup.contrafact, trace).calls()
    for name, count in expected.items():
        entered, left = calls.get(name, (0, 0))
        if (entered, left) != (count, count):
            yield f"{name}: entered {entered} times and left {left} times instead of {count}"


PASSES = {"facts": pass_facts, "verified": pass_verified, "killed": pass_killed, "methods": pass_methods}
KILLED = {"programs.KillMe"}


def chosen(pass_name, entry):
    if pass_name == "methods":
        return entry["program"] in METHODS
    if pass_name == "killed":
        return entry["program"] in KILLED
    return entry["program"] not in KILLED


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact")
    parser.add_argument("classes")
    parser.add_argument("--classes21", help="classes that need JDK 21 or newer")
    parser.add_argument("--java", required=True)
    parser.add_argument("--program", action="append", help="only these")
    parser.add_argument("--pass", action="append", dest="passes", choices=PASSES)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    release = jdk_release(arguments.java)
    entries = json.loads((PROGRAMS / "programs.json").read_text())
    entries.append({"program": "programs.KillMe", "jdk_min": 17})
    able = [e for e in entries if e["jdk_min"] <= release and (e["jdk_min"] <= 17 or arguments.classes21)]
    if arguments.program:
        able = [e for e in able if e["program"].split(".")[-1] in arguments.program]
    failed = ran = 0
    with tempfile.TemporaryDirectory(prefix="contrafact-jvm-") as scratch, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        setup = Setup(arguments, scratch)
        work = [(name, e) for name in arguments.passes or PASSES for e in able if chosen(name, e)]

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
