#!/usr/bin/env python3
"""usage: unseen_native.py CONTRAFACT BIN [--case NAME]... [--rounds N] [--recordings N] [--before COMMAND] [--markdown FILE] [--keep FOLDER [--again]] [--suite FOLDER]

Native programs unlike those of test/truth_native, each with a twin in which its lock is really changed (cases.json: which remedy that is;
none: nothing is to be changed). `--suite real_native`: those of test/real_native, which use libraries of Debian's. For each:

 1. the program and its twin run in turns, unrecorded, --rounds times; medians of the times that they print;
 2. with --work, the CPU time of both is compared on one core, where they hardly contend: a pair whose work differs, or for which that
    cannot be told (same_work.py), is unusable, and counts for nothing;
 3. it is recorded as a user does, plain (--recordings times, for runs of a program whose threads crowd differ) and with --sets;
    `advise` gets all.

Predicted is the program's time less the gain of the right remedy at the first rank that it has; the whole time where it is not advised:
that is a promise of nothing, and as wrong as any other. The error is in points of the program's time. A pair is unusable, too, if
other programs had more than FOREIGN_MAX of the cores while it was recorded. Exit status 1 if results differ, a remedy is advised where nothing is to be changed, a limit of LIMITS is exceeded, or (--judge) another than the right one stands
first; 77 (not measured) if fewer pairs than same_work.USABLE_MIN are usable.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import attempts
import left_out
import machine
import same_work
import shortest_run

RUN_SECONDS_MAX = 300
FOREIGN_MAX = 0.05
# What is reached, in points of the program's time and as a share (docs/ulc.md): held where all cases of the suite ran. The worst of
# what is advised: of a remedy that is not, the error is all that it gains, and how many these are "right remedy first" limits.
LIMITS = {"error median": 6.0, "error worst of advised": 30.0, "right remedy first": 0.7, "width in errors": 8.0}


class Failure(Exception):
    pass


class NotMeasured(Exception):
    pass


def run(command):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    except FileNotFoundError as missing:
        program = pathlib.Path(missing.filename).name
        raise NotMeasured(f"there is no {program}: what it needs is not installed (./dev setup real)") from None
    if done.returncode == shortest_run.NOT_MEASURED:
        raise NotMeasured(done.stderr.strip())
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[:400]}")
    return done.stdout


def times_in_turns(program, rounds):
    """Microseconds of the program and of its twin."""
    times, results = {"base": [], "twin": []}, set()
    for _ in range(rounds):
        for which in times:
            result, us = re.search(r"^result (\S+) us (\d+)$", run([*program, which]), re.MULTILINE).groups()
            results.add(result)
            times[which].append(int(us))
    if len(results) != 1:
        raise Failure(f"results differ: {results}")
    return times


def noise_of(values):
    """Half the middle half's width, as a share."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    kept = ordered[quarter:len(ordered) - quarter]
    return (kept[-1] - kept[0]) / 2 / statistics.median(ordered)


