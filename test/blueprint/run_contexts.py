#!/usr/bin/env python3
"""usage: run_contexts.py BUILD [--java PATH]...

The calling-context tree of a program that knows how many calls and objects it makes, with every processor: summed over the
contexts, its counts are exact, and so is the path of a recursion. The plug-in of examples/ finds the same bytes on the same
paths; the views show them; what has no room is counted.
"""
import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from profiled import VERIFY, own_lines, profile

# How deep the stack gets before it overflows differs from run to run.
OWN = ["--include", "known.*"]
STEADY = OWN + ["--exclude", "known.Known.overflowing"]
CASES = [
    ["--processor", "sync"] + OWN,
    ["--processor", "sync", "--capacity", "1"] + OWN,
    ["--processor", "pool", "--consumers", "3", "--capacity", "100", "--queue", "1"] + OWN,
    ["--processor", "adaptive", "--capacity", "1000", "--queue", "4"] + OWN,
    ["--processor", "direct"] + OWN,
    ["--processor", "direct"],
    ["--coalescing", "off"] + OWN,
    [],  # everything, with the defaults
]
INPUT = 2
THREADS, ROUNDS, RECURSION = 4, 20_000, 11


class Tree:
    def __init__(self, path):
        document = json.loads(pathlib.Path(path).read_text())
        self.run = document["run"]
        names = ["-" if not row[0] else f"{row[0]}.{row[1]}" for row in document["methods"]]
        self.rows = document["contexts"]
        self.name = [names[row[1]] for row in self.rows]
        self.calls, self.objects = collections.Counter(), collections.Counter()
        for row, name in zip(self.rows, self.name):
            if row[2]:
                self.calls[self.name[row[0]], name] += row[2]
            if row[3]:
                self.objects[name] += row[3]

    def path(self, place):
        names = []
        while place:
            names.append(self.name[place])
            place = self.rows[place][0]
        return names[::-1]


def in_contexts(build, output, options, java, *more):
    program = [java] + VERIFY + ["-cp", f"{build}/java/known", "known.Known", *more]
    return profile(build, output, ["--analysis", "contexts"] + options, program)


def wrong(tree, said):
    lines = said.strip().split("\n")
    if len(lines) < 25:
        yield f"the program says only {len(lines)} counts"
    for line in lines:
        kind, *names, count = line.split(" ")
        got = tree.calls[tuple(names)] if kind == "call" else tree.objects[names[0]]
        if got != int(count):
            yield f"{line}: in all contexts {got}"


def recursion(tree):
    """Of the four threads together, which have the same path; a deeper one would be a recursion whose end was missed."""
    work = ["known.Known.work"]
    found = {}
    for place in range(1, len(tree.rows)):
        path = tree.path(place)
        if "known.Known.work" in path and path[-1] == "known.Known.recursive":
            own = path[path.index("known.Known.work"):]
            if own != work + ["known.Known.recursive"] * (len(own) - 1):
                yield f"{own}: another path"
            found[len(own) - 1] = found.get(len(own) - 1, 0) + tree.rows[place][2]
    expected = {depth: THREADS * ROUNDS for depth in range(1, RECURSION + 1)}
    if found != expected:
        yield f"calls by depth of the recursion: {found}, not {expected}"


def faults(build, java, folder, options):
    output = f"{folder}/contexts.json"
    done = in_contexts(build, output, options, java, "virtual")
    if done.returncode != 0:
        yield f"status {done.returncode}: {done.stderr[-1000:]}"
        return
    tree = Tree(output)
    yield from wrong(tree, done.stdout)
    yield from recursion(tree)
    for key in ("lost", "refused", "unseen_sites", "calls_beyond", "objects_beyond"):
        if tree.run[key] != 0:
            yield f"{key}: {tree.run[key]}"
    if len(own_lines(done)) != 2:
        yield f"lines: {own_lines(done)}"


def show(build, path, *options):
    return subprocess.run([f"{build}/bin/contrafact", "contexts", path, *options], capture_output=True, text=True)


def check_views(build, java, folder):
    path = f"{folder}/steady.json"
    done = in_contexts(build, path, STEADY, java)
    assert done.returncode == 0, done
    tree = Tree(path)
    rows = list(csv.DictReader(show(build, path, "--format", "csv").stdout.splitlines()))
    assert len(rows) == len(tree.rows) and sum(int(row["own_bytes"]) for row in rows) == sum(row[4] for row in tree.rows)
    assert int(rows[0]["total_bytes"]) == sum(row[4] for row in tree.rows), rows[0]
    text = show(build, path, "--top", "12").stdout
    assert "(outside)" in text and "Known.main" in text and re.search(r"the 12 heaviest of \d+ contexts", text), text
    stacks = show(build, path, "--format", "folded").stdout
    assert "known.Known.main;known.Known.copies;known.Known$Copied.copy " in stacks, stacks
    # The plug-in, in a run of its own.
    folded = f"{folder}/bytes.folded"
    program = [java] + VERIFY + ["-cp", f"{build}/java/known", "known.Known"]
    done = profile(build, folded, ["--analysis", f"{build}/lib/plugins/contexts.so"] + STEADY, program)
    assert done.returncode == 0, done
    assert sorted(pathlib.Path(folded).read_text().splitlines()) == sorted(stacks.splitlines()), (folded, stacks)
    return path, tree


def check_without_room(build, java, folder, whole):
    path = f"{folder}/few.json"
    done = in_contexts(build, path, STEADY + ["--analysis-options", "max=6"], java)
    assert done.returncode == 0, done
    tree = Tree(path)
    assert len(tree.rows) <= 7, len(tree.rows)
    for what, column in (("calls", 2), ("objects", 3), ("bytes", 4)):
        all_of = lambda tree: sum(row[column] for row in tree.rows) + tree.run[f"{what}_beyond"]
        assert all_of(tree) == all_of(whole) and tree.run[f"{what}_beyond"] > 0, (what, tree.run)
    assert "contexts that had no room" in show(build, path).stdout
    for wrong_options in ("max=0", "max=3x", "all"):
        done = in_contexts(build, path, ["--analysis-options", wrong_options], java)
        assert done.returncode != 0 and "takes max=N" in done.stderr, done


def check_broken(build, folder):
    path = f"{folder}/broken.json"
    pathlib.Path(path).write_text('{"format":"contrafact blueprint","version":1}')
    done = show(build, path)
    assert done.returncode == INPUT and "is no profile of contexts" in done.stderr and done.stderr.count("\n") == 1, done
    done = show(build, f"{folder}/none.json")
    assert done.returncode == INPUT, done


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--java", action="append")
    arguments = parser.parse_args()
    javas = arguments.java or ["java"]
    failed = ran = 0
    for java in javas:
        for options in CASES:
            with tempfile.TemporaryDirectory() as folder:
                problems = list(faults(arguments.build, java, folder, options))
            ran += 1
            failed += bool(problems)
            for problem in problems[:10]:
                print(f"{java} {' '.join(options)}: {problem}")
    print(f"{ran} runs, {failed} failed")
    with tempfile.TemporaryDirectory() as folder:
        _, tree = check_views(arguments.build, javas[0], folder)
        check_without_room(arguments.build, javas[0], folder, tree)
        check_broken(arguments.build, folder)
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
