#!/usr/bin/env python3
"""What recording a native program costs: pbzip2 on a generated file, plain and recorded in turns, same output; and the
nanoseconds of an uncontended lock and unlock."""

import argparse
import filecmp
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import figures
import native_workloads

lines = []  # of the section in docs/benchmarks.md


def say(line):
    print(line)
    lines.append(line)


def timed(command):
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return time.monotonic() - begin, done


def print_set_costs(options, record, folder):
    """Nanoseconds of an empty critical section, and of a read, a write and a call in one."""
    program = options.build / "bin" / "set_cost"
    ways = {"plain": [], "recorded": record + [folder / "c.cft", "--"], "with sets": record + [folder / "c.cft", "--sets=always", "--"]}
    best = {}
    for _ in range(options.runs):
        for way, before in ways.items():
            costs = [float(word) for word in timed(before + [program])[1].stdout.split()]
            best[way] = [min(pair) for pair in zip(best.get(way, costs), costs)]
    for way, (section, read, write, call) in best.items():
        say(f"critical section, {way}: {section:.1f} ns empty; each read in it {read:.2f}, write {write:.2f}, call {call:.2f}")


def numbers_of(command):
    """What lock_cost prints, and the CPU seconds of the command with all that it started."""
    before = os.times()
    done = timed(command)[1]
    after = os.times()
    spent_s = (after.children_user - before.children_user) + (after.children_system - before.children_system)
    return [float(word) for word in done.stdout.split()], spent_s


def print_lock_costs(options, record, folder):
    """An uncontended pair where the drainer keeps up; a burst, in CPU time, with the drainer's; short contended sections."""
    cost = options.build / "bin" / "lock_cost"
    pairs = 3_000_000
    recorded = record + [folder / "l.cft", "--", cost]
    plain, clocked, seen, plain_burst, burst, drained = [], [], [], [], [], []
    for _ in range(options.runs):
        (alone, with_clock), _ = numbers_of([cost])
        plain.append(alone)
        clocked.append(with_clock)
        seen.append(numbers_of(recorded)[0][0])
        plain_burst.append(numbers_of([cost, "burst", str(pairs)])[0][0])
        (each,), spent_s = numbers_of(recorded + ["burst", str(pairs)])
        burst.append(each)
        drained.append((spent_s * 1e9 - each * pairs) / pairs)
    say(f"uncontended lock and unlock: {min(plain):.1f} ns plain, {min(clocked):.1f} with two clock reads, {min(seen):.1f} recorded: "
        f"{(min(seen) - min(plain)) / (min(clocked) - min(plain)):.2f} times the clock reads")
    say(f"the same in a burst, CPU time: {min(plain_burst):.1f} ns plain, {min(burst):.1f} recorded; `record` itself {min(drained):.1f}")
    for threads, section_ns in ((2, 200), (4, 1000), (8, 1000)):
        work = ["contend", str(threads), str(section_ns), str(int(2e8 / section_ns / threads))]
        ratios = []
        for _ in range(options.runs):
            (plain_s, _), _ = numbers_of([cost, *work])
            (recorded_s, _), _ = numbers_of(recorded + work)
            ratios.append(recorded_s / plain_s)
        say(f"{threads} threads, each {section_ns} ns within a mutex and as long without: {statistics.median(ratios):.2f} times as long recorded")


def print_trace_rates(options, record, folder):
    """The paper's table 2: what complete and selective recording write, of the same run."""
    native_workloads.words(folder / "small", 1)
    command = ["sh", "-c", f"exec pbzip2 -p2 -b1 -c {folder / 'small'} > {folder / 'small.bz2'}"]
    plain_s = min(timed(command)[0] for _ in range(options.runs))
    expected = (folder / "small.bz2").read_bytes()
    say(f"pbzip2 -p2 -b1, 1 MiB: {plain_s:.3f} s plain; bytes of trace, and a second of the program's plain time")
    for way, option in (("selective, locks", []), ("selective, with sets", ["--sets=always"]), ("complete", ["--accesses"])):
        trace = folder / "rate.cft"
        seconds = timed(record + [trace, *option, "--", *command])[0]
        if (folder / "small.bz2").read_bytes() != expected:
            sys.exit(f"pbzip2's output differs when it is recorded: {way}")
        info = json.loads(timed([record[0], "info", "--json", trace])[1].stdout)
        run_s = info["duration_ns"] / 1e9
        accesses = info.get("accesses")
        what = ""
        if accesses:
            what = (f"; {accesses['count']} accesses, {accesses['lost']} lost, {accesses['count'] / run_s / 1e6:.1f} million/s, "
                    f"{info['file_bytes'] / accesses['count']:.2f} bytes each")
        say(f"  {way}: {info['file_bytes']} bytes, {info['file_bytes'] / run_s / 1e6:.3f} MB/s recorded, "
            f"{info['file_bytes'] / plain_s / 1e6:.3f} MB/s of plain time; {run_s / plain_s:.1f} times{what}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--megabytes", type=int, default=32)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    record = [options.build / "bin" / "contrafact", "record", "-q", "-o"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        native_workloads.words(folder / "in", options.megabytes)
        plain_s, recorded_s, sets_s = [], [], []
        ways = ((plain_s, "plain.bz2", []), (recorded_s, "recorded.bz2", record + [folder / "t.cft", "--"]),
                (sets_s, "sets.bz2", record + [folder / "s.cft", "--sets=always", "--"]))
        for _ in range(options.runs):
            for seconds, out, before in ways:
                command = before + ["sh", "-c", f"exec pbzip2 -p4 -c {folder / 'in'} > {folder / out}"]
                seconds.append(timed(command)[0])
        for out in ("recorded.bz2", "sets.bz2"):
            if not filecmp.cmp(folder / "plain.bz2", folder / out, shallow=False):
                sys.exit(f"pbzip2's output differs when it is recorded: {out}")
        say(f"pbzip2 -p4, {options.megabytes} MiB, {options.runs} runs each in turns: same output; shortest plain {min(plain_s):.3f} s")
        for what, seconds, trace in (("recorded", recorded_s, "t.cft"), ("with sets", sets_s, "s.cft")):
            pairs = sorted(recorded / plain for plain, recorded in zip(plain_s, seconds))
            say(f"  {what}: {min(seconds):.3f} s: {min(seconds) / min(plain_s):.3f} times; median of the pairs "
                f"{pairs[len(pairs) // 2]:.3f}; trace {(folder / trace).stat().st_size} bytes")
        print_set_costs(options, record, folder)
        print_trace_rates(options, record, folder)
        print_lock_costs(options, record, folder)
    text = "Shortest or median of runs in turns, as each line says; the same output, or the benchmark fails.\n\n"
    figures.write_section("native", "What interposing and sets cost", figures.door("native", sys.argv[2:]),
                          text + "\n".join(f"    {line}" for line in lines), {"lines": lines})


if __name__ == "__main__":
    main()
