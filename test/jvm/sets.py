"""Records Sets.java with sets of all its sections, and compares what `contrafact ulc` says of each case's pairs of sections with what
the program knows by construction."""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

KINDS = {"null_lock": "null", "read_read": "read-read", "disjoint_write": "disjoint", "benign": "benign", "conflict": "conflict",
         "unknown": "unknown"}
FLAGS = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"]

SECOND_BODY_LINE = ":65535"  # src/classfile/second_body.h


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr}")
    return done.stdout


def case_of(site):
    """"SetsOfFields$ReadRead" of "SetsOfFields$ReadRead.a (SetsOfFields.java:12)"."""
    found = re.match(r"(Sets\w*\$\w+)", site or "")
    return found.group(1) if found else None


def kinds_by_case(rows, cases):
    kinds = collections.defaultdict(collections.Counter)
    for row in rows:
        for case in {case_of(row["first"]), case_of(row["second"])} & cases:
            kinds[case].update({name: row[kind] for kind, name in KINDS.items() if row[kind]})
    return kinds


def faults_of(options, folder, main_class, classes):
    contrafact, trace = options.build / "bin/contrafact", f"{folder}/{main_class}.cft"
    program = [options.java, *FLAGS, *options.flag, "-cp", options.build / "java" / classes, main_class, *options.case]
    printed = run([contrafact, "record", "-o", trace, "--sets=always", "--classes", "Sets*", "--", *program]).split()
    expected = dict(line.split("|") for line in printed)
    rows = json.loads(run([contrafact, "ulc", trace, "--all", "--pairs", "--top", "1000000", "--json"]))["pairs"]
    kinds = kinds_by_case(rows, expected.keys())
    faults = []
    for case, kind in expected.items():
        found = kinds[case]
        if not found or not found.keys() <= set(kind.split(",")):
            faults.append(f"{case}: {kind} is right, found are {', '.join(f'{n} {k}' for k, n in found.items()) or 'no pairs'}")
    if SECOND_BODY_LINE in run([contrafact, "export", trace, "--format", "text"]):
        faults.append(f"{main_class}: a frame or a method is said to be on the line of second bodies")
    if options.keep:
        pathlib.Path(trace).rename(options.keep)
    print(f"{main_class}: {len(expected)} cases, {len(faults)} faults")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--java", default="java")
    parser.add_argument("--jdk", type=int, default=17, help="its version")
    parser.add_argument("--case", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--flag", action="append", default=[], help="one more for the JVM, as --flag=-Xint")
    parser.add_argument("--keep", help="where to leave the last recording")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="contrafact-sets-") as folder:
        faults = faults_of(options, folder, "Sets", "jvm")
        if options.jdk >= 21:
            faults += faults_of(options, folder, "SetsVirtual", "jvm21")
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
