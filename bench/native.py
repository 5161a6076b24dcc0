#!/usr/bin/env python3
"""What recording a native program costs: pbzip2 on a generated file, plain and recorded in turns, same output; and the
nanoseconds of an uncontended lock and unlock."""

import argparse
import filecmp
import pathlib
import random
import subprocess
import sys
import tempfile
import time


def generate(path, megabytes):
    """Text that compresses to about a third, the same each time."""
    source = random.Random(1)
    words = ["".join(source.choices("etaoinshrdlu", k=source.randint(2, 9))) for _ in range(5000)]
    with open(path, "w", encoding="ascii") as out:
        while out.tell() < megabytes << 20:
            out.write(" ".join(source.choices(words, k=2000)) + "\n")


def timed(command):
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return time.monotonic() - begin, done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--megabytes", type=int, default=32)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    record = [options.build / "bin" / "contrafact", "record", "-q", "-o"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        generate(folder / "in", options.megabytes)
        plain_s, recorded_s = [], []
        for _ in range(options.runs):
            for seconds, out, before in ((plain_s, "plain.bz2", []), (recorded_s, "recorded.bz2", record + [folder / "t.cft", "--"])):
                command = before + ["sh", "-c", f"exec pbzip2 -p4 -c {folder / 'in'} > {folder / out}"]
                seconds.append(timed(command)[0])
        if not filecmp.cmp(folder / "plain.bz2", folder / "recorded.bz2", shallow=False):
            sys.exit("pbzip2's output differs when it is recorded")
        pairs = [recorded / plain for plain, recorded in zip(plain_s, recorded_s)]
        print(f"pbzip2 -p4, {options.megabytes} MiB, {options.runs} runs each in turns: same output; shortest plain {min(plain_s):.3f} s, "
              f"recorded {min(recorded_s):.3f} s: {min(recorded_s) / min(plain_s):.3f} times; "
              f"median of the pairs {sorted(pairs)[len(pairs) // 2]:.3f}")
        print(f"trace: {(folder / 't.cft').stat().st_size} bytes")
        cost = options.build / "bin" / "lock_cost"
        plain_ns, recorded_ns = [], []
        for _ in range(options.runs):
            plain_ns.append(float(timed([cost])[1].stdout))
            recorded_ns.append(float(timed(record + [folder / "l.cft", "--", cost])[1].stdout))
        print(f"uncontended lock and unlock: {min(plain_ns):.1f} ns plain, {min(recorded_ns):.1f} ns recorded")


if __name__ == "__main__":
    main()
