#!/usr/bin/env python3
"""Rewrites real classes with rewrite_classes and lets real JVMs verify and run them.

  verify_classes.py REWRITE_CLASSES WORK_DIR [--every N] [--one-jdk] [--jars NAME ...] [--old-jars NAME ...]

Edits every N-th class of java.base of each JDK (17 and the newest found) and of the given jars of /usr/share/java. A JVM with
full verification must link each class, must run javac on that java.base, must reject classes with frames made wrong on
purpose, and must run a rewritten sample program with the expected trace.
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
        run([javac, "-d", self.helpers, *(os.path.join(HERE, f) for f in ("Dump.java", "LinkAll.java", "Probe.java"))])
        source = os.path.join(HERE, "probe")
        run([javac, "--patch-module", f"java.base={source}", "-d", self.probe,
             os.path.join(source, "java/lang/ContrafactProbe.java")])
        run([javac, "-d", self.path(name, "sample"), os.path.join(HERE, "sample/Sample.java")])

    def link(self, patch, arguments, expect_failure=False):
        return run([self.java, *VERIFY, "--patch-module", f"java.base={patch}", "-cp", self.helpers, "LinkAll", *arguments],
                   expect_failure).strip()

    def dump(self, folder, version, *sources):
        return run([self.java, "-cp", self.helpers, "Dump", folder, str(version), *sources])

    def rewrite(self, original, rewritten):
        print(run([self.tool, original, rewritten, "--every", self.every]).strip())

    def java_base(self, name):
        original, rewritten = self.path(name, "base"), self.path(name, "base-rewritten")
        self.dump(original, 0, "jrt:java.base")
        self.rewrite(original, rewritten)
        shutil.copytree(self.probe, rewritten, dirs_exist_ok=True)
        print(f"{name} java.base: {self.link(rewritten, ['boot', rewritten])}")
        self.compiler_runs(name, rewritten)

    def compiler_runs(self, name, java_base):
        """javac on the rewritten java.base must do what it does on the original one."""
        target = self.path(name, "sample-again")
        run([self.java, *VERIFY, "--patch-module", f"java.base={java_base}", "-m", "jdk.compiler/com.sun.tools.javac.Main",
             "-d", target, os.path.join(HERE, "sample/Sample.java")])
        with open(self.path(name, "sample", "Sample.class"), "rb") as before:
            with open(os.path.join(target, "Sample.class"), "rb") as after:
                if before.read() != after.read():
                    raise Failure("javac on the rewritten java.base yields another Sample.class")
        print(f"{name} javac on the rewritten java.base: the same Sample.class")

    def jars(self, name, label, version, paths):
        original, rewritten = self.path(name, label), self.path(name, label + "-rewritten")
        self.dump(original, version, *paths)
        self.rewrite(original, rewritten)
        print(f"{name} {label}: {self.link(self.probe, [rewritten, original])}")

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
