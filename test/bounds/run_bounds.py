#!/usr/bin/env python3
"""Runs every command that reads a trace on hostile or honest traces and holds its memory against a bound.

usage: run_bounds.py BIN_DIR hostile|honest [NAME...]
       run_bounds.py BIN_DIR short: commands that may use half of the memory that they need
       run_bounds.py BIN_DIR growth: commands on a trace four times as long, and the processor time that they take more
       run_bounds.py BIN_DIR loading: the processor time of commands on a long trace, against that of loading it

The bound of a trace is 100 MB plus 400 bytes for each row and 60 for each event that it really holds
(make_bounded_traces computes it), whatever ids, counts or unpacked sizes it claims; a command may refuse a trace, but it
ends by itself and says why, and then, of a hostile trace, needs no more than the 100 MB, however many events it has read
until then.
"""

import collections
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

SECONDS_MAX = 60
REFUSED = 2  # the exit status
REFUSED_BYTES_MAX = 100_000_000
ADDRESS_SPACE_MAX = 6 << 30  # protects the machine; far above every bound here

COMMANDS = {
    "info": "info {trace} --all",
    "join": "join -o {out}/joined.cft {trace} {trace}",
    "info --json": "info {trace} --json",
    "tasks": "tasks {trace}",
    "granularity": "granularity {trace}",
    "granularity -o": "granularity {trace} -o {out}/x.html",
    "load": "load {trace}",
    "load --by-task": "load {trace} --by-task --requests 200 --seeds 1",
    "locks": "locks {trace} --all",
    "locks --json": "locks {trace} --json",
    "ulc": "ulc {trace} --all --pairs",
    "flow": "flow {trace}",
    "advise": "advise {trace} --all --budget 20",
    "advise --json": "advise {trace} --json --budget 20",
    "advise --plot": "advise {trace} --plot {out}/x.html --budget 20",
    "advise --specs": "advise {trace} --specs {out}/{trace.stem} --budget 20",
    "estimate --apply": "estimate {trace} --apply {out}/{trace.stem}/best.json",
    "estimate": "estimate {trace} --model redispatch -o {out}/estimated.cft",
    "metrics": "metrics {trace} --json",
    "compare": "compare {trace} {trace} --json",
    "replay --no-threads": "replay {trace} --no-threads --runs 1",
    "replay": "replay {trace} --runs 1 --limit 1 --order recorded",
    "replay --order accesses": "replay {trace} --runs 1 --limit 1 --order accesses",
    "replay --edit": "replay {trace} --no-threads --runs 1 --edit 'lock=mutex 0,head=50%'",
    "export text": "export {trace} --format text -o {out}/x.txt",
    "export json": "export {trace} --format json -o {out}/x.json",
    "export perfetto": "export {trace} --format perfetto -o {out}/x.pftrace",
    "export cft": "export {trace} --format cft -o {out}/x.cft",
    "export events": "export {trace} --format csv --what events -o {out}/x.csv",
    "export tasks": "export {trace} --format csv --what tasks -o {out}/x.csv",
    "export task-classes": "export {trace} --format csv --what task-classes -o {out}/x.csv",
    "export metrics": "export {trace} --format csv --what metrics -o {out}/x.csv",
    "export headroom": "export {trace} --format csv --what headroom -o {out}/x.csv",
    "export thread-use": "export {trace} --format csv --what thread-use -o {out}/x.csv",
}
# Of honest traces, by name: how many lives they hold. Forks: just below and above where the lanes of a search (graph/lanes.h)
# take more memory than there is for them.
HONEST = {"locks": [200_000], "lives": [200_000], "tasks": [300_000], "forks": [20_000, 60_000, 100_000]}
# Commands whose need is far above what the tool takes to start, with the honest trace that makes it so.
SHORT = {"locks": ["locks", "locks --json", "replay --no-threads"],
         "tasks": ["tasks", "granularity", "advise", "metrics", "compare", "export text"]}
# Limits of the address space, in which no further thread may begin: (trace, command, limits in MB).
SHORT_OF_SPACE = ("forks-20000", "advise", range(24, 344, 8))
SHORT_TEXT = "contrafact: not enough memory for this: a recording of a shorter time needs less\n"
# Commands whose time grew faster than the trace, by honest trace and the size of the smaller one.
GROWTH = {"locks": (100_000, ["locks", "replay --no-threads"]), "lives": (100_000, ["locks"]), "tasks": (100_000, ["tasks", "granularity", "advise", "metrics"])}
# At most 2.6 times for each doubling: a sort grows by 2.1, where the longer trace does not fit in a cache by some more; what is
# quadratic grows by 4 (by 16 here).
GROWTH_MAX = 2.6 ** 2
GROWTH_RUNS = 5  # in turns; of each the shortest counts, for other programs made the others longer
# Where the two shortest runs differ by more, the shortest may be too long as well: a growth measured so is none.
DISTURBED_MIN = 1.2
GROWTH_BY_NOISE_MAX = 10  # no noise makes more of it; a command that takes the square of the length is at 16
# Commands by the trace and how many times the processor time of `info`, which does little but load it, they may take. Of these
# forks advise takes some 50, 55 beside a load of 20; it took more than 1500, then 140 to 190, then 93. Of these tasks 9 to 14.
# Of these locks `locks` takes 13. What they need in memory is held against the same bounds as above. With --budget advise needs more
# than that for forks: docs/format.md says how much.
LOADING = {"forks": (786_432, {"advise {trace}": 80, "granularity {trace} --no-curves": 10}), "tasks": (3_000_000, {"advise {trace}": 25, "granularity {trace} --no-curves": 10}),
           "locks": (1_000_000, {"locks {trace} --all": 35})}
