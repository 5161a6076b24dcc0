"""What every benchmark shares: ratios with their spread, one run of a program with its times, markdown tables, and the
sections of docs/benchmarks.md."""

import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "test"))
import machine as machine_words

DOCUMENT = ROOT / "docs" / "benchmarks.md"


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    sys.exit(f"bench: {text}")


def spread(values, digits=3):
    """'median (min to max)'."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


@dataclasses.dataclass
class Run:
    """One finished process. `wall_s`: from before the fork to after the wait; `cpu_s`: used by it and its children."""

    status: int
    output: bytes
    errors: str
    wall_s: float
    cpu_s: float
    peak_kib: int


def run(command, folder=None, limit_s=600, environment=None):
    """Runs to the end, or kills the process and all that it started when the limit has passed (status -9)."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                   env={**os.environ, **(environment or {})}, start_new_session=True)
        deadline = threading.Timer(limit_s, os.killpg, [process.pid, signal.SIGKILL])
        deadline.start()
        try:
            _, state, usage = os.wait4(process.pid, 0)
        except BaseException:  # this process is to end, and what it started with it
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            deadline.cancel()
        wall_s = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(state)
        output.seek(0)
        errors.seek(0)
        return Run(process.returncode, output.read(), errors.read().decode(errors="replace"), wall_s,
                   usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def trace_facts(contrafact, trace):
    """What `contrafact info` tells of a trace: events, how many of each kind, and how many were dropped."""
    info = run([contrafact, "info", "--json", str(trace)])
    if info.status != 0:
        fail(f"contrafact info: exit status {info.status}: {info.errors.strip()[-600:]}")
    document = json.loads(info.output)
    return {"events": document["event_count"], "dropped": document["trace"]["loss"]["events_dropped"],
            "bytes": document["file_bytes"], "tasks": document["task_count"],
            "kinds": {row["event"]: row["count"] for row in document["events"]}}


def paragraph(text):
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False) + "\n\n"


def markdown(header, rows):
    """The first column is text, the others are figures."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|--:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def machine():
    """The machine in general words: what a reader needs to judge a figure, and nothing that names it."""
    memory_kib = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    system = "Linux"
    for line in pathlib.Path("/etc/os-release").read_text().splitlines():
        if line.startswith("PRETTY_NAME="):
            system = line.split("=", 1)[1].strip('"')
    return (f"{machine_words.words()}, {memory_kib / 2**20:.0f} GiB of memory, {system}, "
            f"JDK {java_version(java())}")


def java():
    return os.environ.get("JAVA", "java")


def java_version(launcher):
    text = subprocess.run([launcher, "-version"], capture_output=True, text=True, check=True).stderr
    found = re.search(r'version "([^"]+)"', text)
    return found[1] if found else "of unknown version"


def door(name, options):
    """The command that makes these figures."""
    return shlex.join(["./dev", "bench", name, *options])


def write_section(name, title, command, text, values):
    """Prints the section, keeps its values as JSON in build/bench/, and replaces the section of docs/benchmarks.md."""
    print(f"## {title}\n\n{text}", flush=True)
    folder = ROOT / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    document = {"command": command, "machine": machine(), "values": values}
    (folder / f"{name}.json").write_text(json.dumps(document, indent=2))
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    section = f"{begin}\n## {title}\n\n{paragraph(f'Made by `{command}` on {machine()}.')}{text}\n{end}"
    document = DOCUMENT.read_text() if DOCUMENT.exists() else ""
    if begin in document and end in document:
        head, rest = document.split(begin, 1)
        document = head + section + rest.split(end, 1)[1]
    else:
        document = document.rstrip() + "\n\n" + section + "\n"
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(document.lstrip())
