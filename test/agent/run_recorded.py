#!/usr/bin/env python3
"""usage: run_recorded.py BUILD [--java PATH]... [--jobs N] [PROGRAM...]

Runs every test program plain and recorded on each JDK: output and exit code must be the same, and the recording must
show what the program says of itself (expectations.py). The rewritten classes of the JDK are verified too.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import expectations
from recording import Recording

RUN_SECONDS_MAX = 120
HERE = pathlib.Path(__file__).parent
VERIFY = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"]


def jdk_release(java):
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    return int(re.search(r'version "(\d+)', text).group(1))


def agent_arguments(build, output, options=""):
    return [f"-agentpath:{build}/lib/libcontrafact_jvm.so=output={output},strict=1,cpu_switches=0{options}"] + VERIFY


def run(java, arguments):
    return subprocess.run([java] + arguments, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)


def faults(build, java, classes, entry):
    program = entry["program"]
    plain = run(java, ["-cp", classes, program])
    with tempfile.TemporaryDirectory() as folder:
        output = f"{folder}/run.cft"
        recorded = run(java, agent_arguments(build, output) + ["-cp", classes, program])
        if recorded.returncode != plain.returncode:
            yield f"exit code {recorded.returncode} instead of {plain.returncode}"
        if recorded.stdout != plain.stdout:
            yield f"output {recorded.stdout!r} instead of {plain.stdout!r}"
        if recorded.stderr != plain.stderr:
            yield f"errors {recorded.stderr[:2000]!r} instead of {plain.stderr!r}"
        recording = Recording(f"{build}/bin/cft_dump", output)
    yield from list(recording.faults())[:5]
    if recording.facts.get("probe.refused") != "0" or "probe.missing" in recording.facts:
        yield f"probes: {[f for f in recording.facts.items() if f[0].startswith('probe')]}"
    counts = json.loads(plain.stdout.strip().split("\n")[-1])
    for check in expectations.CHECKS[program.split(".")[1]]:
        for what, got, wanted in check(recording, counts):
            if got != wanted:
                yield f"{what}: recorded {got}, expected {wanted}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--java", action="append")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    entries = json.loads((HERE.parent / "programs" / "programs.json").read_text())
    if arguments.programs:
        entries = [e for e in entries if e["program"].split(".")[1] in arguments.programs]
    failed = ran = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for java in arguments.java or ["java"]:
            release = jdk_release(java)
            able = [e for e in entries if e["jdk_min"] <= release]
            folder = lambda e: f"{arguments.build}/java/programs" + ("" if e["jdk_min"] <= 17 else "21")
            results = pool.map(lambda e: (e["program"], list(faults(arguments.build, java, folder(e), e))), able)
            for program, problems in results:
                ran += 1
                failed += bool(problems)
                for problem in problems:
                    print(f"{program} on JDK {release}: {problem}")
    print(f"{ran} programs recorded, {failed} failed")
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
