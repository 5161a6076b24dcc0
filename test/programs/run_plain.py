#!/usr/bin/env python3
"""usage: run_plain.py CLASSES [--classes21 CLASSES] [--java PATH]... [--jobs N]

Runs every program of programs.json twice on each JDK, without a recorder: exit code, silence on standard error and a
last line of JSON must be as listed, and both runs must print the same. What recordings are compared with stands on this.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

RUN_SECONDS_MAX = 120


def jdk_release(java):
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    return int(re.search(r'version "(\d+)', text).group(1))


def run(java, classes, program):
    done = subprocess.run([java, "-cp", classes, program], capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    return done.returncode, done.stdout, done.stderr


def faults(entry, java, classes):
    runs = [run(java, classes, entry["program"]) for _ in range(2)]
    for code, out, err in runs:
        if code != entry["exit"]:
            yield f"exit code {code} instead of {entry['exit']}: {err.strip()}"
        if bool(err) != entry["stderr"]:
            yield f"standard error holds {err!r}"
        try:
            json.loads(out.strip().split("\n")[-1])
        except ValueError:
            yield f"the last line is no JSON: {out!r}"
    if runs[0][1] != runs[1][1]:
        yield f"two runs differ: {runs[0][1]!r} and {runs[1][1]!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("classes")
    parser.add_argument("--classes21", help="classes that need JDK 21 or newer")
    parser.add_argument("--java", action="append")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    entries = json.loads((pathlib.Path(__file__).parent / "programs.json").read_text())
    failed = ran = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for java in arguments.java or ["java"]:
            release = jdk_release(java)
            able = [e for e in entries if e["jdk_min"] <= release and (e["jdk_min"] <= 17 or arguments.classes21)]
            chosen = lambda e: arguments.classes if e["jdk_min"] <= 17 else arguments.classes21
            results = pool.map(lambda e: (e["program"], list(faults(e, java, chosen(e)))), able)
            for program, problems in results:
                ran += 1
                failed += bool(problems)
                for problem in problems:
                    print(f"{program} on JDK {release}: {problem}")
    print(f"{ran} programs run twice, {failed} failed")
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
