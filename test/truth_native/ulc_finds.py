#!/usr/bin/env python3
"""usage: ulc_finds.py CONTRAFACT PROGRAMS [--case NAME]...

Whether `contrafact ulc` finds by itself what was really done to the lock of each program of cases.json. Records the program
as a user does, without and with --sets, and asks of the recording with sets alone and of two: of all remedies the first
must be the twin's, at the twin's place, and its gain that of the case's edit, which a person wrote by hand, in the
recording without sets. That is the one of the median gain among three, for runs of one program differ. Of a program that
is rightly left alone no remedy may promise more than KEEP_GAIN_MAX, and where the sections conflict there may be none.

A little load on the machine does no harm. Much keeps a program's threads from meeting at its lock: where other programs had
more than FOREIGN_MAX of the cores, nothing is measured. Exit status 77 if that is so of any program.
"""
import argparse
import json
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import commands
import shortest_run

RUN_SECONDS_MAX = 60
FOREIGN_MAX = 0.05
# Between two descriptions of one change: parts of sections that are measured, and shares of them that a person named.
GAIN_POINTS_MAX = 0.08
KEEP_GAIN_MAX = 0.03


def run(command):
    return commands.run(command, RUN_SECONDS_MAX)


def kept_faults(found):
    for remedy in found["remedies"]:
        if remedy["verdict"] == "a gain" and remedy["free_order"] > KEEP_GAIN_MAX:
            yield f"to be left alone, and {remedy['what']} promises {100 * remedy['free_order']:.1f} %"
    if all(site["unnecessary"] == 0 for site in found["sites"]) and found["remedies"]:
        yield f"all pairs conflict, and {found['remedies'][0]['what']} is proposed"


def gain_by_hand(tool, trace, edits):
    """The edits' gain, and what others had of the cores during the recording."""
    command = [tool, "replay", trace, "--no-threads", "--json", "-q", "--runs", "5"]
    for edit in edits:
        command += ["--edit", edit]
    document = json.loads(run(command))
    gain = next(row["gain"] for row in document["methods"] if row["method"] == "simulated, free order")
    return gain, document["foreign_share"] or 0


def foreign_share_of(tool, trace):
    return json.loads(run([tool, "replay", trace, "--no-threads", "--json", "-q", "--runs", "1"]))["foreign_share"] or 0


class NotMeasured(Exception):
    pass


def recorded(tool, programs, case, trace, options):
    run([tool, "record", "-q", *options, "-o", trace, "--", programs / f"truth_{case['name']}"])
    return trace


def typical_recording(tool, programs, case, folder):
    """Of three recordings that of the median gain by hand, that gain, and what others had of the cores at most."""
    found = []
    for number in range(3):
        trace = recorded(tool, programs, case, folder / f"plain{number}.cft", [])
        found.append((*gain_by_hand(tool, trace, case["edits"]), trace))
    found.sort(key=lambda one: one[0] or 0)  # no edit, no gain
    by_hand, _, trace = found[1]
    return trace, by_hand, max(foreign_share for _, foreign_share, _ in found)


def faults(tool, programs, case, folder):
    plain, by_hand, foreign_share = typical_recording(tool, programs, case, folder)
    sets = recorded(tool, programs, case, folder / "sets.cft", ["--sets"])
    foreign_share = max(foreign_share, foreign_share_of(tool, sets))
    if foreign_share > FOREIGN_MAX:
        raise NotMeasured(f"{case['name']}: other programs had {100 * foreign_share:.0f} % of the cores")
    for traces in ([sets], [plain, sets]):
        found = json.loads(run([tool, "ulc", "--json", "-q", *traces]))
        for fault in found_faults(found, case, by_hand):
            yield f"by {' and '.join(trace.name for trace in traces)}: {fault}"


def found_faults(found, case, by_hand):
    if found["sections"]["sets"]["complete"] < 0.95 * found["sections"]["count"]:
        yield f"only {found['sections']['sets']['complete']} of {found['sections']['count']} sections are known"
    if case.get("keep"):
        yield from kept_faults(found)
        return
    if not found["remedies"]:
        yield "no remedy"
        return
    best, wanted = found["remedies"][0], case["ulc"]
    if best["what"] != wanted["what"]:
        yield f"{best['what']} at {best['where']} comes first, not {wanted['what']}"
    site = next((site for site in found["sites"] if site["site"].split(" ")[0] in wanted["sites"]), None)
    if not site or site["remedy"] != wanted["what"]:
        yield f"the best remedy of {wanted['sites'][0]} is {site and site['remedy']}"
    if not any(best["where"].startswith(name) for name in wanted["sites"]):
        yield f"it changes {best['where']}"
    print(f"{case['name']:16} {best['what']:20} {100 * best['free_order']:5.1f} %  by hand {100 * by_hand:5.1f} %")
    if abs(best["free_order"] - by_hand) > GAIN_POINTS_MAX:
        yield f"it gains {100 * best['free_order']:.1f} %, and the edit by hand {100 * by_hand:.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact")
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--case", action="append")
    arguments = parser.parse_args()
    cases = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())
    found, unmeasured = [], []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            if arguments.case and case["name"] not in arguments.case:
                continue
            try:
                tried = faults(arguments.contrafact, arguments.programs, case, pathlib.Path(folder))
                found += [f"{case['name']}: {fault}" for fault in tried]
            except NotMeasured as why:
                unmeasured.append(str(why))
    print("\n".join(found))
    if found:
        sys.exit(1)
    if unmeasured:
        shortest_run.not_measured("; ".join(unmeasured))


if __name__ == "__main__":
    main()