def cpu_ns(program, which):
    """Of a run whose threads share one core: in a process of its own, whose only child it is."""
    core = str(min(os.sched_getaffinity(0)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(["taskset", "-c", core, *program, which])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(1e9 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime))


def why_unusable(program, kept, recordings, arguments):
    foreign = json.loads(run([arguments.contrafact, "ulc", *recordings, "--json", "-q"]))["foreign_share"] or 0
    if foreign > FOREIGN_MAX:
        return f"not quiet: other programs had {100 * foreign:.0f} % of the cores"
    if not arguments.work:
        return None
    found = json.loads(kept.read_text()) if arguments.again else same_work.difference(lambda which: cpu_ns(program, which))
    kept.write_text(json.dumps(found))
    return same_work.why_not(found)


def plain_recordings(folder, name, arguments):
    return [folder / f"{name}-plain{number or ''}.cft" for number in range(arguments.recordings)]


def advised(arguments, name, program, folder):
    plain, sets = plain_recordings(folder, name, arguments), folder / f"{name}-sets.cft"
    if not arguments.again:
        for path in plain:
            run([arguments.contrafact, "record", "-q", "-o", path, "--", *program])
        run([arguments.contrafact, "record", "-q", "--sets", "-o", sets, "--", *program])
    return json.loads(run([arguments.contrafact, "advise", *plain, sets, "--json", "-q"]))


def promised(row, found):
    """The gain that the advice promises of the right remedy, as a share; where nothing is to be changed, of anything."""
    if row["remedy"] is None:
        return found[0]["gain"] if found else 0.0
    return found[row["rank"] - 1]["gain"] if row["rank"] else 0.0


def error_of(row):
    """Of the promise, in points. Who is not advised makes no change: that one would be slower costs nobody anything."""
    really = row["really"] if row["rank"] else max(0.0, row["really"])
    return 100 * (row["gain"] - really)


def row_of(arguments, case, folder):
    name = case["name"]
    program = [*arguments.before.split(), arguments.bin / f"{arguments.suite.removesuffix('_native')}_{name}"]
    kept = folder / f"{name}-times.json"
    times = json.loads(kept.read_text()) if arguments.again else times_in_turns(program, arguments.rounds)
    kept.write_text(json.dumps(times))
    document = advised(arguments, name, program, folder)
    found = [one for one in document["improvements"] if not one["what"].startswith("cores ")]
    before, after = (statistics.median(times[which]) for which in ("base", "twin"))
    remedy = case.get("remedy")
    rank = next((rank for rank, one in enumerate(found, 1) if remedy and re.match(remedy, one["what"])), None)
    baseline = (document["simulation_baseline"] or {}).get("error")
    row = {"name": name, "remedy": remedy, "before": before, "after": after, "rank": rank, "first": found[0]["what"] if found else None,
           "noise": max(noise_of(values) for values in times.values()), "really": 1 - after / before if remedy else 0.0}
    row["gain"] = promised(row, found)
    row["error"] = error_of(row)
    row["interval"] = [found[rank - 1]["time_gain"][end] for end in ("low", "high")] if rank else None
    row["unusable"] = why_unusable(program, folder / f"{name}-work.json", [*plain_recordings(folder, name, arguments)[:1], folder / f"{name}-sets.cft"], arguments)
    print(f"== {name}: {'UNUSABLE, ' + row['unusable'] + '; ' if row['unusable'] else ''}{before / 1e3:.0f} ms, really {100 * (1 - after / before):.1f} % (noise {100 * row['noise']:.1f} %), unchanged run off by "
          f"{'-' if baseline is None else f'{100 * baseline:.1f} %'}; {document.get('empty_reason') or ''}")
    for one in found[:4]:
        print(f"   {one['what']} at {one['where']['method']}: {100 * one['gain']:.1f} % {one.get('verdict', '')}")
    for one in document["left_out"]:
        if one["what"] != "convert-to-inline" and not one["what"].startswith("cores "):
            print(f"   left out: {one['what']} at {one['where']['method']}: {one['reason']}", flush=True)
    return row


def covers(row):
    """Whether the interval holds what the change really gains, as far as the times' noise tells."""
    low, high = row["interval"]
    noise = row["noise"] * (1 - row["really"])
    return low - noise <= row["really"] <= high + noise


def faults_of(rows, judge):
    faults = []
    for row in rows:
        if row["remedy"] is None and row["first"] is not None:
            faults.append(f"{row['name']}: {row['first']} is advised where nothing is to be changed")
        if judge and row["remedy"] is not None and row["rank"] != 1 and not row["unusable"]:
            faults.append(f"{row['name']}: {row['remedy']} is not first: {row['first']}")
    return faults


def sizes_of_errors(rows):
    """Of all usable pairs that have a right remedy, in points; and of those whose remedy is advised."""
    asked = [row for row in rows if row["remedy"] and not row["unusable"]]
    return [abs(row["error"]) for row in asked], [abs(row["error"]) for row in asked if row["rank"]]


def words_on_errors(errors, advised_errors):
    def words(sizes):
        return f"median {statistics.median(sizes):.1f} points, worst {max(sizes):.1f}" if sizes else "none"

    return (f"{len(errors)} gains, a remedy that is not advised as a promise of nothing: error {words(errors)}; "
            f"the {len(advised_errors)} that are advised: {words(advised_errors)}")


def markdown(rows):
    lines = [f"On {machine.words()}.", "",
             "| program | right remedy | advised first | before | after, predicted | after, measured | error | interval | rank | noise | counts |",
             "|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|"]
    for row in rows:
        interval = "-" if row["interval"] is None else " to ".join(f"{100 * (end - row['really']):+.1f}" for end in row["interval"])
        lines.append(f"| `{row['name']}` | {(row['remedy'] or 'none').replace('|', ' or ')} | {row['first'] or 'nothing'} | {row['before'] / 1e3:.0f} ms | "
                     f"{row['before'] * (1 - row['gain']) / 1e3:.0f} ms | {row['after'] / 1e3:.0f} ms | {row['error']:+.1f} | {interval} | {row['rank'] or '-'} | {100 * row['noise']:.1f} % | "
                     f"{'no: ' + row['unusable'] if row['unusable'] else 'yes'} |")
    return "\n".join(lines) + "\n"


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact", type=pathlib.Path)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--suite", choices=["unseen_native", "real_native"], default="unseen_native")
    parser.add_argument("--case", action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--recordings", type=int, default=1)
    parser.add_argument("--before", default="", help="a command in front of each program: `chrt -r 1` keeps other load away")
    parser.add_argument("--markdown", help="write the table to this file")
    parser.add_argument("--work", action="store_true", help="compare the work of each program and its twin, too")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--keep", help="folder for times and traces")
    parser.add_argument("--again", action="store_true", help="with --keep: nothing is run again, only the analysis")
    return parser.parse_args()


def main():
    arguments = parsed_arguments()
    cases = [case for case in json.loads((HERE.parent / arguments.suite / "cases.json").read_text()) if arguments.case is None or case["name"] in arguments.case]
    rows, faults, unmeasured = [], [], []
    with tempfile.TemporaryDirectory(prefix="contrafact-unseen-native-") as scratch:
        folder = pathlib.Path(arguments.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases:
            try:
                rows.append(row_of(arguments, case, folder))
            except NotMeasured as why:
                unmeasured.append(f"{case['name']}: {why}")
            except (Failure, subprocess.TimeoutExpired) as failure:
                faults.append(f"{case['name']}: {failure}")
    faults += faults_of(rows, arguments.judge)
    usable = [row for row in rows if not row["unusable"]]
    errors, advised_errors = sizes_of_errors(rows)
    first, asked = sum(row["rank"] == 1 for row in usable), sum(row["remedy"] is not None for row in usable)
    if errors:
        print(f"\n{len(usable)} of {len(rows)} pairs are usable. {words_on_errors(errors, advised_errors)}; right remedy first in {first} of {asked}")
        attempts.report("another remedy than the right one is first, or none", asked - first, asked)
    intervals = [row for row in usable if row["interval"]]
    if intervals:
        widths = [100 * (row["interval"][1] - row["interval"][0]) for row in intervals]
        print(f"the intervals hold {sum(map(covers, intervals))} of {len(intervals)}; their width is {statistics.median(widths):.1f} points in the median")
    if errors and arguments.case is None and arguments.suite == "unseen_native" and len(usable) >= same_work.USABLE_MIN:
        words, is_held = left_out.judge([left_out.Prediction(row["name"], row["gain"], row["interval"], row["really"], row["noise"] * (1 - row["really"]))
                                         for row in intervals], LIMITS["width in errors"])
        print(words)
        if not is_held:
            faults.append(words)
        if statistics.median(errors) > LIMITS["error median"] or max(advised_errors, default=0) > LIMITS["error worst of advised"]:
            faults.append("the gains are further off than LIMITS allows")
        if first < LIMITS["right remedy first"] * asked:
            faults.append("the right remedy is first too seldom")
    for why in unmeasured:
        print("not measured:", why)
    for fault in faults:
        print("FAULT", fault)
    if arguments.markdown:
        pathlib.Path(arguments.markdown).write_text(markdown(rows))
    if faults:
        sys.exit(1)
    if unmeasured or len(usable) < min(same_work.USABLE_MIN, len(cases)):
        shortest_run.not_measured(f"{len(usable)} of {len(cases)} pairs are usable")


if __name__ == "__main__":
    main()
