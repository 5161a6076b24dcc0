"""Records Connections.java, whose threads are at both ends of connections of every kind that the JDK has: every call that received or sent
bytes is recorded, with the right connection, no end received bytes before the other sent them, and nothing that was said over them is in the file."""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import trace_bytes

KINDS = ("sockets", "timed", "slow", "selector", "asynchronous", "local", "none", "transfer", "http")
VIRTUAL = "virtual"
SECRET = "confidential"  # what all requests, answers and headers are full of
SLOW_NS = 30e6  # SLOW_MS of Connections.java
IO, POLL = 4, 5  # format::BlockReason
WAITS = {IO: 15, POLL: 5}
FIRST_JDK_WITH_VIRTUAL = 21


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def record(options, folder, kind):
    trace = pathlib.Path(folder, f"{kind}.cft")
    program = ["-cp", options.build / "java/jvm21", "ConnectionsVirtual"] if kind == VIRTUAL else [
        "-cp", options.build / "java/jvm", "Connections", kind]
    flags = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"]
    contrafact = options.build / "bin/contrafact"
    printed = output_of([contrafact, "record", "-o", trace, "--", options.java, *flags, *program])
    document = json.loads(output_of([contrafact, "export", trace, "--format", "json", "-q"]))
    info = json.loads(output_of([contrafact, "info", trace, "--json"]))
    faults = [f"{kind}: the file holds what was said"] if trace_bytes.holds(trace, SECRET, "Connections") else []
    return printed, document, info, faults


def ends_of(document):
    """What each connection's end did: receives, bytes, sends, bytes."""
    ends = [[*row, [], []] for row in document.get("connections", [])]
    last = {}  # by thread: the time of its event before
    for time, thread, kind, *operands in document["events"]:
        if kind in ("receive", "send"):
            # A send has the time before its call. If the thread was looked at during the call, the send stands behind that with the
            # same time, for times of a thread never decrease: when it really was, is not known.
            is_known = kind == "receive" or time != last.get(thread)
            ends[operands[0]][3 if kind == "receive" else 4].append((time if is_known else 0, operands[1]))
        last[thread] = time
    return ends


def early_bytes(one, other):
    """Bytes that `one` had received before `other` sent them."""
    received, early = 0, 0
    for time, count in sorted(one[3]):
        received += count
        early = max(early, received - sum(n for at, n in other[4] if at <= time))
    return early


def faults_of(kind, printed, document, info):
    ends = ends_of(document)
    found = collections.Counter()
    told = [line.split() for line in printed.split("\n") if line]
    unknown = [[i for i, word in enumerate(line) if word == "-"] for line in told]
    for end in ends:
        words = [end[0], str(end[1]), str(end[2])]
        for calls in end[3:]:
            words += [str(len(calls)), str(sum(count for _, count in calls))]
        for line, skipped in zip(told, unknown):
            if line[:3] == words[:3]:
                words = ["-" if i in skipped else word for i, word in enumerate(words)]
        found[" ".join(words)] += 1
    expected = collections.Counter(" ".join(line) for line in told)
    faults = [f"{kind}: {what}" for what in (
        *(f"expected {line}" for line in (expected - found).elements()), *(f"found {line}" for line in (found - expected).elements()))]
    by_ports = {(end[1], end[2]): end for end in ends if end[1]}
    for ports, end in by_ports.items():
        early = early_bytes(end, by_ports[ports[::-1]]) if ports[::-1] in by_ports else 0
        if early > 0:
            faults.append(f"{kind}: {ports} received {early} bytes before they were sent")
    facts = document["facts"]
    faults += [f"{kind}: {key} {facts[key]}" for key in ("probe.refused", "probe.missing") if facts.get(key, "0") != "0"]
    if document["loss"]["events_dropped"]:
        faults.append(f"{kind}: lost {document['loss']}")
    counts = info.get("connections", {})
    if sum(counts.get(of, 0) for of in ("accepted", "connected", "other")) != len(ends):
        faults.append(f"{kind}: info counts {counts}, not {len(ends)}")
    if counts.get("bytes_sent", 0) != sum(count for end in ends for _, count in end[4]):
        faults.append(f"{kind}: info counts {counts}")
    return faults


def wait_faults(document):
    """Each of the slow server's answers is waited for in a block: in a poll by the client that has a selector."""
    found, began = collections.Counter(), None
    main = next(i for i, thread in enumerate(document["threads"]) if thread["name"] == "main")
    for time, thread, kind, *operands in document["events"]:
        if thread == main and kind == "block_begin":
            began = time
        elif thread == main and kind == "block_end" and operands[0] in WAITS and time - began > SLOW_NS / 2:
            found[operands[0]] += 1
    if found != WAITS:
        yield f"slow: blocks of the client {dict(found)}, not {WAITS}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--java", default="java")
    parser.add_argument("--jdk", type=int, required=True)
    options = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory(prefix="contrafact-connections-") as folder:
        for kind in (*KINDS, *([VIRTUAL] if options.jdk >= FIRST_JDK_WITH_VIRTUAL else [])):
            printed, document, info, said = record(options, folder, kind)
            faults += said
            if (kind == "none") != (printed == ""):
                faults.append(f"{kind}: the program printed {printed!r}")
            faults += faults_of(kind, printed, document, info)
            faults += wait_faults(document) if kind == "slow" else []
    print("\n".join(faults) or f"{len(KINDS)} kinds of connections recorded as they were")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
