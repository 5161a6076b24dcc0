#!/usr/bin/env python3
"""Ten native programs as Debian ships them, plain, recorded, and recorded with the sets of their critical sections, in turns:
same output, what it costs, how large the traces are; how replays of the recorded run agree with it, and what unnecessary
contention it had. A program that fails is listed, and the others go on."""

import argparse
import contextlib
import csv
import dataclasses
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import figures
import native_contention
import native_pictures
import native_workloads
import services

ANALYSIS_LIMIT_S = 150  # for `ulc` on one trace; memcached takes 7 s on an idle core
MEBIBYTE = 1 << 20


@dataclasses.dataclass
class Way:
    """One way to run a program: the recorder's options, or none at all."""
    name: str
    options: tuple = None

    def before(self, contrafact, trace):
        return [] if self.options is None else [contrafact, "record", "-q", "--native", "-o", str(trace), *self.options, "--"]


PLAIN = Way("plain")
RECORDED = Way("recorded", ())
SETS = Way("with sets", ("--sets=always",))
WINDOWS = Way("sets in windows", ("--sets=100ms/1s",))
RECORDINGS = (RECORDED, SETS, WINDOWS)
# Every access, once for each program and of a tenth of the time: it is many times slower, and traces are of gigabytes.
COMPLETE = Way("complete", ("--accesses=10ms/100ms",))
COMPLETE_SHARE = 0.1

ORDERS = {"free": "replayed, free order", "recorded": "replayed, recorded order (RLSC)",
          "deterministic": "replayed, deterministic order", "accesses": "replayed, all shared accesses in order"}


