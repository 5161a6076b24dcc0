#!/usr/bin/env python3
"""What recording costs beside what other tools cost on the same programs, in turns: LTTng's wrapper of pthread functions,
uftrace, valgrind's DRD and stock ThreadSanitizer. They tell other things: see the section."""

import argparse
import contextlib
import hashlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import figures
import native_workloads
import services

WRAPPER = pathlib.Path("/usr/lib/x86_64-linux-gnu/liblttng-ust-pthread-wrapper.so.1")
RUN_LIMIT_S = 120
SLOW_ROUNDS = 1  # of DRD, which runs one thread at a time


class Plain:
    name, rounds = "plain", None

    def __init__(self, contrafact, folder):
        self.contrafact, self.folder = contrafact, folder

    def missing(self):
        return ""

    @contextlib.contextmanager
    def running(self):
        """(command in front, environment) while it lasts."""
        yield [], {}

    def command(self, program):
        return program.command

    def trace_bytes(self):
        return None


class Contrafact(Plain):
    name, options = "contrafact record", []

    @contextlib.contextmanager
    def running(self):
        self.trace = self.folder / "run.cft"
        yield [self.contrafact, "record", "-q", "--native", "-o", str(self.trace), *self.options, "--"], {}

    def trace_bytes(self):
        return self.trace.stat().st_size


class ContrafactSets(Contrafact):
    name, options = "contrafact record --sets=always", ["--sets=always"]


class ContrafactCompiled(ContrafactSets):
    name = "the same, sets from the compiler"

    def command(self, program):
        return program.compiled


class Lttng(Plain):
    name = "LTTng, pthread wrapper"

    def missing(self):
        return "" if shutil.which("lttng-sessiond") and WRAPPER.exists() else "lttng-tools or liblttng-ust1 is not installed"

    def _lttng(self, *words):
        subprocess.run(["lttng", "-q", *map(str, words)], check=True, capture_output=True, timeout=30,
                       env={**os.environ, "LTTNG_HOME": str(self.folder)})

    def _answers(self):
        with contextlib.suppress(subprocess.SubprocessError):
            self._lttng("list")
            return True

    @contextlib.contextmanager
    def running(self):
        self.output = self.folder / "lttng"
        shutil.rmtree(self.output, ignore_errors=True)
        daemon = ["env", f"LTTNG_HOME={self.folder}", "lttng-sessiond", "--no-kernel"]
        with services.Service(daemon, self.folder) as service:
            service.wait_until(self._answers, "ready")
            self._lttng("create", "bench", f"--output={self.output}")
            self._lttng("enable-event", "-u", "lttng_ust_pthread:*")
            self._lttng("start")
            yield [], {"LD_PRELOAD": str(WRAPPER), "LTTNG_HOME": str(self.folder)}
            self._lttng("stop")
            self._lttng("destroy")
            service.stop()

    def trace_bytes(self):
        return sum(path.stat().st_size for path in self.output.rglob("*") if path.is_file())


class Uftrace(Plain):
    name = "uftrace, library calls"

    def missing(self):
        return "" if shutil.which("uftrace") else "uftrace is not installed"

    @contextlib.contextmanager
    def running(self):
        self.output = self.folder / "uftrace"
        shutil.rmtree(self.output, ignore_errors=True)
        yield ["uftrace", "record", "--force", "--no-event", "-d", str(self.output)], {}

    def trace_bytes(self):
        return sum(path.stat().st_size for path in self.output.rglob("*") if path.is_file())


class Drd(Plain):
    name, rounds = "valgrind --tool=drd", SLOW_ROUNDS

    def missing(self):
        return "" if shutil.which("valgrind") else "valgrind is not installed"

    @contextlib.contextmanager
    def running(self):
        yield ["valgrind", "-q", "--tool=drd", f"--log-file={self.folder / 'drd'}"], {}


class ThreadSanitizer(Plain):
    name = "ThreadSanitizer"

    @contextlib.contextmanager
    def running(self):
        yield ["setarch", "-R"], {}  # it does not run everywhere with all of the addresses' randomness

    def command(self, program):
        return program.sanitized


TOOLS = (Plain, Contrafact, ContrafactSets, ContrafactCompiled, Lttng, Uftrace, Drd, ThreadSanitizer)


class Program:
    def __init__(self, name, command, what, sanitized=None, compiled=None):
        self.name, self.command, self.what, self.sanitized, self.compiled = name, command, what, sanitized, compiled


def programs(build):
    binaries = build / "bin"
    return [
        Program("shared_map", [str(binaries / "shared_map")], "1,000,000 short critical sections (`bench/native/shared_map.cc`)",
                [str(binaries / "shared_map_tsan")], [str(binaries / "shared_map_accesses")]),
        Program("pbzip2", ["pbzip2", "-p4", "-k", "-c", "text"], "a text of 4 MiB"),
        Program("xz", ["xz", "-T4", "-1", "--block-size=512KiB", "-c", "text"], "the same text"),
    ]


