#!/usr/bin/env python3
"""Lets real JVMs run classes whose code carries taints, and compares these with what is known of them.

  verify_flows.py REWRITE_CLASSES WORK_DIR [--programs N] [--one-jdk] [--ways]

Flows.java and FlowSections.java hold, for each family of instructions and each construct, the taints that a person wrote down. N
random programs (flow_programs.py) must see the same values, rewritten or not, and the same taints as their shadows do. --ways: also
interpreted, and compiled by C1 and by C2 alone before the first call.
"""
import argparse
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from verify_classes import VERIFY, Failure, jdks, run  # noqa: E402

TRACKER = "FlowTracker"
PROGRAMS_AT_ONCE = 100  # for one javac
STACK = "-Xss256m"      # shadows have thousands of variables, and recursion
COMPILED = "-XX:CompileCommand=compileonly,Program*::*"
# Each program runs once, so that C2 would be slower; --ways has it.
FAST = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
WAYS = [["-Xint"], ["-Xcomp", "-XX:TieredStopAtLevel=1", "-XX:CompileCommand=quiet", COMPILED],
        ["-Xcomp", "-XX:-TieredCompilation", "-XX:CompileCommand=quiet", COMPILED]]
MODES = ["flows", "flows-of-sections"]


class Check:
    def __init__(self, tool, work, home, name, ways):
        self.tool, self.work, self.name = tool, os.path.join(work, name), name
        self.java, self.javac = (os.path.join(home, "bin", program) for program in ("java", "javac"))
        self.ways = [FAST] + (WAYS if ways else [])
        self.helpers = self.path("helpers")
        self.compile(self.helpers, [f"{name}.java" for name in (TRACKER, "FlowShadow", "FlowRunner")], HERE)

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def compile(self, target, files, folder):
        run([self.javac, *("-J" + option for option in FAST), "-nowarn", "-cp", self.path("helpers"), "-d", target, *(os.path.join(folder, f) for f in files)])

    def rewrite(self, original, mode):
        rewritten = self.path(mode)
        shutil.rmtree(rewritten, ignore_errors=True)
        output = run([self.tool, original, rewritten, "--" + mode, "--probe", TRACKER])
        if "refused" in output:
            raise Failure(f"{original} with --{mode}:\n{output}")
        return rewritten

    def run(self, classes, *what, options=FAST):
        # Programs that are not rewritten are verified, too: so a difference is ours.
        return run([self.java, *VERIFY, STACK, *options, "-cp", f"{self.helpers}:{classes}", *what], timeout=600)

    def samples(self):
        for sample, modes in (("Flows", MODES), ("FlowSections", MODES[1:])):
            original = self.path(sample)
            self.compile(original, [sample + ".java"], HERE)
            for mode in modes:
                output = self.run(self.rewrite(original, mode), sample)
                if not re.fullmatch(r"[1-9]\d* checks, 0 failed\n", output):
                    raise Failure(f"{sample}, rewritten with --{mode}:\n{output}")
                print(f"{self.name} {sample}, --{mode}: {output.strip()}")

    def programs(self, first, last):
        source, original = self.path("source"), self.path("programs")
        for folder in (source, original):
            shutil.rmtree(folder, ignore_errors=True)
        run([sys.executable, os.path.join(HERE, "flow_programs.py"), source, str(first), str(last)])
        self.compile(self.path("shadows"), [f for f in os.listdir(source) if f.startswith("Shadow")], source)
        self.compile(original, [f for f in os.listdir(source) if f.startswith("Program")], source)
        bounds = [str(first), str(last)]
        expected = self.run(self.path("shadows"), "FlowRunner", *bounds, "shadows").splitlines()
        self.same(values(expected), values(self.run(original, "FlowRunner", *bounds).splitlines()), "not rewritten")
        for mode in MODES:
            rewritten = self.rewrite(original, mode)
            for options in self.ways:
                found = self.run(rewritten, "FlowRunner", *bounds, options=options).splitlines()
                # Sections of no tainted inputs change nothing else.
                found = [line for line in found if not re.fullmatch(r"\d+ output \[.*\]", line)]
                self.same(expected, found, f"rewritten with --{mode} {' '.join(options)}")
        shutil.rmtree(self.path("shadows"))
        return len(expected), sum(not line.endswith("[]") for line in expected)

    def same(self, expected, found, what):
        if expected == found:
            return
        at = next((i for i, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
        seen = "\n".join(f"  {a:40} {b}" for a, b in list(zip(expected, found))[max(0, at - 5):at + 5])
        raise Failure(f"{self.name}, {what}: the shadow at the left\n{seen}\n"
                      f"flow_programs.py makes the program of that number; the files are in {self.work}")


def values(lines):
    return [re.sub(r" \[[\d, ]*\]$", "", line) for line in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("work")
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--first", type=int, default=1, help="the number, and seed, of the first program")
    parser.add_argument("--one-jdk", action="store_true", help="the oldest of the JDKs only")
    parser.add_argument("--ways", action="store_true", help="interpreted, by C1 and by C2, too")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    homes = jdks()
    if not homes:
        raise Failure("no JDK below /usr/lib/jvm and none in JAVA_HOME")
    if arguments.one_jdk:
        homes = dict(list(homes.items())[:1])
    end = arguments.first + arguments.programs
    for version, home in homes.items():
        check = Check(arguments.tool, arguments.work, home, f"jdk{version}", arguments.ways)
        check.samples()
        seen = [check.programs(i, min(i + PROGRAMS_AT_ONCE, end) - 1) for i in range(arguments.first, end, PROGRAMS_AT_ONCE)]
        total, tainted = (sum(each) for each in zip(*seen)) if seen else (0, 0)
        if seen and tainted == 0:
            raise Failure("no program saw a taint")
        print(f"jdk{version}: {arguments.programs} programs saw {total} values, {tainted} of them with taints, as their shadows do")
    shutil.rmtree(arguments.work)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