class Measurement:
    """The runs of one program. Invariant: a run that failed or differed is in `problems`, and is in no ratio."""

    def __init__(self, workload, contrafact, folder):
        self.workload, self.contrafact, self.folder = workload, contrafact, folder
        self.rounds = []  # way's name -> run, of rounds that went well
        self.facts, self.ulc, self.replays, self.conflicts, self.figure10 = {}, None, None, None, None
        self.problems = []
        self.expected = None

    def trace(self, way):
        return self.folder / f"{self.workload.name}-{way.name.replace(' ', '-')}.cft"

    def problem(self, text):
        figures.say(f"  PROBLEM: {text}")
        self.problems.append(text)

    def prepare(self, folder):
        try:
            folder.mkdir()
            self.workload.prepare(folder)
            return True
        except (services.Ended, OSError, subprocess.SubprocessError) as error:
            self.problem(f"cannot be prepared: {error}")
            return False

    def one(self, way):
        try:
            run = self.workload.run(way.before(self.contrafact, self.trace(way)))
        except (services.Ended, OSError, subprocess.SubprocessError) as error:
            self.problem(f"{way.name}: {error}")
            return None
        if run.status != 0:
            self.problem(f"{way.name}: exit status {run.status}: {run.errors.strip()[-400:]}")
            return None
        self.expected = self.expected or run.digest
        if run.digest != self.expected:
            self.problem(f"{way.name}: the output differs from the first run's")
            return None
        figures.say(f"  {way.name}: {run.work_s:.3f} s, cpu {run.cpu_s:.3f} s")
        return run

    def round(self, number):
        ways = (PLAIN, *RECORDINGS)
        turned = ways[number % len(ways):] + ways[:number % len(ways)]
        runs = {way.name: self.one(way) for way in turned}
        if all(runs.values()):
            self.rounds.append(runs)

    def ratios(self, way, value):
        return [value(runs[way.name]) / value(runs[PLAIN.name]) for runs in self.rounds]

    # ---- From the traces

    def analyse(self, options):
        for way in RECORDINGS:
            if self.trace(way).exists():
                self.facts[way.name] = self.facts_of(way)
        self.ulc = self.json_of(["ulc", "--json", self.trace(SETS)], ANALYSIS_LIMIT_S)
        if options.complete and self.one(COMPLETE):
            self.facts[COMPLETE.name] = self.facts_of(COMPLETE)

    def json_of(self, arguments, limit_s):
        run = figures.run([self.contrafact, arguments[0], "-q", *map(str, arguments[1:])], limit_s=limit_s)
        if run.status != 0:
            self.problem(f"{arguments[0]}: exit status {run.status} after {run.wall_s:.0f} s: {run.errors.strip()[-300:]}")
            return None
        figures.say(f"  {arguments[0]}: {run.wall_s:.1f} s")
        return json.loads(run.output)

    def facts_of(self, way):
        info = self.json_of(["info", "--json", self.trace(way)], ANALYSIS_LIMIT_S)
        if info is None:
            return None
        found = info["facts"]
        segments = {key.rsplit(".", 1)[1]: int(value) for key, value in found.items() if key.startswith("sets.segments.")}
        return {"events": info["event_count"], "bytes": info["file_bytes"], "dropped": info["trace"]["loss"]["events_dropped"],
                "seconds": info["duration_ns"] / 1e9, "segments": segments,
                "accesses": info.get("accesses")}

    def recording_of(self, order):
        """Of all accesses' order another recording is replayed, and compared to."""
        return COMPLETE if order == "accesses" else RECORDED

    def orders(self):
        """A program is not replayed whose replays could not miss its length."""
        if not self.workload.replays_can_miss:
            return []
        return [order for order in ORDERS if self.facts.get(self.recording_of(order).name)]

    def replay_s(self, count):
        """What that many replays of each order may take: the others take longer than the recorded one."""
        seconds = [self.facts[self.recording_of(order).name]["seconds"] for order in self.orders()]
        return 1.5 * count * (sum(seconds) + 2 * self.facts[RECORDED.name]["seconds"])

    def replay(self, count):
        """Each order of locks by itself: what does not come to its end in one takes no time from the others."""
        runs, began = {"count": count}, time.monotonic()
        for order, method in ((order, ORDERS[order]) for order in self.orders()):
            recording = self.recording_of(order)
            limit_s = max(5.0, 5 * self.facts[recording.name]["seconds"])
            table = self.folder / "replays.csv"
            table.unlink(missing_ok=True)
            done = figures.run([self.contrafact, "replay", "-q", "--json", "--order", order, "--runs", str(count),
                                "--limit", f"{limit_s:.1f}", "--csv", str(table), str(self.trace(recording))],
                               limit_s=limit_s * (count + 1) + ANALYSIS_LIMIT_S)
            if done.status != 0 or not table.exists():
                self.problem(f"replay in {order} order: exit status {done.status}: {done.errors.strip()[-300:]}")
                continue
            with table.open() as lines:
                all_runs = list(csv.DictReader(lines))
            runs[order] = [int(row["duration_ns"]) / 1e9 for row in all_runs if row["method"] == method]
            document = json.loads(done.output)
            runs[order + " foreign"] = max((part["foreign_share"] for part in document.get("parts", [])), default=None)
            if order == "accesses":
                continue
            for name in ("simulated, free order", "simulated, recorded order", "re-timed, recorded order"):
                runs[name] = [int(row["duration_ns"]) / 1e9 for row in all_runs if row["method"] == name]
        self.conflicts, why = native_contention.replays(self.contrafact, [self.trace(RECORDED), self.trace(SETS)], count,
                                                        max(5.0, 5 * self.facts[RECORDED.name]["seconds"]))
        if why:
            self.problem(f"replay by conflicts: {why}")
        figures.say(f"  {count} replays of each order: {time.monotonic() - began:.1f} s")
        self.replays = runs

    def values(self):
        return {"program": self.workload.name, "what": self.workload.what, "problems": self.problems,
                "rounds": [{name: dataclasses.asdict(run) for name, run in runs.items()} for runs in self.rounds],
                "facts": self.facts, "replays": self.replays, "conflicts": self.conflicts, "figure10": self.figure10,
                "ulc": self.ulc and {key: self.ulc[key] for key in ("sections", "duration_ns", "conflicts_only_ns", "cost_ns",
                                                                     "simulation_baseline", "together")}}