class Cell:
    def __init__(self):
        self.seconds, self.cpu, self.bytes, self.why_not = {}, {}, None, ""  # by round


class Table:
    """Runs all programs under all tools. Invariant: what failed has no figure, and is in `problems`."""

    def __init__(self, contrafact, chosen, folder):
        self.programs, self.folder = chosen, folder
        self.tools = [tool(contrafact, folder) for tool in TOOLS]
        self.cells = {(program.name, tool.name): Cell() for program in chosen for tool in self.tools}
        self.expected, self.problems = {}, []

    def one(self, program, tool, number):
        cell = self.cells[program.name, tool.name]
        cell.why_not = tool.missing() or ("" if tool.command(program) else "not recompiled")
        if cell.why_not or (tool.rounds and number >= tool.rounds):
            return
        try:
            with tool.running() as (before, environment):
                run = figures.run([*before, *tool.command(program)], folder=self.folder, limit_s=RUN_LIMIT_S,
                                  environment=environment)
            cell.bytes = tool.trace_bytes()
        except (services.Ended, OSError, subprocess.SubprocessError) as error:
            self.problem(program, tool, str(error))
            return
        digest = hashlib.sha256(run.output).hexdigest()
        if run.status != 0 or digest != self.expected.setdefault(program.name, digest):
            self.problem(program, tool, f"exit status {run.status}, or another output: {run.errors.strip()[-300:]}")
            return
        figures.say(f"  {program.name}, {tool.name}: {run.wall_s:.2f} s")
        cell.seconds[number], cell.cpu[number] = run.wall_s, run.cpu_s

    def problem(self, program, tool, text):
        figures.say(f"  PROBLEM: {program.name}, {tool.name}: {text}")
        self.problems.append(f"`{program.name}`, {tool.name}: {text}")

    def text(self, program, tool):
        cell, plain = self.cells[program.name, tool.name], self.cells[program.name, Plain.name]
        ratios = [seconds / plain.seconds[number] for number, seconds in cell.seconds.items() if number in plain.seconds]
        if not ratios:
            return [cell.why_not or "failed", "", ""]
        cpu = [seconds / plain.cpu[number] for number, seconds in cell.cpu.items() if number in plain.cpu]
        return [figures.spread(ratios, 2), f"{statistics.median(cpu):.2f}",
                "" if cell.bytes is None else f"{cell.bytes / 1e6:.2f}"]


NOTE = """
Ratios to the plain run of the same round, medians of {rounds} rounds (of DRD {slow}) with the smallest and the largest; MB of its
trace. Same output by all, or it is listed. What they tell differs: LTTng's wrapper writes an event for each call of a mutex, with
its caller's address; uftrace the calls that the program makes into libraries, with their durations; contrafact who waited for whom
as well, context switches, and with `--sets` what each critical section accessed. DRD and ThreadSanitizer look at every access for
data races and leave no trace; the latter needs the program recompiled, so there is nothing to compare for Debian's.
"""


def report(table, rounds, command):
    text = figures.paragraph(NOTE.format(rounds=rounds, slow=SLOW_ROUNDS))
    header = ["tool"]
    for program in table.programs:
        header += [f"{program.name}: time", "CPU time", "MB"]
    rows = [[tool.name, *(cell for program in table.programs for cell in table.text(program, tool))]
            for tool in table.tools if tool.name != Plain.name]
    text += figures.markdown(header, rows) + "\n\n"
    for program in table.programs:
        seconds = table.cells[program.name, Plain.name].seconds
        if seconds:
            text += f"- `{program.name}`: {program.what}; plain {statistics.median(seconds.values()):.2f} s.\n"
    text += "\nProblems: " + ("\n\n" + "\n".join(f"- {one}" for one in table.problems) if table.problems else "none.")
    values = {"/".join(key): vars(cell) for key, cell in table.cells.items()}
    figures.write_section("tools", "Recording beside other tools", command, text, values)
    return not table.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="build folder, with bin/contrafact and bin/shared_map*")
    parser.add_argument("--rounds", type=int, default=5, help="of all tools but DRD (default 5)")
    options = parser.parse_args()
    services.end_with_this_process()
    build = (figures.ROOT / options.build).resolve()
    if not (build / "bin" / "shared_map_tsan").exists():
        figures.fail(f"{options.build}/bin/shared_map_tsan not found: `./dev bench` makes it")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        native_workloads.words(folder / "text", 4)
        table = Table(str(build / "bin" / "contrafact"), programs(build), folder)
        for number in range(options.rounds):
            for program in table.programs:
                for tool in table.tools:
                    table.one(program, tool, number)
        return 0 if report(table, options.rounds, figures.door("tools", sys.argv[2:])) else 1


if __name__ == "__main__":
    sys.exit(main())
