#!/usr/bin/env python3
"""usage: ulc_finds.py CONTRAFACT PROGRAMS [--case NAME]...

Whether `contrafact ulc` finds by itself what was really done to the lock of each program of cases.json. Records the program
as a user does, without and with --sets, and asks of the recording with sets alone and of two: of all remedies the first
must be the twin's, at the twin's place, and its gain that of the case's edit, which a person wrote by hand, in the
recording without sets. Of a program that is rightly left alone no remedy may promise more than KEEP_GAIN_MAX, and where
the sections conflict there may be none.

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


def first_gain(found):
    return found["remedies"][0]["free_order"] if found["remedies"] else 0


def faults(tool, programs, case, folder):
    """Three recordings of each kind, for runs of one program differ: what is found must be right by each, gains by the median ones."""
    plain, sets, foreign_shares = [], [], []
    for number in range(3):
        trace = recorded(tool, programs, case, folder / f"plain{number}.cft", [])
        gain, foreign_share = gain_by_hand(tool, trace, case["edits"])
        plain.append((gain or 0, trace))  # no edit, no gain
        with_sets = recorded(tool, programs, case, folder / f"sets{number}.cft", ["--sets"])
        found = json.loads(run([tool, "ulc", "--json", "-q", with_sets]))
        sets.append((first_gain(found), number, found, with_sets))
        foreign_shares += [foreign_share, foreign_share_of(tool, with_sets)]
    if max(foreign_shares) > FOREIGN_MAX:
        raise NotMeasured(f"{case['name']}: other programs had {100 * max(foreign_shares):.0f} % of the cores")
    by_hand, plain_trace = sorted(plain)[1]
    _, _, by_sets, sets_trace = sorted(sets)[1]
    by_both = json.loads(run([tool, "ulc", "--json", "-q", plain_trace, sets_trace]))
    for found, name in [*((found, "sets") for _, _, found, _ in sets), (by_both, "both")]:
        yield from (f"by {name}: {fault}" for fault in remedy_faults(found, case))
    for found, name in [(by_sets, "sets"), (by_both, "both")]:
        yield from (f"by {name}: {fault}" for fault in gain_faults(found, case, by_hand))


def remedy_faults(found, case):
    if found["sections"]["sets"]["complete"] < 0.95 * found["sections"]["count"]:
        yield f"only {found['sections']['sets']['complete']} of {found['sections']['count']} sections are known"
    if case.get("keep"):
        if all(site["unnecessary"] == 0 for site in found["sites"]) and found["remedies"]:
            yield f"all pairs conflict, and {found['remedies'][0]['what']} is proposed"
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


def gain_faults(found, case, by_hand):
    if case.get("keep"):
        for remedy in found["remedies"]:
            if remedy["verdict"] == "a gain" and remedy["free_order"] > KEEP_GAIN_MAX:
                yield f"to be left alone, and {remedy['what']} promises {100 * remedy['free_order']:.1f} %"
        return
    gain = first_gain(found)
    print(f"{case['name']:16} {case['ulc']['what']:20} {100 * gain:5.1f} %  by hand {100 * by_hand:5.1f} %")
    if abs(gain - by_hand) > GAIN_POINTS_MAX:
        yield f"it gains {100 * gain:.1f} %, and the edit by hand {100 * by_hand:.1f} %"


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