# ---- The paper's figure 10

class TextTrace:
    """What is needed here of a trace in its text form (docs/format.md): critical sections, nested ones too, by thread."""

    def __init__(self, text):
        self.labels, contexts, self.writes = {}, {}, set()
        self.outer = {}  # thread -> its outermost sections: [(lock, context, sets, [the same of inner ones])]
        held, self._sets = {}, {}
        for line in text.splitlines():
            words = line.split()
            if not words:
                continue
            if words[0] == "method":
                self.labels[words[1]] = words[2].lstrip(".")
            elif words[0] == "context":
                contexts[words[1]] = words[3].split(":")[0]
            elif words[0] == "access_set":
                self._sets[words[1]] = words[2] == "complete" and not any("w" in part.split(":")[1] for part in words[3:])
            elif words[0].isdigit() and len(words) > 3 and words[2] in ("lock_acquire", "lock_acquired", "lock_release", "accesses"):
                self._event(words, held)
        self.contexts = {name: self.labels.get(method, method) for name, method in contexts.items()}

    def _event(self, words, held):
        thread, kind, what = words[1:4]
        stack = held.setdefault(thread, [])
        if kind == "accesses":
            for section in stack:
                section["reads_only"] &= self._sets.get(what, False)
        elif kind == "lock_release":
            for section in [one for one in stack if one["lock"] == what][-1:]:
                stack.remove(section)
                (stack[-1]["inner"] if stack else self.outer.setdefault(thread, [])).append(section)
        else:
            stack.append({"lock": what, "context": words[4] if len(words) > 4 else "", "reads_only": True, "inner": []})


def exit_sections(text):
    """(outer site, inner site) -> how many threads' last critical sections were such: of the one a nested one, both only
    reading. The paper's figure 10 is such a pair of pbzip2's consumers."""
    trace = TextTrace(text)
    counts = {}
    for sections in trace.outer.values():
        last = sections[-1]
        if last["reads_only"] and len(last["inner"]) == 1 and last["inner"][0]["lock"] != last["lock"]:
            sites = (trace.contexts.get(last["context"], "?"), trace.contexts.get(last["inner"][0]["context"], "?"))
            counts[sites] = counts.get(sites, 0) + 1
    return counts


def find_figure10(measurement):
    """In the trace of pbzip2: the sites, and the unnecessary pairs that `ulc` found at each."""
    text = subprocess.run([measurement.contrafact, "export", "-q", "--format", "text", str(measurement.trace(SETS))],
                          capture_output=True, text=True, timeout=ANALYSIS_LIMIT_S)
    counts = exit_sections(text.stdout) if text.returncode == 0 else {}
    if not counts or not measurement.ulc:
        measurement.problem("the site of the paper's figure 10 was not found")
        return
    (outer, inner), threads = max(counts.items(), key=lambda item: item[1])
    pairs = {}
    for site in measurement.ulc["sites"]:
        for name in (outer, inner):
            if site["site"].startswith(name):
                pairs[name] = {key: site[key] for key in ("site", "pairs", "read_read", "unnecessary", "cost_ns")}
    if len(pairs) < 2 or not all(pair["read_read"] for pair in pairs.values()):
        measurement.problem(f"the sites {outer} and {inner} of the paper's figure 10 have no unnecessary pairs")
        return
    measurement.figure10 = {"threads": threads, "outer": pairs[outer], "inner": pairs[inner]}


# ---- Tables

def percent(value, digits=1):
    return "" if value is None else f"{100 * value:.{digits}f} %"


