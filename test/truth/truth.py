#!/usr/bin/env python3
"""usage: truth.py CONTRAFACT CLASSES [--java PATH] [--case NAME]... [--runs N] [--pick median|shortest] [--cpu-bound | --no-cpu-bound] [--markdown FILE]
                 [--json FILE] [--keep FOLDER]

Holds estimates against programs that were really changed. For each case: records `Before` and its twin `After` several times, and
uses of each the run of median length or the shortest; finds the improvements that the case names among what `contrafact advise` offers for
Before; lets `contrafact estimate` apply them under both models; compares with the recording of After, over the window from
the first task to the last. Other twins (`others` in case.json) say how the improvements rank in reality.

The figure that counts for a case is that of the model which the tool itself names as its headline for the recording (advise --json,
"headline"), chosen before anything is known of After. Beside other load run it under `chrt -r 1`.

A program and its twins take turns, --runs times, and up to shortest_run.RUNS_MAX times as often until all of them are quiet. With --pick
shortest a program is quiet where its two shortest runs differ by no more than shortest_run.NEAR; with --pick median, for programs that
compute, of which no run is undisturbed, where the median is known within MEDIAN_ERROR_MAX, and that of the CPU time of what it
computes (Work.printSpent) within WORK_ERROR_MAX. A comparison is disturbed, is printed and counts for nothing, where one of the two is not
quiet, or the CPU time differs by more than same_work.DIFFERENCE_MAX. Exit status 1 if a limit of LIMITS is exceeded; 77 (not measured)
if more than DISTURBED_MAX of the comparisons were disturbed.
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
import same_work
import shortest_run

RUN_SECONDS_MAX = 300
LIMITS = {"duration_median": 0.03, "duration_worst": 0.10, "threads_median": 0.05}
PAPER_COMPOSITE = 0.005
DISTURBED_MAX = 0.25
MEDIAN_ERROR_MAX = 0.015
# Twice the standard error of the median CPU time of what a program computes: half of what it may differ by from its twin's.
WORK_ERROR_MAX = same_work.DIFFERENCE_MAX / 2
THREAD_METRICS = [f"{what}_{state}" for state in ("active", "waiting", "occupied") for what in ("mean", "peak")]
METRICS = ["duration", *THREAD_METRICS]
# Below this many threads a mean is compared absolutely: no waiting at all is 0, and an error relative to nothing has no meaning.
THREADS_MIN = 0.25
MODELS = ("fixed", "redispatch")
POOL_SIZE = "pool-size"
HEADLINE = {"estimated": "fixed", "simulated": "redispatch"}
# Combinations whose composites differ by less than this are equal in rank: repeated runs differ as much.
RANK_TIE = 0.02
# An improvement whose score is no further above 1 than this does no harm by itself.
NO_EFFECT = 0.001
# How much of the time what is expected here may cost: hoist_cache 1 %, its twin as well.
LOSS_MAX_PERCENT = 2


class Failure(Exception):
    pass


def run_both(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[:400]}")
    return done.stdout, done.stderr


def run(command):
    return run_both(command)[0]


def java_words(java):
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    return "JDK " + text.split('"')[1]


class Tool:
    def __init__(self, arguments, folder):
        self.contrafact, self.java, self.classes = arguments.contrafact, arguments.java, arguments.classes
        self.folder = pathlib.Path(folder)
        self.pick = arguments.pick

    def record(self, main_class, methods, number):
        trace = self.folder / f"{main_class}-{number}.cft"
        options = ["--include", methods + ".*"] if methods else []
        out, errors = run_both([self.contrafact, "record", "-q", "-o", trace, *options, "--", self.java, "-cp", self.classes, main_class])
        if not out.startswith("result "):
            raise Failure(f"{main_class} printed {out!r}")
        work = re.search(r"^work_ns (\d+)$", errors, re.MULTILINE)
        return trace, int(work[1]) if work else None

    def metrics(self, trace):
        document = json.loads(run([self.contrafact, "metrics", trace, "--window", "tasks", "--json", "-q"]))
        values = {row["metric"]: row["value"] for row in document["metrics"]}
        return {name: values[name] for name in METRICS}

    def advise(self, traces, specs, *options):
        shutil.rmtree(specs, ignore_errors=True)
        return json.loads(run([self.contrafact, "advise", *traces, "--json", "-q", "--specs", specs, "--top", "1000", *options]))

    def estimate(self, trace, specs, model, name):
        output = self.folder / f"{name}-{model}.cft"
        command = [self.contrafact, "estimate", trace, "--model", model, "-o", output, "--json", "-q"]
        for spec in specs:
            command += ["--apply", spec]
        run(command)
        return self.metrics(output)


def error_of_median(durations):
    middle, error_twice = same_work.middle_of(durations)
    return error_twice / middle


class Recorded:
    """One run among several of a program: that of median length, or the shortest. `traces` are of it and of those whose
    lengths come next to its, three in all."""

    def __init__(self, found, pick):
        """`found`: of each run its length, its trace, its metrics, and the CPU time of its work or None."""
        found = sorted(found, key=lambda one: one[0])
        picked = 0 if pick == "shortest" else (len(found) - 1) // 2
        _, self.trace, self.metrics, self.work_ns = found[picked]
        first = max(0, min(picked - 1, len(found) - 3))
        self.traces = [trace for _, trace, _, _ in found[first:first + 3]]
        durations, work = [one[0] for one in found], [one[3] for one in found]
        if pick == "shortest":
            self.is_quiet = shortest_run.is_quiet(durations)
        else:
            self.is_quiet = error_of_median(durations) <= MEDIAN_ERROR_MAX
            if self.work_ns:
                self.work_ns = statistics.median(work)
                self.is_quiet &= error_of_median(work) <= WORK_ERROR_MAX
        self.spread = (durations[-1] - durations[0]) / self.metrics["duration"]


def recorded_in_turns(tool, programs, least):
    """By main class, the Recorded of each of `programs` (by main class, what of it is recorded besides tasks). They take turns, so
    that a slow spell of the machine meets all of them: `least` times, and up to shortest_run.RUNS_MAX times as often until each of
    them is quiet. What they are compared with plays no part."""
    found, recorded = {main_class: [] for main_class in programs}, {}
    for number in range(shortest_run.RUNS_MAX * least):
        for main_class, methods in programs.items():
            trace, work_ns = tool.record(main_class, methods, number)
            metrics = tool.metrics(trace)
            found[main_class].append((metrics["duration"], trace, metrics, work_ns))
        if number + 1 < least:
            continue
        recorded = {main_class: Recorded(runs, tool.pick) for main_class, runs in found.items()}
        if all(one.is_quiet for one in recorded.values()):
            break
    return recorded


# ---- finding improvements

def own_frame(stack, prefix):
    """The innermost frame of the program's own."""
    for frame in stack:
        if frame.get("class", "").startswith(prefix):
            return frame
    return None


