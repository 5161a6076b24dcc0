"""usage: flowprof_test.py BUILD

The programs of bench/flowprof.py that need no library: base and twin print the same, and the three tables come out of short runs, with a
gain, a slow-down and the share of conflicts of each. Figures mean nothing here; that none is missing does."""

import argparse
import json
import pathlib
import sys
import tempfile

import flowprof
import flowprof_tables

SCALE = 0.01
PROGRAMS = ("UberZip", "FinmathClones")


def check(fact, what):
    if not fact:
        sys.exit(f"flowprof_test: {what}")


def tables_without_figures(paper):
    """A program that failed has dashes, and a recording with flows its columns."""
    class Failed:
        program = {"name": "UberZip", "paper": "UberZip", "fix": "f", "what": "w"}
        values, problems = {}, ["waits: exit status 1"]

    class Options:
        runs, before, flow = 1, [], False

    text = flowprof_tables.section([Failed], paper, Options, 0.1)
    check("| `UberZip` | - | - | 0 % | not recorded |" in text and "- `UberZip`, waits: exit status 1" in text, text)


def flow_of_one_lock():
    row = {"lock": "a", "conflicts_wait": 0.9, "flows_wait": 0.1, "conflicts_gain": 0.01, "flows_gain": 0.3, "pattern": "2: conflicts not needed", "replacement": None}
    found = flowprof_tables.of_flow({"locks": [row]}, "a")
    check(found["gain_of_pattern"] == 0.3 and flowprof_tables.our_pattern(found) == "2", found)
    check(flowprof_tables.of_flow({"locks": [row]}, "b") == {}, "the wrong lock")


def conflicts_of_pairs():
    site = {"wait_ns": 30, "pairs": 4, "conflict": 1, "unknown": 1}
    other = {"wait_ns": 10, "pairs": 2, "conflict": 0, "unknown": 0}
    found = flowprof_tables.of_pairs({"sites": [site, other]})
    check(abs(found["conflicts"] - 15 / 40) < 1e-9 and found["unknown"] == 1, found)


def short_runs(build, paper):
    with tempfile.TemporaryDirectory(prefix="contrafact-flowprof-") as folder:
        options = argparse.Namespace(runs=1, scale=SCALE, before=[], keep=False, flow=False,
                                     contrafact=str((build / "bin" / "contrafact").resolve()))
        chosen = [program for program in flowprof.catalogue() if program["name"] in PROGRAMS]
        measured = [flowprof.Measurement(program, options, pathlib.Path(folder)).measure() for program in chosen]
        for one in measured:
            check(not one.problems, f"{one.program['name']}: {one.problems}")
            check(one.values.keys() >= {"gain", "waiting", "profiler", "run_s"}, one.values)
        check("Problems: none." in flowprof_tables.section(measured, paper, options, 0.1), "a problem")


def main():
    paper = json.loads((flowprof.FOLDER / "paper.json").read_text())
    names = {program["paper"] for program in flowprof.catalogue()}
    check(names == paper.keys(), f"programs of {names} and the paper's {paper.keys()}")
    tables_without_figures(paper)
    flow_of_one_lock()
    conflicts_of_pairs()
    short_runs(pathlib.Path(sys.argv[1]), paper)


if __name__ == "__main__":
    main()
