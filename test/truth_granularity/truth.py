#!/usr/bin/env python3
"""usage: truth.py CONTRAFACT CLASSES [--java JAVA] [--native FOLDER] [--libraries FOLDER] [--runs N] [--case NAME]...
                [--no-figures | --quick] [--real FILE] [--traces FOLDER]
                [--foreign-max SHARE]                 [--markdown FILE]

Holds the curves of `contrafact granularity` against programs whose granularity was really changed. Each program of cases.json takes as
argument how many tasks (or threads) a round has, or how deep it forks, and prints the same whatever that is. It is recorded once at
its default; the curve that the command predicts from the recording is compared with unrecorded runs at each of the curve's settings
that the program can have, and at those that the case names: durations as shares of that at the default.

A program counts if its best setting is real_curves.COUNTS_FROM times faster than the default. Of each such, the curve's median and
worst error, how much longer the predicted best setting takes than the best, and the error of the gain there are limited
(comparison.LIMITS). Of a case with `nothing_helps` no gain above comparison.KEEP_GAIN_MAX may be promised. What predicts "as recorded"
must exceed a limit in every program that counts, for otherwise they show nothing.

Exit status 1 if a limit is exceeded; 77 (not measured) if fewer than COUNTED_MIN programs (or fewer than asked for by --case) are
known well enough (real_curves.py). With --quick only the default and the predicted best are really run, and only the gain there is
compared; with --no-figures only what is printed, and that there is a curve to compare. --real takes the real times from
what `real_curves.py --json` wrote, and --traces the recordings that lie there as NAME.cft, or leaves them there."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import comparison
import real_curves  # has put the folder of what the truth tests share on the path
import machine
import programs
import shortest_run

RUN_SECONDS_MAX = 300
COUNTED_MIN = 8


def run(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    if done.returncode != 0:
        raise real_curves.Failure(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.strip()[:400]}")
    return done.stdout


def record(options, case):
    """The program's recording at its default, and what the program printed, or None where it was recorded before."""
    trace = options.traces / f"{case['name']}.cft"
    if trace.exists():
        return trace, None
    return trace, run([options.contrafact, "record", "-q", "-o", trace, "--", *programs.command(options, case, case["default"], recorded=True)])


def predict(options, case, trace):
    curve = comparison.curve_of(case, json.loads(run([options.contrafact, "granularity", trace, "--json", "-q"])))
    missing = comparison.what_is_missing(case, curve)
    if missing:
        raise real_curves.Failure(missing)
    return curve


def settings_of(options, case, curve):
    """Where the program is really run, besides at its default."""
    best = comparison.best_argument(case, curve)
    if options.quick:
        return [best]
    if options.no_figures:
        return sorted({best, case["default"], case["settings"][-1]})
    return sorted({*case["settings"], *comparison.arguments_of(case, curve)})


def really(options, case, settings, printed):
    """Seconds by setting, and why they are not known, or None."""
    if options.real:
        return real_curves.real_of(options.measured[case["name"]]), options.measured[case["name"]]["unusable"]

    def timed(setting):
        wall_s, out, foreign = real_curves.timed(programs.command(options, case, setting))
        if printed is not None and out != printed:
            raise real_curves.Failure(f"{case['name']}: at setting {setting} it prints {out.strip()!r}, recorded {printed.strip()!r}")
        return wall_s, out, foreign

    if options.no_figures:
        return {setting: timed(setting)[0] for setting in settings}, None
    found = real_curves.measure(case, settings, options.runs, timed, options.foreign_max)
    return {setting: one.median_s() for setting, one in found.items() if one.runs_s}, real_curves.why_unusable(found)


def compare(options, case):
    trace, printed = record(options, case)
    curve = predict(options, case, trace)
    real, unusable = really(options, case, settings_of(options, case, curve), printed)
    best = comparison.best_argument(case, curve)
    if not unusable and not {case["default"], best} <= set(real):
        unusable = "its best setting was not measured"
    recorded_s = json.loads(run([options.contrafact, "info", "--json", "-q", trace]))["duration_ns"] / 1e9
    return comparison.Compared(case, curve, real), unusable, recorded_s