def matches(wanted, spec, prefix):
    one = spec["improvements"][0]
    if one["optimisation"] != wanted["optimisation"]:
        return False
    if one["optimisation"] == POOL_SIZE:
        return True
    type_name, method = wanted["spawn_in"].replace("/", ".").rsplit(".", 1)
    # Whoever hands the task over: the first frame below the library's, or one that a lambda of it stands for.
    frame = own_frame(one["spawn"]["frames"], prefix)
    if frame is None or frame["class"] != type_name or frame["method"] not in (method, f"lambda${method}$0"):
        return False
    return "subset" not in wanted or subset_is(one, wanted["subset"])


def subset_is(improvement, method):
    """Whether the branch is the one that enters `method`."""
    return method in improvement_branch_methods(improvement)


def improvement_branch_methods(improvement):
    return [c["method"]["method"] for c in improvement.get("branch", []) if c["holds"] and c.get("method")]


def spec_files(folder):
    return [(path, json.loads(path.read_text())) for path in sorted(folder.glob("[0-9]*.json"))]


def find(wanted_list, specs, prefix):
    """Spec files of all wanted improvements; several where one place is reached by several stacks."""
    found = []
    for wanted in wanted_list:
        of_this = [path for path, spec in specs if matches(wanted, spec, prefix)]
        if not of_this:
            of_tasks = [s for _, s in specs if "spawn" in s["improvements"][0]]
            offered = sorted({f"{s['improvements'][0]['optimisation']} at "
                              f"{(own_frame(s['improvements'][0]['spawn']['frames'], prefix) or {}).get('method')} "
                              f"{improvement_branch_methods(s['improvements'][0])}" for s in of_tasks})
            raise Failure(f"not offered: {wanted}; offered: {offered}")
        found += of_this
    return found


