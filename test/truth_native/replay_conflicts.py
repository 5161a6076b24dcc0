#!/usr/bin/env python3
"""usage: replay_conflicts.py CONTRAFACT PROGRAMS [--case NAME]...

Whether the two replays of one recording, in the recorded order and with the order that conflicts need, differ by what a lock
without its unnecessary contention really gains. Each program is recorded without and with --sets, and its twin, in which the lock
was really changed, is run. Orders are asserted always: none is broken, no wait is left, no section of the program whose sections
all conflict is let go earlier.

A recording is one run of the program, and under the ordinary scheduler its threads stand in each other's way more in one run than
in the next: what is replayed of one is held against no single other. The gain replayed is that of the median recording, the real one
that of the median run of the program and of its twin, in turns. Exit status 77 if of any program no gain was judged, because others
had the cores.
"""
import json
import statistics
import time

import gain_checks
from gain_checks import RECORDINGS, recorded, run

RUNS = 5  # for each recording: of both replays, of the program and of its twin
METHOD = "replayed, without unnecessary order"
CASES = ("split_tables", "drop_crowd", "readers", "keep_conflict")


def duration_s(command):
    begin = time.monotonic()
    run(command)
    return time.monotonic() - begin


def replayed(tool, program, folder):
    plain = recorded(tool, program, folder / "plain.cft")
    sets = recorded(tool, program, folder / "sets.cft", ["--sets=always"])
    return json.loads(run([tool, "replay", "-q", "--json", "--order", "conflicts", "--runs", RUNS, plain, sets]))


def order_faults(document, conflicts):
    if document["not_done"]:
        yield f"not done: {document['not_done']}"
        return
    part = next(part for part in document["parts"] if part["method"] == METHOD)
    if part["out_of_order"] != 0:
        yield f"{part['out_of_order']} sections were entered too early"
    if document["replay_notes"]:
        yield f"{document['replay_notes']}"
    unnecessary = sum(site["unnecessary"] for site in document["sites"])
    if conflicts != (unnecessary == 0):
        yield f"{unnecessary} of {sum(site['pairs'] for site in document['sites'])} pairs are unnecessary"


def of_method(rows):
    return next(row for row in rows if row["method"] == METHOD)


def faults(tool, programs, name, folder):
    program, keep = programs / f"truth_{name}", name.startswith("keep")
    rows, foreign_shares, before_s, after_s = [], [], [], []
    for _ in range(1 if keep else RECORDINGS):
        document = replayed(tool, program, folder)
        wrong = list(order_faults(document, keep))
        yield from wrong
        if wrong or keep:
            return
        rows.append(of_method(document["methods"]))
        foreign_shares += [of_method(document["parts"])["foreign_share"], document["foreign_share"] or 0]
        for _ in range(RUNS):
            before_s.append(duration_s([program]))
            after_s.append(duration_s([program, "twin"]))
    gain = statistics.median(row["gain"] for row in rows)
    really = 1 - statistics.median(after_s) / statistics.median(before_s)
    gains, errors = (", ".join(f"{100 * row[what]:+.1f}" for row in rows) for what in ("gain", "error"))
    print(f"{name:16} replayed {100 * gain:5.1f} % (of {gains})  really {100 * really:5.1f} %  the unchanged replays {errors} %  "
          f"other programs used {100 * max(foreign_shares):.0f} % of the cores")
    gain_checks.require_quiet(name, max(foreign_shares))
    gain_checks.count_off(f"the gain by one recording of {name}", [row["gain"] for row in rows], really)
    if not gain_checks.are_near(gain, really):
        yield f"the replays differ by {100 * gain:.1f} %, the programs by {100 * really:.1f} %"


if __name__ == "__main__":
    gain_checks.main(__doc__, CASES, faults)
