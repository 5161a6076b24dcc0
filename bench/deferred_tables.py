#!/usr/bin/env python3
"""Deferred methods on real programs: the blueprint profiler with every processor, buffers of 100 to 1,000,000 events and
queues of 1 to 100,000 buffers, against the sequential analysis that counts at every event in what the threads share
(`profile --processor direct`). The tables are those of the paper (docs/deferred.md): speed-ups, use of the CPU, accesses
saved by coalescing, memory. All programs run on two cores, or where it is said on one."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import sys
import time

import figures
import programs

CAPACITIES = [100, 1_000, 10_000, 100_000, 1_000_000]
QUEUES = [1, 10, 100, 1_000, 10_000, 100_000]
CORNERS = [(capacity, queue) for capacity in (100, 1_000_000) for queue in (1, 100_000)]
MIDDLE = [(10_000, 100)]
RUN_LIMIT_S = 300
PLAIN_EVERY = 12  # cells between two runs of what all are compared to, so that a slow spell of the machine meets it too
CORES = 2


@dataclasses.dataclass(frozen=True)
class Size:
    """How long a program is profiled: a few seconds of work, most of it the analysis's. `naive` is for one task an event."""

    arguments: list
    naive: list
    own: str = ""        # methods of these classes are called equally often in every run; empty: it depends on timing, or,
                         # as javac's other packages, on the identity hashes that the JVM happens to give
    threads: bool = False  # the whole grid


SIZES = {
    "google-java-format": Size(["com.google.googlejavaformat.java.Main", "@files:90"],
                               ["com.google.googlejavaformat.java.Main", "@files:4"]),
    "hsqldb": Size(["120000"], ["2000"], threads=True),
    "javac": Size(["com.sun.tools.javac.Main", "-proc:none", "-nowarn", "-XDignore.symbol.file", "-implicit:none",
                   "-sourcepath", "source", "-d", "out", "@files:200"],
                  [], "com.sun.tools.javac.parser."),  # one file needs most of the others: too much for the naive way
    "lucene": Size(["12000", "600"], ["300", "20"]),
    "smile": Size(["10000", "60", "90"], ["500", "5", "5"], "smile.base.", threads=True),
    "tomcat": Size(["4000"], ["100"]),
}


@dataclasses.dataclass(frozen=True)
class Way:
    """One way to run the analysis. `plain`: without any."""

    processor: str
    capacity: int = 0
    queue: int = 0
    coalescing: bool = True
    cores: int = CORES
    naive_size: bool = False
    plugin: str = ""    # in place of the blueprint
    analysis: str = ""  # the same, a built-in one

    def command(self, contrafact, output):
        before = ["taskset", "-c", ",".join(map(str, sorted(os.sched_getaffinity(0))[:self.cores]))]
        if self.processor == "plain":
            return before
        before += [contrafact, "profile", "-o", str(output), "--processor", self.processor]
        before += ["--capacity", str(self.capacity)] if self.capacity else []
        before += ["--queue", str(self.queue)] if self.queue else []
        if self.plugin:
            before += ["--analysis", f"{pathlib.Path(contrafact).parent.parent}/lib/plugins/{self.plugin}.so"]
        before += ["--analysis", self.analysis] if self.analysis else []
        return before + ([] if self.coalescing else ["--coalescing", "off"]) + ["--"]


DIRECT, PLAIN, SYNC, POOL, ADAPTIVE = (Way(name) for name in ("direct", "plain", "sync", "pool", "adaptive"))
FREE = Way("sync", plugin="bench_nothing")  # the probes and their buffers alone
CONTEXTS = [dataclasses.replace(way, analysis="contexts") for way in (DIRECT, SYNC, ADAPTIVE)]
NAIVE = Way("pool", 1, 100_000, coalescing=False, naive_size=True)
NAIVE_DIRECT = Way("direct", naive_size=True)
ON_ONE_CORE = [dataclasses.replace(way, cores=1) for way in (DIRECT, SYNC, ADAPTIVE)]


def grid(processor, cells):
    return [Way(processor, capacity, queue) for capacity, queue in cells]


