#!/usr/bin/env python3
"""What recording requests adds to recording: processor time of servers under the same requests, plain, recorded, and recorded without what
requests are found by (the calls that receive and send, their connections, what requests ask for); native and JVM, in turns."""

import argparse
import contextlib
import math
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import figures

SOURCES = figures.ROOT / "bench" / "sockets"
CONNECTIONS = 4
NATIVE_WARM_UP, JVM_WARM_UP = 5_000, 60_000  # requests: so many until a JVM has compiled what they run
ASK_LIMIT_S = 300
# Student's t, 97.5 %, by degrees of freedom; then the normal's.
T_975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 11: 2.201, 14: 2.145, 19: 2.093, 29: 2.045}
# The classes whose probes record a JVM's receives and sends, and what its HttpServer is asked for. A copy of the agent in which they have other names,
# of the same length, finds none of them.
PROBED = (b"sun/nio/ch/SocketDispatcher", b"sun/net/httpserver/ExchangeImpl")

NOTE = """
Two servers that answer {native:,} and {jvm:,} requests after {native_warm:,} and {jvm_warm:,} that warm them up, on four connections that one client uses in turn, each request some 10 us of computing: `bench/sockets/answer.cc`, a thread for each
connection, and `bench/sockets/Answer.java`, the JDK's `HttpServer`. Processor time of the server's process alone, user's and all, for each request: it has the agent's work in it, and for a JVM the writing of the trace, not that of `contrafact record` beside a native
program. Nothing switches the recording of requests off, so the ways to do without it are: the native server accepts its connections by a bare system call, which the agent does not see, so
that they are files to it; the JVM is recorded by a copy of the agent in which the names of the classes that it edits for it ({classes}) are other ones. All else is recorded as ever, the
waits for requests, too. {rounds} rounds in turns; ratios of the same round, the mean with its 95 % interval (Student's t, of the ratios' logarithms).
"""


