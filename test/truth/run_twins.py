#!/usr/bin/env python3
"""usage: run_twins.py CLASSES [--java PATH]... [--case NAME]... [--jobs N]

Runs all programs of every case, without a recorder, and checks that they print the same result, the same on every JDK.
The wall times are printed for people; nothing is asserted about them.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import time

RUN_SECONDS_MAX = 120
WORK_SAID = re.compile(r"(work_ns \d+\n)?")  # the CPU time that some say that their work took, for truth.py


def run(java, classes, main_class):
    start = time.monotonic()
    done = subprocess.run([java, "-cp", classes, main_class], capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - start


def check_case(case, javas, classes):
    results, times = set(), []
    for java in javas:
        for main_class in (case["before"], case["after"], *(other["main"] for other in case.get("others", []))):
            code, out, err, wall_s = run(java, classes, main_class)
            if code != 0 or not WORK_SAID.fullmatch(err):
                print(f"{main_class}: exit code {code}, {err.strip()}", file=sys.stderr)
                return False
            results.add(out)
            times.append(f"{wall_s:5.2f}")
    same = len(results) == 1 and next(iter(results)).startswith("result ")
    print(f"{case['name']:22} {' '.join(times)}  {'same result' if same else 'RESULTS DIFFER'}", flush=True)
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("classes")
    parser.add_argument("--java", action="append")
    parser.add_argument("--case", action="append")
    parser.add_argument("--jobs", type=int, default=1, help="cases to run at once; times mean little above 1")
    arguments = parser.parse_args()
    folder = pathlib.Path(__file__).parent
    cases = [json.loads(path.read_text()) for path in sorted(folder.glob("*/case.json"))]
    if arguments.case:
        cases = [case for case in cases if case["name"] in arguments.case]
    if not cases:
        sys.exit("no such case")
    print(f"{'case':22} before, after and other twins, seconds, for each JDK")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        ok = list(pool.map(lambda case: check_case(case, arguments.java or ["java"], arguments.classes), cases))
    sys.exit(0 if all(ok) else 1)


if __name__ == "__main__":
    main()