def overhead_table(measured):
    header = ["program", "plain, s", "its spread"]
    for way in RECORDINGS:
        header += [f"{way.name} / plain", "CPU time"]
    rows = []
    for one in measured:
        plain = [runs[PLAIN.name].work_s for runs in one.rounds]
        centre = statistics.median(plain)
        row = [one.workload.name, f"{centre:.2f}", f"{min(plain) / centre:.3f} to {max(plain) / centre:.3f}"]
        for way in RECORDINGS:
            row += [figures.spread(one.ratios(way, lambda run: run.work_s)),
                    f"{statistics.median(one.ratios(way, lambda run: run.cpu_s)):.2f}"]
        rows.append(row)
    return figures.markdown(header, rows)


def overhead_summary(measured):
    def medians(way, value):
        return {one.workload.name: statistics.median(one.ratios(way, value)) for one in measured}

    lines = []
    for way, aim in ((RECORDED, "aim: 1.02 median, 1.10 worst"), (SETS, "aim: 1.3 median"), (WINDOWS, "")):
        for what, value in (("time", lambda run: run.work_s), ("CPU time", lambda run: run.cpu_s)):
            found = medians(way, value)
            left_out = {"memcached"} | {one.workload.name for one in measured if one.workload.mostly_waits and what == "CPU time"}
            but = {name: ratio for name, ratio in found.items() if name not in left_out} or found
            worst = max(but, key=but.get)
            lines.append(f"- {way.name}, {what}: median {statistics.median(found.values()):.3f}; worst but {' and '.join(sorted(left_out))} "
                         f"{but[worst]:.3f} (`{worst}`){f' ({aim})' if aim and what == 'time' else ''}.")
    return "\n".join(lines)


def rate_table(measured):
    header = ["program"]
    for way in RECORDINGS:
        header += [f"{way.name}: MB/s", "events/s", "dropped"]
    rows = []
    for one in measured:
        row = [one.workload.name]
        for way in RECORDINGS:
            facts = one.facts.get(way.name)
            row += [f"{facts['bytes'] / 1e6 / facts['seconds']:.3f}", f"{facts['events'] / facts['seconds']:,.0f}",
                    f"{facts['dropped']:,}"] if facts else ["", "", ""]
        rows.append(row + [section_share(one), *complete_rate(one)])
    complete = any(COMPLETE.name in one.facts for one in measured)
    header += ["sections with complete sets"] + (["complete: MB/s", "million accesses/s"] if complete else [])
    return figures.markdown(header, [row[:len(header)] for row in rows])


def complete_rate(one):
    """Of the windows: what the trace has more than a selective one, and its accesses."""
    facts, selective = one.facts.get(COMPLETE.name), one.facts.get(RECORDED.name)
    if not facts or not selective:
        return ["", ""]
    rate = (facts["bytes"] / facts["seconds"] - selective["bytes"] / selective["seconds"]) / COMPLETE_SHARE
    accesses = (facts["accesses"] or {}).get("count", 0) / facts["seconds"] / COMPLETE_SHARE
    return [f"{rate / 1e6:.1f}", f"{accesses / 1e6:.1f}"]


def section_share(one):
    if not one.ulc or not one.ulc["sections"]["count"]:
        return ""
    sections = one.ulc["sections"]
    return f"{percent(sections['sets']['complete'] / sections['count'])} of {sections['count']:,}"


def replay_cell(runs, recorded_s):
    if not runs:
        return ["not done", ""]
    mean = statistics.fmean(runs)
    deviation = statistics.pstdev(runs) / mean
    return [f"{100 * (mean / recorded_s - 1):+.1f} %", f"{percent(deviation)} ({percent((max(runs) - min(runs)) / mean)})"]