# ---- comparing

def error(predicted, actual, metric):
    floor = THREADS_MIN if metric != "duration" else 0
    return (predicted - actual) / max(abs(actual), floor) if max(abs(actual), floor) > 0 else 0.0


def composite(metrics, base):
    """As advise ranks: the mean of duration, peak and mean occupied threads, each as a share of the recorded run's."""
    names = ("duration", "peak_occupied", "mean_occupied")
    return statistics.mean(metrics[name] / base[name] for name in names)


class Comparison:
    """One changed program: what was predicted by each model, and what it did."""

    def __init__(self, name, base, actual, predicted, headline):
        self.name, self.base, self.actual, self.predicted, self.headline = name, base, actual, predicted, headline
        self.errors = {model: {m: error(values[m], actual.metrics[m], m) for m in METRICS} for model, values in predicted.items()}
        self.composites = {model: composite(values, base.metrics) for model, values in predicted.items()}
        self.actual_composite = composite(actual.metrics, base.metrics)

    def is_quiet(self):
        return self.base.is_quiet and self.actual.is_quiet and self.does_same_work()

    def does_same_work(self):
        if not self.base.work_ns or not self.actual.work_ns:
            return True
        return abs(self.actual.work_ns / self.base.work_ns - 1) <= same_work.DIFFERENCE_MAX

    def composite_error(self, model):
        return self.composites[model] / self.actual_composite - 1

    def nearer(self):
        """By the sum of errors in duration and in thread use."""
        def distance(model):
            return abs(self.errors[model]["duration"]) + statistics.mean(abs(self.errors[model][m]) for m in THREAD_METRICS)
        fixed, free = distance("fixed"), distance("redispatch")
        return "same" if abs(fixed - free) < 0.005 else "fixed" if fixed < free else "redispatch"


def with_size(tool, path, size, name):
    """A spec of the pool that is advised to be larger, with the size that its twin has."""
    spec = json.loads(path.read_text())
    spec["improvements"][0]["size"]["after"] = size
    copy = tool.folder / f"{name}-pool.json"
    copy.write_text(json.dumps(spec))
    return copy


def compare(tool, case, recorded, specs, wanted, main_class, headline):
    before, after = recorded[case["before"]], recorded[main_class]
    prefix = case["before"].rsplit(".", 1)[0] + "."
    paths = find(wanted, specs, prefix)
    sizes = [one["size"] for one in wanted if one["optimisation"] == POOL_SIZE]
    if sizes:
        paths = [with_size(tool, paths[0], sizes[0], main_class)]
    # Fixed assignment knows no pools: it says that nothing changes.
    predicted = {model: before.metrics if sizes and model == "fixed" else tool.estimate(before.trace, paths, model, main_class)
                 for model in MODELS}
    return Comparison(main_class, before, after, predicted, headline)


def rank_faults(comparisons, model_of):
    """Pairs of variants (the unchanged program is one) that the prediction puts in another order than reality."""
    variants = [("unchanged", 1.0, 1.0)] + [(c.name, c.composites[model_of(c)], c.actual_composite) for c in comparisons]
    for i, (name_a, predicted_a, actual_a) in enumerate(variants):
        for name_b, predicted_b, actual_b in variants[i + 1:]:
            if abs(actual_a - actual_b) < RANK_TIE:
                continue
            if (predicted_a < predicted_b) != (actual_a < actual_b):
                yield (f"ranking: {name_a} and {name_b} in the wrong order: predicted {predicted_a:.3f}, {predicted_b:.3f}, "
                       f"really {actual_a:.3f}, {actual_b:.3f}")


