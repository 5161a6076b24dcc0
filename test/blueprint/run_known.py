#!/usr/bin/env python3
"""usage: run_known.py BUILD [--java PATH]...

A program that knows how many calls and objects it makes, profiled on each JDK with every processor and with buffers of
several sizes, and with all of the JDK profiled too: the counts must be exact, whatever the order of processing.
"""
import argparse
import sys
import tempfile

from profiled import VERIFY, Profile, own_lines, profile

OWN = ["--include", "known.*"]
CASES = [
    ["--processor", "sync"] + OWN,
    ["--processor", "sync", "--capacity", "1"] + OWN,
    ["--processor", "pool", "--consumers", "3", "--capacity", "100", "--queue", "1"] + OWN,
    ["--processor", "adaptive", "--capacity", "1000", "--queue", "4"] + OWN,
    ["--processor", "adaptive", "--memory", "1M"] + OWN,
    ["--processor", "pool", "--coalescing", "off"] + OWN,
    ["--processor", "direct"] + OWN,
    ["--processor", "direct"],
    [],  # everything, with the defaults
]


def wrong(profiled, said):
    for line in said.strip().split("\n"):
        kind, *names, count = line.split(" ")
        got = profiled.calls[tuple(names)] if kind == "call" else profiled.objects[names[0]]
        if got != int(count):
            yield f"{line}: profiled {got}"


def faults(build, java, folder, options):
    output = f"{folder}/known.json"
    done = profile(build, output, options, [java] + VERIFY + ["-cp", f"{build}/java/known", "known.Known", "virtual"])
    if done.returncode != 0:
        yield f"status {done.returncode}: {done.stderr[-1000:]}"
        return
    profiled = Profile(output)
    expected = len(done.stdout.strip().split("\n"))
    if expected < 25:
        yield f"the program says only {expected} counts"
    yield from wrong(profiled, done.stdout)
    for key in ("lost", "refused", "unseen_sites"):
        if profiled.run[key] != 0:
            yield f"{key}: {profiled.run[key]}"
    if len(own_lines(done)) != 2:
        yield f"lines: {own_lines(done)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--java", action="append")
    arguments = parser.parse_args()
    failed = ran = 0
    for java in arguments.java or ["java"]:
        for options in CASES:
            with tempfile.TemporaryDirectory() as folder:
                problems = list(faults(arguments.build, java, folder, options))
            ran += 1
            failed += bool(problems)
            for problem in problems[:10]:
                print(f"{java} {' '.join(options)}: {problem}")
    print(f"{ran} runs, {failed} failed")
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