NOT_MEASURED = 77  # what CTest counts as skipped


def run(arguments, address_space_bytes_max=ADDRESS_SPACE_MAX):
    """(exit status, peak bytes, seconds of processor time, what it said on standard error)"""
    def limit_child():
        resource.setrlimit(resource.RLIMIT_AS, (address_space_bytes_max, address_space_bytes_max))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))

    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                 preexec_fn=limit_child)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    return child.returncode, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime, text


def make_traces(binaries, part, folder):
    """[(path, bytes_max)]"""
    calls = [[]] if part == "hostile" else [[name, str(count)] for name, counts in HONEST.items() for count in counts]
    traces = []
    for call in calls:
        made = subprocess.run([binaries / "make_bounded_traces", folder] + call, check=True, stdout=subprocess.PIPE, text=True)
        for line in made.stdout.splitlines():
            path, bytes_max = line.split("\t")
            path = pathlib.Path(path)
            if len(HONEST.get(path.stem, ())) > 1:
                path = path.rename(path.with_stem("-".join(call)))
            traces.append((path, int(bytes_max)))
    return traces


def run_short(binaries, folder):
    """Whatever a command needs memory for, it ends by itself with one line: no signal, no other status."""
    failures = 0
    for trace, _ in make_traces(binaries, "honest", folder):
        for name in SHORT.get(trace.stem, ()):
            arguments = [str(binaries / "contrafact")] + COMMANDS[name].format(trace=trace, out=folder).split()
            status, peak_bytes, _, text = run(arguments)
            wrong = [] if status == 0 else [f"ends with {status}: {text}"]
            status, _, _, text = run(arguments, peak_bytes // 2)
            if status != 4 or text != SHORT_TEXT:
                wrong.append(f"with half of that, it ends with {status}: {text}")
            failures += len(wrong)
            print(f"{trace.stem} {name:20} needs {peak_bytes / 1e6:6.1f} MB  {'; '.join(wrong) or 'ok'}")
        if trace.stem == SHORT_OF_SPACE[0]:
            failures += run_short_of_space(binaries, trace, folder)
    return failures


def run_short_of_space(binaries, trace, folder):
    _, name, limits = SHORT_OF_SPACE
    arguments = [str(binaries / "contrafact")] + COMMANDS[name].format(trace=trace, out=folder).split()
    failures, ended = 0, collections.Counter()
    for limit in limits:
        status, _, _, text = run(arguments, limit * 1_000_000)
        ended[status] += 1
        if status != 0 and (status, text) != (4, SHORT_TEXT):
            failures += 1
            print(f"{trace.stem} {name}: in {limit} MB of address space it ends with {status}: {text}")
    print(f"{trace.stem} {name}: by limits of the address space it ends with {dict(ended)}")
    if not ended[0] or not ended[4]:
        failures += 1
        print(f"{trace.stem} {name}: the limits are none: all runs end in the same way")
    return failures


def run_growth(binaries, folder):
    """The processor time of a command on a trace and on one four times as long."""
    failures, disturbed = 0, []
    for stem, (count, names) in GROWTH.items():
        traces = []
        for times in (1, 4):
            place = pathlib.Path(folder) / f"{stem}{times}"
            place.mkdir()
            subprocess.run([binaries / "make_bounded_traces", place, stem, str(count * times)], check=True, stdout=subprocess.DEVNULL)
            traces.append(place / f"{stem}.cft")
        for name in names:
            found = growth(binaries, name, traces, folder)
            print(f"{stem} {name}: {found}", flush=True)
            failures += not found.endswith(("ok", "disturbed"))
            disturbed += [f"{stem} {name}"] if found.endswith("disturbed") else []
    if disturbed and not failures:
        print(f"not measured: other programs disturbed {', '.join(disturbed)}")
        sys.exit(NOT_MEASURED)
    return failures


def growth(binaries, name, traces, folder):
    """Both times and their ratio; at the end "ok", "disturbed", or what is wrong."""
    times = [[], []]
    for at in [0, 1] * GROWTH_RUNS:
        status, _, seconds, text = run([str(binaries / "contrafact")] + COMMANDS[name].format(trace=traces[at], out=folder).split())
        if status != 0:
            return f"ends with {status}: {text.strip()}"
        times[at].append(seconds)
    (short, next_short), (long, next_long) = (sorted(each)[:2] for each in times)
    said = f"{short:.2f} s, of four times the length {long:.2f} s, {long / short:.2f} times: "
    if long / short <= GROWTH_MAX:
        return said + "ok"
    is_noisy = max(next_short / short, next_long / long) > DISTURBED_MIN
    return said + ("disturbed" if is_noisy and long / short <= GROWTH_BY_NOISE_MAX else f"at most {GROWTH_MAX:.2f} is allowed")


def run_loading(binaries, folder):
    failures = 0
    for stem, (count, commands) in LOADING.items():
        made = subprocess.run([binaries / "make_bounded_traces", folder, stem, str(count)], check=True, stdout=subprocess.PIPE, text=True)
        trace, bytes_max = made.stdout.strip().split("\t")

        def needs(words, runs):
            """The shortest time, and the most memory."""
            times, peaks = [], []
            for _ in range(runs):
                status, peak_bytes, spent, text = run([str(binaries / "contrafact")] + words.format(trace=trace).split())
                if status != 0:
                    raise SystemExit(f"{stem}: {words} ends with {status}: {text.strip()}")
                times.append(spent)
                peaks.append(peak_bytes)
            return min(times), max(peaks)

        loading, _ = needs("info {trace}", GROWTH_RUNS)
        for words, times_max in commands.items():
            spent, peak_bytes = needs(words, 1)
            print(f"{stem} {words.split()[0]}: {spent:.2f} s, {spent / loading:.1f} times the {loading:.2f} s of info, at most {times_max}; "
                  f"{peak_bytes / 1e6:.0f} MB, at most {int(bytes_max) / 1e6:.0f}")
            failures += spent > times_max * loading or peak_bytes > int(bytes_max)
    return failures


def help_of(binaries, *words):
    return subprocess.run([binaries / "contrafact", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def unbounded(binaries):
    """Commands that read a trace, and forms that `export` writes, of which no row of COMMANDS is."""
    run_here = [words.split() for words in COMMANDS.values()]
    names = re.findall(r"^  ([a-z]+) ", help_of(binaries, "help"), re.M)
    found = {name for name in names if re.search(r"^  TRACE ", help_of(binaries, name, "--help"), re.M)} - {words[0] for words in run_here}
    assert "info" in names, names
    for option in ("--format", "--what"):
        values = re.search(option + r" WORD.*?\[one of: (.*?)\]", help_of(binaries, "export", "--help"), re.S)[1].replace(",", " ").split()
        here = {words[words.index(option) + 1] for words in run_here if words[0] == "export" and option in words}
        found |= {f"export {option} {value}" for value in values if value not in here}
    return sorted(found)


def main():
    binaries, part, only = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if part in ("short", "growth", "loading"):
        with tempfile.TemporaryDirectory() as folder:
            failures = {"short": run_short, "growth": run_growth, "loading": run_loading}[part](binaries, folder)
        print(f"{failures} failures")
        return 1 if failures else 0
    failures = 0
    for name in unbounded(binaries):
        failures += 1
        print(f"{name} reads a trace and is not in COMMANDS")
    with tempfile.TemporaryDirectory() as folder:
        for trace, bytes_max in make_traces(binaries, part, folder):
            if only and trace.stem not in only:
                continue
            print(f"{trace.stem}: {trace.stat().st_size} bytes, at most {bytes_max / 1e6:.0f} MB")
            for name, words in COMMANDS.items():
                arguments = shlex.split(words.format(trace=trace, out=folder))
                status, peak_bytes, seconds, text = run([str(binaries / "contrafact")] + arguments)
                # An honest trace is held whole, and only what is asked of it refused, as a spec that does not fit it.
                allowed = REFUSED_BYTES_MAX if status == REFUSED and part == "hostile" else bytes_max * (2 if name in ("compare", "join") else 1)
                wrong = []
                if peak_bytes > allowed:
                    wrong.append("too much memory")
                if SHORT_TEXT in text:
                    wrong.append(f"asks for more than {ADDRESS_SPACE_MAX / 1e9:.1f} GB at once")
                # 1: the trace has no lock of that name
                if status not in (0, REFUSED, 4) and not (status == 1 and name == "replay --edit"):
                    wrong.append(f"ends with {status}: {text.strip()[-300:]}")
                failures += len(wrong)
                print(f"  {name:28} {peak_bytes / 1e6:8.1f} MB {seconds:6.2f} s  {'; '.join(wrong) or 'ok'}")
            sys.stdout.flush()
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