def ways_of(size, full, few):
    """In the order of the first round. Those without capacity or queue have the defaults of `contrafact profile`."""
    if few:
        return [PLAIN, SYNC, FREE, DIRECT, ADAPTIVE, *CONTEXTS]
    cells = [(c, q) for c in CAPACITIES for q in QUEUES] if full or size.threads else CORNERS + MIDDLE
    capacities = sorted({capacity for capacity, _ in cells})
    ways = [NAIVE_DIRECT, NAIVE] if size.naive else []
    ways += [PLAIN, FREE, SYNC, POOL, ADAPTIVE, *ON_ONE_CORE, *CONTEXTS]
    ways += [Way("sync", capacity, coalescing=False) for capacity in capacities]
    ways += [Way("sync", capacity) for capacity in capacities]
    for cell in cells:
        ways += grid("pool", [cell]) + grid("adaptive", [cell])
    return ways


@dataclasses.dataclass
class Sample:
    time_s: float        # of the work, and from the program's end until all buffers were processed
    wall_s: float        # of the whole process, as the two that follow
    cpu_s: float
    peak_mib: float
    run: dict            # as the profile has it


class Measurement:
    """The runs of one program. Invariant: a run that failed, lost events or counted otherwise than the first is in
    `problems`, and nothing of it is in `samples`."""

    def __init__(self, program, contrafact, folder):
        self.program = program
        self.size = SIZES[program.name]
        self.contrafact = contrafact
        self.output = folder / f"{program.name}.json"
        self.samples = {}
        self.problems = []
        self.own_calls = {}  # by size
        self.variants = [self.sized(arguments) for arguments in (self.size.arguments, self.size.naive)]

    def sized(self, arguments):
        """`@files:N` stands for the first N of the program's source files."""
        given = []
        for argument in arguments:
            if match := re.fullmatch(r"@files:(\d+)", argument):
                names = (self.program.folder / "files").read_text().splitlines()[:int(match[1])]
                (self.program.folder / f"files-{match[1]}").write_text("\n".join(names) + "\n")
                argument = f"@files-{match[1]}"
            given.append(argument)
        return dataclasses.replace(self.program, arguments=given)

    def measure(self, way):
        program = self.variants[way.naive_size]
        run, _ = program.run(way.command(self.contrafact, self.output), limit_s=RUN_LIMIT_S)
        found = re.findall(r"^work_ns=(\d+)$", run.errors, re.MULTILINE)
        if run.status != 0 or not found:
            tail = " ".join(run.errors.strip().splitlines()[-4:])
            self.problems.append(f"{way}: exit status {run.status}: {tail[-400:]}")
            return
        facts = self.facts(way) if way.processor != "plain" else {"rest_ns": 0}
        if facts is None:
            return
        time_s = (int(found[-1]) + facts["rest_ns"]) / 1e9
        self.samples.setdefault(way, []).append(Sample(time_s, run.wall_s, run.cpu_s, run.peak_kib / 1024, facts))
        figures.say(f"  {time_s:6.2f} s, cpu {run.cpu_s:6.2f} s: {way.processor} {way.plugin} {way.capacity or ''} {way.queue or ''}"
                    f"{'' if way.coalescing else ' no coalescing'}{'' if way.cores > 1 else ' on one core'}")

    def facts(self, way):
        profile = json.loads(self.output.read_text())
        facts = profile["run"]
        if facts["lost"] != 0:
            self.problems.append(f"{way}: {facts['lost']} events were lost")
            return None
        if self.size.own and not way.plugin and not way.analysis:
            own = {row for row, method in enumerate(profile["methods"]) if method[0].startswith(self.size.own)}
            calls = sum(count for _, callee, count in profile["calls"] if callee in own)
            if calls != self.own_calls.setdefault(way.naive_size, calls):
                self.problems.append(f"{way}: {calls} calls of {self.size.own}*, not {self.own_calls[way.naive_size]}")
                return None
        return facts

    def median(self, way, value=lambda sample: sample.time_s):
        return statistics.median(map(value, self.samples[way])) if way in self.samples else None

    def speed_up(self, way):
        base = NAIVE_DIRECT if way.naive_size else dataclasses.replace(DIRECT, cores=way.cores, analysis=way.analysis)
        both = base in self.samples and way in self.samples
        return self.median(base) / self.median(way) if both else None

    def ratio(self, way, other):
        both = way in self.samples and other in self.samples
        return self.median(way) / self.median(other) if both else None


