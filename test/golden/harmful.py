#!/usr/bin/env python3
"""Traces whose every name would act on a terminal, disguise its neighbours or be run by a spreadsheet: no command prints it so.

usage: harmful.py CONTRAFACT
"""

import csv
import io
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

CONTRAFACT = pathlib.Path(sys.argv[1]).resolve()
TRACES = pathlib.Path(__file__).resolve().parent / "traces"
# As the text form escapes them: a colour, a direction override, C1's own introducer, a bell, line ends, a tab, delete, an
# overlong escape, and what is no character.
HARM = r"\x1b[31m\xe2\x80\xae\xc2\x9b2J\x07\x0d\x0a\x09\x7f\xe0\x80\x9b\xd8\x9c\xff"
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
                     "\ud800-\udfff\U000e0000-\U000e0fff]")
NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?$")


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def umask():
    now = os.umask(0)
    os.umask(now)
    return now


def harmful(line):
    """The row of a text trace with harm in each name; it begins like a formula."""
    words = line.split()
    if not words or words[0] not in ("thread", "pool", "lock", "method", "fact"):
        return line
    if words[0] == "fact":
        return f'{line}\nfact "=key{HARM}" "@value{HARM}"' if words[1] == "cores" else line
    if words[0] == "method":
        file = f' "-{words[3].split(":")[0]}{HARM}:{words[3].split(":")[1]}"' if len(words) > 3 else ""
        return f'method {words[1]} "={HARM}{words[2]}{HARM}"{file}'
    quoted = re.search(r'"(.*)"', line)
    name = quoted.group(1) if quoted else words[1]
    return re.sub(r' ".*"', "", line) + f' "+{name}{HARM}"'


def run(*arguments):
    done = subprocess.run([str(word) for word in (CONTRAFACT, *arguments)], capture_output=True, timeout=120,
                          env=dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1"))
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "surrogateescape"), done.stdout


def check_csv(command, text):
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            check(cell[:1] not in ("=", "+", "-", "@", "\t", "\r", "\n") or NUMBER.match(cell), f"{command}: a formula: {cell!r}")


def check_prints(folder, trace):
    other = folder / "other.cft"
    commands = [[name, trace] for name in ("info", "tasks", "locks", "ulc", "flow", "metrics", "advise")]
    commands += [[name, "--json", trace] for name in ("info", "tasks", "locks", "ulc", "flow", "metrics", "advise")]
    commands += [["compare", trace, trace], ["replay", "--no-threads", trace], ["info", folder / "no\x1bsuch.cft"]]
    commands += [["export", trace, "--format", "json"], ["export", trace, "--format", "text"]]
    tables = ("thread-use", "metrics", "headroom", "task-classes", "tasks", "events")
    commands += [["export", trace, "--format", "csv", "--what", what] for what in tables]
    for command in commands:
        status, text, out = run(*command)
        found = HARMFUL.search(text)
        check(not found, f"{command}: {text[max(0, found.start() - 60):found.end() + 20]!r}" if found else "")
        if "csv" in command:
            check(status == 0, text)
            check_csv(command, out.decode())
    # What holds the whole trace, and so the program's command and paths, is its user's alone.
    for form, mode in {"json": 0o600, "text": 0o600, "perfetto": 0o600, "cft": 0o600, "csv": 0o666 & ~umask()}.items():
        status, text, _ = run("export", trace, "--format", form, "-o", other)
        check(status == 0 and stat.S_IMODE(other.stat().st_mode) == mode, f"{form}: {oct(other.stat().st_mode)} {text}")
    # The text form reads its own escapes back, through the binary form too.
    text = run("export", trace, "--format", "text")[2].decode()
    check(r"\x1b[31m\xe2\x80\xae" in text, text[:1000])
    again = folder / "again.txt"
    again.write_text(text)
    check(run("export", again, "--format", "cft", "-o", other)[0] == 0, "not read back")
    check(run("export", other, "--format", "text")[2].decode() == text, "text differs after a way through the file")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in ("shop.txt", "queue.txt", "ulc.txt", "ulc-remedies.txt"):
            lines = (TRACES / source).read_text().splitlines()
            trace = folder / source
            trace.write_text("\n".join(harmful(line) for line in lines) + f'\nnote "={HARM}"\n')
            status, text, _ = run("info", trace)
            check(status == 0, text)
            check_prints(folder, trace)
    print("harmful names: ok")


main()
