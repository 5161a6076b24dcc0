#!/usr/bin/env python3
"""What `record --sets` and `record --flow` cost JVM programs that nobody here wrote, beside the same classes without them: with windows
that never open (what code outside of sections pays), and with the windows of each option alone. All ways of a program take turns.
The outputs must be the same, byte for byte."""

import argparse
import statistics
import sys

import figures
import programs
from overhead import PROBLEM_LINES, work_s

RUN_LIMIT_S = 300
NEVER = "1us/1000s"
CHOSEN = {"google-java-format": ["com.google.googlejavaformat.*"], "javac": ["com.sun.tools.javac.util.*"]}
WAYS = {"classes alone": [], "sets, no window": [f"--sets={NEVER}"], "sets": ["--sets"],
        "flow, no window": [f"--flow={NEVER}"], "flow": ["--flow"]}


class Measurement:
    """The runs of one program, by way. Invariant: a run that failed or differed is in `problems` alone."""

    def __init__(self, program, contrafact, folder):
        self.program = program
        self.contrafact = contrafact
        self.plain = folder / f"{program.name}.cft"
        self.trace = folder / f"{program.name}-sets.cft"
        self.runs = {way: [] for way in WAYS}
        self.problems = []
        self.expected = None
        self.facts = {}

    def record(self, label, options, trace):
        run, digest = self.program.run([self.contrafact, "record", "-q", "-o", str(trace), *options, "--"], limit_s=RUN_LIMIT_S)
        if run.status != 0 or work_s(run) is None:
            tail = "\n".join(run.errors.splitlines()[-PROBLEM_LINES:])
            self.problems.append(f"{label}: exit status {run.status}\n{tail}")
            return None
        if self.expected is None:
            self.expected = digest
        if digest != self.expected:
            self.problems.append(f"{label}: the output differs from the first run's")
            return None
        return run

    def choose(self):
        """The classes that a plain recording names, or some of the program's own where nothing waits in it."""
        if self.program.name in CHOSEN:
            self.record("plain", [], self.plain)
            self.options = [word for pattern in CHOSEN[self.program.name] for word in ("--classes", pattern)]
        else:
            self.record("plain", [], self.plain)
            self.options = ["--classes-from", str(self.plain)]

    def round(self):
        for way, options in WAYS.items():
            run = self.record(way, [*self.options, *options], self.trace)
            if run:
                figures.say(f"  {way}: work {work_s(run):.2f} s, {run.peak_kib / 1024:.0f} MiB")
                self.runs[way].append(run)

    def ratio(self, way, value=work_s):
        """Of the shortest runs: other load only lengthens one."""
        if not self.runs[way] or not self.runs["classes alone"]:
            return None
        return min(map(value, self.runs[way])) / min(map(value, self.runs["classes alone"]))

    def values(self):
        return {"program": self.program.name, "work": {way: self.ratio(way) for way in WAYS},
                "peak": {way: self.ratio(way, lambda run: run.peak_kib) for way in WAYS},
                "runs": {way: len(runs) for way, runs in self.runs.items()}, "problems": self.problems}


def cell(ratio):
    return "-" if ratio is None else f"{ratio:.2f}"


def report(measured, command):
    values = [measurement.values() for measurement in measured]
    others = [way for way in WAYS if way != "classes alone"]
    text = figures.paragraph("How many times as long the work takes, and how much memory at most, with sets or flow as with the same "
                             "chosen classes alone: of the shortest of each way's runs, which took turns. No window: none ever opens, so "
                             "that only code outside of sections pays.")
    header = ["program", *(f"time: {way}" for way in others), *(f"memory: {way}" for way in others if "no window" not in way)]
    rows = [[value["program"], *(cell(value["work"][way]) for way in others),
             *(cell(value["peak"][way]) for way in others if "no window" not in way)] for value in values]
    text += figures.markdown(header, rows)
    for way in others:
        known = [value["work"][way] for value in values if value["work"][way] is not None]
        if known:
            text += f"\n\n{way[0].upper() + way[1:]}: geometric mean {statistics.geometric_mean(known):.2f}, worst {max(known):.2f}."
    problems = [f"`{value['program']}`, {problem}" for value in values for problem in value["problems"]]
    text += "\n\nProblems: " + ("\n\n" + "\n\n".join(f"- {problem}" for problem in problems) if problems else "none.")
    figures.write_section("jvm-sets", "What sets and flow cost JVM programs", command, text, values)
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with bin/contrafact")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each way (default 2)")
    parser.add_argument("--program", action="append", help="only this one; may be given again")
    options = parser.parse_args()
    chosen = [program for program in programs.catalogue() if not options.program or program.name in options.program]
    if not chosen:
        figures.fail(f"no such program; there are: {', '.join(program.name for program in programs.catalogue())}")
    folder = figures.ROOT / "build" / "bench" / "jvm-sets"
    folder.mkdir(parents=True, exist_ok=True)
    measured = [Measurement(program, f"{options.build}/bin/contrafact", folder) for program in chosen]
    for measurement in measured:
        measurement.program.prepare()
        figures.say(measurement.program.name)
        measurement.choose()
        for _ in range(options.rounds):
            measurement.round()
    return 0 if report(measured, figures.door("jvm-sets", sys.argv[2:])) else 1


if __name__ == "__main__":
    sys.exit(main())
