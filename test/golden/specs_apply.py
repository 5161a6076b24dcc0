#!/usr/bin/env python3
"""Every spec that `contrafact advise` writes can be applied: each is given to `contrafact estimate`, by itself, or to `contrafact load`
where it says how many threads or resources of the program's own there are, which counts under other loads alone.

usage: specs_apply.py CONTRAFACT TRACE...        traces as recordings or as text

Prints what was refused, and how many were written; exit status 1 if anything was refused, or nothing written at all.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SECONDS_MAX = 120


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)


def command_for(spec):
    own = any("threads" in one or "resource" in one for one in json.loads(spec.read_text())["improvements"])
    return ["load", "--requests", "200", "--seeds", "1"] if own else ["estimate"]


def refused(contrafact, trace, folder):
    """(specs written, complaints)"""
    # All that can be written at all, and what is really advised: best.json differs.
    written, complaints = 0, []
    for filters in ([], ["--no-filter", "all"]):
        specs = folder / str(len(filters))
        done = run(contrafact, "advise", trace, "--specs", specs, *filters)
        if done.returncode != 0:
            complaints.append(f"advise ended with {done.returncode}: {done.stderr.strip()}")
        for spec in sorted(specs.glob("*.json")):
            written += 1
            command, *options = command_for(spec)
            done = run(contrafact, command, trace, "--apply", spec, *options)
            if done.returncode != 0:
                complaints.append(f"{spec.name} {' '.join(filters)}: {done.stderr.strip()}")
    return written, complaints


def main():
    contrafact, *traces = sys.argv[1:]
    all_written, all_complaints = 0, 0
    for trace in traces:
        with tempfile.TemporaryDirectory(prefix="contrafact-specs-") as folder:
            written, complaints = refused(contrafact, trace, pathlib.Path(folder))
        all_written += written
        all_complaints += len(complaints)
        for complaint in complaints:
            print(f"{trace}: {complaint}")
    print(f"specs: {all_written} of {len(traces)} traces, {all_complaints} refused")
    sys.exit(all_complaints > 0 or all_written == 0)


if __name__ == "__main__":
    main()
