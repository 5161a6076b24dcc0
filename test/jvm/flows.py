"""Records Flows.java with the information flow between all its sections, and compares which sections get information from which with what
the program knows by construction."""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import recording

FLAGS = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"]
OUTSIDE = "-"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr}")
    return done.stdout


def flows_by_case(file):
    """Of each case the set of "b<a direct": sections by the methods in which they begin."""
    site_of, into = {}, {}
    flows = collections.defaultdict(set)
    for events in file.events.values():
        acquired = None
        for _, kind, operands in events:
            if kind in ("lock_acquire", "lock_request"):
                acquired = operands[1]
            elif kind == "section_taint":
                name, method = file.stack(acquired)[0][:2]
                site_of[operands[0]] = (name, method)
    for events in file.events.values():
        target = None
        for _, kind, operands in events:
            if kind == "flow_into":
                target = operands[0]
            elif kind == "flow_from":
                case, source = site_of[operands[0]]
                name, method = (case, OUTSIDE) if target in (OUTSIDE, "4294967295") else site_of[target]
                flows[case if case == name else f"{case} to {name}"].add(f"{method}<{source} {KINDS[operands[1]]}")
    return flows


KINDS = {"0": "direct", "1": "indirect", "2": "control"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--java", default="java")
    parser.add_argument("--case", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--flag", action="append", default=[], help="one more for the JVM, as --flag=-Xint")
    options = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory(prefix="contrafact-flows-") as folder:
        trace = f"{folder}/flows.cft"
        program = [options.java, *FLAGS, *options.flag, "-cp", options.build / "java/jvm", "Flows", *options.case]
        printed = run([options.build / "bin/contrafact", "record", "-o", trace, "--flow=always", "--classes", "Flows*", "--", *program])
        file = recording.RecordedFile(f"{options.build}/bin/cft_dump", trace)
    flows = flows_by_case(file)
    expected = {case: set(filter(None, text.split(","))) for case, text in (line.split("|") for line in printed.split("\n") if line)}
    for case, right in expected.items():
        if flows[case] != right:
            faults.append(f"{case}: missing {sorted(right - flows[case])}, too much {sorted(flows[case] - right)}")
    faults += [f"{case}: {sorted(found)}" for case, found in flows.items() if case not in expected and found]
    print(f"{len(expected)} cases, {len(faults)} faults")
    for fault in faults:
        print(fault)
    sys.exit(1 if faults or not expected else 0)


if __name__ == "__main__":
    main()