def advice_faults(tool, case, before, scores):
    """What must and must not be advised by three recordings, with the tool's own filters, but for a small loss of time: some of
    the improvements that were really made here trade some of it, less than two runs differ by, for threads. `scores` are of
    all improvements, by spec.

    Of several expected improvements one must be advised; the others may be worth nothing by themselves, but not harm.
    """
    folder = tool.folder / f"{case['name']}-advised"
    document = tool.advise(before.traces, folder, "--slower-max", str(LOSS_MAX_PERCENT))
    prefix = case["before"].rsplit(".", 1)[0] + "."
    advised = spec_files(folder)
    for wanted in case["reject"]:
        if any(matches(wanted, spec, prefix) for _, spec in advised):
            yield f"advised, but makes the program worse: {wanted}"
    best = folder / "best.json"
    combined = json.loads(best.read_text())["improvements"] if best.exists() else []
    is_advised = {str(wanted): any(matches(wanted, {"improvements": [one]}, prefix) for one in combined) or
                  any(matches(wanted, spec, prefix) for _, spec in advised) for wanted in case["expect"]}
    for wanted in case["expect"]:
        neutral = any(matches(wanted, spec, prefix) and score <= 1 + NO_EFFECT for spec, score in scores)
        if not is_advised[str(wanted)] and not (neutral and any(is_advised.values())):
            yield f"not advised: {wanted} ({document.get('empty_reason', 'others are')})"


def programs_of(case):
    """By main class: the program, and those in which its changes were really made; which of its methods are recorded."""
    methods = case.get("trace_methods", "")
    twins = [case["after"], *[other["main"] for other in case.get("others", [])]]
    return {case["before"]: methods} | {
        main_class: f"{methods.rsplit('.', 1)[0]}.{main_class.rsplit('.', 1)[1]}" if methods else "" for main_class in twins}


def run_case(tool, case, runs):
    recorded = recorded_in_turns(tool, programs_of(case), runs)
    before = recorded[case["before"]]
    folder = tool.folder / f"{case['name']}-all"
    document = tool.advise([before.trace], folder, "--no-filter", "all")
    specs = spec_files(folder)
    headline = HEADLINE[document["headline"]["model"]]
    wanted = case["expect"] or case["reject"]
    comparisons = [compare(tool, case, recorded, specs, wanted, case["after"], headline)]
    for other in case.get("others", []):
        comparisons.append(compare(tool, case, recorded, specs, other["apply"], other["main"], headline))
    baseline = document.get("simulation_baseline", {}).get("error")
    scores = [(spec, row["score"]) for (_, spec), row in zip(specs, document["improvements"])]
    faults = [*advice_faults(tool, case, before, scores),
              *rank_faults([c for c in comparisons if c.is_quiet()], lambda c: c.headline)] if before.is_quiet else []
    return comparisons, faults, baseline


# ---- reporting

def percent(value):
    return f"{100 * value:+.1f} %"


def print_case(case, comparisons, baseline):
    flags = [flag for flag in ("cpu_bound", "queueing") if case[flag]]
    print(f"\n== {case['name']} {' '.join(flags)}  self-check of the simulation "
          f"{percent(baseline) if baseline is not None else '-'}")
    for c in comparisons:
        work = f"; work {percent(c.actual.work_ns / c.base.work_ns - 1)}" if c.base.work_ns and c.actual.work_ns else ""
        print(f"{c.name}: headline {c.headline}, nearer {c.nearer()}; spread of the runs "
              f"{100 * c.base.spread:.1f} % before, {100 * c.actual.spread:.1f} % after{work}"
              f"{'' if c.is_quiet() else '; DISTURBED, counts for nothing'}")
        print(f"  {'metric':15} {'base':>9} {'fixed':>9} {'redispatch':>10} {'actual':>9}   errors")
        for m in METRICS:
            print(f"  {m:15} {c.base.metrics[m]:9.3f} {c.predicted['fixed'][m]:9.3f} {c.predicted['redispatch'][m]:10.3f} "
                  f"{c.actual.metrics[m]:9.3f}   {percent(c.errors['fixed'][m]):>9} {percent(c.errors['redispatch'][m]):>9}")
        print(f"  {'composite':15} {1:9.3f} {c.composites['fixed']:9.3f} {c.composites['redispatch']:10.3f} "
              f"{c.actual_composite:9.3f}   {percent(c.composite_error('fixed')):>9} {percent(c.composite_error('redispatch')):>9}",
              flush=True)