def replay_table(measured):
    header = ["program", "recorded, s", "replays"]
    for order in ("free", "RLSC", "deterministic", "all accesses"):
        header += [f"{order}: mean", "spread"]
    header += ["simulated, free order", "simulated, recorded order", "foreign CPU"]
    rows = []
    for one in measured:
        if not one.replays:
            continue
        recorded_s = one.facts[RECORDED.name]["seconds"]
        row = [one.workload.name, f"{recorded_s:.3f}", one.replays["count"]]
        for order in ORDERS:
            recorded = one.facts.get(one.recording_of(order).name)
            row += replay_cell(one.replays.get(order), recorded["seconds"]) if order in one.orders() else ["-", "-"]
        for name in ("simulated, free order", "simulated, recorded order"):
            runs = one.replays.get(name)
            row.append(f"{100 * (statistics.median(runs) / recorded_s - 1):+.1f} %" if runs else "")
        foreign = [one.replays.get(order + " foreign") for order in ORDERS]
        rows.append(row + [percent(max([share for share in foreign if share is not None], default=None))])
    return figures.markdown(header, rows)


def replay_summary(measured):
    errors, spreads, simulated = {}, {}, {}
    for one in measured:
        runs = one.replays or {}
        if runs.get("recorded"):
            recorded_s = one.facts[RECORDED.name]["seconds"]
            mean = statistics.fmean(runs["recorded"])
            errors[one.workload.name] = abs(mean / recorded_s - 1)
            spreads[one.workload.name] = statistics.pstdev(runs["recorded"]) / mean
            simulated[one.workload.name] = min(
                abs(statistics.median(runs[name]) / recorded_s - 1)
                for name in ("simulated, free order", "simulated, recorded order") if runs.get(name))
    lines = ["The aim for RLSC is for runs whose threads do not outnumber the cores; nearly all of these have more.\n"]
    for what, found, aim in (("RLSC's error", errors, 0.02), ("RLSC's spread", spreads, 0.01),
                             ("the nearer simulation's error", simulated, 0.03)):
        if found:
            worst = max(found, key=found.get)
            inside = sum(value <= aim for value in found.values())
            lines.append(f"- {what}: median {percent(statistics.median(found.values()))}, worst {percent(found[worst])} (`{worst}`); "
                         f"within the aim of {percent(aim, 0)} in {inside} of {len(found)} programs.")
    return "\n".join(lines)


def contention_table(measured):
    header = ["program", "pairs", "unnecessary", "unknown", "cost, share of the run", "without ULC, share of the run",
              "remedies together, simulated", "the unchanged run, simulated", "costliest site"]
    rows = []
    for one in measured:
        if not one.ulc:
            continue
        sites, duration = one.ulc["sites"], max(1, one.ulc["duration_ns"])
        total = {key: sum(site[key] for site in sites) for key in ("pairs", "unnecessary", "unknown")}
        together = one.ulc["together"]
        costly = max(sites, key=lambda site: site["cost_ns"], default=None)
        rows.append([one.workload.name, *(f"{total[key]:,}" for key in total), percent(one.ulc["cost_ns"] / duration, 2),
                     percent(one.ulc["conflicts_only_ns"] / duration, 2),
                     percent(1 - together["free_order"], 2) if together else "100 %",
                     f"{100 * one.ulc['simulation_baseline']['error']:+.1f} %",
                     f"`{costly['site']}`" if costly and costly["cost_ns"] else "none"])
    return figures.markdown(header, rows)


def figure10_text(measured):
    for one in measured:
        if one.figure10:
            found = one.figure10
            outer, inner = found["outer"], found["inner"]
            return figures.paragraph(
                f"The paper's figure 10, found on the unmodified binary, which has no symbols: {found['threads']} of pbzip2's threads "
                f"end with a critical section entered at `{outer['site']}` (the queue's lock) that has a nested one entered at "
                f"`{inner['site']}` (`ProducerDoneMutex`), and both only read. Unnecessary because both only read: {outer['read_read']} of "
                f"{outer['pairs']} pairs at the outer site, {inner['read_read']} of {inner['pairs']} at the inner one.")
    return ""


