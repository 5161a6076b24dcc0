#!/usr/bin/env python3
"""What recording costs real programs: plain and recorded runs take turns, and so do the programs, so that a slow spell of
the machine meets all of them. The outputs must be the same, byte for byte, and `contrafact advise` must get through every
trace. The whole takes a bounded time: rounds that do not fit are left out, and the section says how many were made."""

import argparse
import re
import shutil
import statistics
import sys
import time

import figures
import programs

PROBLEM_LINES = 12
RUN_LIMIT_S = 90      # one process of a program; the longest takes 13 s on two idle cores
ADVISE_LIMIT_S = 120
ADVISE_SHARE_S = 60   # of the time for all: kept for `info` and `advise` at the end


def work_s(run):
    found = re.findall(r"^work_ns=(\d+)$", run.errors, re.MULTILINE)
    return int(found[-1]) / 1e9 if found else None


class Measurement:
    """The runs of one program. Invariant: a run that failed or differed is in `problems`, and the times of its pair
    are not used."""

    def __init__(self, program, contrafact, folder):
        self.program = program
        self.contrafact = contrafact
        self.trace = folder / f"{program.name}.cft"
        self.pairs = []  # (plain run, recorded run)
        self.problems = []
        self.facts = {}
        self.advise = None
        self.expected = None

    def one(self, recorded):
        before = [self.contrafact, "record", "-o", str(self.trace), "--"] if recorded else []
        run, digest = self.program.run(before, limit_s=RUN_LIMIT_S)
        label = "recorded" if recorded else "plain"
        if run.status != 0 or work_s(run) is None:
            tail = "\n".join(run.errors.splitlines()[-PROBLEM_LINES:])
            self.problems.append(f"{label} run: exit status {run.status}\n{tail}")
            return None
        if self.expected is None:
            self.expected = digest
        if digest != self.expected:
            self.problems.append(f"{label} run: the output differs from the first run's")
            return None
        figures.say(f"  {label}: work {work_s(run):.2f} s, process {run.wall_s:.2f} s, cpu {run.cpu_s:.2f} s")
        return run

    def pair(self, recorded_first):
        runs = {recorded: self.one(recorded) for recorded in (recorded_first, not recorded_first)}
        if all(runs.values()):
            self.pairs.append((runs[False], runs[True]))

    def analyse(self):
        self.facts = figures.trace_facts(self.contrafact, self.trace)
        run = figures.run([self.contrafact, "advise", str(self.trace)], limit_s=ADVISE_LIMIT_S)
        self.advise = {"seconds": run.wall_s, "status": run.status, "peak_mib": run.peak_kib / 1024,
                       "problem": run.errors.strip()[-400:] if run.status else ""}
        if run.status != 0:
            self.problems.append(f"advise: exit status {run.status}: {self.advise['problem']}")

    def ratios(self, value):
        return [value(recorded) / value(plain) for plain, recorded in self.pairs]

    def values(self):
        plain, recorded = zip(*self.pairs)
        return {
            "program": self.program.name, "what": self.program.what,
            "work_ratios": self.ratios(work_s), "wall_ratios": self.ratios(lambda run: run.wall_s),
            "cpu_ratios": self.ratios(lambda run: run.cpu_s),
            "plain_work_s": [work_s(run) for run in plain], "recorded_work_s": [work_s(run) for run in recorded],
            "peak_mib": [statistics.median(run.peak_kib / 1024 for run in runs) for runs in (plain, recorded)],
            "advise": self.advise, **self.facts,
        }


def row(value):
    plain = value["plain_work_s"]
    centre = statistics.median(plain)
    events = max(1, value["events"])
    return [
        value["program"], figures.spread(value["work_ratios"]),
        f"{min(plain) / centre:.3f} to {max(plain) / centre:.3f}",
        figures.spread(value["wall_ratios"]), f"{statistics.median(value['cpu_ratios']):.3f}", f"{value['events']:,}",
        f"{value['events'] / statistics.median(value['recorded_work_s']):,.0f}", f"{value['bytes'] / events:.2f}",
        f"{value['dropped']:,}", f"{value['advise']['seconds']:.1f} s",
    ]


