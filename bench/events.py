#!/usr/bin/env python3
"""Nanoseconds for each kind of event. bench/events/EventCosts.java measures operations that make known events; recorded
and plain JVMs take turns. What an operation costs more when recorded, over the events that the trace holds for it, is
the cost of an event, set against the bare clock read of the same JVM."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import figures

MAIN = "EventCosts"
# Case -> what one operation does.
CASES = {
    "method": "a small method's entry and exit, against its untraced twin",
    "park": "LockSupport.unpark of the own thread, then park",
    "monitor": "a synchronized block that nobody waits for",
    "lock": "lock and unlock of a ReentrantLock that nobody waits for",
    "chosen_monitor": "the same block, in a chosen class (--classes)",
    "chosen_lock": "the same lock, in a chosen class",
    "stage": "a dependent stage of a completed CompletableFuture, and join",
    "fork_join": "fork and join on the pool's one worker",
    "pool_batch": "submit and get, 1000 tasks at a time, a pool of one",
    "pool_round_trip": "submit, run, get: one task at a time, a pool of one",
    "supply_async": "CompletableFuture.supplyAsync and join, a pool of one",
    "thread": "start and join of a thread",
}
# Two threads take part, and waking the other one costs microseconds that vary more than an event costs.
HANDED_OVER = {"pool_batch", "pool_round_trip", "supply_async", "thread"}


def command(classes, case):
    return [figures.java(), "-XX:CompileCommand=quiet", f"-XX:CompileCommand=dontinline,{MAIN}$*.step",
            "-cp", str(classes), MAIN, case]


def measure(classes, case, recorder=None, trace=None):
    """Loop -> (operations, minimum ns, median ns), of one JVM."""
    before = []
    if recorder:
        before = [recorder, "record", "-o", str(trace)]
        if case == "method":
            before += ["--include", f"{MAIN}$Traced"]
        if case.startswith("chosen_"):
            before += ["--classes", f"{MAIN}$Guarded"]
        before.append("--")
    run = figures.run([*before, *command(classes, case)])
    if run.status != 0:
        figures.fail(f"{case}: exit status {run.status}: {run.errors.strip()[-600:]}")
    loops = {}
    for line in run.output.decode().splitlines():
        name, operations, least, median = line.split()
        loops[name] = (int(operations), float(least), float(median))
    return loops


def least(runs, loop):
    return min(run[loop][1] for run in runs)


def middle(runs, loop):
    return statistics.median(run[loop][2] for run in runs)


def one_case(contrafact, classes, case, rounds, trace):
    plain, recorded = [], []
    for _ in range(rounds):
        plain.append(measure(classes, case))
        recorded.append(measure(classes, case, contrafact, trace))
    facts = figures.trace_facts(contrafact, trace)
    operations = recorded[-1][case][0]
    events_each = (facts["events"] + facts["dropped"]) / operations
    clock_ns = least(recorded, "clock_read") - least(recorded, "empty_loop")
    base = (recorded, "untraced") if case == "method" else (plain, case)
    added = {"least": least(recorded, case) - least(*base), "median": middle(recorded, case) - middle(*base)}
    return {
        "case": case, "what": CASES[case], "clock_ns": clock_ns, "empty_loop_ns": least(recorded, "empty_loop"),
        "plain_ns": [least(*base), middle(*base)], "recorded_ns": [least(recorded, case), middle(recorded, case)],
        "events_each": events_each, "dropped": facts["dropped"],
        "kinds": {kind: count / operations for kind, count in facts["kinds"].items() if count / operations > 0.05},
        "event_ns": [added["least"] / events_each, added["median"] / events_each] if events_each > 0.01 else None,
    }


def row(value):
    cells = [f"{value['what']}{' (*)' if value['case'] in HANDED_OVER else ''}"]
    cells += [f"{least:.1f} / {median:.1f}" for least, median in (value["plain_ns"], value["recorded_ns"])]
    kinds = ", ".join(kind if round(each, 1) == 1 else f"{each:.1f} {kind}" for kind, each in value["kinds"].items())
    cells.append(f"{value['events_each']:.2f}: {kinds}" if kinds else f"{value['events_each']:.2f}")
    if value["event_ns"] is None:
        return cells + ["no event", "", f"{value['dropped']:,}"]
    least, median = value["event_ns"]
    return cells + [f"{least:.1f} / {median:.1f}", f"{least / value['clock_ns']:.2f}", f"{value['dropped']:,}"]


def native(program):
    """Rows of the recorder's own benchmark: appending an event from C++, no JVM around it."""
    run = figures.run([str(program), "--benchmark_format=json", "--benchmark_repetitions=9"])
    if run.status != 0:
        figures.fail(f"{program}: exit status {run.status}: {run.errors.strip()[-600:]}")
    times = {}
    for one in json.loads(run.output)["benchmarks"]:
        if one["run_type"] == "iteration":
            # CPU time of the appending thread; benchmarks of many events an iteration say how many a second.
            each = 1e9 / one["items_per_second"] if "items_per_second" in one else one["cpu_time"]
            times.setdefault(one["run_name"], []).append(each)
    return times


def native_table(times):
    clock_ns = min(times["BM_ClockRead"])
    rows = []
    for name, each in times.items():
        least, median = min(each), statistics.median(each)
        rows.append([name.removeprefix("BM_"), f"{least:.1f} / {median:.1f}", f"{least / clock_ns:.2f}"])
    return figures.markdown(["appended from C++, CPU time of the thread", "ns", "over the clock read"], rows)


HEADER = ["operation", "plain, ns", "recorded, ns", "events each", "added, ns for each event", "over the clock read",
          "dropped"]

NOTE = """
Minimum / median. The clock read alone, System.nanoTime less the empty loop around it, was {least:.1f} to {most:.1f} ns,
an empty loop {empty:.1f} ns. The aim is 1.5 clock reads for an event. "Events each" is what the trace holds, divided by
the operations done. The bursts are short, so that the drainer keeps up: this is what an event costs the thread that
makes it. Operations with (*) hand work to another thread: their times vary by more than events cost.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with bin/contrafact")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of JVMs for each case (default 3)")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    options = parser.parse_args()
    folder = figures.ROOT / "build" / "bench-traces"
    classes = figures.ROOT / "build" / "bench-programs" / "events"
    folder.mkdir(parents=True, exist_ok=True)
    source = figures.ROOT / "bench" / "events" / f"{MAIN}.java"
    subprocess.run(["javac", "--release", "17", "-d", str(classes), str(source)], check=True)
    contrafact = pathlib.Path(options.build).resolve() / "bin" / "contrafact"
    values = []
    for case in options.case or CASES:
        figures.say(case)
        values.append(one_case(str(contrafact), classes, case, options.rounds, folder / f"event-{case}.cft"))
    clocks = [value["clock_ns"] for value in values]
    empty_ns = min(value["empty_loop_ns"] for value in values)
    text = figures.paragraph(NOTE.format(least=min(clocks), most=max(clocks), empty=empty_ns))
    text += figures.markdown(HEADER, [row(value) for value in values])
    times = native(contrafact.parent / "append_bench")
    text += "\n\n" + native_table(times)
    figures.write_section("events", "What an event costs the thread that makes it",
                          figures.door("events", sys.argv[2:]), text, {"jvm": values, "native": times})


if __name__ == "__main__":
    sys.exit(main())
