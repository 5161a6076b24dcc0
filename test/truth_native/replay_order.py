#!/usr/bin/env python3
"""usage: replay_order.py CONTRAFACT PROGRAM...

Records each program and replays it with real threads. What is asserted is order, never time: under the recorded order no
critical section comes before an earlier one and all replays have the same order; under the deterministic one all replays of
a program whose threads only compute have the same order; every replay comes to its end.
"""
import json
import pathlib
import sys
import tempfile

import commands

SECONDS_MAX = 100


def run(command):
    return commands.run(command, SECONDS_MAX)


def replay(tool, program, folder):
    trace = pathlib.Path(folder) / f"{program.name}.cft"
    run([tool, "record", "-q", "-o", trace, "--", program])
    document = json.loads(run([tool, "replay", trace, "-q", "--json", "--runs", "3", "--limit", "30"]))
    undone = [row for row in document["methods"] if (row["verdict"] or "").startswith("not done")]
    if undone:
        yield f"{document['not_done']}"
        return
    parts = {row["method"]: row for row in document["parts"]}
    recorded = parts["replayed, recorded order (RLSC)"]
    if recorded["out_of_order"] != 0:
        yield f"recorded order: {recorded['out_of_order']} sections out of order"
    if recorded["orders"] != 1:
        yield f"recorded order: {recorded['orders']} different orders"
    if program.name.startswith("truth_") and parts["replayed, deterministic order"]["orders"] != 1:
        yield f"deterministic order: {parts['replayed, deterministic order']['orders']} different orders"


def main():
    tool, programs = sys.argv[1], [pathlib.Path(name) for name in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as folder:
        faults = [f"{program.name}: {fault}" for program in programs for fault in replay(tool, program, folder)]
    for fault in faults:
        print(fault)
    sys.exit(1 if faults or not programs else 0)


if __name__ == "__main__":
    main()