@contextlib.contextmanager
def serving(command, core):
    """(port, lines that it prints: read at the end) of a server, which is ended with SIGTERM."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(["taskset", "-c", str(core), *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            line = process.stdout.readline()
            found = re.match(r"serving on (\d+)", line)
            if not found:
                errors.seek(0)
                figures.fail(f"the server did not start: {line.strip()} {errors.read().strip()[-400:]}")
            yield int(found[1]), process.stdout
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def one_run(options, command, warm_up, requests):
    """Microseconds of the processor for each request: (user's, all)."""
    with serving(command, options.cores[0]) as (port, printed):
        asked = figures.run(["taskset", "-c", str(options.cores[-1]), str(options.client), "ask", str(port), str(CONNECTIONS), str(warm_up), str(requests)],
                            limit_s=ASK_LIMIT_S)
        if asked.status != 0:
            figures.fail(f"the client ended with {asked.status}: {asked.errors.strip()[-400:]}")
        marks = [[int(word) for word in printed.readline().split()[1:]] for _ in range(2)]
    (user_before, system_before), (user, system) = marks
    return ((user - user_before) / requests / 1e3, (user + system - user_before - system_before) / requests / 1e3)


def agent_without(library, folder):
    """A copy of the JVM's agent that records no requests."""
    copy = folder / library.name
    code = library.read_bytes()
    for name in PROBED:
        if code.count(name + b"\0") != 1:
            figures.fail(f"{library.name} has not the name {name.decode()} once, by which its probes are found")
        code = code.replace(name + b"\0", name[:-1] + b"?\0")
    copy.write_bytes(code)
    shutil.copy(library.parent / "contrafact-java.jar", folder)
    return copy


def mean_ratio(ratios):
    """(mean, low, high) of ratios: geometric, with its 95 % interval."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return math.exp(mean), math.nan, math.nan
    freedom = len(logs) - 1
    t = T_975[max(known for known in T_975 if known <= freedom)]
    half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def in_turns(options, name, ways, warm_up, requests):
    """By way, of each round what one_run gives."""
    found = {way: [] for way in ways}
    for number in range(options.rounds):
        order = list(ways)
        for way in order[number % len(order):] + order[:number % len(order)]:
            found[way].append(one_run(options, ways[way], warm_up, requests))
            figures.say(f"  {name}, {way}: {found[way][-1][0]:.2f} us user, {found[way][-1][1]:.2f} us in all")
    return found


def events_each(contrafact, trace, requests):
    facts = figures.trace_facts(str(contrafact), trace)
    kinds = facts["kinds"]
    return {"events": facts["events"] / requests, "of_requests": sum(kinds.get(kind, 0) for kind in ("receive", "send", "endpoint")) / requests}


def rows(name, found):
    def us(way, which):
        return f"{statistics.median(run[which] for run in found['ways'][way]):.2f}"

    def ratio(of, to, which):
        mean, low, high = mean_ratio([one[which] / other[which] for one, other in zip(found["ways"][of], found["ways"][to])])
        return f"{mean:.3f} ({low:.3f} to {high:.3f})"
    for which, what in enumerate(("user", "all")):
        yield [f"{name}, {what}", us("plain", which), us("without", which), us("with", which), ratio("with", "without", which), ratio("without", "plain", which),
               f"{found['events']['without']['of_requests']:.2f}, {found['events']['with']['of_requests']:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with bin/contrafact, bin/sockets_answer and lib/libcontrafact_jvm.so")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--native-requests", type=int, default=60_000)
    parser.add_argument("--jvm-requests", type=int, default=40_000)
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    options.cores, options.client = sorted(os.sched_getaffinity(0)), build / "bin" / "sockets_answer"
    contrafact, values = build / "bin" / "contrafact", {}
    with tempfile.TemporaryDirectory(prefix="contrafact-sockets-") as name:
        folder = pathlib.Path(name)
        traces = {way: folder / f"{way}.cft" for way in ("without", "with")}
        record = {way: [contrafact, "record", "-q", "-o", trace, "--"] for way, trace in traces.items()}
        seen, unseen = [options.client, "serve", "seen"], [options.client, "serve", "unseen"]
        native = {"plain": seen, "without": [*record["without"], *unseen], "with": [*record["with"], *seen]}
        values["native"] = {"ways": in_turns(options, "native", native, NATIVE_WARM_UP, options.native_requests)}
        values["native"]["events"] = {way: events_each(contrafact, trace, NATIVE_WARM_UP + options.native_requests) for way, trace in traces.items()}
        subprocess.run(["javac", "--release", "17", "-d", str(folder), str(SOURCES / "Answer.java")], check=True)
        agent = build / "lib" / "libcontrafact_jvm.so"
        # else each answer waits for the acknowledgement of its header: 40 ms
        program = ["-Dsun.net.httpserver.nodelay=true", "-cp", folder, "Answer"]
        java = {way: [figures.java(), f"-agentpath:{library}=output={traces[way]}", *program]
                for way, library in (("without", agent_without(agent, folder)), ("with", agent))}
        values["JVM"] = {"ways": in_turns(options, "JVM", {"plain": [figures.java(), *program], **java}, JVM_WARM_UP, options.jvm_requests)}
        values["JVM"]["events"] = {way: events_each(contrafact, trace, JVM_WARM_UP + options.jvm_requests) for way, trace in traces.items()}
    text = figures.paragraph(NOTE.format(native=options.native_requests, jvm=options.jvm_requests, native_warm=NATIVE_WARM_UP, jvm_warm=JVM_WARM_UP, rounds=options.rounds,
                                         classes=", ".join(name.decode().replace("/", ".") for name in PROBED)))
    text += figures.markdown(["server, processor time", "plain, us a request", "recorded without", "recorded with", "with / without (95 %)", "without / plain (95 %)",
                              "events of requests for each: without, with"], [row for server, found in values.items() for row in rows(server, found)])
    figures.write_section("sockets", "What recording requests costs", figures.door("sockets", sys.argv[2:]), text, values)


if __name__ == "__main__":
    sys.exit(main())
