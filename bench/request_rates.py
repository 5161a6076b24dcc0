#!/usr/bin/env python3
"""How many requests a minute are simulated on one core, of generated recordings with requests of several sizes and of a recording of
the example server; and what the whole command `contrafact load` takes for each. Processor time, so that others' load matters little."""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

import figures
import server

CLIENTS = 64
SHORT, LONG = 2_000, 100_000  # requests of a simulation: as `contrafact load` has by default, and so many that its beginning is nothing
REQUESTS = 200_000  # in all, for each of both, less for large requests
PARTS = (0, 4, 40)  # tasks that a generated request hands out and waits for, one after the other
RECORDED = 400  # generated requests
EVENTS_PER_ROUND_MAX = 20_000_000

NOTE = """
Requests simulated a minute on one core ({clients} clients that do not think; and open requests at the recorded rate), of recordings with
requests of several sizes: generated ones, whose requests sleep once and hand out 0, 4 or 40 tasks that they wait for one after the other, and
`examples/api-server`, recorded under `wrk` with four connections. {rounds} rounds each, one thread, processor time of user and kernel. *Short* simulations are of {short:,} requests each,
as `contrafact load` makes them by default; *long* ones of {long:,}. Of the command all is counted: reading the trace, finding the requests, the curve, the saturation and what limits it.
The aim is 10 million a minute. Events (of the recording, by its requests) are what simulating takes time for: how many a second says for
which size of request the aim is met.
"""


def generated(parts):
    """A recording in text: `RECORDED` requests on a pool of two workers, one after the other."""
    lines = ["fact cores 2", "method m1 shop.Main.main Main.java:1", "method m2 shop.Job.run Job.java:1", "method m3 shop.Part.run Part.java:1",
             "context c1 - m1:7", "context c2 - m2:9", "pool p thread_pool 2 2", "pool q thread_pool 8 8", "thread main", "thread w1", "thread w2",
             "connection a accepted 80 5001", "connection b accepted 80 5002"]
    hand_outs, serving, helping, task = [], [], [], 0
    part_ns, own_ns = 1_000_000, 500_000
    gap_ns = 2 * (parts * part_ns + 4 * own_ns)
    for number in range(RECORDED):
        at, connection = number * gap_ns, "ab"[number % 2]
        task += 1
        root = task
        hand_outs.append(f"{at} main task_spawn t{root} c1 p m2")
        serving += [f"{at} w1 task_start t{root}", f"{at} w1 receive {connection} 100"]
        for _ in range(parts):
            task += 1
            serving += [f"{at} w1 task_spawn t{task} c2 q m3", f"{at} w1 wait_begin t{task} c2", f"{at + part_ns} w1 wait_end t{task}"]
            helping += [f"{at} w2 task_start t{task}", f"{at + 100_000} w2 block_begin sleep -", f"{at + part_ns} w2 block_end sleep",
                        f"{at + part_ns} w2 task_end t{task}"]
            at += part_ns
        serving += [f"{at + own_ns} w1 block_begin sleep -", f"{at + 3 * own_ns} w1 block_end sleep", f"{at + 3 * own_ns} w1 send {connection} 200",
                    f"{at + 3 * own_ns} w1 task_end t{root}"]
    return "\n".join([*lines, *hand_outs, *serving, *helping]) + "\n"


def recorded(contrafact, build, folder):
    """The example server under a moderate load, as bench/server.py records it."""
    cores = sorted(os.sched_getaffinity(0))
    trace = folder / "server.cft"
    jar = build / "java" / "api-server.jar"
    with server.serving(cores[0], [contrafact, "record", "--warm", "-o", trace, "--", figures.java(), "-jar", jar], folder) as port:
        server.ask(port, cores[-1], server.RECORDED_CONNECTIONS, server.RECORDED_S)
    return trace


def lines_of(command):
    run = figures.run([str(word) for word in command])
    if run.status != 0:
        figures.fail(f"{pathlib.Path(str(command[0])).name}: exit status {run.status}: {run.errors.strip()[-600:]}")
    return run, [line.split() for line in run.output.decode().splitlines()]


def rates(programs, trace, each, events_each, rounds):
    """By load: millions of requests a minute, of each round, in simulations of so many requests."""
    total = int(max(each, min(REQUESTS, EVENTS_PER_ROUND_MAX / max(1.0, events_each))))
    found = {}
    for line in lines_of([programs / "requests_bench", trace, CLIENTS, each, max(1, total // each), rounds])[1]:
        values = dict(zip(line[2::2], line[3::2]))
        if line[1] != "trace":
            seconds = int(values["processor_ns"]) / 1e9
            found.setdefault(line[1], []).append(int(values["requests"]) / seconds * 60 / 1e6)
    return found


def measure(contrafact, programs, name, trace, rounds):
    figures.say(name)
    line = lines_of([programs / "requests_bench", trace, 1, 10, 1, 1])[1][0]
    facts = dict(zip(line[2::2], map(float, line[3::2])))
    value = {"name": name, "events_each": facts["events_each"], "drawn": int(facts["drawn"])}
    for length, each in (("short", SHORT), ("long", LONG)):
        value[length] = rates(programs, trace, each, facts["events_each"], rounds)
    value["load_s"] = [lines_of([contrafact, "load", trace, "--json", "-q"])[0].cpu_s for _ in range(rounds)]
    return value


def row(value):
    events_per_s = statistics.median(value["short"]["closed"]) / 60 * value["events_each"]
    return [value["name"], f"{value['events_each']:.0f}", f"{value['drawn']:,}", *[figures.spread(value[length][load], 2)
            for load in ("closed", "open") for length in ("short", "long")], f"{events_per_s:.1f}", f"{statistics.median(value['load_s']):.2f} s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with bin/requests_bench and java/api-server.jar")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trace", type=pathlib.Path, action="append", default=[], help="a further recording of a service")
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    contrafact, programs = build / "bin" / "contrafact", build / "bin"
    with tempfile.TemporaryDirectory(prefix="contrafact-requests-") as name:
        folder, values = pathlib.Path(name), []
        for parts in PARTS:
            trace = folder / f"generated-{parts}.txt"
            trace.write_text(generated(parts), encoding="utf-8")
            values.append(measure(contrafact, programs, f"generated, {parts} tasks", trace, options.rounds))
        values.append(measure(contrafact, programs, "api-server", recorded(contrafact, build, folder), options.rounds))
        values += [measure(contrafact, programs, trace.stem, trace.resolve(), options.rounds) for trace in options.trace]
    text = figures.paragraph(NOTE.format(clients=CLIENTS, rounds=options.rounds, short=SHORT, long=LONG))
    text += figures.markdown(["requests of", "events each", "requests drawn from", "closed: million a minute, short", "long", "open: million a minute, short",
                              "long", "million events a second", "`load`, processor time"], [row(value) for value in values])
    figures.write_section("requests", "Simulating requests", figures.door("requests", sys.argv[2:]), text, values)


if __name__ == "__main__":
    sys.exit(main())