def make_rounds(measured, full, few, rounds, limit_s):
    """Whole rounds while they fit into the time; the first one is always made. Returns how many were."""
    figures.say(f"load average {os.getloadavg()[0]:.1f}")
    begin, longest_s = time.monotonic(), 0.0
    for number in range(rounds):
        started = time.monotonic()
        if number > 0 and started - begin + longest_s > limit_s:
            figures.say(f"the time is over after {number} of {rounds} rounds")
            return number
        for measurement in measured:
            figures.say(f"round {number + 1}: {measurement.program.name}")
            ways = ways_of(measurement.size, full, few)
            for place, way in enumerate(ways if number % 2 == 0 else reversed(ways)):
                if place % PLAIN_EVERY == 0 and not few:
                    measurement.measure(DIRECT)
                if not (way.naive_size and number > 0):
                    measurement.measure(way)
            if not few:
                measurement.measure(DIRECT)
        longest_s = max(longest_s, time.monotonic() - started)
    return rounds


# ---- tables


def mean_speed_up(measured, way):
    """The geometric mean over these programs; None if one of them has no figure."""
    found = [measurement.speed_up(way) for measurement in measured]
    return statistics.geometric_mean(found) if found and all(found) else None


def cell(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


def table_1(measured):
    header = ["", *[f"{capacity:,}" for capacity in CAPACITIES]]
    row = lambda name, ways: [name, *[cell(mean_speed_up(measured, way)) for way in ways]]
    rows = [row("synchronous, no coalescing", [Way("sync", c, coalescing=False) for c in CAPACITIES]),
            row("synchronous", [Way("sync", c) for c in CAPACITIES])]
    for processor in ("pool", "adaptive"):
        rows += [row(f"{processor}, queue {queue:,}", [Way(processor, c, queue) for c in CAPACITIES]) for queue in QUEUES]
    return figures.markdown(header, rows)


def all_programs(measured, few):
    ways = [("probes alone", FREE), ("synchronous", SYNC), ("adaptive", ADAPTIVE)]
    if not few:
        ways += [("pool", POOL), ("naive", NAIVE), ("synchronous, no coalescing", Way("sync", 10_000, coalescing=False))]
        ways += [(f"adaptive {c:,} × {q:,}", Way("adaptive", c, q)) for c, q in CORNERS + MIDDLE]
    header = ["program", "bound", *[name for name, _ in ways]]
    rows = [[m.program.name, cell(m.speed_up(PLAIN)), *[cell(m.speed_up(way)) for _, way in ways]] for m in measured]
    rows.append(["geometric mean", cell(mean_speed_up(measured, PLAIN)),
                 *[cell(mean_speed_up(measured, way)) for _, way in ways]])
    return figures.markdown(header, rows)


def idle_percent(measurement, way):
    share = measurement.median(way, lambda sample: sample.cpu_s / sample.wall_s)
    return "" if share is None else f"{max(0.0, 100 * (CORES - share)):.0f}"


def consumers_percent(measurement, way):
    share = measurement.median(way, lambda sample: sample.run["consumers_cpu_ns"] / 1e9 / sample.wall_s)
    return "" if share is None else f"{100 * share:.0f}"


def table_2(measured):
    header = ["program", "sequential, s", "synchronous, s", "idle CPU, %", "pool over synchronous", "idle CPU, %",
              "CPU of consumers, %", "adaptive over synchronous", "idle CPU, %", "CPU of consumers, %",
              "adaptive over synchronous, on one core"]
    rows = []
    for m in measured:
        one_sync, one_adaptive = ON_ONE_CORE[1:]
        rows.append([m.program.name, cell(m.median(DIRECT)), cell(m.median(SYNC)), idle_percent(m, SYNC),
                     cell(m.ratio(SYNC, POOL)), idle_percent(m, POOL), consumers_percent(m, POOL),
                     cell(m.ratio(SYNC, ADAPTIVE)), idle_percent(m, ADAPTIVE), consumers_percent(m, ADAPTIVE),
                     cell(m.ratio(one_sync, one_adaptive))])
    return figures.markdown(header, rows)


def cpu_time(measured):
    """Which does not depend on how many others use the machine, as the time of the work does."""
    cpu = lambda m, way: m.median(way, lambda sample: sample.cpu_s)
    ways = [PLAIN, FREE, DIRECT, SYNC, ADAPTIVE]
    rows, ratios = [], []
    for m in measured:
        row = [cpu(m, way) for way in ways]
        if not all(row):
            continue
        plain, free, direct, synchronous, adaptive = row
        ratios.append([direct / value for value in (plain, free, synchronous, adaptive)] + [free / adaptive])
        rows.append([m.program.name, *[cell(value, 1) for value in row], *[cell(value) for value in ratios[-1]]])
    if ratios:
        rows.append(["geometric mean", *[""] * len(ways), *[cell(statistics.geometric_mean(column)) for column in zip(*ratios)]])
    return figures.markdown(["program", "plain, s", "probes alone", "sequential", "synchronous", "adaptive", "bound",
                             "bound with probes", "speed-up, synchronous", "speed-up, adaptive", "adaptive of the latter bound"],
                            rows)


def contexts(measured):
    cpu = lambda m, way: m.median(way, lambda sample: sample.cpu_s)
    direct, synchronous, adaptive = CONTEXTS
    rows, ratios = [], []
    for m in measured:
        if not all(way in m.samples for way in (PLAIN, *CONTEXTS)):
            continue
        ratios.append([m.speed_up(synchronous), m.speed_up(adaptive), cpu(m, direct) / cpu(m, PLAIN), cpu(m, direct) / cpu(m, synchronous),
                       cpu(m, direct) / cpu(m, adaptive)])
        rows.append([m.program.name, cell(m.median(direct)), *[cell(value) for value in ratios[-1]]])
    if ratios:
        rows.append(["geometric mean", "", *[cell(statistics.geometric_mean(column)) for column in zip(*ratios)]])
    return figures.markdown(["program", "sequential, s", "speed-up, synchronous", "speed-up, adaptive", "bound by CPU time",
                             "CPU time, synchronous", "CPU time, adaptive"], rows)


def figure_7(measured):
    """Per million events, so that programs whose work depends on timing can be compared."""
    per_million = lambda sample: sample.run["shared_accesses"] / sample.run["events"] * 1e6
    ways = [("sequential", DIRECT)] + [(f"{c:,}", Way("sync", c)) for c in CAPACITIES]
    rows = []
    for m in measured:
        values = [m.median(way, per_million) for _, way in ways]
        rows.append([m.program.name, *["" if value is None else f"{value:,.0f}" for value in values]])
    return figures.markdown(["program", *[name for name, _ in ways]], rows)


def memory(measured):
    rows = []
    mib = lambda sample: sample.run["buffer_bytes_max"] / 2**20
    for queue in QUEUES:
        row = [f"{queue:,}"]
        for capacity in CAPACITIES:
            way = Way("adaptive", capacity, queue)
            buffers, peak = (most(m.median(way, value) for m in measured) for value in (mib, lambda s: s.peak_mib))
            row.append("" if buffers is None else f"{buffers:,.1f} / {peak:,.0f}")
        rows.append(row)
    return figures.markdown(["queue", *[f"{capacity:,}" for capacity in CAPACITIES]], rows)


def most(values):
    return max((value for value in values if value is not None), default=None)


def verdict(measured, threaded):
    """What the aims and the defaults come to, in sentences."""
    found = {way: mean_speed_up(threaded, way) for way in grid("adaptive", [(c, q) for c in CAPACITIES for q in QUEUES])}
    found = {way: value for way, value in found.items() if value}
    lines = []
    default = mean_speed_up(threaded, ADAPTIVE)
    if found and default:
        best = max(found, key=found.get)
        lines.append(f"Best of the grid with `adaptive`: capacity {best.capacity:,}, queue {best.queue:,}, speed-up "
                     f"{found[best]:.2f}. The defaults: {default:.2f}, {default / found[best]:.2f} of the best.")
    idle = {m.program.name: m.speed_up(ADAPTIVE) for m in measured}
    idle = {name: value for name, value in idle.items() if value}
    if idle:
        name = max(idle, key=idle.get)
        lines.append(f"Aim of 4 over sequential where a core is idle: the best is {idle[name]:.2f} (`{name}`); with an "
                     "analysis that cost nothing it would be the bound.")
    one_sync, one_adaptive = ON_ONE_CORE[1:]
    behind = {m.program.name: m.ratio(one_adaptive, one_sync) for m in measured}
    behind = {name: value for name, value in behind.items() if value}
    if behind:
        name = max(behind, key=behind.get)
        lines.append(f"Aim of at most 1.05 times synchronous where no core is idle: on one core the worst is "
                     f"{behind[name]:.2f} (`{name}`), the median {statistics.median(behind.values()):.2f}.")
    return "\n".join(f"- {line}" for line in lines)


def titled(title, note, table):
    return f"### {title}\n\n{figures.paragraph(note)}{table}\n\n"


def report(measured, full, few, rounds, command):
    threaded = [m for m in measured if (full or m.size.threads) and not few]
    names = ", ".join(f"`{m.program.name}`" for m in threaded)
    text = figures.paragraph(f"""Work time, from which the JVM's start is left out, and which ends when the last buffer has been
        processed. Speed-ups are over the sequential analysis: the same probes, which count at every event in lock-free tables,
        four for each core (`--processor direct`). Medians of {rounds} round{'' if rounds == 1 else 's'}; what all is compared to
        {'took turns with the others' if few else f'was run after every {PLAIN_EVERY} others'}. No run lost an event, or it is among the problems; the programs of which it can
        be expected made the same calls in all runs. The load average at the end was {os.getloadavg()[0]:.1f}: where it is far above
        {CORES}, others had the cores, and only the table of CPU time says anything.""")
    if not few:
        text += verdict(measured, threaded) + "\n\n"
    if threaded:
        text += titled("Speed-up by capacity of buffers and size of the queue", f"Geometric mean of {names}.", table_1(threaded))
    text += titled("All programs", """The bound is what no profiling at all would gain; *probes alone* is what an analysis would that
        does nothing with its events, and no way to process them can gain more. Naive: a task for each event, in a smaller
        run. Capacity and queue are the defaults of `contrafact profile` where none are named; without coalescing the capacity
        is 10,000.""", all_programs(measured, few))
    cpu_text = titled("CPU time", """Seconds of the whole process with the JVM's start, its compilers and consumers, and ratios. Deferring
        cannot take less of it than its events cost; where a core is idle it takes less of the program's time than this says.""",
                      cpu_time(measured))
    cpu_text += titled("The calling-context tree", """`--analysis contexts`, at the defaults, against the same tree counted at every
        event in nodes that all threads share (`--processor direct`): work time, and CPU time as above.""", contexts(measured))
    if few:
        return finished(text + cpu_text, measured, command, "deferred-few", "Deferred methods on real programs, at the defaults")
    text += cpu_text
    text += titled("Use of the CPU", """At the defaults; of 200 %, over the whole process with the JVM's start and its
        compilers. Above 1: faster than synchronous.""", table_2(measured))
    text += titled("Accesses to what threads share, per million events", """With coalescing, by capacity. Sequential: one for a
        call, two for an allocation.""", figure_7(measured))
    if threaded:
        text += titled("Memory: MiB of all buffers / resident at most", f"""With `adaptive`, by capacity; the larger of {names}.
            Buffers are bounded by `--memory`, 256 MiB; the rest is the JVM's.""", memory(threaded))
    return finished(text, measured, command, "deferred-tables", "Deferred methods on real programs")


def finished(text, measured, command, section, title):
    problems = [f"`{m.program.name}`, {problem}" for m in measured for problem in m.problems]
    text += "Problems: " + ("\n\n" + "\n".join(f"- {problem}" for problem in problems) if problems else "none.")
    values = [{"program": m.program.name, "problems": m.problems,
               "samples": [{**dataclasses.asdict(way), "runs": [dataclasses.asdict(sample) for sample in samples]}
                           for way, samples in m.samples.items()]} for m in measured]
    figures.write_section(section, title, command, text, values)
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with bin/contrafact")
    parser.add_argument("--rounds", type=int, default=1, help="of all cells, as far as --limit allows (default 1)")
    parser.add_argument("--limit", type=int, default=1500, help="seconds after which no further round begins (default 1500)")
    parser.add_argument("--full", action="store_true", help="the whole grid for every program, not only the two with most threads")
    parser.add_argument("--few", action="store_true", help="only the defaults, and no table by capacity and queue")
    parser.add_argument("--program", action="append", help="only this one; may be given again")
    options = parser.parse_args()
    chosen = [program for program in programs.catalogue() if not options.program or program.name in options.program]
    if not chosen:
        figures.fail(f"no such program; there are: {', '.join(SIZES)}")
    if len(os.sched_getaffinity(0)) < CORES:
        figures.fail(f"needs {CORES} cores")
    for program in chosen:
        program.prepare()
    contrafact = (figures.ROOT / options.build / "bin" / "contrafact").resolve()
    if not contrafact.exists():
        figures.fail(f"{options.build}/bin/contrafact not found: `./dev build` makes it")
    folder = figures.ROOT / "build" / "bench-profiles"
    folder.mkdir(parents=True, exist_ok=True)
    measured = [Measurement(program, str(contrafact), folder) for program in chosen]
    rounds = make_rounds(measured, options.full, options.few, options.rounds, options.limit)
    return 0 if report(measured, options.full, options.few, rounds, figures.door("deferred", sys.argv[2:])) else 1


if __name__ == "__main__":
    sys.exit(main())
