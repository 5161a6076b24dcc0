#!/usr/bin/env python3
"""usage: connections.py BUILD --java PATH...

Records NettyEpoll.java, whose loops move bytes by native methods of Netty's own: every call that received or sent bytes is recorded,
with the right connection, and the loops' waits are blocks. Ends with 77 where the jars cannot be fetched."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "jvm")]
import connections  # noqa: E402
import record_frameworks  # noqa: E402

ANSWERS = 60  # of NettyEpoll.java


def poll_faults(document):
    """Clients wait for each answer, and a loop has nothing else to do meanwhile."""
    loops = {i for i, thread in enumerate(document["threads"]) if thread["name"].startswith("epollEventLoopGroup")}
    polls = sum(kind == "block_end" and thread in loops and operands[0] == connections.POLL
                for _, thread, kind, *operands in document["events"])
    if polls < ANSWERS:
        yield f"{polls} polls of {len(loops)} loops, for {ANSWERS} answers"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--java", nargs="+", required=True)
    options = parser.parse_args()
    folder = options.build / "frameworks" / "lib"
    why = record_frameworks.fetch(folder)
    if why:
        print(f"not measured: {why}")
        sys.exit(record_frameworks.NOT_MEASURED)
    faults = []
    with tempfile.TemporaryDirectory(prefix="contrafact-netty-") as scratch:
        record_frameworks.compile_java(f"{folder}/*", pathlib.Path(scratch, "classes"),
                                       [HERE / "java" / "frameworks" / "NettyEpoll.java"])
        contrafact = options.build / "bin" / "contrafact"
        for java in options.java:
            trace = pathlib.Path(scratch, "run.cft")
            printed = connections.output_of([contrafact, "record", "-o", trace, "--", java, "-cp", f"{scratch}/classes:{folder}/*",
                                             "frameworks.NettyEpoll"])
            document = json.loads(connections.output_of([contrafact, "export", trace, "--format", "json", "-q"]))
            info = json.loads(connections.output_of([contrafact, "info", trace, "--json"]))
            faults += connections.faults_of(java, printed, document, info)
            faults += [f"{java}: {fault}" for fault in poll_faults(document)]
    print("\n".join(faults) or "the connections of Netty's epoll transport recorded as they were")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
