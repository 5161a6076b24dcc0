"""The paper's step 3 and its figure 9, of programs that have unnecessary contention: one recording replayed by real threads twice,
in the recorded order of critical sections and with the order that conflicts need. Of the programs of test/truth_native, whose
twins have the lock really changed, what that gained stands beside it."""

import json
import statistics
import time

import figures

METHOD = "replayed, without unnecessary order"
RETIMED = "re-timed, without unnecessary order"
TRUTH = ("split_tables", "split_crowd", "drop_crowd", "readers", "readers_crowd")
WORTH_SHOWING = 0.02  # of the run: below it there is nothing to see
LIMIT_S = 120


def replays(contrafact, traces, count, limit_s):
    """Of one program: shares of its recorded time. None where it cannot be done, with the reason."""
    done = figures.run([contrafact, "replay", "-q", "--json", "--order", "conflicts", "--runs", str(count), "--limit", f"{limit_s:.1f}",
                        *map(str, traces)], limit_s=2 * count * limit_s + LIMIT_S)
    if done.status != 0:
        return None, f"exit status {done.status}: {done.errors.strip()[-300:]}"
    document = json.loads(done.output)
    if METHOD in document["not_done"]:
        return None, document["not_done"][METHOD]
    rows = {row["method"]: row for row in document["methods"]}
    replayed, part = rows[METHOD], next(part for part in document["parts"] if part["method"] == METHOD)
    site = max(document["sites"], key=lambda site: site["less_ns"], default=None)
    return {"recorded_ns": document["recorded_ns"], "estimated": rows[RETIMED]["after_ns"] / max(1, rows[RETIMED]["before_ns"]),
            "replayed": replayed["after_ns"] / max(1, replayed["before_ns"]), "error": replayed["error"], "spread": replayed["spread"],
            "verdict": replayed["verdict"], "foreign": part["foreign_share"], "runs": count, "pairs": sum(s["pairs"] for s in document["sites"]),
            "unnecessary": sum(s["unnecessary"] for s in document["sites"]),
            "site": site and {"site": site["site"], "p": site["p"], "recorded_wait_ns": site["recorded_wait_ns"],
                              "conflicts_wait_ns": site["conflicts_wait_ns"]}, "really": None}, ""


def run_s(command):
    begin = time.monotonic()
    done = figures.run(command, limit_s=LIMIT_S)
    return time.monotonic() - begin if done.status == 0 else None


def truth(contrafact, programs, folder, name, count):
    """One of the programs with a twin."""
    program, traces = programs / f"truth_{name}", [folder / f"{name}-plain.cft", folder / f"{name}-sets.cft"]
    for trace, options in zip(traces, ([], ["--sets=always"])):
        done = figures.run([contrafact, "record", "-q", *options, "-o", str(trace), "--", str(program)], limit_s=LIMIT_S)
        if done.status != 0:
            return None, f"record: exit status {done.status}: {done.errors.strip()[-300:]}"
    found, why = replays(contrafact, traces, count, 30)
    if found:
        turns = [(run_s([str(program)]), run_s([str(program), "twin"])) for _ in range(count)]
        if any(None in turn for turn in turns):
            return None, "a run of the program or its twin failed"
        found["really"] = min(twin for _, twin in turns) / min(base for base, _ in turns)
    return found, why


def is_worth_showing(found):
    return found and (found["really"] is not None or 1 - min(found["estimated"], found["replayed"]) >= WORTH_SHOWING)


def percent(value, digits=1):
    return "" if value is None else f"{100 * value:.{digits}f} %"


def table(rows):
    """`rows`: (name, what `replays` found)."""
    header = ["program", "pairs", "unnecessary", "estimated", "replayed", "the replay in recorded order", "its spread", "really changed",
              "verdict", "costliest site", "P", "foreign CPU"]
    lines = []
    for name, found in rows:
        site = found["site"] or {"site": "none", "p": None}
        lines.append([name, f"{found['pairs']:,}", f"{found['unnecessary']:,}", percent(found["estimated"]), percent(found["replayed"]),
                      f"{100 * found['error']:+.1f} %", percent(found["spread"]), percent(found["really"]), found["verdict"], f"`{site['site']}`",
                      percent(site["p"], 0), percent(found["foreign"], 0)])
    return figures.markdown(header, lines)


def summary(rows):
    errors = [abs(found["replayed"] - found["really"]) for _, found in rows if found["really"] is not None]
    if not errors:
        return ""
    return (f"Where the lock was really changed, the replays are off by {100 * statistics.median(errors):.1f} points in the median, "
            f"{100 * max(errors):.1f} at worst, of the recorded time.")


def nothing_text(rows):
    """One line for the programs with nothing to see."""
    if not rows:
        return ""
    named = ", ".join(f"{name} ({percent(min(found['estimated'], found['replayed']))})" for name, found in rows)
    return f"Less than {percent(WORTH_SHOWING, 0)} of the time is unnecessary contention in {named}: what is left of the time, by the lower figure."