NOTE = """
Programs as Debian ships them: no source, no recompiling. Medians over {rounds} rounds in which all ways took turns, with the
smallest and the largest ratio of a round. Time is a command's whole life with the tool's, a server's from the first request to the
last answer; CPU time is of the whole process, with its start and end, and the tool's. The spread of the plain runs is the machine's
noise. Every recorded run gave the same output, answers and exit status as the plain ones, or it is listed as a problem. In
windows: `--sets=100ms/1s`, sets of the first 100 ms in each second. Transmission's CPU time is some hundredths of a second; what it grows by
is the tool's own start and the translation of its code.
"""
RATES = """
The paper's table 2. Selective recording is what `record` does; with sets, each critical section's reads and writes are added.
MB are 10^6 bytes of the compressed file. Complete recording, where the table has it, is of every access, in windows of 10 ms in each
100 ms: what it adds, for each second of the windows.
"""
REPLAYS = """
The paper's figure 8: each recorded run (without sets) replayed by real threads, {count} times in each order if the time did. Mean of the replays against the
recorded time, and their spread: standard deviation (longest less shortest) over the mean. *Not done*: a replay was not over within
five times the recorded time, as in deterministic order some are not. *All accesses*: of another recording, with every access in windows, against its own time. Left out
are programs whose length is that of a thread which only waits to be ended (transmission, memcached): their replays in free and in recorded order came out the same whatever else
ran. Simulated is computed, without threads; foreign CPU is what
others used of the cores meanwhile.
"""
CONTENTION = """
The paper's figure 9, of programs that have unnecessary contention: what is left of the time with no more order between critical sections
than conflicts need. Estimated: re-timed, cores are no limit. Replayed: two replays by real threads, in the recorded order of sections and in
that of conflicts, from a recording without and one with sets. Really changed: of the truth programs (`test/truth_native`, ours, marked *), the
shortest run of the twin whose lock was changed, by that of the program.
"""
ALL_CONTENTION = """
Of all programs, what `ulc` says: the run with the order that unnecessary contention imposed taken away, estimated (cores are no limit), and
with the remedies that it proposes made together, simulated on the recorded cores. From one recording with sets each.
"""


def picture(what, file):
    return f"![{what}]({file})\n\n" if file else ""


def report(measured, contended, options, command):
    """`contended`: the truth programs and these, by name, with what native_contention.replays found."""
    done = [one for one in measured if one.rounds]
    values = [one.values() for one in measured]
    counts = sorted({len(one.rounds) for one in done})
    rounds = "no" if not counts else f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    text = figures.paragraph(NOTE.format(rounds=rounds))
    if done:
        text += overhead_table(done) + "\n\n" + overhead_summary(done) + "\n\n"
        text += "\n".join(f"- `{one.workload.name}`: {one.workload.what}." for one in done)
        text += "\n\n### Traces\n\n" + figures.paragraph(RATES) + rate_table(done)
        if options.replays:
            text += ("\n\n### Replays\n\n" + figures.paragraph(REPLAYS.format(count=options.replays))
                     + picture("Each program's replays against its recorded time", native_pictures.replays(values))
                     + replay_table(done) + "\n\n" + replay_summary(done))
        text += "\n\n### Unnecessary contention\n\n" + figures.paragraph(CONTENTION)
        shown = [row for row in contended if native_contention.is_worth_showing(row[1])]
        if shown:
            text += picture("What is left of each program's time", native_pictures.contention(shown)) + native_contention.table(shown) + "\n\n"
        text += native_contention.summary(contended) + "\n\n"
        text += native_contention.nothing_text([row for row in contended if row[1] and row not in shown]) + "\n\n"
        text += figures.paragraph(ALL_CONTENTION) + contention_table(done) + "\n\n"
        text += figure10_text(done)
    problems = [f"`{one.workload.name}`, {problem}" for one in measured for problem in one.problems]
    text += "\n\nProblems: " + ("\n\n" + "\n".join(f"- {problem}" for problem in problems) if problems else "none.")
    text = re.sub(r"\n{3,}", "\n\n", text)
    figures.write_section("programs", "Native programs", command, text, values)
    return not problems


