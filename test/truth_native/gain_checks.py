"""What the tests share that hold a gain that the tool finds against another figure for it, program by program.

A little load on the machine does no harm. Much keeps a program's threads from meeting at its lock: where other programs had
more than FOREIGN_MAX of the cores, no gain is judged. Runs of one program differ, so several are recorded.
"""
import argparse
import pathlib
import sys
import tempfile

import commands

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import attempts
import shortest_run

RUN_SECONDS_MAX = 100
RECORDINGS = 3
FOREIGN_MAX = 0.05
GAIN_POINTS_MAX = 0.08
GAIN_POINTS_MIN = 0.03  # how near is near enough for the smallest gains
GAIN_SHARE_MAX = 0.25


class NotMeasured(Exception):
    """Of one program, and why."""


def run(command):
    return commands.run(command, RUN_SECONDS_MAX)


def recorded(tool, program, trace, options=()):
    run([tool, "record", "-q", *options, "-o", trace, "--", program])
    return trace


def require_quiet(name, foreign_share):
    if foreign_share > FOREIGN_MAX:
        raise NotMeasured(f"{name}: other programs had {100 * foreign_share:.0f} % of the cores")


def are_near(gain, other):
    share = GAIN_SHARE_MAX * max(abs(gain), abs(other))
    return abs(gain - other) <= min(GAIN_POINTS_MAX, max(GAIN_POINTS_MIN, share))


def count_off(what, gains, other):
    """Of several recordings, those whose gain is not near the other: the median may be."""
    attempts.report(what, sum(not are_near(gain, other) for gain in gains), len(gains))


def main(usage, names, faults):
    """Asks `faults(tool, programs, name, folder)` of each program for what is wrong, and ends with what came of it."""
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact")
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--case", action="append", choices=list(names))
    arguments = parser.parse_args()
    found, unmeasured = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if arguments.case and name not in arguments.case:
                continue
            try:
                for fault in faults(arguments.contrafact, arguments.programs, name, pathlib.Path(folder)):
                    found.append(f"{name}: {fault}")  # one by one: those before it was given up count
            except NotMeasured as why:
                unmeasured.append(str(why))
    print("\n".join(found))
    if found:
        sys.exit(1)
    if unmeasured:
        shortest_run.not_measured("; ".join(unmeasured))
