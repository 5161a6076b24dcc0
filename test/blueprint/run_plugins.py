#!/usr/bin/env python3
"""usage: run_plugins.py BUILD [--java PATH]...

Plug-ins: the documented example works; each faulty one, and each option that cannot be, gives one clear line. What is
known before the start keeps the program from being started; what comes later leaves it unharmed.
"""
import argparse
import csv
import os
import pathlib
import sys
import tempfile

from profiled import own_lines, profile

USAGE, INPUT, OUTPUT, FAILED = 1, 2, 3, 125
FIRST_LINE = "call known.Known.main"


def check_refused(build, program, folder):
    plugin = lambda name: ["--analysis", f"{build}/lib/plugins/plugin_{name}.so"]
    text = pathlib.Path(folder, "text.so")
    text.write_text("no library")
    cases = [
        (["--analysis", f"{folder}/none.so"], INPUT, "cannot be loaded"),
        (["--analysis", str(text)], INPUT, "cannot be loaded"),
        (["--analysis", "nothing"], INPUT, "there is no analysis 'nothing'; built in: blueprint, contexts"),
        (plugin("no_symbol"), INPUT, "does not export contrafact_analysis_entry"),
        (plugin("other_version"), INPUT, "built for version 3 of contrafact/analysis.h, this is version 2"),
        (plugin("no_finish"), INPUT, "must have finish"),
        (plugin("no_methods"), INPUT, "has none of on_call, on_exit and on_allocation"),
        (plugin("two_ways"), INPUT, "must learn of events in one way"),
        (["--capacity", "0"], USAGE, "--capacity 0: a buffer must hold at least one event"),
        (["--capacity", "2000000"], USAGE, "--capacity 2000000: a buffer holds at most 1048576"),
        (["--queue", "0"], USAGE, "--queue 0: the queue must hold at least one buffer"),
        (["--memory", "1000"], USAGE, "--memory 1000: too little"),
        (["--consumers", "100000"], USAGE, "--consumers 100000: at most 256"),
        (["--processor", "direct"] + plugin("throws"), INPUT, "--processor direct: the analysis"),
        (["--processor", "fast"], USAGE, "--processor fast: there are sync, pool, adaptive and direct"),
    ]
    for options, status, line in cases:
        done = profile(build, f"{folder}/out", options, program)
        assert done.returncode == status, (options, done)
        assert len(own_lines(done)) == 1 and line in own_lines(done)[0], (options, done.stderr)
        assert done.stdout == "", (options, "the program was started", done.stdout[:100])
        assert not os.path.exists(f"{folder}/out"), options


    done = profile(build, f"{folder}/none/out", [], program)
    assert done.returncode == OUTPUT and "there is no folder" in done.stderr and done.stdout == "", done


def check_refused_by_analysis(build, program, folder):
    """Known only in the program's process, before its main class is loaded."""
    for name, line in [("refuses", "refused to start"), ("create_throws", "threw an exception when it was created")]:
        done = profile(build, f"{folder}/out", ["--analysis", f"{build}/lib/plugins/plugin_{name}.so"], program)
        assert done.returncode != 0 and FIRST_LINE not in done.stdout, done
        assert any(line in own for own in own_lines(done)), done.stderr


def check_unharmed(build, program, folder, plain):
    done = profile(build, f"{folder}/oldest", ["--include", "known.*", "--analysis", f"{build}/lib/plugins/plugin_oldest.so"],
                   program)
    assert done.returncode == 0 and int(pathlib.Path(folder, "oldest").read_text()) > 100_000, done
    for name, status, line in [
        ("throws", 0, "threw"),
        ("finish_fails", FAILED, "wrote no result: finish returned 7"),
        ("finish_throws", FAILED, "wrote no result: finish threw: no result today"),
    ]:
        output = f"{folder}/{name}"
        done = profile(build, output, ["--include", "known.*", "--analysis", f"{build}/lib/plugins/plugin_{name}.so"], program)
        assert done.returncode == status, done
        assert done.stdout == plain, (name, done.stdout[:300])
        assert sum(line in own for own in own_lines(done)) == 1, (name, done.stderr)
        if name != "throws":
            assert not os.path.exists(output), name
            continue
        calls = int(pathlib.Path(output).read_text())
        told = next(own for own in own_lines(done) if "threw" in own)
        assert calls > 100_000 and f"threw {calls // 2} times; first: every second call" in told, (calls, told)
    assert not [name for name in os.listdir(folder) if name.endswith((".profiling", ".part"))], os.listdir(folder)


def check_example(build, program, folder):
    output = f"{folder}/thrown.csv"
    done = profile(build, output, ["--include", "known.*", "--analysis", f"{build}/lib/plugins/thrown.so"], program)
    assert done.returncode == 0, done
    with open(output) as file:
        thrown = {(row["class"], row["method"]): int(row["thrown"]) for row in csv.DictReader(file)}
    said = {tuple(words[1:3]): int(words[3]) for words in map(str.split, done.stdout.strip().split("\n")) if len(words) == 4}
    failures = said["known.Known.third", "known.Known$Mark.<init>"]
    for method in ("third", "second", "first"):
        assert thrown["known.Known", method] == failures, thrown
    assert thrown["known.Known$Base", "<init>"] == said["known.Known.constructors", "known.Known.afterCatch"], thrown
    assert ("known.Known", "throughFrames") not in thrown, thrown


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--java", action="append")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    for java in arguments.java or ["java"]:
        program = [java, "-cp", f"{build}/java/known", "known.Known"]
        with tempfile.TemporaryDirectory() as folder:
            plain = profile(build, f"{folder}/plain", [], program).stdout
            assert plain.startswith(FIRST_LINE), plain[:200]
            os.remove(f"{folder}/plain")
            check_refused(build, program, folder)
            check_refused_by_analysis(build, program, folder)
            check_unharmed(build, program, folder, plain)
            check_example(build, program, folder)
    print("plug-ins: all as documented")


if __name__ == "__main__":
    sys.exit(main())
