#!/usr/bin/env python3
"""usage: unseen.py CONTRAFACT CLASSES [--java PATH] [--case NAME]... [--rounds N] [--recordings N] [--markdown FILE] [--keep FOLDER]

Programs unlike those of test/truth, each with twins: the same program with an argument that makes one change. For each twin:

 1. the program and its twin run in turns, unrecorded, --rounds times; the time is that which the program prints of its tasks;
 2. the program is recorded --recordings times; of the recording of median length the tool's advice, and what it predicts for the change;
 3. predicted: the unrecorded program's median time, by the tasks' predicted share of the recorded run's. Held against the twin's.

A row says what was predicted, what was measured, the error, whether the interval (widened by what the runs spread) covers the truth, at
which rank of the advice the change stands, and whether the expressions that were printed compile.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import machine

RUN_SECONDS_MAX = 120


class Failure(Exception):
    pass


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=RUN_SECONDS_MAX, **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[:400]}")
    return done.stdout


class Program:
    def __init__(self, case, arguments):
        self.case, self.arguments = case, arguments
        java = case.get("java", arguments.java)
        self.before = arguments.before.split()
        self.command = [java, *case.get("vm", []), "-cp", arguments.classes, case["main"]]

    def times(self, output):
        found = re.search(r"^result (\S+) us (\d+)$", output, re.MULTILINE)
        if not found:
            raise Failure(f"{self.case['name']} printed {output!r}")
        return found[1], int(found[2]) / 1e6

    def run(self, *words):
        return self.times(run([*self.before, *self.command, *words]))

    def record(self, trace, *words):
        options = self.case.get("record", [])
        return self.times(run([*self.before, self.arguments.contrafact, "record", "-q", "-o", trace, *options, "--", *self.command, *words]))[1]


class Tool:
    def __init__(self, contrafact, folder):
        self.contrafact, self.folder = contrafact, folder

    def duration(self, trace):
        document = json.loads(run([self.contrafact, "metrics", trace, "--window", "tasks", "--json", "-q"]))
        return {row["metric"]: row["value"] for row in document["metrics"]}["duration"]

    def advise(self, trace, name, *options):
        specs = self.folder / name
        shutil.rmtree(specs, ignore_errors=True)
        document = json.loads(run([self.contrafact, "advise", trace, "--json", "-q", "--specs", specs, *options]))
        files = sorted(specs.glob("[0-9]*.json")) if specs.exists() else []
        return document, [(path, json.loads(path.read_text())["improvements"][0]) for path in files]

    def estimate(self, trace, specs, model):
        output = self.folder / "estimated.cft"
        command = [self.contrafact, "estimate", trace, "--model", model, "-o", output, "--json", "-q"]
        for spec in specs:
            command += ["--apply", spec]
        run(command)
        return self.duration(output)


def matches(wanted, improvement):
    """wanted: {"optimisation", and "pool" or "line"}; a line is File.java:METHOD of the spawn, and `size` what the twin has."""
    if improvement["optimisation"] != wanted["optimisation"]:
        return False
    if "pool" in wanted:
        return re.search(wanted["pool"], improvement["pool"]) is not None
    methods = [f"{frame['class']}.{frame['method']}" for frame in improvement["spawn"]["frames"]]
    if "body" in wanted and wanted["body"] not in (improvement.get("body") or {}).get("method", ""):
        return False
    return any(re.search(wanted["spawn_in"], method) for method in methods)


def median_of(values):
    return statistics.median(values)


def noise_of(values):
    """Half the middle half's width, as a share."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    kept = ordered[quarter:len(ordered) - quarter]
    return (kept[-1] - kept[0]) / 2 / median_of(ordered)


def measure_in_turns(program, twins, rounds):
    """Times of the unchanged program ("") and each twin."""
    times = {name: [] for name in ["", *twins]}
    results = set()
    for _ in range(rounds):
        for name in times:
            result, seconds = program.run(*([name] if name else program.case.get("base", [])))
            results.add(result)
            times[name].append(seconds)
    if len(results) != 1:
        raise Failure(f"{program.case['name']}: results differ: {results}")
    return times