def summary(comparisons):
    """Over all comparisons: by each model, and by the one that the tool names for each."""
    rows = {}
    for name in ("headline", *MODELS):
        model_of = lambda c: c.headline if name == "headline" else name
        durations = [abs(c.errors[model_of(c)]["duration"]) for c in comparisons]
        threads = [abs(c.errors[model_of(c)][m]) for c in comparisons for m in THREAD_METRICS]
        composites = [abs(c.composite_error(model_of(c))) for c in comparisons]
        rows[name] = {"duration_median": statistics.median(durations), "duration_worst": max(durations),
                      "threads_median": statistics.median(threads), "threads_worst": max(threads),
                      "composite_median": statistics.median(composites), "composite_worst": max(composites)}
    return rows


def print_summary(rows, count):
    print(f"\n{count} comparisons; absolute errors")
    for name, row in rows.items():
        print(f"  {name:10} duration: median {100 * row['duration_median']:.2f} %, worst {100 * row['duration_worst']:.2f} %; "
              f"thread use: median {100 * row['threads_median']:.2f} %, worst {100 * row['threads_worst']:.1f} %; composite: "
              f"median {100 * row['composite_median']:.2f} %, worst {100 * row['composite_worst']:.2f} %")
    print(f"  aims: duration median {100 * LIMITS['duration_median']:.0f} %, worst {100 * LIMITS['duration_worst']:.0f} %; thread use "
          f"median {100 * LIMITS['threads_median']:.0f} %; the paper's one composite: {100 * PAPER_COMPOSITE} %")


def markdown(comparisons, rows, arguments):
    picked = "shortest (other load only lengthens a run)" if arguments.pick == "shortest" else "one of median length"
    runs_text = f"{arguments.runs} to {shortest_run.RUNS_MAX * arguments.runs}"
    before = "chrt -r 1 " if os.sched_getscheduler(0) == os.SCHED_RR else ""
    lines = ["# Accuracy", "",
             "Estimates from a recording of a program, held against a recording of its twin in which the improvement was really",
             "made (`test/truth`). Made by", "",
             f"    {before}python3 test/truth/truth.py build/release/bin/contrafact build/release/java/truth --runs "
             f"{arguments.runs} --pick {arguments.pick} --markdown docs/accuracy.md", "",
             f"on {machine.words()}; {java_words(arguments.java)}.", "",
             f"The window is from the first task to the last. Each figure is of the {picked} of {runs_text} runs.",
             "*fixed* is the estimate by fixed assignment, *re-dispatch* the simulation; the tool's headline is in bold. Thread use is",
             "the median of the errors of mean and peak active, waiting and occupied threads; the composite is the mean of duration,",
             "peak and mean occupied threads, each as a share of the recorded run's.", "",
             "| program | duration before | after | fixed | re-dispatch | thread use, fixed | re-dispatch | composite, headline | nearer |",
             "|---|---|---|---|---|---|---|---|---|"]
    for c in comparisons:
        cells = {}
        for model in MODELS:
            bold = "**" if model == c.headline else ""
            threads = statistics.median(abs(c.errors[model][m]) for m in THREAD_METRICS)
            cells[model] = (f"{bold}{percent(c.errors[model]['duration'])}{bold}", f"{bold}{100 * threads:.1f} %{bold}")
        lines.append(f"| `{c.name}` | {c.base.metrics['duration']:.3f} s | {c.actual.metrics['duration']:.3f} s | {cells['fixed'][0]} | "
                     f"{cells['redispatch'][0]} | {cells['fixed'][1]} | {cells['redispatch'][1]} | "
                     f"{percent(c.composite_error(c.headline))} | {c.nearer()} |")
    lines += ["", "Absolute errors over all of them:", "",
              "| model | duration: median | worst | thread use: median | worst | composite: median | worst |", "|---|---|---|---|---|---|---|"]
    for name, row in rows.items():
        lines.append(f"| {name} | {100 * row['duration_median']:.2f} % | {100 * row['duration_worst']:.2f} % | "
                     f"{100 * row['threads_median']:.2f} % | {100 * row['threads_worst']:.1f} % | "
                     f"{100 * row['composite_median']:.2f} % | {100 * row['composite_worst']:.2f} % |")
    lines += [f"| aims | {100 * LIMITS['duration_median']:.0f} % | {100 * LIMITS['duration_worst']:.0f} % | "
              f"{100 * LIMITS['threads_median']:.0f} % | | the paper: {100 * PAPER_COMPOSITE} % | |", ""]
    return "\n".join(lines)


