#!/usr/bin/env python3
"""usage: truth.py CONTRAFACT CLASSES [--java JAVA] [--runs N] [--case NAME]... [--no-figures] [--markdown FILE]

Holds predicted gains of changed locks against JVM programs whose lock was really changed. For each case of cases.json: records
the program and its twin several times, each acquisition of their own classes included (record --classes), lets `contrafact replay
--no-threads` predict from the shortest recording of the program alone what the case's edits gain, and compares with the
shortest recording of the twin. Then it records once more what the program's sections touch (--sets), and looks at the first
change of a lock that `contrafact advise` ranks: its kind has to be one of the case's ("": none), and where that is what was done
(true in cases.json), its gain the real one. Program and twin are one class with an argument, and do the same steps: they print
the same result.

A case of tasks and locks (`tasks` in cases.json) looks at the first change of any kind. It may name what was done by `specs`:
members of an improvement spec, for a pool; or of one of those that `advise` writes, for tasks.

A pair is unusable if the two shortest recordings of either differ by more than NEAR, or if other programs had more than
FOREIGN_MAX of the cores; it counts for nothing. Exit status 1 if a limit of LIMITS is exceeded, or a case that is to be left alone
promises a gain; 77 (not measured) if fewer than USABLE_MIN pairs are usable. With --no-figures it is 1 only if a program cannot be
recorded, prints another result as its twin, or the edits do not fit."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import machine
import shortest_run

RUN_SECONDS_MAX = 60
NEAR = 0.03
FOREIGN_MAX = 0.05
USABLE_MIN = 8
LIMITS = {"median": 0.03, "worst": 0.08}
KEEP_GAIN_MAX = 0.03
METHOD = "simulated, free order"
TASK_KINDS = ["convert-to-inline", "inline-at-wait", "convert-to-combinator", "hoist-branch", "pool-size"]
LOCK_KINDS = ["drop-lock", "split-lock", "shorten-section", "make-atomic", "reader-writer-lock"]


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    if done.returncode != 0:
        sys.exit(f"truth: {' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[:400]}")
    return done.stdout


def record(options, name, twin, folder):
    def one(number):
        trace = folder / f"{name}-{twin}-{number}.cft"
        printed = run([options.contrafact, "record", "-q", "-o", trace, "--classes", f"{name}*", "--", options.java, "-cp",
                       options.classes, name, twin])
        return json.loads(run([options.contrafact, "info", "--json", "-q", trace]))["duration_ns"], trace, printed

    return shortest_run.all_of(one, options.runs)


def why_unusable(recordings, foreign_share):
    if foreign_share > FOREIGN_MAX:
        return f"other programs had {100 * foreign_share:.0f} % of the cores"
    for twin, found in recordings.items():
        spread = shortest_run.spread([duration_ns for duration_ns, _, _ in found])
        if spread > NEAR:
            return f"the two shortest runs of the {twin} differ by {100 * spread:.1f} %"
    return None


def compare(options, case, folder):
    recordings = {twin: record(options, case["name"], twin, folder) for twin in ("base", "twin")}
    (before_ns, trace, result), (after_ns, _, other) = recordings["base"][0], recordings["twin"][0]
    if result != other:
        sys.exit(f"truth: {case['name']}: the twin prints {other.strip()!r}, not {result.strip()!r}")
    command = [options.contrafact, "replay", trace, "--no-threads", "--json", "-q", "--runs", "5"]
    for edit in case.get("edits", []):
        command += ["--edit", edit]
    for spec in specs_of(options, case, trace, folder):
        command += ["--apply", spec]
    document = json.loads(run(command))
    row = next(row for row in document["methods"] if row["method"] == METHOD)
    advised, promised = first_lock_advice(options, case, trace, folder)
    return {"advised": advised, "promised": promised, "advice": case["advice"],
            "name": case["name"], "why": case["why"], "keep": case.get("keep", False), "before_ns": before_ns, "after_ns": after_ns,
            "gain": 1 - after_ns / before_ns, "predicted": row["gain"], "unchanged": row["error"],
            "unusable": why_unusable(recordings, document["foreign_share"] or 0)}


def specs_of(options, case, trace, folder):
    """Files of the case's specs. What members a spec needs beyond those of the case is taken from those of `advise`."""
    files = []
    for number, members in enumerate(case.get("specs", [])):
        written = {"schema": "contrafact-improvement-1", "improvements": [members]}
        if "pool" not in members:
            specs = folder / f"{case['name']}-specs-{number}"
            run([options.contrafact, "advise", "-q", "--no-filter", "all", "--specs", specs, trace])
            documents = [json.loads(path.read_text()) for path in sorted(specs.glob("*.json")) if path.name != "best.json"]
            found = [one for one in documents if len(one["improvements"]) == 1 and fits(members, one["improvements"][0])]
            if len(found) != 1:
                sys.exit(f"truth: {case['name']}: {len(found)} of the specs of advise have {members}")
            written = found[0]
        files.append(folder / f"{case['name']}-{number}.json")
        files[-1].write_text(json.dumps(written))
    return files


def fits(wanted, found):
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and fits(value, found[key]) for key, value in wanted.items())
    return wanted == found


