#!/usr/bin/env python3
"""usage: dev_test.py

How many tests `./dev test` lets measure nothing: two, with --all none, in whichever of its parts they are. A copy of ./dev runs with
stand-ins for what builds and tests; that for ctest reports as many tests that measured nothing as it is told.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The part is known by what `./dev` gives to ctest.
CTEST = """#!/bin/sh
part=$*
while [ "$1" != --output-junit ]; do shift; done
{
  echo '<testsuite>'
  case $part in
    "--test-dir build/$PRESET "*"$PART"*)
      for number in $(seq "$COUNT"); do
        echo "<testcase name='noisy$number' status='notrun'><skipped/><system-out>not measured: others had the cores</system-out></testcase>"
      done ;;
  esac
  echo '</testsuite>'
} >"$2"
"""
STAND_INS = {"ctest": CTEST, "ninja": "#!/bin/sh\n", "cmake": "#!/bin/sh\n", "dpkg-query": "#!/bin/sh\necho installed\n"}
QUICK = ["-L unit|golden -LE slow", "-R ^harm\\. -LE slow", "-E ^harm\\.", "-L truth -LE slow"]
LONG = [("release", "-L slow"), ("asan", "-L unit|golden"), ("tsan", "-L unit|golden")]


def run(folder, part, count, *arguments, preset="release"):
    paths = f"{folder / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run([folder / "dev", "test", *arguments], env=dict(os.environ, PATH=paths, PRESET=preset, PART=part, COUNT=str(count)),
                          capture_output=True, text=True)
    assert f"not measured: {count}\n" in done.stdout, (part, done.stdout, done.stderr)
    return done.returncode


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for place in ("bin", "cmake", "tools"):
            (folder / place).mkdir()
        for file in ("dev", "cmake/debian-packages.txt", "tools/not_measured.py"):
            shutil.copy(ROOT / file, folder / file)
        (folder / "tools/check_includes.py").write_text("")
        for tool, text in STAND_INS.items():
            (folder / "bin" / tool).write_text(text)
            (folder / "bin" / tool).chmod(0o755)
        for part in QUICK:
            statuses = [run(folder, part, count) for count in (0, 2, 3)] + [run(folder, part, 1, "--all")]
            assert statuses == [0, 0, 1, 1], (part, statuses)
        for preset, part in LONG:
            statuses = [run(folder, part, count, "--all", preset=preset) for count in (0, 1)]
            assert statuses == [0, 1], (preset, part, statuses)


if __name__ == "__main__":
    sys.exit(main())
