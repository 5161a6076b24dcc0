#!/usr/bin/env python3
"""The programs of the FlowProf paper's tables 2, 3 and 4, with the fix that it made really made: base and twin print the same. Each is
run plain and by the lock profiler in turns, then recorded with all acquisitions of the classes that waited, with what their sections
touch and, where the recorder can, with the flow of information between them. What `ulc`, `advise`, `replay` and `flow` say of it stands
beside the paper's figures. A program that fails is listed, and the others go on."""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

import figures
import flowprof_tables
import programs

FOLDER = figures.ROOT / "bench" / "flowprof"
BUILD = figures.ROOT / "build" / "bench-flowprof"
RUN_LIMIT_S = 120       # one process of a program; the longest takes some 10 s on two busy cores
ANALYSIS_LIMIT_S = 300
THREADS = 4             # flowprof/java/Crew.java
HELD = {"monitor", "mutex", "rwlock"}
LOCK_KINDS = ["drop-lock", "split-lock", "shorten-section", "make-atomic", "reader-writer-lock", "shared-look", "double-check"]
FREE_ORDER = "simulated, free order"


def work_s(run):
    found = re.findall(r"^work_ns=(\d+)$", run.errors, re.MULTILINE)
    return int(found[-1]) / 1e9 if found else None


def classes_of(library):
    """The folder of compiled programs, and the class path: made once for each library, and again when a source has changed."""
    sources = [FOLDER / "java" / "Crew.java"] + [FOLDER / "java" / f"{one['name']}.java" for one in catalogue()
                                                 if library in one.get("libraries", [None])]
    folder = BUILD / (library or "no-library")
    pom = FOLDER / "libraries" / library / "pom.xml" if library else None
    inputs = sources + ([pom] if pom else [])
    state = hashlib.sha256(b"".join(path.read_bytes() for path in inputs)).hexdigest()
    stamp = folder / "prepared"
    if not stamp.exists() or stamp.read_text() != state:
        figures.say(f"compiling for {library or 'the JDK alone'}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if pom:
            programs.fetch(pom, folder / "lib", library)
        subprocess.run(["javac", "--release", "17", "-nowarn", "-proc:none", "-cp", f"{folder}/lib/*", "-d", str(folder / "classes"),
                        *map(str, sources)], check=True)
        stamp.write_text(state)
    return ":".join([str(folder / "classes"), *sorted(map(str, (folder / "lib").glob("*.jar")))])


def catalogue():
    return json.loads((FOLDER / "programs.json").read_text())


class Measurement:
    """The runs of one program and what was made of them. Invariant: a run that failed, or printed something else than the first one
    did, is in `problems`, and in no figure."""

    def __init__(self, program, options, traces):
        self.program, self.options, self.traces = program, options, traces
        self.count = max(THREADS, int(program["count"] * options.scale))
        self.runs = {"base": [], "twin": [], "waits": []}
        self.problems, self.expected, self.values = [], None, {}

    def problem(self, text):
        figures.say(f"  PROBLEM: {text}")
        self.problems.append(text)
        return None

    def trace(self, way):
        return self.traces / f"flowprof-{self.program['name']}-{way}.cft"

    def java(self, twin):
        libraries = self.program.get("libraries", [None, None])
        return [figures.java(), "-cp", classes_of(libraries[twin]), self.program["name"], "twin" if twin else "base", str(self.count)]

    def run(self, way, twin=False, record=None):
        before = [] if record is None else [self.options.contrafact, "record", "-q", *record, "-o", str(self.trace(way)), "--"]
        run = figures.run([*self.options.before, *before, *self.java(twin)], limit_s=RUN_LIMIT_S)
        if run.status != 0 or work_s(run) is None:
            return self.problem(f"{way}: exit status {run.status}: {run.errors.strip()[-300:]}")
        self.expected = self.expected or run.output
        if run.output != self.expected:
            return self.problem(f"{way}: printed {run.output!r}, and before {self.expected!r}")
        figures.say(f"  {way}: work {work_s(run):.2f} s, process {run.wall_s:.2f} s, peak {run.peak_kib / 1024:.0f} MiB")
        return run

    def take_turns(self):
        """Plain base, plain twin, base with the lock profiler: so that a slow spell of the machine meets all of them."""
        for _ in range(self.options.runs):
            for way, twin, record in (("base", False, None), ("twin", True, None), ("waits", False, ())):
                run = self.run(way, twin, record)
                if run:
                    self.runs[way].append(run)
        return all(self.runs.values())

    def tool(self, *words):
        """What a command of ours says as JSON, and the seconds that it took; None, 0 where it failed."""
        run = figures.run([*self.options.before, self.options.contrafact, *map(str, words), "--json", "-q"], limit_s=ANALYSIS_LIMIT_S)
        if run.status != 0:
            self.problem(f"{words[0]}: exit status {run.status}: {run.errors.strip()[-300:]}")
            return None, 0
        return json.loads(run.output), run.wall_s

    def shortest(self, way):
        return min(run.wall_s for run in self.runs[way])

    def spread(self, way):
        two = sorted(run.wall_s for run in self.runs[way])[:2]
        return two[-1] / two[0] - 1

    def of_runs(self):
        base = self.shortest("base")
        peak = min(run.peak_kib for run in self.runs["base"])
        self.base_peak_kib = peak
        self.values.update(run_s=base, twin_s=self.shortest("twin"), gain=1 - self.shortest("twin") / base,
                           profiler=self.shortest("waits") / base - 1, noise=max(self.spread("base"), self.spread("twin")))
        waits, _ = self.tool("locks", self.trace("waits"))
        if waits:  # of the last run, as the trace is
            waited_ns = sum(lock["wait_total_ns"] for lock in waits["locks"] if lock["kind"] in HELD)
            self.values["waiting"] = waited_ns / 1e9 / (THREADS * work_s(self.runs["waits"][-1]))

    def record(self, way, options):
        run = self.run(way, record=("--classes-from", str(self.trace("waits")), *options))
        if run:
            self.values[f"{way}_slow_down"] = run.wall_s / self.shortest("base")
            self.values[f"{way}_memory"] = run.peak_kib / self.base_peak_kib
        return run

    def of_sets(self):
        if not (self.record("sections", ()) and self.record("sets", ("--sets",))):
            return
        pair = (self.trace("sections"), self.trace("sets"))
        ulc, self.values["ulc_s"] = self.tool("ulc", *pair)
        if ulc:
            self.values.update(flowprof_tables.of_pairs(ulc))
        advice, self.values["advise_s"] = self.tool("advise", *pair)
        if advice:
            self.values.update(flowprof_tables.of_advice(advice, LOCK_KINDS))
        replay, _ = self.tool("replay", self.trace("sections"), "--no-threads", "--runs", "5", "--edit",
                              f"lock={self.program['lock']},mode=none")
        row = next((row for row in (replay or {}).get("methods", []) if row["method"] == FREE_ORDER), None)
        if row:
            self.values.update(without_lock=row["gain"], unchanged=row["error"])

    def of_flows(self):
        if not self.options.flow or not self.record("flow", ("--flow",)):
            return
        flow, self.values["flow_s"] = self.tool("flow", self.trace("sections"), self.trace("sets"), self.trace("flow"))
        if flow:
            self.values.update(flowprof_tables.of_flow(flow, self.program["lock"]))

    def measure(self):
        figures.say(self.program["name"])
        if self.take_turns():
            self.of_runs()
            self.of_sets()
            self.of_flows()
        for way in ("waits", "sections", "sets", "flow"):
            if not self.options.keep:
                self.trace(way).unlink(missing_ok=True)
        return self


def knows_flow(contrafact):
    helps = [figures.run([contrafact, command, "--help"]) for command in ("record", "flow")]
    return "--flow" in helps[0].output.decode() and helps[1].status == 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with bin/contrafact")
    parser.add_argument("--runs", type=int, default=5, help="times that base, twin and lock profiler take turns (default 5)")
    parser.add_argument("--scale", type=float, default=1, help="so many times the work of each program (default 1: a run takes 1 to 5 s)")
    parser.add_argument("--program", action="append", help="only this one; may be given again")
    parser.add_argument("--before", type=str.split, default=[], help="words before each run and each analysis, as 'chrt -r 1' on a busy machine")
    parser.add_argument("--prepare", action="store_true", help="fetch and compile only")
    parser.add_argument("--markdown", action="store_true", help="write the section of docs/benchmarks.md, too")
    parser.add_argument("--keep", action="store_true", help="leave the recordings in build/bench-traces/")
    return parser.parse_args()


def main():
    options = arguments()
    chosen = [program for program in catalogue() if not options.program or program["name"] in options.program]
    if not chosen or options.runs < 1 or options.scale <= 0:
        figures.fail(f"nothing to run; there are the programs {', '.join(program['name'] for program in catalogue())}")
    for library in {library for program in chosen for library in program.get("libraries", [None])}:
        classes_of(library)
    if options.prepare:
        return 0
    options.contrafact = str((figures.ROOT / options.build / "bin" / "contrafact").resolve())
    if not shutil.which(options.contrafact):
        figures.fail(f"{options.build}/bin/contrafact not found: `./dev build` makes it")
    options.flow = knows_flow(options.contrafact)
    traces = figures.ROOT / "build" / "bench-traces"
    traces.mkdir(parents=True, exist_ok=True)
    begin, load = time.monotonic(), os.getloadavg()[0]
    measured = [Measurement(program, options, traces).measure() for program in chosen]
    figures.say(f"{time.monotonic() - begin:.0f} s")
    paper = json.loads((FOLDER / "paper.json").read_text())
    text = flowprof_tables.section(measured, paper, options, load)
    if options.markdown:
        command = figures.door("flowprof", [word for word in sys.argv[2:] if word != "--keep"])
        figures.write_section("flowprof", "The programs of the FlowProf paper", command, text,
                              [{"program": one.program["name"], **one.values} for one in measured])
    else:
        print(text)
    return 1 if any(one.problems for one in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
