#!/usr/bin/env python3
"""usage: ulc_finds.py CONTRAFACT PROGRAMS [--case NAME]...

Whether `contrafact ulc` finds by itself what was really done to the lock of each program of cases.json. Records the program
as a user does, without and with --sets, and asks of the recording with sets alone and of two: of all remedies the first
must be the twin's, at the twin's place, and its gain that of the case's edit, which a person wrote by hand, in the
recording without sets. Of a program that is rightly left alone no remedy may promise more than KEEP_GAIN_MAX, and where
the sections conflict there may be none.

Exit status 77 if of any program nothing was measured, because others had the cores.
"""
import json
import pathlib

import gain_checks
from gain_checks import RECORDINGS, recorded, run

KEEP_GAIN_MAX = 0.03
CASES = {case["name"]: case for case in json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())}


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


def first_gain(found):
    return found["remedies"][0]["free_order"] if found["remedies"] else 0


def faults(tool, programs, name, folder):
    """What is found must be right by each recording with sets; gains by the median ones of either kind."""
    case, program = CASES[name], programs / f"truth_{name}"
    plain, sets, foreign_shares = [], [], []
    for number in range(RECORDINGS):
        trace = recorded(tool, program, folder / f"plain{number}.cft")
        gain, foreign_share = gain_by_hand(tool, trace, case["edits"])
        plain.append((gain or 0, trace))  # no edit, no gain
        with_sets = recorded(tool, program, folder / f"sets{number}.cft", ["--sets"])
        found = json.loads(run([tool, "ulc", "--json", "-q", with_sets]))
        sets.append((first_gain(found), number, found, with_sets))
        foreign_shares += [foreign_share, foreign_share_of(tool, with_sets)]
    gain_checks.require_quiet(name, max(foreign_shares))
    by_hand, plain_trace = sorted(plain)[RECORDINGS // 2]
    _, _, by_sets, sets_trace = sorted(sets)[RECORDINGS // 2]
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
    if not gain_checks.are_near(gain, by_hand):
        yield f"it gains {100 * gain:.1f} %, and the edit by hand {100 * by_hand:.1f} %"


if __name__ == "__main__":
    gain_checks.main(__doc__, CASES, faults)