def as_json(comparisons, rows):
    return {"summary": rows,
            "comparisons": [{"name": c.name, "headline": c.headline, "nearer": c.nearer(), "base": c.base.metrics,
                             "actual": c.actual.metrics, "predicted": c.predicted, "errors": c.errors,
                             "composites": c.composites, "actual_composite": c.actual_composite,
                             "spread": {"before": c.base.spread, "after": c.actual.spread}} for c in comparisons]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact")
    parser.add_argument("classes")
    parser.add_argument("--java", default="java")
    parser.add_argument("--case", action="append")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pick", choices=("median", "shortest"), default="median",
                        help="which of the runs to use; other load only lengthens a run, so the shortest is the least disturbed")
    parser.add_argument("--cpu-bound", action=argparse.BooleanOptionalAction)
    parser.add_argument("--markdown", help="write the tables to this file")
    parser.add_argument("--json", help="write everything to this file")
    parser.add_argument("--keep", help="folder for the traces, which are otherwise removed")
    arguments = parser.parse_args()
    cases = [json.loads(path.read_text()) for path in sorted(pathlib.Path(__file__).parent.glob("*/case.json"))]
    cases = [case for case in cases if arguments.case is None or case["name"] in arguments.case]
    cases = [case for case in cases if arguments.cpu_bound is None or case["cpu_bound"] == arguments.cpu_bound]
    if not cases:
        sys.exit("no such case")
    all_comparisons, all_faults = [], []
    with tempfile.TemporaryDirectory(prefix="contrafact-truth-") as scratch:
        folder = pathlib.Path(arguments.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        tool = Tool(arguments, folder)
        for case in cases:
            try:
                comparisons, faults, baseline = run_case(tool, case, arguments.runs)
            except (Failure, subprocess.TimeoutExpired, KeyError) as failure:
                all_faults.append(f"{case['name']}: {failure!r}")
                print(f"\n== {case['name']}: {failure!r}", flush=True)
                continue
            print_case(case, comparisons, baseline)
            for fault in faults:
                print("  FAULT " + fault, flush=True)
            all_comparisons += comparisons
            all_faults += [f"{case['name']}: {fault}" for fault in faults]
    quiet = [c for c in all_comparisons if c.is_quiet()]
    is_measured = len(quiet) >= (1 - DISTURBED_MAX) * len(all_comparisons)
    if quiet:
        rows = summary(quiet)
        print_summary(rows, len(quiet))
        all_faults += [f"{limit} is {100 * rows['headline'][limit]:.2f} %, above {100 * most:.0f} %"
                       for limit, most in LIMITS.items() if is_measured and rows["headline"][limit] > most]
        if arguments.markdown:
            pathlib.Path(arguments.markdown).write_text(markdown(quiet, rows, arguments))
        if arguments.json:
            pathlib.Path(arguments.json).write_text(json.dumps(as_json(quiet, rows), indent=1))
    for fault in all_faults:
        print("FAULT " + fault)
    if all_faults:
        sys.exit(1)
    if not is_measured:
        shortest_run.not_measured(f"{len(all_comparisons) - len(quiet)} of {len(all_comparisons)} comparisons were disturbed")


if __name__ == "__main__":
    main()