def first_lock_advice(options, case, trace, folder):
    """The kind of the first change of a lock that is a gain, and its gain; none: "", 0. Of a case of tasks: of any change."""
    sets = folder / f"{case['name']}-sets.cft"
    run([options.contrafact, "record", "-q", "-o", sets, "--classes", f"{case['name']}*", "--sets", "--", options.java, "-cp",
         options.classes, case["name"], "base"])
    document = json.loads(run([options.contrafact, "advise", "--json", "-q", trace, sets]))
    for one in document["improvements"] or []:
        kinds = LOCK_KINDS + (TASK_KINDS if case.get("tasks") else [])
        kind = next((kind for kind in kinds if one["what"].startswith(kind)), "")
        if kind and one["verdict"] == "a gain":
            return kind, one["gain"]
    return "", 0


def error(one):
    return one["predicted"] - one["gain"]


def error_of_advice(one):
    return one["promised"] - one["gain"]


def is_what_was_done(one):
    return one["advice"].get(one["advised"], False)


def faults_of_advice(counted):
    same = [one for one in counted if is_what_was_done(one)]
    found = []
    if same and statistics.median(abs(error_of_advice(one)) for one in same) > LIMITS["median"]:
        found.append("median error of the advised gains")
    for one in same:
        if abs(error_of_advice(one)) > LIMITS["worst"]:
            found.append(f"{one['name']}: advised for {100 * one['promised']:.1f} %, really {100 * one['gain']:.1f} %")
    for one in counted:
        if one["advised"] not in one["advice"]:
            known = " or ".join(kind or "nothing" for kind in one["advice"])
            found.append(f"{one['name']}: advised {one['advised'] or 'nothing'}, not {known}")
    return found


def faults(counted):
    errors = [abs(error(one)) for one in counted]
    found = []
    if statistics.median(errors) > LIMITS["median"]:
        found.append(f"median error of the gain: {100 * statistics.median(errors):.1f} points")
    for one in counted:
        if abs(error(one)) > LIMITS["worst"]:
            found.append(f"{one['name']}: predicted {100 * one['predicted']:.1f} %, really {100 * one['gain']:.1f} %")
        if one["keep"] and one["predicted"] > KEEP_GAIN_MAX:
            found.append(f"{one['name']}: to be left alone, and {100 * one['predicted']:.1f} % promised")
    return found


def markdown(options, compared, counted):
    errors = [abs(error(one)) for one in counted]
    lines = [f"Made by `test/truth_jvm_locks/truth.py build/release/bin/contrafact build/release/java/truth_jvm_locks --runs {options.runs}` on",
             f"{machine.words()}; {options.version}; each figure is of the shortest recording.", "",
             "| program | what was done to the lock | before | after | gain | predicted | advised first | its gain | unchanged run, simulated |",
             "|---|---|--:|--:|--:|--:|---|--:|--:|"]
    for one in compared:
        name = f"`{one['name']}`" + (f" (unusable: {one['unusable']})" if one["unusable"] else "")
        lines.append(f"| {name} | {one['why']} | {one['before_ns'] / 1e6:.0f} ms | {one['after_ns'] / 1e6:.0f} ms | "
                     f"{100 * one['gain']:.1f} % | {100 * one['predicted']:.1f} % | {one['advised'] or '-'} | {100 * one['promised']:.1f} % | "
                     f"{100 * one['unchanged']:+.1f} % |")
    same = [one for one in counted if is_what_was_done(one)]
    advised = [abs(error_of_advice(one)) for one in same]
    lines += ["", f"{len(counted)} of {len(compared)} pairs are usable: gains are {100 * statistics.median(errors):.1f} points off in the median, "
              f"{100 * max(errors):.1f} at worst; unchanged runs {100 * statistics.median(abs(one['unchanged']) for one in counted):.1f} % in the median. "
              f"The first change of a lock that `advise` ranks is one that fits in "
              f"{sum(one['advised'] in one['advice'] for one in counted)} of {len(counted)}; in the {len(same)} where it is what was "
              f"done, its gain is {100 * statistics.median(advised):.1f} points off in the median, {100 * max(advised):.1f} at worst."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact")
    parser.add_argument("classes", type=pathlib.Path)
    parser.add_argument("--java", default="java")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--case", action="append")
    parser.add_argument("--no-figures", action="store_true")
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    options.version = subprocess.run([options.java, "-version"], capture_output=True, text=True).stderr.splitlines()[0]
    cases = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())
    cases = [case for case in cases if not options.case or case["name"] in options.case]
    compared = []
    with tempfile.TemporaryDirectory(prefix="contrafact-truth-") as folder:
        for case in cases:
            one = compare(options, case, pathlib.Path(folder))
            compared.append(one)
            print(f"{one['name']:14} {one['before_ns'] / 1e6:6.0f}ms {one['after_ns'] / 1e6:6.0f}ms, really {100 * one['gain']:5.1f} %, "
                  f"predicted {100 * one['predicted']:5.1f} %, advised {100 * one['promised']:5.1f} % by {one['advised'] or 'nothing'}, "
                  f"unchanged {100 * one['unchanged']:+5.1f} %  {one['why']}"
                  f"{'; UNUSABLE: ' + one['unusable'] if one['unusable'] else ''}", flush=True)
    counted = [one for one in compared if not one["unusable"]]
    if options.markdown and counted:
        options.markdown.write_text(markdown(options, compared, counted))
    if options.no_figures:
        return
    if len(counted) < min(USABLE_MIN, len(cases)):
        shortest_run.not_measured(f"{len(counted)} of {len(compared)} pairs are usable")
    found = faults(counted) + faults_of_advice(counted)
    errors = [abs(error(one)) for one in counted]
    print(f"gains are {100 * statistics.median(errors):.1f} points off in the median, {100 * max(errors):.1f} at worst")
    for fault in found:
        print(f"FAULT {fault}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
