#!/usr/bin/env python3
"""Deferred methods, the library alone: deferred.py BUILD [--events N] [--work N] [--rounds N]. A call's cost against its
stores, and every processor on a synthetic program with one to four producers."""

import argparse
import pathlib
import sys

import figures

CALL_NOTE = """
Nanoseconds of one call, the shortest of {rounds} rounds of 4,000. *Bare* are the stores that a call makes, with the buffer's
address in a register; *found*, the same through a thread-local pointer, as any call site must. The aim is twice the stores.
"""

THROUGHPUT_NOTE = """
Nanoseconds for each event, from the first to the last processed; {events:,} events in all, {work} steps of a random number
generator between two, the shortest of {rounds} runs. *Sequential* counts at every event in a lock-free table; it and the
program alone have no buffers. A synthetic program tells what the library costs, not what an analysis gains.
"""


def lines_of(command, separator=None):
    run = figures.run([str(part) for part in command])
    if run.status != 0:
        figures.fail(f"{command[0]}: exit status {run.status}: {run.errors.strip()[-600:]}")
    return [line.split(separator) for line in run.output.decode().splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--work", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    programs = options.build / "bin"

    call_rounds = 2000
    calls = lines_of([programs / "deferred_call_bench", call_rounds])
    text = figures.paragraph(CALL_NOTE.format(rounds=call_rounds))
    text += figures.markdown(["call", "bare", "found", "call", "call to found"], [
        [name, bare, found, call, f"{float(call) / float(found):.2f}"] for name, bare, found, call in calls])

    producers = [1, 2, 4]
    runs = {n: lines_of([programs / "deferred_throughput_bench", n, options.events // n, options.work, options.rounds],
                        "\t") for n in producers}
    text += "\n\n" + figures.paragraph(THROUGHPUT_NOTE.format(**vars(options)))
    rows = []
    for ways in zip(*runs.values()):
        name, capacity, queue, _ = ways[0]
        rows.append([name, capacity if capacity != "0" else "", queue if queue != "0" else "", *[way[3] for way in ways]])
    text += figures.markdown(["way", "capacity", "queue", *[f"producers: {n}" for n in producers]], rows)
    figures.write_section("deferred", "Deferred methods: the library alone", figures.door("library", sys.argv[2:]), text,
                          {"calls": calls, "throughput": runs})


main()
