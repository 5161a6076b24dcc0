#!/usr/bin/env python3
"""usage: real_curves.py CLASSES [--java JAVA] [--native FOLDER] [--libraries FOLDER] [--case NAME]... [--runs N]
                      [--foreign-max SHARE] [--json FILE] [--markdown FILE]

Runs the programs of cases.json, unrecorded, at every setting that the case names, and says how long they took: what a predictor of
granularity has to foresee. truth.py holds predictions against it, and reads what --json wrote (--real).

The settings of a program take turns, --runs times, and up to shortest_run.RUNS_MAX times as often until the median of each is known
within MEDIAN_ERROR_MAX. A run in which other programs had more than FOREIGN_MAX of the cores counts for nothing (--foreign-max for
figures that stand for nothing: beside other load, under `nice -n -20`, what these have is mostly what the program leaves). A program of
which a setting is not known by then is unusable. Native programs are run if --native names the folder
of their binaries, those that use libraries if --libraries names a folder where these are, or may be fetched into by Maven."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import machine
import programs
import same_work
import shortest_run

RUN_SECONDS_MAX = 120
FOREIGN_MAX = 0.05
MEDIAN_ERROR_MAX = 0.025
RUNS_MIN = 2  # undisturbed ones of a setting
COUNTS_FROM = 1.3  # times as fast as the default: the best setting of a program that counts
TICKS = os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """What makes a program no test of anything."""


def busy_s():
    """What all cores together have been busy for, with what a virtual machine's host took away."""
    user, nice, system, _, _, irq, soft_irq, steal = map(int, pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
    return (user + nice + system + irq + soft_irq + steal) / TICKS


def timed(words):
    """How long a program runs, what it prints, and which share of the cores others had meanwhile."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        before_s, start = busy_s(), time.monotonic()
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
        watch = threading.Timer(RUN_SECONDS_MAX, process.kill)
        watch.start()
        _, status, used = os.wait4(process.pid, 0)
        watch.cancel()
        wall_s = time.monotonic() - start
        foreign_s = busy_s() - before_s - used.ru_utime - used.ru_stime
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        printed, said = out.read().decode(), errors.read().decode()
    if process.returncode != 0 or not printed.startswith("result "):
        raise Failure(f"{' '.join(words)} ended with {process.returncode}: {said.strip()[:400]}")
    return wall_s, printed, max(0.0, foreign_s) / (wall_s * os.cpu_count())


class Setting:
    """The undisturbed runs of a program at one setting, in seconds."""

    def __init__(self):
        self.runs_s = []

    def is_known(self):
        return len(self.runs_s) >= RUNS_MIN and self.error_twice() <= MEDIAN_ERROR_MAX

    def median_s(self):
        return same_work.middle_of(self.runs_s)[0]

    def error_twice(self):
        """Twice the standard error of the median, as a share of it."""
        middle, error_twice = same_work.middle_of(self.runs_s)
        return error_twice / middle


def measure(case, settings, runs, run, foreign_max=FOREIGN_MAX):
    """By setting, the default among them, a Setting. `run` gives seconds, what was printed, and others' share of the cores."""
    found = {setting: Setting() for setting in sorted({case["default"], *settings})}
    results = set()
    for turn in range(shortest_run.RUNS_MAX * runs):
        order = list(found) if turn % 2 == 0 else list(reversed(found))
        for setting in order:
            if turn >= runs and setting != case["default"] and found[setting].is_known():
                continue
            wall_s, printed, foreign = run(setting)
            results.add(printed)
            if len(results) > 1:
                raise Failure(f"{case['name']}: at setting {setting} it prints {printed.strip()!r}, not {min(results - {printed}).strip()!r}")
            if foreign <= foreign_max:
                found[setting].runs_s.append(wall_s)
        if turn + 1 >= runs and all(one.is_known() for one in found.values()):
            break
    return found


def why_unusable(found):
    unknown = [f"{setting} ({100 * one.error_twice():.1f} % of {len(one.runs_s)} runs)" if len(one.runs_s) >= RUNS_MIN else f"{setting} (disturbed)"
               for setting, one in found.items() if not one.is_known()]
    return f"not known well enough at {', '.join(unknown)}" if unknown else None


def as_json(case, found):
    return {"name": case["name"], "default": case["default"], "unusable": why_unusable(found),
            "settings": {str(setting): {"median_s": one.median_s(), "error_twice": one.error_twice(), "runs_s": one.runs_s}
                         for setting, one in found.items() if one.runs_s}}


def real_of(document):
    """Seconds by setting, of what as_json made."""
    return {int(setting): one["median_s"] for setting, one in document["settings"].items()}


def best_of(real):
    return min(real, key=real.get)


def speed_up(real, default, setting):
    return real[default] / real[setting]


def counts(real, default):
    return speed_up(real, default, best_of(real)) >= COUNTS_FROM


def java_words(java):
    return subprocess.run([java, "-version"], capture_output=True, text=True).stderr.splitlines()[0]


def markdown(options, cases, documents):
    lines = [f"Made by `python3 test/truth_granularity/real_curves.py build/release/java/truth_granularity --runs {options.runs}` on",
             f"{machine.words()}; {java_words(options.java)}.", "",
             "| program | what is wrong with it | default | at it | best | at it | times faster | counts | setting: seconds |",
             "|---|---|--:|--:|--:|--:|--:|---|---|"]
    for case, document in zip(cases, documents):
        real, default = real_of(document), case["default"]
        if default not in real:
            lines.append(f"| `{case['name']}` | {case['why']} | {default} | | | | | no: disturbed | |")
            continue
        best = best_of(real)
        verdict = "nothing helps" if case.get("nothing_helps") else "yes" if counts(real, default) else "no"
        if document["unusable"]:
            verdict += f"; {document['unusable']}"
        curve = ", ".join(f"{setting}: {real[setting]:.2f}" for setting in sorted(real, reverse=True))
        lines.append(f"| `{case['name']}` | {case['why']} | {default} | {real[default]:.2f} s | {best} | {real[best]:.2f} s | "
                     f"{speed_up(real, default, best):.2f} | {verdict} | {curve} |")
    return "\n".join(lines) + "\n"


def options_of(parser):
    parser.add_argument("--java", default="java")
    parser.add_argument("--native", type=pathlib.Path)
    parser.add_argument("--libraries", type=pathlib.Path)
    parser.add_argument("--case", action="append")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--foreign-max", type=float, default=FOREIGN_MAX)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("classes", type=pathlib.Path)
    options_of(parser)
    options = parser.parse_args()
    cases, documents = programs.that_can_be_run(options, programs.all_cases(options.case)), []
    for case in cases:
        try:
            found = measure(case, case["settings"], options.runs, lambda setting: timed(programs.command(options, case, setting)), options.foreign_max)
        except Failure as failure:
            sys.exit(f"truth: {failure}")
        documents.append(as_json(case, found))
        print(markdown(options, [case], documents[-1:]).splitlines()[-1], flush=True)
        if options.json:
            options.json.write_text(json.dumps(documents, indent=1))
    if options.markdown:
        options.markdown.write_text(markdown(options, cases, documents))


if __name__ == "__main__":
    main()