def attempt(one, step, *arguments):
    """What goes wrong with one program must not lose the others' figures."""
    figures.say(one.workload.name)
    try:
        step(one, *arguments)
    except Exception as error:  # a defect of the benchmark itself
        one.problem(f"the benchmark failed: {error!r}")


def analyse(one, options):
    one.analyse(options)
    if one.workload.name == "pbzip2":
        find_figure10(one)


def make_replays(measured, options):
    """The shortest first; fewer than asked for where the time would not do for the rest."""
    end = time.monotonic() + options.replay_limit
    replayed = [one for one in measured if one.orders()] if options.replays else []
    left = sorted(replayed, key=lambda one: one.replay_s(1))
    while left:
        one = left.pop(0)
        share_s = (end - time.monotonic()) / (len(left) + 1)
        attempt(one, Measurement.replay, max(2, min(options.replays, int(share_s / one.replay_s(1)))))


def measure_truth(contrafact, options, traces):
    found = []
    for name in native_contention.TRUTH if options.replays else ():
        one, why = native_contention.truth(contrafact, pathlib.Path(contrafact).parent, traces, name, options.replays)
        figures.say(f"{name}: {why or 'replayed'}")
        if one:
            found.append((f"{name}*", one))
    return found


def make_rounds(measured, options):
    begin, longest_s = time.monotonic(), 0.0
    for number in range(options.rounds):
        started = time.monotonic()
        if started - begin + longest_s > options.limit:
            figures.say(f"the time is over after {number} of {options.rounds} rounds")
            return
        figures.say(f"round {number + 1} of {options.rounds}")
        for one in measured:
            if number < 2 or not one.workload.mostly_waits:
                attempt(one, Measurement.round, number)
        longest_s = max(longest_s, time.monotonic() - started)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with bin/contrafact")
    parser.add_argument("--programs", help="only these, with commas between")
    parser.add_argument("--rounds", type=int, default=5, help="of all ways of all programs (default 5; 2 for what mostly waits)")
    parser.add_argument("--replays", type=int, default=10, help="of each order of locks (default 10; 0: none)")
    parser.add_argument("--limit", type=int, default=420, help="seconds for all rounds (default 420)")
    parser.add_argument("--replay-limit", type=int, default=540, help="seconds for all replays (default 540)")
    options = parser.parse_args()
    services.end_with_this_process()
    contrafact = str((figures.ROOT / options.build / "bin" / "contrafact").resolve())
    if not shutil.which(contrafact):
        figures.fail(f"{options.build}/bin/contrafact not found: `./dev build` makes it")
    options.complete = b"--accesses" in figures.run([contrafact, "record", "--help"]).output

    catalogue = native_workloads.catalogue()
    wanted = options.programs.split(",") if options.programs else [workload.name for workload in catalogue]
    unknown = set(wanted) - {workload.name for workload in catalogue}
    if unknown:
        figures.fail(f"no such program: {', '.join(unknown)}; there are: {', '.join(workload.name for workload in catalogue)}")
    traces = figures.ROOT / "build" / "bench-traces"
    traces.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as end:
        measured = [Measurement(workload, contrafact, traces) for workload in catalogue if workload.name in wanted]
        ready = []
        for one in measured:
            end.callback(one.workload.close)
            if one.prepare(pathlib.Path(name) / one.workload.name):
                ready.append(one)
        make_rounds(ready, options)
        for one in ready:
            if one.rounds:
                attempt(one, analyse, options)
        make_replays([one for one in ready if one.facts.get(RECORDED.name)], options)
        contended = measure_truth(contrafact, options, traces) + [(one.workload.name, one.conflicts) for one in measured if one.conflicts]
        return 0 if report(measured, contended, options, figures.door("programs", sys.argv[2:])) else 1


if __name__ == "__main__":
    sys.exit(main())
