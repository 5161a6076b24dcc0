#!/usr/bin/env python3
"""usage: replay_conflicts.py CONTRAFACT PROGRAMS [--case NAME]...

Whether the two replays of one recording, in the recorded order and with the order that conflicts need, differ by what a lock
without its unnecessary contention really gains. Each program is recorded without and with --sets, and its twin, in which the lock
was really changed, is run. Orders are asserted always: none is broken, no wait is left, no section of the program whose sections
all conflict is let go earlier. Gains are held against the twin's where nobody disturbed: where other programs had more than
FOREIGN_MAX of the cores, nothing is measured. Exit status 77 if that is so of any program.
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time

import commands

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import shortest_run

RUN_SECONDS_MAX = 100
RUNS = 7
FOREIGN_MAX = 0.05
GAIN_POINTS_MAX = 0.08
METHOD = "replayed, without unnecessary order"
CASES = ("split_tables", "drop_crowd", "readers", "keep_conflict")


def run(command):
    return commands.run(command, RUN_SECONDS_MAX)


def shortest_s(command):
    durations = []
    for _ in range(RUNS):
        begin = time.monotonic()
        run(command)
        durations.append(time.monotonic() - begin)
    return min(durations)


def real_gain(program):
    return 1 - shortest_s([program, "twin"]) / shortest_s([program])


def replayed(tool, program, folder):
    traces = []
    for name, options in (("plain", []), ("sets", ["--sets=always"])):
        traces.append(folder / f"{program.name}-{name}.cft")
        run([tool, "record", "-q", *options, "-o", traces[-1], "--", program])
    return json.loads(run([tool, "replay", "-q", "--json", "--order", "conflicts", "--runs", str(RUNS), *traces]))


def order_faults(document, conflicts):
    if document["not_done"]:
        yield f"not done: {document['not_done']}"
        return
    part = next(part for part in document["parts"] if part["method"] == METHOD)
    if part["out_of_order"] != 0:
        yield f"{part['out_of_order']} sections were had too early"
    if document["replay_notes"]:
        yield f"{document['replay_notes']}"
    unnecessary = sum(site["unnecessary"] for site in document["sites"])
    if conflicts != (unnecessary == 0):
        yield f"{unnecessary} of {sum(site['pairs'] for site in document['sites'])} pairs are unnecessary"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact")
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--case", action="append")
    arguments = parser.parse_args()
    found, unmeasured = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.case or CASES:
            program = arguments.programs / f"truth_{name}"
            document = replayed(arguments.contrafact, program, pathlib.Path(folder))
            keep = name.startswith("keep")
            faults = list(order_faults(document, keep))
            found += [f"{name}: {fault}" for fault in faults]
            if faults or keep:
                continue
            row = next(row for row in document["methods"] if row["method"] == METHOD)
            really = real_gain(program)
            part = next(part for part in document["parts"] if part["method"] == METHOD)
            foreign = max(part["foreign_share"], document["foreign_share"] or 0)
            print(f"{name:16} replayed {100 * row['gain']:5.1f} %  really {100 * really:5.1f} %  the unchanged replay {100 * row['error']:+5.1f} %  "
                  f"others had {100 * foreign:.0f} % of the cores")
            if foreign > FOREIGN_MAX:
                unmeasured.append(f"{name}: other programs had {100 * foreign:.0f} % of the cores")
            elif abs(row["gain"] - really) > GAIN_POINTS_MAX:
                found.append(f"{name}: the replays differ by {100 * row['gain']:.1f} %, the programs by {100 * really:.1f} %")
    print("\n".join(found))
    if found:
        sys.exit(1)
    if unmeasured:
        shortest_run.not_measured("; ".join(unmeasured))


if __name__ == "__main__":
    main()