def recorded_median(program, tool, count, *words):
    traces = []
    for number in range(count):
        trace = tool.folder / f"{program.case['name']}-{'-'.join(words)}-{number}.cft"
        program.record(trace, *words)
        traces.append((tool.duration(trace), trace))
    return sorted(traces)[(count - 1) // 2]


def spec_of_twin(tool, wanted, path):
    if "size" not in wanted:
        return path
    spec = json.loads(path.read_text())
    spec["improvements"][0]["size"]["after"] = wanted["size"]
    copy = tool.folder / "sized.json"
    copy.write_text(json.dumps(spec))
    return copy


def made_spec(tool, trace, wanted):
    """A size that the tool did not offer."""
    spec = {"schema": "contrafact-improvement-1", "improvements": [
        {"optimisation": "pool-size", "pool": wanted["pool_name"], "size": {"before": wanted["before"], "after": wanted["size"]}}]}
    path = tool.folder / "made.json"
    path.write_text(json.dumps(spec))
    return path


def predict(tool, trace, twin, document, base_s):
    """Of the headline's model: predicted share of the time, and both."""
    _, every = tool.advise(trace, "every", "--no-filter", "all", "--top", "1000")
    paths = []
    for wanted in twin["change"]:
        found = [spec_of_twin(tool, wanted, path) for path, improvement in every if matches(wanted, improvement)]
        if not found and "pool_name" in wanted:
            found = [made_spec(tool, trace, wanted)]
        if not found:
            raise Failure(f"not offered: {wanted}; offered: " + "; ".join(
                f"{i['optimisation']} {i.get('pool', '')} {[f['method'] for f in i.get('spawn', {'frames': []})['frames']]}" for _, i in every))
        paths += found
    shares = {"redispatch": tool.estimate(trace, paths, "redispatch") / base_s}
    sizes = any("size" in wanted for wanted in twin["change"])
    if not sizes:
        shares["fixed"] = tool.estimate(trace, paths, "fixed") / base_s
    headline = "redispatch" if sizes or document["headline"]["model"] == "simulated" else "fixed"
    return shares, headline


def rank_of(twin, advised):
    """1 for the first, None if not advised at all; of several changes the first counts."""
    for rank, (_, improvement) in enumerate(advised, 1):
        if any(matches(wanted, improvement) for wanted in twin["change"]):
            return rank
    return None


def percent(value):
    return "-" if value is None else f"{100 * value:+.1f} %"


def run_case(case, arguments, folder):
    program, tool = Program(case, arguments), Tool(arguments.contrafact, folder)
    twins = {twin["name"]: twin for twin in case["twins"]}
    times = measure_in_turns(program, twins, arguments.rounds)
    base_s, trace = recorded_median(program, tool, arguments.recordings, *case.get("base", []))
    document, advised = tool.advise(trace, "advised")
    print(f"== {case['name']}: {median_of(times['']):.3f} s +-{100 * noise_of(times['']):.1f} %, recorded {base_s:.3f} s; headline "
          f"{document['headline']['model']} ({document['headline']['reason']}); self-check "
          f"{percent((document.get('simulation_baseline') or {}).get('error'))}; {document.get('summary', '')}", flush=True)
    for number, (_, one) in enumerate(advised[:6], 1):
        row = document["improvements"][number - 1] if number <= len(document.get("improvements", [])) else {}
        print(f"   #{number} {one['optimisation']} {one.get('pool', '')} {one.get('size', '')} "
              f"{[f['method'] + ':' + str(f.get('line')) for f in one.get('spawn', {'frames': []})['frames'][:3]]} gain {row.get('gain')} {row.get('verdict')}")
    rows = []
    for name, twin in twins.items():
        actual = median_of(times[name]) / median_of(times[""])
        row = {"case": case["name"], "twin": name, "base_s": median_of(times[""]), "after_s": median_of(times[name]),
               "noise": max(noise_of(times[""]), noise_of(times[name])), "rank": rank_of(twin, advised), "actual": actual}
        try:
            shares, headline = predict(tool, trace, twin, document, base_s)
            after_s, after_trace = recorded_median(program, tool, arguments.recordings, name)
            row |= {"predicted": shares[headline], "headline": headline, "shares": shares, "error": shares[headline] / actual - 1,
                    "recorded_error": shares[headline] * base_s / after_s - 1}
        except Failure as failure:
            print("   FAILURE", failure, flush=True)
            row |= {"predicted": None, "headline": "-", "shares": {}, "error": None, "recorded_error": None}
        rows.append(row)
        print(f"   {name}: really {row['after_s']:.3f} s ({100 * actual:.1f} % of the time, noise {100 * row['noise']:.1f} %), predicted "
              f"{ {k: round(100 * v, 1) for k, v in row['shares'].items()} }, error {percent(row['error'])}, against its recording "
              f"{percent(row['recorded_error'])}; rank {row['rank']}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact")
    parser.add_argument("classes")
    parser.add_argument("--java", default="java")
    parser.add_argument("--case", action="append")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--recordings", type=int, default=3)
    parser.add_argument("--before", default="", help="a command in front of each program: `chrt -r 1` keeps other load away")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    cases = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())
    cases = [case for case in cases if arguments.case is None or case["name"] in arguments.case]
    rows = []
    with tempfile.TemporaryDirectory(prefix="contrafact-unseen-") as scratch:
        folder = pathlib.Path(arguments.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases:
            try:
                rows += run_case(case, arguments, folder)
            except (Failure, subprocess.TimeoutExpired) as failure:
                print(f"== {case['name']}: {failure}", flush=True)
    errors = [abs(row["error"]) for row in rows if row["error"] is not None]
    if errors:
        print(f"\n{len(errors)} changes: error median {100 * statistics.median(errors):.2f} %, worst {100 * max(errors):.2f} %")
        print(f"first or second: {sum(1 for row in rows if row['rank'] and row['rank'] <= 2)} of {len(rows)}")


if __name__ == "__main__":
    main()
