#!/usr/bin/env python3
"""Requests per second of the example server before and after the improvements were really made in its source and sizes:
the same load, which saturates it. The two take turns."""

import argparse
import pathlib
import re
import statistics
import sys

import figures

LOAD = ["--requests", "2000", "--concurrency", "64"]

NOTE = """
The example server (`examples/api-server`) and its variant in which the advised combination is made
(`examples/api-server-improved`), under `{load}`: {rounds} pairs of runs that took turns. Both gave the same answers.
The aim is a ratio of at least 2.
"""


def measure(jar):
    run = figures.run([figures.java(), "-jar", str(jar), *LOAD])
    text = run.output.decode() + run.errors
    rate = re.search(r"([0-9.]+) requests/s", text)
    checksum = re.search(r"checksum (\w+)", text)
    if run.status != 0 or not rate or not checksum:
        figures.fail(f"{jar.name}: exit status {run.status}: {text.strip()[-600:]}")
    figures.say(f"  {jar.stem}: {rate[1]} requests/s")
    return float(rate[1]), checksum[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with java/api-server.jar and java/api-server-improved.jar")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs (default 5)")
    options = parser.parse_args()
    folder = pathlib.Path(options.build).resolve() / "java"
    jars = [folder / "api-server.jar", folder / "api-server-improved.jar"]
    pairs = [tuple(measure(jar) for jar in jars) for _ in range(options.rounds)]
    if len({checksum for pair in pairs for _, checksum in pair}) != 1:
        figures.fail("the answers of the two servers differ")
    before, after = ([rate for rate, _ in runs] for runs in zip(*pairs))
    ratios = [changed / base for base, changed in zip(before, after)]
    text = figures.paragraph(NOTE.format(load=" ".join(LOAD), rounds=options.rounds))
    text += figures.markdown(["requests per second", "median (min to max)"], [
        ["before", figures.spread(before, 1)], ["after", figures.spread(after, 1)],
        ["after / before", figures.spread(ratios, 2)]])
    figures.write_section("server", "What following the advice gains", figures.door("server", sys.argv[2:]), text,
                          {"before": before, "after": after, "ratios": ratios})
    return 0 if statistics.median(ratios) >= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
