#!/usr/bin/env python3
"""usage: build_parts_test.py BUILD_DIR

By what ninja says that the targets named in `dev` are made of: `./dev demo` builds no benchmark, and of the tests' programs the one
that the README shows; `./dev test` builds no benchmarks but those that a test runs.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOWN_IN_README = "test/truth_native/readers.cc"


def targets_of(command):
    """What `./dev COMMAND` asks ninja for, of the release preset."""
    section = re.search(rf"^  {command}\)\n(.*?)^    ;;$", (ROOT / "dev").read_text(), re.S | re.M).group(1)
    [line] = re.findall(r"^    build release(.*)$", section, re.M)
    return re.findall(r"[a-z_-]+", line.split("$")[0]) or ["all"]


def compiled(path):
    """A source, or those of a batch (contrafact_batches)."""
    if not re.fullmatch(r"unity_\w+\.cxx", path.name):
        return [path]
    return [pathlib.Path(name) for name in re.findall(r'^#include "(.*)"$', path.read_text(), re.M)]


def sources_of(build, targets):
    told = subprocess.run(["ninja", "-C", build, "-t", "inputs", *targets], capture_output=True, text=True, check=True).stdout
    inputs = [source for line in told.splitlines() for source in compiled(pathlib.Path(build, line))]
    return {str(path.relative_to(ROOT)) for path in inputs if path.suffix in (".c", ".cc", ".java") and path.is_relative_to(ROOT)}


def main():
    build = sys.argv[1]
    demo, test, bench = (sources_of(build, targets_of(command)) for command in ("demo", "test", "bench"))
    is_test = re.compile(r"^test/|_test\.cc$")
    is_bench = re.compile(r"^bench/|_bench\.cc$")
    assert {"src/cli/main.cc", "examples/api-server/shop/api/Main.java"} <= demo, demo
    assert [source for source in demo if is_test.search(source) or is_bench.search(source)] == [SHOWN_IN_README]
    assert {"src/cli/cli_test.cc", "src/cli/main.cc"} <= test, test
    run_by_tests = {f"bench/engine/{name}.cc" for name in ("make_trace", "load_bench", "estimate_bench")}
    assert {source for source in test if is_bench.search(source)} == run_by_tests, test
    assert run_by_tests | {"bench/native/lock_cost.cc", "src/cli/main.cc"} <= bench, bench
    assert [source for source in bench if is_test.search(source)] == []


if __name__ == "__main__":
    main()
