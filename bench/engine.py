#!/usr/bin/env python3
"""Loading and estimating, on a generated trace of a million tasks, and simulating locks: engine.py BUILD load, estimate, or simulate."""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys

import figures

LOAD_NOTE = """
Two generated traces of {tasks:,} tasks, each loaded {rounds} times, the file in the page cache: one of tasks alone, and one
with {calls} recorded method calls in each part of a request. The aim is 50 million events a second on one core. Memory is
the growth of the process's peak over its loads: 17 bytes for each event's columns, and what each task's row takes.
"""

SIMULATE_NOTE = """
A generated native run of {sections:,} critical sections: eight threads that take turns at four mutexes, on eight simulated
cores; each simulated {rounds} times on one core. Events are those of the trace that the simulation executes: acquisitions and
releases. Re-timed is one ordered pass without cores. The aim is 10 million events a second.
"""

CALLS = 8  # in each part of a request

ESTIMATE_NOTE = """
Combinations of the improvements that generated traces offer, chosen at random, at most one for each set of tasks; every
one estimated under fixed assignment (duration, means and peaks) on {threads} threads, for at most {limit_s} s. Aim:
10,000 combinations of a million tasks in less than 30 s. Several are propagated together, in lanes, while the memory that
a command may use (test/bounds) has room for them. Improvements that run tasks where they are waited for are in none
of these combinations, for lanes know none of them; a combination with one is estimated by itself, and takes what the
table says of one.
"""


def generated_trace(programs, tasks, calls=0):
    folder = figures.ROOT / "build" / "bench-traces"
    folder.mkdir(parents=True, exist_ok=True)
    trace = folder / (f"generated-{tasks}.cft" if calls == 0 else f"generated-{tasks}-{calls}.cft")
    made = subprocess.run([programs / "make_trace", trace, str(tasks), str(calls)], capture_output=True, text=True)
    if made.returncode != 0:
        figures.fail(made.stderr.strip())
    facts = dict(re.findall(r"(\w+) (\d+)", made.stdout))
    return trace, {name: int(value) for name, value in facts.items()}


def lines_of(command):
    run = figures.run([str(part) for part in command])
    if run.status != 0:
        figures.fail(f"{command[0]}: exit status {run.status}: {run.errors.strip()[-600:]}")
    return [line.split() for line in run.output.decode().splitlines()]


def load_one(programs, tasks, calls, rounds):
    trace, facts = generated_trace(programs, tasks, calls)
    loads = [[int(word) for word in line] for line in lines_of([programs / "load_bench", trace, str(rounds)])]
    if any(events != facts["events"] for events, *_ in loads):
        figures.fail(f"of {facts['events']} events {loads[0][0]} were loaded")
    wall = [events / (wall_ns / 1e9) / 1e6 for events, wall_ns, _, _ in loads]
    cpu = [events / (cpu_ns / 1e9) / 1e6 for events, _, cpu_ns, _ in loads]
    return {"wall": wall, "cpu": cpu, "bytes_each": loads[-1][3] / facts["events"], **facts}


def load(programs, tasks, rounds):
    traces = {"tasks": load_one(programs, tasks, 0, rounds), "calls": load_one(programs, tasks, CALLS, rounds)}
    text = figures.paragraph(LOAD_NOTE.format(calls=CALLS, rounds=rounds, tasks=traces["tasks"]["tasks"]))
    each = list(traces.values())
    text += figures.markdown(["", "tasks alone", "with method calls"], [
        ["events", *(f"{one['events']:,}" for one in each)],
        ["bytes of the file for each event", *(f"{one['bytes'] / one['events']:.2f}" for one in each)],
        ["million events loaded per second, median (min to max)", *(figures.spread(one["wall"], 1) for one in each)],
        ["the same of CPU time", *(figures.spread(one["cpu"], 1) for one in each)],
        ["bytes of memory for each event", *(f"{one['bytes_each']:.1f}" for one in each)]])
    figures.write_section("load", "Loading a trace", figures.door("load", sys.argv[3:]), text, traces)


