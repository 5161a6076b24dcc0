#!/usr/bin/env python3
"""Rewrites real classes with rewrite_classes and lets real JVMs verify and run them.

  verify_classes.py REWRITE_CLASSES WORK_DIR [--every N] [--one-jdk] [--jars NAME ...] [--old-jars NAME ...]

Edits every N-th class of java.base of each JDK (17 and the newest found) and of the given jars of /usr/share/java. A JVM with
full verification must link each class, must run javac on that java.base, must reject classes with frames made wrong on
purpose, and must run a rewritten sample program with the expected trace. A sample of monitors must do the same with probes
at them, interpreted and compiled, and its compilers must refuse none of its methods. All of this is done again with second
bodies that tell of each access; javac then runs in those of java.base that may be observed. And it is done with code that
carries taints, without and with the code of critical sections; javac runs in all of that.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VERIFY = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote"]
HELPERS = ["Dump.java", "LinkAll.java", "Probe.java", "MonitorCounts.java"]
# Ways to run the samples of monitors and accesses, besides HotSpot's own choice: interpreted; compiled by C1 and by C2 alone,
# when a method is hot or before its first call.
INTERPRETED = ["-Xint"]
HOT = ["-Xbatch"]
AT_FIRST_CALL = ["-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Monitors::*",
                 "-XX:CompileCommand=compileonly,Accesses*::*"]
COMPILED = [[compiler, *when] for compiler in ("-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation") for when in (HOT, AT_FIRST_CALL)]
SOON_HOT = "-XX:CompileThreshold=1000"  # calls, for C2 alone
OBSERVER = "java/lang/ContrafactObserver"
TRACKER = "java/lang/ContrafactTracker"
# Ways to carry taints, by option.
FLOWS = {"flows": "taints", "flows-of-sections": "taints and sections"}
OBSERVER_MAIN = "java.base/java.lang.ContrafactObserver"
# Says which classes of java.base the agent leaves as they are.
UNOBSERVED = os.path.join(HERE, "../../src/agent_jvm/probes_sets.cc")
# How the sample of accesses is run with its methods in their own bodies, in their second ones, and in both by turns (where
# neither gets hot).
BODIES = {"never": [INTERPRETED], "always": [INTERPRETED, *COMPILED],
          "alternately": [INTERPRETED, *(options for options in COMPILED if "-Xcomp" in options)]}
REFUSAL = re.compile("COMPILE SKIPPED: (?!concurrent class loading)|not compilable")
# Classes of versions before 50 have no frames and another verifier: jars that use nothing newer (no lambda, no default method)
# stand in for such.
OLD_VERSION = 49


class Failure(Exception):
    pass


def run(command, expect_failure=False, timeout=300):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)
    if (result.returncode != 0) != expect_failure:
        raise Failure(f"{' '.join(command)}\n{result.stdout[-4000:]}exit status {result.returncode}")
    return result.stdout


def jdks():
    """Homes of JDK 17 and of the newest JDK, by major version."""
    homes = {}
    candidates = glob.glob("/usr/lib/jvm/*/bin/javac")
    candidates.append(os.path.join(os.environ.get("JAVA_HOME", "/none"), "bin/javac"))
    for javac in candidates:
        release = os.path.join(os.path.dirname(os.path.dirname(javac)), "release")
        if not os.path.exists(release):
            continue
        version = re.search(r'JAVA_VERSION="(\d+)', open(release).read())
        if version:
            homes[int(version.group(1))] = os.path.dirname(os.path.dirname(os.path.realpath(javac)))
    wanted = {version for version in homes if version == 17} | ({max(homes)} if homes else set())
    return {version: homes[version] for version in sorted(wanted)}


class Check:
    def __init__(self, tool, work, every):
        self.tool = tool
        self.work = work
        self.every = every

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def compile(self, home, name):
        self.java = os.path.join(home, "bin", "java")
        self.helpers = self.path(name, "helpers")
        self.probe = self.path(name, "probe")
        javac = os.path.join(home, "bin", "javac")
        run([javac, "-d", self.helpers, *(os.path.join(HERE, f) for f in HELPERS)])
        source = os.path.join(HERE, "probe")
        run([javac, "--patch-module", f"java.base={source}", "-d", self.probe,
             *sorted(glob.glob(os.path.join(source, "java/lang/*.java")))])
        for sample in ("Sample", "Monitors", "Accesses"):
            run([javac, "-d", self.path(name, sample.lower()), os.path.join(HERE, f"sample/{sample}.java")])

    def link(self, patch, arguments, expect_failure=False):
        return run([self.java, *VERIFY, "--patch-module", f"java.base={patch}", "-cp", self.helpers, "LinkAll", *arguments],
                   expect_failure).strip()

    def dump(self, folder, version, *sources):
        return run([self.java, "-cp", self.helpers, "Dump", folder, str(version), *sources])

    def rewrite(self, original, rewritten, *how):
        print(run([self.tool, original, rewritten, "--every", self.every, *how]).strip())

    def java_base(self, name):
        original, rewritten = self.path(name, "base"), self.path(name, "base-rewritten")
        self.dump(original, 0, "jrt:java.base")
        self.rewrite(original, rewritten)
        shutil.copytree(self.probe, rewritten, dirs_exist_ok=True)
        print(f"{name} java.base: {self.link(rewritten, ['boot', rewritten])}")
        self.compiler_runs(name, rewritten)
        self.accesses_of_java_base(name, original)
        self.flows_of_java_base(name, original)

    def compiler_runs(self, name, java_base):
        """javac on the rewritten java.base must do what it does on the original one."""
        target = self.path(name, "sample-again")
        run([self.java, *VERIFY, "--patch-module", f"java.base={java_base}", "-m", "jdk.compiler/com.sun.tools.javac.Main",
             "-d", target, os.path.join(HERE, "sample/Sample.java")])
        self.same_class(name, target)
        print(f"{name} javac on the rewritten java.base: the same Sample.class")

    def same_class(self, name, target):
        with open(self.path(name, "sample", "Sample.class"), "rb") as before:
            with open(os.path.join(target, "Sample.class"), "rb") as after:
                if before.read() != after.read():
                    raise Failure(f"javac on the rewritten java.base yields another Sample.class in {target}")

    def accesses_of_java_base(self, name, original):
        """All classes are verified, while nobody is observed; then javac runs in the second bodies."""
        rewritten = self.path(name, "base-accesses")
        self.rewrite(original, rewritten, "--accesses", "--probe", OBSERVER)
        shutil.copytree(self.probe, rewritten, dirs_exist_ok=True)
        print(f"{name} java.base, accesses: {self.link(rewritten, ['boot', rewritten])}")
        left = leave_unobserved(rewritten)
        shutil.copytree(self.probe, rewritten, dirs_exist_ok=True)
        target = self.path(name, "sample-observed")
        output = self.observed(rewritten, "always", ["--add-modules", "jdk.compiler"],
                               ["com.sun.tools.javac.Main", "-d", target, os.path.join(HERE, "sample/Sample.java")])
        self.same_class(name, target)
        if sum(told_counts(output)) == 0:
            raise Failure(f"javac ran in no second bodies:\n{output}")
        print(f"{name} javac in second bodies, {left} classes may be observed: the same Sample.class; {output.strip()}")

    def flows_of_java_base(self, name, original):
        for option, what in FLOWS.items():
            rewritten = self.path(name, "base-" + option)
            self.rewrite(original, rewritten, "--" + option, "--probe", TRACKER)
            shutil.copytree(self.probe, rewritten, dirs_exist_ok=True)
            print(f"{name} java.base, {what}: {self.link(rewritten, ['boot', rewritten])}")
            self.compiler_runs(name, rewritten)
            shutil.rmtree(rewritten)

    def flows_of_jar(self, name, label):
        original, rewritten = self.path(name, label), self.path(name, label + "-flows")
        for option, what in FLOWS.items():
            self.rewrite(original, rewritten, "--" + option, "--probe", TRACKER)
            print(f"{name} {label}, {what}: {self.link(self.probe, [rewritten, original])}")
            shutil.rmtree(rewritten)

    def observed(self, java_base, bodies, options, program):
        return run([self.java, *VERIFY, "--patch-module", f"java.base={java_base}", *options, "-m", OBSERVER_MAIN, bodies,
                    *program])

    def accesses_of_jar(self, name, label):
        original, rewritten = self.path(name, label), self.path(name, label + "-accesses")
        self.rewrite(original, rewritten, "--accesses", "--probe", OBSERVER)
        print(f"{name} {label}, accesses: {self.link(self.probe, [rewritten, original])}")
        shutil.rmtree(rewritten)

    def jars(self, name, label, version, paths):
        original, rewritten = self.path(name, label), self.path(name, label + "-rewritten")
        self.dump(original, version, *paths)
        self.rewrite(original, rewritten)
        print(f"{name} {label}: {self.link(self.probe, [rewritten, original])}")
        self.accesses_of_jar(name, label)
        self.flows_of_jar(name, label)

    def wrong_frames_are_rejected(self, name, label):
        wrong = self.path(name, label + "-wrong")
        run([self.tool, self.path(name, label), wrong, "--wrong-frames"])
        output = self.link(self.probe, [wrong, self.path(name, label)], expect_failure=True)
        rejected = int(re.search(r"(\d+) rejected", output).group(1))
        if rejected == 0:
            raise Failure("the JVM accepted wrong frames: it does not verify")
        print(f"{name} {label} with wrong frames: {rejected} rejected, as they must be")

    def sample(self, name):
        traced = self.path(name, "sample-traced")
        run([self.tool, self.path(name, "sample"), traced, "--trace", "--probe", "Probe"])
        output = run([self.java, *VERIFY, "-cp", f"{traced}:{self.helpers}", "Sample"])
        golden = os.path.join(HERE, "sample/Sample.expected")
        if os.environ.get("UPDATE"):
            open(golden, "w").write(output)
        if output != open(golden).read():
            raise Failure(f"the sample's trace is not that of {golden}:\n{output}")
        print(f"{name} sample: {len(output.splitlines())} lines as expected")

    def monitors(self, name):
        original, rewritten = self.path(name, "monitors"), self.path(name, "monitors-rewritten")
        run([self.tool, original, rewritten, "--monitors", "--probe", "MonitorCounts"])
        expected = lines_of(self.run_monitors(original, [], "shapes"))
        for options in [[], INTERPRETED]:
            compare_monitors(self.run_monitors(rewritten, options, "shapes"), options, expected)
        for options in COMPILED:
            before, _ = self.compiled_monitors(original, options)
            after, output = self.compiled_monitors(rewritten, options)
            compare_monitors(output, options, expected)
            if before - after or not before:
                raise Failure(f"with {options} and probes at monitors HotSpot does not compile {sorted(before - after)}")
        expected = lines_of(self.run_monitors(original, [], "overflow"))
        for options in [[], INTERPRETED]:
            if lines_of(self.run_monitors(rewritten, options, "overflow")) != expected:
                raise Failure(f"the sample of monitors, at the stack's end with {options}, does not print {expected}")
        print(f"{name} monitors: the same output interpreted and compiled")

    def accesses(self, name):
        original, rewritten = self.path(name, "accesses"), self.path(name, "accesses-rewritten")
        run([self.tool, original, rewritten, "--accesses", "--probe", OBSERVER])
        expected = lines_of(run([self.java, *VERIFY, "-cp", original, "Accesses"]))
        for bodies, ways in BODIES.items():
            told = {self.run_accesses(rewritten, options, bodies, expected) for options in ways}
            if len(told) != 1 or (sum(*told) == 0) != (bodies == "never"):
                raise Failure(f"the sample of accesses, observed {bodies}, tells of {told}")
            print(f"{name} accesses, observed {bodies}: the same output and {sum(*told)} told, run {len(ways)} times")

    def flows(self, name):
        """HotSpot compiles code that carries taints, and the stack may end anywhere in it."""
        for option, what in FLOWS.items():
            for sample, arguments in (("Monitors", ["shapes"]), ("Accesses", [])):
                original, rewritten = self.path(name, sample.lower()), self.path(name, f"{sample.lower()}-{option}")
                run([self.tool, original, rewritten, "--" + option, "--probe", TRACKER])
                expected = lines_of(self.run_tracked(original, [], sample, *arguments))
                for options in [INTERPRETED, *COMPILED]:
                    log = self.path("compilation.log")
                    found = lines_of(self.run_tracked(rewritten, [*options, *log_to(log)], sample, *arguments))
                    refused = [line for line in open(log).read().splitlines() if sample in line and REFUSAL.search(line)]
                    if refused or found != expected:
                        raise Failure(f"{rewritten} with {options}: refused {refused}\n{found}\nbut without {what}:\n{expected}")
            expected = lines_of(self.run_tracked(self.path(name, "monitors"), [], "Monitors", "overflow"))
            for options in [[], INTERPRETED]:
                if lines_of(self.run_tracked(self.path(name, "monitors-" + option), options, "Monitors", "overflow")) != expected:
                    raise Failure(f"the sample of monitors, at the stack's end with {what} and {options}, does not print {expected}")
            print(f"{name} samples, {what}: the same output interpreted and compiled")

    def run_tracked(self, classes, options, *program):
        return run([self.java, *VERIFY, "--patch-module", f"java.base={self.probe}", *options, "-cp", f"{classes}:{self.helpers}",
                    *program])

    def run_accesses(self, classes, options, bodies, expected):
        """What is told of, counted. If HotSpot compiles, it must refuse no method, and must compile second bodies."""
        log = self.path("compilation.log")
        output = self.observed(self.probe, bodies, [*options, SOON_HOT, *log_to(log), "-XX:+LogCompilation", "-cp", classes],
                               ["Accesses"])
        if lines_of(output) != expected:
            raise Failure(f"the sample of accesses with {options}, observed {bodies}:\n{output}but without probes:\n{expected}")
        text = open(log).read()
        refused = [line for line in text.splitlines() if "Accesses" in line and REFUSAL.search(line)]
        compiled = set(re.findall(rf"<nmethod [^>]*method='Accesses\S* (\S+) \S*{OBSERVER};\)", text))
        if refused or bool(compiled) != (bodies != "never" and options != INTERPRETED):
            raise Failure(f"{classes} with {options}, observed {bodies}: compiled {sorted(compiled)}, refused {refused}")
        return told_counts(output)

    def run_monitors(self, classes, options, what):
        return run([self.java, *VERIFY, *options, "-cp", f"{classes}:{self.helpers}", "Monitors", what])

    def compiled_monitors(self, classes, options):
        """The methods of the sample that HotSpot compiles, of which it must refuse none, and the output."""
        log = self.path("compilation.log")
        output = self.run_monitors(classes, [*options, *log_to(log)], "shapes")
        text = open(log).read()
        refused = [line for line in text.splitlines() if "Monitors::" in line and REFUSAL.search(line)]
        if refused:
            raise Failure(f"{classes} with {options}: {refused}")
        return set(re.findall(r"Monitors::(\w+) \(", text)), output


def compare_monitors(output, options, expected):
    entered, left, wrong = map(int, re.search(r"monitors: (\d+) entered, (\d+) left, (\d+) wrong", output).groups())
    if lines_of(output) != expected or entered == 0 or entered != left or wrong != 0:
        raise Failure(f"the sample of monitors with {options}:\n{output}but without probes:\n{expected}")


def log_to(path):
    return ["-XX:+PrintCompilation", "-XX:+LogVMOutput", "-XX:-DisplayVMOutput", f"-XX:LogFile={path}"]


def told_counts(output):
    """What the observer counted; see ContrafactObserver.print."""
    return tuple(map(int, re.findall(r"\d+", re.search("^told: .*", output, re.MULTILINE).group(0))))


def leave_unobserved(folder):
    """Removes the classes that the agent leaves as they are; yields how many are left."""
    source = open(UNOBSERVED).read()

    def prefixes(name):
        return tuple(re.findall('"(.*?)"', re.search(name + r"\[\] = \{(.*?)\};", source, re.DOTALL).group(1)))

    unobserved, observed = prefixes("kUnobserved"), prefixes("kObservedAllTheSame")
    left = 0
    for parent, _, files in os.walk(folder):
        for file in files:
            path = os.path.join(parent, file)
            class_name = os.path.relpath(path, folder)
            if class_name.startswith(unobserved) and not class_name.startswith(observed):
                os.remove(path)
            else:
                left += 1
    return left


def lines_of(output):
    """What a sample prints, without what the JVM and the probes do."""
    return [line for line in output.splitlines() if line.startswith("= ")]


def jar_paths(names):
    paths = []
    for name in names:
        versioned = re.compile(re.escape(name) + r"(-[\d.]+.*)?\.jar")
        candidates = sorted(glob.glob(f"/usr/share/java/{name}*.jar"))
        found = [path for path in candidates if versioned.fullmatch(os.path.basename(path))]
        if not found:
            raise Failure(f"no /usr/share/java/{name}.jar: install the packages of group test in cmake/debian-packages.txt")
        paths.append((name, found[0]))
    return paths


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("work")
    parser.add_argument("--every", default="1")
    parser.add_argument("--one-jdk", action="store_true", help="the oldest of the JDKs only")
    parser.add_argument("--jars", nargs="*", default=[])
    parser.add_argument("--old-jars", nargs="*", default=[], help="those of the jars to verify as old classes, too")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    homes = jdks()
    if arguments.one_jdk:
        homes = dict(list(homes.items())[:1])
    if not homes:
        raise Failure("no JDK below /usr/lib/jvm and none in JAVA_HOME")
    check = Check(arguments.tool, arguments.work, arguments.every)
    for version, home in homes.items():
        name = f"jdk{version}"
        check.compile(home, name)
        check.sample(name)
        check.monitors(name)
        check.accesses(name)
        check.flows(name)
        check.java_base(name)
        for label, path in jar_paths(arguments.jars):
            check.jars(name, label, 0, [path])
            if label in arguments.old_jars:
                check.jars(name, label + "-old", OLD_VERSION, [path])
            check.wrong_frames_are_rejected(name, label)
    shutil.rmtree(arguments.work)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