HEADER = ["program", "work time, recorded / plain", "plain work time / its median", "whole process, recorded / plain",
          "CPU time, recorded / plain", "events", "events per second", "bytes per event", "events dropped", "advise"]

NOTE = """
Medians over {pairs} pairs of runs that took turns, with the smallest and the largest ratio. The third column is the
machine's noise: how far the plain runs alone spread. Work time excludes the JVM's start; the whole process includes it,
and the tool's. Every recorded run gave the same output and exit status as the plain ones, or it is listed as a problem
below.
"""


def make_rounds(measured, rounds, limit_s):
    """Round after round of all programs, while the longest round so far still fits into the time."""
    begin, longest_s = time.monotonic(), 0.0
    for number in range(rounds):
        started = time.monotonic()
        if started - begin + longest_s > limit_s:
            figures.say(f"the time is over after {number} of {rounds} rounds")
            return
        figures.say(f"round {number + 1} of {rounds}")
        for measurement in measured:
            figures.say(measurement.program.name)
            measurement.pair(recorded_first=number % 2 == 1)
        longest_s = max(longest_s, time.monotonic() - started)


def pairs_made(measured):
    counts = sorted({len(measurement.pairs) for measurement in measured})
    return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def report(measured, command):
    values = [measurement.values() for measurement in measured if measurement.facts]
    text = figures.paragraph(NOTE.format(pairs=pairs_made(measured)))
    if values:
        medians = [statistics.median(value["work_ratios"]) for value in values]
        text += figures.markdown(HEADER, [row(value) for value in values])
        text += (f"\n\nWork time over all programs: median {statistics.median(medians):.3f}, worst {max(medians):.3f} "
                 "(aim: 1.03 median, 1.10 worst).\n\n")
        text += "\n".join(f"- `{value['program']}`: {value['what']}." for value in values)
    problems = [f"`{m.program.name}`, {problem}" for m in measured for problem in m.problems]
    text += "\n\nProblems: " + ("\n\n" + "\n\n".join(f"- {problem}" for problem in problems) if problems else "none.")
    figures.write_section("overhead", "What recording costs real programs", command, text, values)
    return not problems


def run_plain(measured):
    for measurement in measured:
        figures.say(measurement.program.name)
        measurement.one(recorded=False)
        for problem in measurement.problems:
            print(f"{measurement.program.name}: {problem}")
    return 1 if any(measurement.problems for measurement in measured) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with bin/contrafact")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs for each program (default 5)")
    parser.add_argument("--limit", type=int, default=660, help="seconds for all of it (default 660)")
    parser.add_argument("--program", action="append", help="only this one; may be given again")
    parser.add_argument("--prepare", action="store_true", help="fetch and compile only")
    parser.add_argument("--plain", action="store_true", help="run each program once, without recording")
    options = parser.parse_args()

    chosen = [program for program in programs.catalogue() if not options.program or program.name in options.program]
    if not chosen:
        figures.fail(f"no such program; there are: {', '.join(program.name for program in programs.catalogue())}")
    for program in chosen:
        program.prepare()
    if options.prepare:
        return 0

    folder = figures.ROOT / "build" / "bench-traces"
    folder.mkdir(parents=True, exist_ok=True)
    contrafact = str((figures.ROOT / options.build / "bin" / "contrafact").resolve())
    if not options.plain and not shutil.which(contrafact):
        figures.fail(f"{options.build}/bin/contrafact not found: `./dev build` makes it")
    measured = [Measurement(program, contrafact, folder) for program in chosen]
    if options.plain:
        return run_plain(measured)
    make_rounds(measured, options.rounds, options.limit - ADVISE_SHARE_S)
    for measurement in measured:
        if measurement.pairs:
            measurement.analyse()
    return 0 if report(measured, figures.door("overhead", sys.argv[2:])) else 1


if __name__ == "__main__":
    sys.exit(main())
