"""Chooses classes in vain, chooses too much, and records programs and JDKs that leave the recorder too little: each gives one clear line,
with --classes and with --sets, and the program's output and its end are as they are without a recorder.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

SECONDS_MAX = 120
MAIN = "Chosen"
CHANGED = "java/util/concurrent/locks/ReentrantLock"
UNMATCHED = "no class that was loaded and can be chosen matches --classes"
ONLY_WAITS = "of all locks only waits are recorded"


class Checks:
    def __init__(self, options, folder):
        self.options, self.folder, self.faults, self.count = options, folder, [], 0
        self.trace = pathlib.Path(folder, "run.cft")

    def check(self, what, case, record, expected, *, may_say="\n", jvm=(), status=0, runs=True):
        """`expected`: what stands in exactly one line each; every other line that we print is a fault but for the summary's
        first one, those that any recording of this program has, and `may_say`."""
        self.count += 1
        self.trace.unlink(missing_ok=True)
        program = [self.options.java, *jvm, "-cp", self.options.build / "java/jvm", MAIN, case]
        command = [self.options.build / "bin/contrafact", "record", "-o", self.trace, *record, "--", *program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)
        lines = [line for line in done.stderr.split("\n") if line and not self.is_usual(line) and may_say not in line]
        fault = None
        if done.returncode != status:
            fault = f"ended with {done.returncode} instead of {status}"
        elif done.stdout != (f"done {case}\n" if runs else ""):
            fault = f"printed {done.stdout!r}"
        elif any(sum(text in line for line in lines) != 1 for text in expected):
            fault = f"not one line each of {expected}"
        elif len(lines) != len(expected):
            fault = f"{len(lines)} lines instead of {len(expected)}"
        if fault:
            self.faults.append(f"{what}: {fault}; {' '.join(map(str, record))}: {done.stderr}")

    def is_usual(self, line):
        return line.startswith(f"contrafact: {self.trace}: ") or "no task was run" in line or "=always: code" in line


def other_jdk(options, folder):
    """A flag by which the JVM's locks have their field under another name."""
    patch = pathlib.Path(folder, "other")
    command = [options.java, "-cp", options.build / "java/jvm", MAIN, "write", CHANGED, "sync", "cnys", patch / f"{CHANGED}.class"]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS_MAX)
    return ["--patch-module", f"java.base={patch}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--java", default="java")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="contrafact-chosen-") as folder:
        checks = Checks(options, folder)
        patched = other_jdk(options, folder)
        for sets in ([], ["--sets=always"], ["--flow=always"]):
            chosen = lambda name: ["--classes", f"{MAIN}${name}", *sets]
            checks.check("a class that does not exist", "once", ["--classes", "Nowhere", *sets],
                         [f"{UNMATCHED}: " + ONLY_WAITS])
            checks.check("one of two classes does not exist", "once", [*chosen("Once"), "--classes", "Nowhere"],
                         [f"{UNMATCHED} Nowhere"])
            checks.check("classes without locks", "without-locks", chosen("WithoutLocks"),
                         ["no code of the chosen classes took a lock: " + ONLY_WAITS])
            checks.check("a nested class by its outer one", "once", ["--classes", MAIN, *sets], [])
            for wide in ("*", "java.*", "java.u*", "java.lang.*", "jdk.internal.*"):
                checks.check("all that everything stands on", "once", ["--classes", wide, *sets],
                             [f"--classes '{wide}' takes classes that everything stands on"], status=2, runs=False)
            for part in ("java.util.concurrent.*", "java.io.*", "java.lang.Thread*", "sun.*"):
                checks.check("a part of the JDK", "once", [*chosen("Once"), "--classes", part], [])
            checks.check("classes that the recorder stands on", "once", [*chosen("Once"), "--classes", "java.lang.ref.*"],
                         [f"{UNMATCHED} java.lang.ref.*"])
            checks.check("no heap left", "heap", chosen("Heap"), [], jvm=["-Xmx32m"])
            checks.check("no stack left", "stack", chosen("Stack"), [])
            checks.check("no room for events", "busy", [*chosen("Once"), "--memory", "1M"], [],
                         may_say="events were dropped, the recorder could not keep up; record with more --memory")
            checks.check("another JDK", "once", chosen("Once"),
                         ["), so it cannot be recorded: java.lang.InternalError",
                          "the JVM ended before it was up"], jvm=patched, status=1, runs=False)
        for option in ("--sets", "--flow"):
            checks.check("sets or flow without chosen classes", "once", [option],
                         [f"{option} of a JVM is for the critical sections of chosen classes: choose them with --classes, or with "
                          "--classes-from and a recording"], status=125, runs=False)
        checks.check("no section in a window", "once", ["--classes", f"{MAIN}$Once", "--sets=1us/1000s"],
                     ["no critical section of the chosen classes was observed: none of their code took a lock in a window of --sets"])
    for fault in checks.faults:
        print(fault)
    print(f"{checks.count} ways to choose classes, {len(checks.faults)} faults")
    sys.exit(1 if checks.faults else 0)


if __name__ == "__main__":
    main()