def markdown_row(one, unusable, recorded_s):
    name = f"| `{one.case['name']}` | {one.case['why']} |"
    if unusable:
        return f"{name} unusable: {unusable} | | | | | | | | | |"
    count = "nothing helps" if one.keeps() else "yes" if one.counts() else "no"
    return (f"{name} {one.default} | {recorded_s / one.real[one.default]:.2f} | {real_curves.best_of(one.real)} | "
            f"{real_curves.speed_up(one.real, one.default, real_curves.best_of(one.real)):.2f} | {count} | {one.best} | {100 * one.best_is_longer():.1f} % | "
            f"{100 * one.gain():.1f} % | {100 * one.predicted_gain():.1f} % | {100 * one.median_error():.1f} % | {100 * one.worst_error():.1f} % | "
            f"{sum(one.held.values()) - 1} of {len(one.held) - 1} |")


HEAD = ["| program | what is wrong with it | default | recorded, times as long | really best | times faster | counts | predicted best | longer than best | "
        "gain there | predicted | curve off, median | worst | in the interval |", "|---|---|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|"]


def exceeds_as_recorded(one):
    return any(comparison.faults_of(comparison.as_recorded(one)))


def markdown(options, rows, counted):
    lines = [f"Made by `python3 test/truth_granularity/truth.py build/release/bin/contrafact build/release/java/truth_granularity --runs {options.runs}` on",
             f"{machine.words()}; {real_curves.java_words(options.java)}; medians of unrecorded runs in turns.", "", *HEAD,
             *[markdown_row(*row) for row in rows], ""]
    if counted:
        errors = [abs(error) for one in counted for error in one.errors().values()]
        lines.append(f"{len(counted)} of {len(rows)} count, {sum(one.keeps() for one in counted)} of which nothing helps. Over all {len(errors)} settings "
                     f"the curves are {100 * statistics.median(errors):.1f} % off in the median, {100 * max(errors):.1f} % at worst. Who predicts "
                     f"that nothing changes exceeds a limit in {sum(exceeds_as_recorded(one) for one in counted if not one.keeps())} of the others.")
    for one in counted:
        lines += ["", f"`{one.case['name']}`, setting: seconds (predicted, at the real speed of the default): "
                  + ", ".join(f"{setting}: {seconds:.2f}" + (f" ({one.predicted[setting] * one.real[one.default]:.2f})" if setting in one.predicted else "")
                              for setting, seconds in sorted(one.real.items(), reverse=True))
                  + (f"; not run, for the program cannot have them: {', '.join(map(str, one.unreachable))}" if one.unreachable else "")]
    return "\n".join(lines) + "\n"


def judge(options, rows):
    """The faults of the programs that count."""
    usable = [one for one, unusable, _ in rows if not unusable]
    if options.quick:
        return usable, [fault for one in usable for fault in comparison.faults_of_gain(one)]
    counted = [one for one in usable if one.counts()]
    found = [fault for one in counted for fault in comparison.faults_of(one)]
    for one in counted:
        if not one.keeps() and not exceeds_as_recorded(one):
            found.append(f"{one.case['name']}: who predicts that nothing changes is within the limits: it shows nothing")
    return counted, found


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact")
    parser.add_argument("classes", type=pathlib.Path)
    real_curves.options_of(parser)
    parser.add_argument("--no-figures", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--real", type=pathlib.Path)
    parser.add_argument("--traces", type=pathlib.Path)
    options = parser.parse_args()
    if options.real:
        options.measured = {document["name"]: document for document in json.loads(options.real.read_text())}
    return options


def compare_all(options, cases):
    """A row for each program, and what is wrong with those that have none."""
    rows, failures = [], []
    with tempfile.TemporaryDirectory() as folder:
        options.traces = options.traces or pathlib.Path(folder)
        for case in cases:
            try:
                rows.append(compare(options, case))
            except real_curves.Failure as failure:
                failures.append(str(failure))
                print(f"FAULT {failure}", flush=True)
                continue
            if not options.no_figures:
                print(markdown_row(*rows[-1]), flush=True)
    return rows, failures


def main():
    options = parse()
    cases = programs.that_can_be_run(options, programs.all_cases(options.case))
    if not options.no_figures:
        print("\n".join(HEAD))
    rows, failures = compare_all(options, cases)
    if options.no_figures:
        sys.exit(1 if failures else 0)
    counted, found = judge(options, rows)
    print("\n" + markdown(options, rows, counted))
    if options.markdown:
        options.markdown.write_text(markdown(options, rows, counted))
    for fault in found:
        print(f"FAULT {fault}")
    if failures or found:
        sys.exit(1)
    changing = [one for one in counted if not one.keeps()]
    wanted = sum(not case.get("nothing_helps", False) for case in cases)
    if len(changing) < min(COUNTED_MIN, wanted):
        shortest_run.not_measured(f"{len(changing)} of {wanted} programs count")


if __name__ == "__main__":
    main()
