#!/usr/bin/env python3
"""usage: not_measured_test.py CTEST SKIPPING_TEST

Tests that measure nothing are counted by tools/not_measured.py, with their reasons, and too many of them fail: of real runs of ctest.
So are the skipped parts of SKIPPING_TEST, a program of Google Test, named; with the words of ctest that `./dev` uses. And attempts
that failed within tests that passed.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parent.parent / "tools" / "not_measured.py"
DEV = TOOL.parent.parent / "dev"
TESTS = """
add_test(good true)
add_test(noisy sh -c "echo 'not measured: others had 58 % of the cores'; exit 77")
add_test(parts "PROGRAM")
add_test(lacking sh -c "echo 'not measured: this processor has no such thing'; exit 77")
add_test(tries "PYTHON" -c "import attempts; attempts.report('split', 1, 3); attempts.report('drop', 0, 3)")
add_test(silent sh -c "exit 77")
set_tests_properties(noisy lacking silent PROPERTIES SKIP_RETURN_CODE 77)
"""


def counted(most, *results):
    done = subprocess.run([sys.executable, TOOL, str(most), *results], capture_output=True, text=True)
    return done.returncode, done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "CTestTestfile.cmake").write_text(TESTS.replace("PROGRAM", sys.argv[2]).replace("PYTHON", sys.executable))
        results = pathlib.Path(folder) / "results.xml"
        size = re.search(r"--test-output-size-passed \d+", DEV.read_text()).group(0).split()
        run = subprocess.run([sys.argv[1], "--test-dir", folder, *size, "--output-junit", results], capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).resolve().parent)})
        assert run.returncode == 0, run.stdout  # ctest counts them as neither passed nor failed
        said = "not measured: 4\n  noisy: others had 58 % of the cores\n  lacking: this processor has no such thing\n  silent: no reason given\n"
        said += "  parts: Skipping.ForNoise: no core was idle\n"
        said += ("skipped within tests: 2\n  parts: Skipping.WithReason: this processor has no such thing\n"
                 "  parts: Skipping.WithoutReason: no reason given\n")
        said += "failed attempts: 1 of 6\n  tries: 1 of 3: split\n"
        assert counted(3, results) == (0, said), counted(3, results)  # the lacking one is not counted
        assert counted(2, results) == (1, said), counted(2, results)
        twice = counted(5, results, results)
        assert twice[0] == 1 and twice[1].startswith("not measured: 8\n"), twice


if __name__ == "__main__":
    main()