def estimate(programs, sizes, combinations, limit_s):
    threads, load = os.cpu_count(), os.getloadavg()[0]
    runs = [estimate_one(programs, tasks, combinations, threads, limit_s) for tasks in sizes]
    text = figures.paragraph(ESTIMATE_NOTE.format(threads=threads, limit_s=limit_s))
    text += figures.markdown(["", *(f"{one['tasks']:,} tasks" for one in runs)], [
        ["events", *(f"{one['events']:,}" for one in runs)],
        ["improvements, and those at waits among them", *(f"{one['candidates']}, {one['at_wait']}" for one in runs)],
        ["combinations estimated", *(f"{one['estimated']:,} of {combinations:,}" for one in runs)],
        ["of these, estimated one by one", *(f"{one['alone']:,}" for one in runs)],
        ["combinations refused, for the program would wait for itself", *(f"{one['refused']:,}" for one in runs)],
        ["in lanes", *("yes" if one["lanes"] else "no room" for one in runs)],
        ["estimates per second", *(f"{one['rate']:.1f}" for one in runs)],
        [f"{combinations:,} combinations", *(one["took"] for one in runs)],
        ["processor time for each", *(f"{one['cpu_each_ms']:.1f} ms" for one in runs)],
        ["one estimated by itself", *(f"{one['one_ns'] / 1e6:.1f} ms" for one in runs)],
        ["the common order of all combinations, once", *(f"{one['compile_ns'] / 1e9:.2f} s" for one in runs)],
        ["the DAG, once", *(f"{one['create_ns'] / 1e9:.2f} s" for one in runs)],
        ["finding the improvements, once", *(f"{one['candidates_ns'] / 1e9:.2f} s" for one in runs)],
        ["peak memory", *(f"{one['peak_kib'] / 1024:,.0f} MiB" for one in runs)]])
    text += f"\n\nThe machine's load before was {load:.1f}.\n"
    figures.write_section("estimate", "Estimating", figures.door("estimate", sys.argv[3:]), text, runs)


def estimate_one(programs, tasks, combinations, threads, limit_s):
    trace, _ = generated_trace(programs, tasks)
    [words] = lines_of([programs / "estimate_bench", trace, str(combinations), str(threads), str(limit_s)])
    values = {name: int(value) for name, value in zip(words[::2], words[1::2])}
    spent_s = values["spent_ns"] / 1e9
    values["rate"] = values["estimated"] / spent_s
    whole = values["estimated"] + values["refused"] == combinations
    values["took"] = f"{spent_s:.1f} s" if whole else f"{combinations / values['rate']:,.0f} s at this rate"
    values["cpu_each_ms"] = values["cpu_ns"] / values["estimated"] / 1e6
    return values


def simulate(programs, sections, rounds):
    runs = {}
    for words in lines_of([programs / "simulate_bench", str(sections), str(rounds)]):
        if words[0] != "rule":
            continue
        values = dict(zip(words[::2], words[1::2]))
        runs.setdefault(values["rule"], []).append(values)
    text = figures.paragraph(SIMULATE_NOTE.format(sections=sections, rounds=rounds))
    rows = []
    for rule, each in runs.items():
        if len({values["duration_ns"] for values in each}) > 1:
            figures.fail(f"{rule}: equal inputs gave different durations")
        rates = [int(values["events"]) / int(values["wall_ns"]) * 1e3 for values in each]
        rows.append([rule, figures.spread(rates, 1)])
    text += figures.markdown(["order of locks", "million events a second, median (min to max)"], rows)
    figures.write_section("simulate", "Simulating locks", figures.door("simulate", sys.argv[3:]), text, runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with bin/make_trace and its like")
    parser.add_argument("what", choices=["load", "estimate", "simulate"])
    parser.add_argument("--tasks", type=int, default=1_000_000, help="tasks in the trace (default a million); estimate has "
                        "one of a tenth, too")
    parser.add_argument("--rounds", type=int, default=7, help="repetitions (default 7)")
    parser.add_argument("--combinations", type=int, default=10_000, help="to estimate (default 10,000)")
    parser.add_argument("--sections", type=int, default=2_000_000, help="critical sections to simulate (default 2 million)")
    parser.add_argument("--limit", type=int, default=60, help="seconds after which estimating stops (default 60)")
    options = parser.parse_args()
    programs = pathlib.Path(options.build).resolve() / "bin"
    if options.what == "load":
        load(programs, options.tasks, options.rounds)
    elif options.what == "simulate":
        simulate(programs, options.sections, options.rounds)
    else:
        estimate(programs, [options.tasks // 10, options.tasks], options.combinations, options.limit)


if __name__ == "__main__":
    sys.exit(main())
