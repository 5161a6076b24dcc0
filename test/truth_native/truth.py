#!/usr/bin/env python3
"""usage: truth.py CONTRAFACT PROGRAMS [--runs N] [--case NAME]... [--no-figures] [--markdown FILE] [--json FILE]

Holds predicted gains of lock improvements against programs whose lock was really changed. For each case of cases.json:
records the program as it was several times, up to shortest_run.RUNS_MAX times as often as asked for until the two shortest runs are
near each other, and uses the shortest (other load only lengthens one); lets `contrafact
replay --no-threads` predict from that recording alone what the case's edits gain; compares with the shortest recording of
its twin. It records the program as often with --sets, as a user does, and holds what the shortest of these predicts to the same limits. Crowded cases have more threads than a machine of two cores has.

Program and twin must differ in the lock alone: their work's CPU time is compared first, each alone on one thread, in turns. A
pair whose work differs, or for which that cannot be told (same_work.py), is unusable, and so is one of which the two shortest
recordings of either differ by more than shortest_run.NEAR, or in which other programs had more than FOREIGN_MAX of the cores. The
table says so; unusable pairs count for nothing.

Beside other load run it under `timeout 900 chrt -r 1`. Exit status 1 if a limit of LIMITS is exceeded, or one that should be
left alone promises a gain; 77 (not measured) if fewer than same_work.USABLE_MIN pairs are usable; with --no-figures only 1, if
a program cannot be recorded, its twin prints another result, or the edits do not fit.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import commands
import machine
import same_work
import shortest_run

RUN_SECONDS_MAX = 60
LIMITS = {"gain_median": 0.03, "gain_worst": 0.08, "baseline_worst": 0.03}
KEEP_GAIN_MAX = 0.03
FOREIGN_MAX = 0.05
# Gains that differ by less are equal in rank: repeated runs differ as much.
RANK_TIE = 0.03
METHODS = {"simulated": "simulated, free order", "simulated in recorded order": "simulated, recorded order",
           "re-timed": "re-timed, recorded order"}
WITH_SETS = "simulated with sets"  # free order, by a recording with --sets alone
HELD = ("simulated", WITH_SETS)


def run(command):
    return commands.run(command, RUN_SECONDS_MAX)


def work_ns(program, twin):
    done = subprocess.run([program, twin, "alone"], capture_output=True, text=True, timeout=RUN_SECONDS_MAX, check=True)
    return int(done.stderr.split()[-1])


def work_difference(program):
    return same_work.difference(lambda twin: work_ns(program, twin))


def record(tool, program, twin, folder, runs, options=()):
    """Several recordings, the shortest first: its length, its trace, and what the program printed."""
    def one(number):
        trace = folder / f"{program.name}-{twin}{''.join(options)}-{number}.cft"
        printed = run([tool, "record", "-q", *options, "-o", trace, "--", program, twin])
        return json.loads(run([tool, "info", "--json", "-q", trace]))["duration_ns"], trace, printed

    return shortest_run.measured(one, runs)


def why_unusable(work, recordings, foreign_share):
    differs = same_work.why_not(work)
    if differs:
        return differs
    if foreign_share > FOREIGN_MAX:
        return f"not quiet: other programs had {100 * foreign_share:.0f} % of the cores"
    for twin, found in recordings.items():
        durations = [duration_ns for duration_ns, _, _ in found]
        if not shortest_run.is_quiet(durations):
            return f"not quiet: the two shortest runs of the {twin} differ by {100 * shortest_run.spread(durations):.1f} %"
    return None


def replayed(tool, trace, edits):
    """What `replay` says of the recording, and its row for each method."""
    command = [tool, "replay", trace, "--no-threads", "--json", "-q", "--runs", "5"]
    for edit in edits:
        command += ["--edit", edit]
    document = json.loads(run(command))
    return document, {row["method"]: row for row in document["methods"]}


def compare(tool, programs, case, folder, runs, with_work):
    program = programs / f"truth_{case['name']}"
    work = work_difference(program) if with_work else (0.0, 0.0)
    recordings = {twin: record(tool, program, twin, folder, runs) for twin in ("base", "twin")}
    (before_ns, trace, result), (after_ns, _, other) = recordings["base"][0], recordings["twin"][0]
    _, sets_trace, with_sets = record(tool, program, "base", folder, runs, ["--sets"])[0]
    for printed in (other, with_sets):
        if result != printed:
            raise commands.Failure(f"{case['name']}: the twin, or the program with --sets, prints {printed.strip()!r}, not {result.strip()!r}")
    document, rows = replayed(tool, trace, case["edits"])
    sets_document, sets_rows = replayed(tool, sets_trace, case["edits"])
    foreign_share = max(one["foreign_share"] or 0 for one in (document, sets_document))
    rows[WITH_SETS] = sets_rows[METHODS["simulated"]]
    titles = {**METHODS, WITH_SETS: WITH_SETS}
    return {"name": case["name"], "crowd": case.get("crowd", False), "keep": case.get("keep", False), "why": case["why"],
            "work": {"difference": work[0], "error_twice": work[1]}, "unusable": why_unusable(work, recordings, foreign_share),
            "before_ns": before_ns, "after_ns": after_ns, "gain": 1 - after_ns / before_ns,
            "predicted": {name: rows[title]["gain"] for name, title in titles.items()},
            "baseline": {name: rows[title]["error"] for name, title in titles.items()},
            "verdict": rows[METHODS["simulated"]]["verdict"]}


def error(comparison, method="simulated"):
    return comparison["predicted"][method] - comparison["gain"]


def faults(comparisons):
    found = []
    for method in HELD:
        errors = [abs(error(c, method)) for c in comparisons]
        if statistics.median(errors) > LIMITS["gain_median"]:
            found.append(f"median error of the gain, {method}: {100 * statistics.median(errors):.1f} points")
        for c in comparisons:
            predicted = c["predicted"][method]
            if abs(error(c, method)) > LIMITS["gain_worst"]:
                found.append(f"{c['name']}, {method}: predicted {100 * predicted:.1f} %, really {100 * c['gain']:.1f} %")
            if c["keep"] and predicted > KEEP_GAIN_MAX:
                found.append(f"{c['name']}, {method}: to be left alone, and {100 * predicted:.1f} % promised")
    for c in comparisons:
        if abs(c["baseline"]["simulated"]) > LIMITS["baseline_worst"]:
            found.append(f"{c['name']}: simulated baseline {100 * c['baseline']['simulated']:+.1f} % off")
    for i, one in enumerate(comparisons):
        for other in comparisons[i + 1:]:
            if abs(one["gain"] - other["gain"]) < RANK_TIE:
                continue
            if (one["gain"] > other["gain"]) != (one["predicted"]["simulated"] > other["predicted"]["simulated"]):
                found.append(f"ranking: {one['name']} and {other['name']} in the wrong order")
    return found


def usable(comparisons):
    return [c for c in comparisons if not c["unusable"]]


def summary(comparisons):
    lines = []
    for method in (*METHODS, WITH_SETS):
        known = [c for c in comparisons if c["predicted"][method] is not None]
        if not known:
            continue
        errors = [abs(error(c, method)) for c in known]
        bases = [abs(c["baseline"][method]) for c in known]
        lines.append((method, statistics.median(errors), max(errors), statistics.median(bases), max(bases)))
    return lines


def percent(share):
    """A method that knows no such change, as re-timing none of a program with tasks, has no figure."""
    return "-" if share is None else f"{100 * share:.1f}%"


def show(comparisons):
    print(f"{'program':16} {'work':>7} {'before':>8} {'after':>8} {'gain':>7} {'simulated':>9} {'recorded':>9} {'re-timed':>9} {'with sets':>9} {'baseline':>9}  what")
    for c in comparisons:
        p = c["predicted"]
        print(f"{c['name']:16} {100 * c['work']['difference']:+6.2f}% {c['before_ns'] / 1e6:6.0f}ms {c['after_ns'] / 1e6:6.0f}ms {100 * c['gain']:6.1f}% "
              f"{percent(p['simulated']):>9} {percent(p['simulated in recorded order']):>9} {percent(p['re-timed']):>9} {percent(p[WITH_SETS]):>9} "
              f"{100 * c['baseline']['simulated']:+8.1f}%  {c['why']}{'; UNUSABLE: ' + c['unusable'] if c['unusable'] else ''}")
    for method, median, worst, base_median, base_worst in summary(usable(comparisons) or comparisons):
        print(f"{method}: gain off by {100 * median:.1f} points median, {100 * worst:.1f} worst; unchanged run "
              f"{100 * base_median:.1f} % median, {100 * base_worst:.1f} % worst")


def markdown(comparisons, runs):
    before = "chrt -r 1 " if os.sched_getscheduler(0) == os.SCHED_RR else ""
    lines = [f"Made by `{before}python3 test/truth_native/truth.py build/release/bin/contrafact build/release/bin --runs {runs}` on",
             f"{machine.words()}; each figure is of the shortest recording. *Work* is by how much the twin's work",
             "alone takes longer, on one thread; a pair that differs in it, or that other load disturbed, is unusable and not counted.",
             "",
             "| program | what was done to the lock | work | before | after | gain | simulated | recorded order | re-timed | simulated, recorded with `--sets` | unchanged run, simulated |",
             "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for c in comparisons:
        p = c["predicted"]
        name = f"`{c['name']}`" + (" (crowded)" if c["crowd"] else "") + (f" (unusable: {c['unusable']})" if c["unusable"] else "")
        lines.append(f"| {name} | {c['why']} | {100 * c['work']['difference']:+.2f} % | {c['before_ns'] / 1e6:.0f} ms | {c['after_ns'] / 1e6:.0f} ms | {100 * c['gain']:.1f} % | "
                     f"{percent(p['simulated'])} | {percent(p['simulated in recorded order'])} | {percent(p['re-timed'])} | {percent(p[WITH_SETS])} | "
                     f"{100 * c['baseline']['simulated']:+.1f} % |")
    lines += ["", "| method | gain off by, points: median | worst | unchanged run: median | worst |", "|---|--:|--:|--:|--:|"]
    lines += [f"| {m} | {100 * a:.1f} | {100 * b:.1f} | {100 * c:.1f} % | {100 * d:.1f} % |" for m, a, b, c, d in summary(usable(comparisons) or comparisons)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact")
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--case", action="append")
    parser.add_argument("--no-figures", action="store_true")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    cases = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())
    cases = [case for case in cases if case["edits"]]  # else there is nothing to predict: ulc_finds.py
    cases = [case for case in cases if not arguments.case or case["name"] in arguments.case]
    try:
        with tempfile.TemporaryDirectory() as folder:
            comparisons = [compare(arguments.contrafact, arguments.programs, case, pathlib.Path(folder), arguments.runs,
                                    not arguments.no_figures)
                           for case in cases]
    except commands.Failure as failure:
        sys.exit(f"truth: {failure}")
    show(comparisons)
    if arguments.markdown:
        arguments.markdown.write_text(markdown(comparisons, arguments.runs))
    if arguments.json:
        arguments.json.write_text(json.dumps(comparisons, indent=1))
    counted = usable(comparisons)
    if not arguments.no_figures and len(counted) < min(same_work.USABLE_MIN, len(cases)):
        shortest_run.not_measured(f"{len(counted)} of {len(comparisons)} pairs are usable")
    found = [] if arguments.no_figures else faults(counted)
    for fault in found:
        print(f"FAULT {fault}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
