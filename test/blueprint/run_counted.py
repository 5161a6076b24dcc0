#!/usr/bin/env python3
"""usage: run_counted.py BUILD [--java PATH]...

Profiles against an independent way of counting (counting_agent.cc: the interpreter's own events): the program of known
counts, under flags that change the sizes of objects, and a real one, the Java compiler compiling this test's program. All
calls, objects and bytes of the chosen packages must agree.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

from profiled import RUN_SECONDS_MAX, Profile, jdk_release, profile

# The same hash code for every object and no garbage collection, so that two runs take the same ways through hash tables and
# weak caches.
SAME_EACH_TIME = ["-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2", "-XX:+UseSerialGC", "-Xms1g", "-Xmn900m"]
SOURCE = pathlib.Path(__file__).parent / "java" / "known" / "Known.java"


def counted(build, java, folder, flags, prefix, program):
    output = f"{folder}/counted"
    agent = f"-agentpath:{build}/lib/libcounting_agent.so={output},{prefix}"
    done = subprocess.run([java, agent, "-Xint"] + flags + program, capture_output=True, text=True,
                          timeout=RUN_SECONDS_MAX)
    assert done.returncode == 0, done
    calls, objects, sizes = collections.Counter(), collections.Counter(), collections.Counter()
    for line in pathlib.Path(output).read_text().strip().split("\n"):
        kind, *rest = line.split(" ")
        if kind == "call":
            calls[rest[0], rest[1]] = int(rest[2])
        else:
            objects[rest[0]], sizes[rest[0]] = int(rest[1]), int(rest[2])
    return calls, objects, sizes


def differences(what, ours, theirs):
    for key in sorted(set(ours) | set(theirs), key=str):
        if ours[key] != theirs[key]:
            yield f"{what} {key}: profiled {ours[key]}, counted {theirs[key]}"


def faults(build, java, flags, package, program, skip):
    with tempfile.TemporaryDirectory() as folder:
        calls, objects, sizes = counted(build, java, folder, flags, package.replace(".", "/"), program(folder))
    with tempfile.TemporaryDirectory() as folder:
        output = f"{folder}/profile.json"
        done = profile(build, output, ["--include", package + "*"], [java] + flags + program(folder))
        assert done.returncode == 0, done
        ours = Profile(output, descriptors=True)
    keep = lambda counts: collections.Counter({k: n for k, n in counts.items() if not skip(str(k))})
    if sum(calls.values()) < 1000 or sum(objects.values()) < 1000:
        yield f"only {sum(calls.values())} calls and {sum(objects.values())} objects were counted"
    yield from differences("calls", keep(ours.calls), keep(calls))
    yield from differences("objects of", keep(ours.objects), keep(objects))
    # A Thread has two fields more in a profiled program.
    fits = lambda counts: collections.Counter({k: n for k, n in keep(counts).items() if "Known.threads(" not in k})
    yield from differences("bytes of", fits(ours.bytes), fits(sizes))


def cases(build, release):
    known = lambda folder: ["-cp", f"{build}/java/known", "known.Known", "2000"]
    # How deep the stack gets before it overflows is no property of the program.
    overflow = lambda name: "overflow" in name
    layouts = [[], ["-XX:-UseCompressedOops"], ["-XX:-UseCompressedClassPointers"], ["-XX:ObjectAlignmentInBytes=16"]]
    if release >= 25:
        layouts.append(["-XX:+UseCompactObjectHeaders"])
    for flags in layouts:
        yield flags, "known.", known, overflow
    compiler = lambda folder: ["-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-d", folder, str(SOURCE)]
    yield SAME_EACH_TIME, "com.sun.tools.javac.", compiler, lambda name: False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--java", action="append")
    arguments = parser.parse_args()
    failed = ran = 0
    for java in arguments.java or ["java"]:
        for flags, package, program, skip in cases(arguments.build, jdk_release(java)):
            problems = list(faults(arguments.build, java, flags, package, program, skip))
            ran += 1
            failed += bool(problems)
            for problem in problems[:20]:
                print(f"{java} {' '.join(flags)} {package}: {problem}")
            if len(problems) > 20:
                print(f"... and {len(problems) - 20} more")
    print(f"{ran} comparisons, {failed} failed")
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
