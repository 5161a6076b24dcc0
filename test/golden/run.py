#!/usr/bin/env python3
"""Runs the commands of test/golden/cases/*.golden and compares what they print.

usage: run.py CONTRAFACT [CASE...]        UPDATE=1 rewrites the expected output.

A case is a session: lines that begin with "$ " are commands for bash, the lines below are what they print (standard
output and error together), and "[N]" says an exit status that is not 0. Lines that begin with "#" before the first command
are kept as they are. Every case runs in an empty folder with the text traces of test/golden/traces beside it.
"""

import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_MAX = 60


def sections(text):
    """(heading lines, commands)"""
    heading, commands = [], []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
        elif not commands:
            heading.append(line)
    return heading, commands


def run(command, folder, binary):
    environment = dict(os.environ, PATH=f"{binary.parent}:{os.environ['PATH']}", LC_ALL="C.UTF-8", NO_COLOR="1")
    for name in ("JAVA_TOOL_OPTIONS", "COLUMNS", "LANG"):
        environment.pop(name, None)
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX, check=False)
    output = done.stdout.decode(errors="replace").replace(str(folder), "$TMP").replace(str(binary.parent.parent), "$BUILD")
    if output and not output.endswith("\n"):
        output += "\n"
    return output + (f"[{done.returncode}]\n" if done.returncode else "")


def play(case, binary):
    """The session as it goes now."""
    heading, commands = sections(case.read_text())
    with tempfile.TemporaryDirectory(prefix="contrafact-golden-") as name:
        folder = pathlib.Path(name).resolve()
        for trace in (HERE / "traces").iterdir():
            shutil.copy(trace, folder)
        out = "".join(line + "\n" for line in heading)
        for command in commands:
            out += f"$ {command}\n" + run(command, folder, binary)
    return out


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:]
    cases = [c for c in sorted((HERE / "cases").glob("*.golden")) if not wanted or c.stem in wanted]
    failed = 0
    for case in cases:
        actual, expected = play(case, binary), case.read_text()
        if actual == expected:
            continue
        if os.environ.get("UPDATE") == "1":
            case.write_text(actual)
            print(f"{case.name}: rewritten")
            continue
        failed += 1
        print("".join(difflib.unified_diff(expected.splitlines(True), actual.splitlines(True), f"{case.name} (expected)",
                                           f"{case.name} (now)")))
    print(f"golden: {len(cases)} cases, {failed} differ" + (" (UPDATE=1 rewrites them)" if failed else ""))
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
