#!/usr/bin/env python3
"""usage: ulc_finds.py CONTRAFACT PROGRAMS [--case NAME]...

Whether `contrafact ulc` finds by itself what was really done to the lock of each program of cases.json. Records the program
as a user does, without and with --sets, and asks of the recording with sets alone and of two: of all remedies the first
must be the twin's, at the twin's place, and its gain that of the case's edit, which a person wrote by hand, in the same
recording. The gains of recordings with sets must be among those of recordings without. Of a program that is rightly left
alone `advise` of all plain recordings and one with sets may promise no more than KEEP_GAIN_MAX by a change of the program, and where the
sections conflict there may be no remedy at all.

Exit status 77 if of any program nothing was measured, because others had the cores.
"""
import json
import pathlib

import gain_checks
from gain_checks import RECORDINGS, recorded, run

KEEP_GAIN_MAX = 0.03
CASES = {case["name"]: case for case in json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())}


def replayed(tool, trace, edits=()):
    """The edits' gain, none without edits, and what others had of the cores during the recording."""
    command = [tool, "replay", trace, "--no-threads", "--json", "-q", "--runs", "5"]
    for edit in edits:
        command += ["--edit", edit]
    document = json.loads(run(command))
    gain = next(row["gain"] for row in document["methods"] if row["method"] == "simulated, free order")
    return gain, document["foreign_share"] or 0


def ulc(tool, *traces):
    return json.loads(run([tool, "ulc", "--json", "-q", *traces]))


def first_gain(found):
    return found["remedies"][0]["free_order"] if found["remedies"] else 0


def advised_gain(tool, traces):
    """The greatest that is advised by all these recordings, without other machines."""
    rows = json.loads(run([tool, "advise", "--json", "-q", *traces]))["improvements"]
    return max((row["gain"] for row in rows if row["verdict"] == "a gain" and not row["what"].startswith("cores")), default=0)


def faults(tool, programs, name, folder):
    """What is found must be right by each recording with sets."""
    case, program = CASES[name], programs / f"truth_{name}"
    foreign_shares, plain_gains, sets_gains, asked = [], [], [], []
    for number in range(RECORDINGS):
        plain = recorded(tool, program, folder / f"plain{number}.cft")
        with_sets = recorded(tool, program, folder / f"sets{number}.cft", ["--sets"])
        gains = []
        for trace in (plain, with_sets):
            gain, foreign_share = replayed(tool, trace, case["edits"])
            gains.append(gain or 0)
            foreign_shares.append(foreign_share)
        asked += [("sets", ulc(tool, with_sets), gains[1]), ("both", ulc(tool, plain, with_sets), gains[0])]
        plain_gains.append(gains[0])
        sets_gains.append(gains[1])
    gain_checks.require_quiet(name, max(foreign_shares))
    for by, found, by_hand in asked:
        yield from (f"by {by}: {fault}" for fault in (*remedy_faults(found, case), *gain_faults(found, case, by_hand)))
    if case.get("keep"):
        promised = advised_gain(tool, [*(folder / f"plain{number}.cft" for number in range(RECORDINGS)), folder / "sets0.cft"])
        if promised > KEEP_GAIN_MAX:
            yield f"to be left alone, and {100 * promised:.1f} % is advised"
    with_sets = sorted(sets_gains)[RECORDINGS // 2]
    nearest = min(max(with_sets, min(plain_gains)), max(plain_gains))
    gain_checks.count_off(f"the gain by one recording of {name} with --sets", sets_gains, nearest)
    if not gain_checks.are_near(with_sets, nearest):
        yield f"recorded with sets it gains {100 * with_sets:.1f} %, without {100 * nearest:.1f} % at the nearest"


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
        return
    gain = first_gain(found)
    print(f"{case['name']:16} {case['ulc']['what']:20} {100 * gain:5.1f} %  by hand {100 * by_hand:5.1f} %")
    if not gain_checks.are_near(gain, by_hand):
        yield f"it gains {100 * gain:.1f} %, and the edit by hand {100 * by_hand:.1f} %"


if __name__ == "__main__":
    gain_checks.main(__doc__, CASES, faults)
