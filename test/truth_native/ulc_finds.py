#!/usr/bin/env python3
"""usage: ulc_finds.py CONTRAFACT PROGRAMS [--case NAME]...

Whether `contrafact ulc` finds by itself what was really done to the lock of each program of cases.json. Records the program
with --sets; of all remedies the first must be the twin's, at the twin's place, and its gain that of the case's edit, which a
person wrote by hand, in the same recording. Of a program that is rightly left alone no remedy may promise more than
KEEP_GAIN_MAX, and where the sections conflict there may be none.

What is compared comes from one recording, so load on the machine does no harm; it may keep a program from contending for its
lock, so there are several attempts.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import commands

RUN_SECONDS_MAX = 60
ATTEMPTS = 3
# Between two descriptions of one change: parts of sections that are measured, and shares of them that a person named.
GAIN_POINTS_MAX = 0.08
KEEP_GAIN_MAX = 0.03


def run(command):
    return commands.run(command, RUN_SECONDS_MAX)


def kept_faults(found):
    for remedy in found["remedies"]:
        if (remedy["free_order"] or 0) > KEEP_GAIN_MAX:
            yield f"to be left alone, and {remedy['what']} promises {100 * remedy['free_order']:.1f} %"
    if all(site["unnecessary"] == 0 for site in found["sites"]) and found["remedies"]:
        yield f"all pairs conflict, and {found['remedies'][0]['what']} is proposed"


def gain_by_hand(tool, trace, edits):
    command = [tool, "replay", trace, "--no-threads", "--json", "-q", "--runs", "5"]
    for edit in edits:
        command += ["--edit", edit]
    rows = json.loads(run(command))["methods"]
    return next(row["gain"] for row in rows if row["method"] == "simulated, free order")


def faults(tool, programs, case, trace):
    run([tool, "record", "-q", "--sets", "-o", trace, "--", programs / f"truth_{case['name']}"])
    found = json.loads(run([tool, "ulc", "--json", "-q", trace]))
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
    by_hand = gain_by_hand(tool, trace, case["edits"])
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
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            if arguments.case and case["name"] not in arguments.case:
                continue
            for attempt in range(ATTEMPTS):
                found = list(faults(arguments.contrafact, arguments.programs, case, pathlib.Path(folder) / "run.cft"))
                if not found:
                    break
                print("\n".join(f"{case['name']}: {fault}" for fault in found))
            failed |= bool(found)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
