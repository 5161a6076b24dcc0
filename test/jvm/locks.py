"""Records Locks.java, and compares what `contrafact locks` says of each wait with what the program did; and Sections.java with its
own class chosen, of which every acquisition has to be there, and Contended.java, of which only those may count as waited for that were; and Waits.java, whose waits end well or do not."""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

NOT_LOOKED_MAX = 3  # looks at holders are rationed
WAIT_MS_MIN = 20  # the program lets each thread wait for 30 ms
READERS = ("Sections.SHARED (ReentrantReadWriteLock)", 3)  # that many threads wait so for the lock


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def faults_of(line, rows, is_held, not_looked):
    kind, lock, waiter, holder = line.split("|")
    found = [row for row in rows if row["thread"] == waiter and row["lock"] == lock]
    if len(found) != 1:
        all_of = [(row["kind"], row["lock"]) for row in rows if row["thread"] == waiter]
        return [f"{line}: {len(found)} waits for it, and the thread's waits are {all_of}"]
    row, faults = found[0], []
    if row["kind"] != kind:
        faults.append(f"{line}: the kind is {row['kind']}")
    if row["wait_ns"] < WAIT_MS_MIN * 1e6:
        faults.append(f"{line}: a wait of {row['wait_ns']} ns")
    if "Locks" not in (row["site"] or ""):
        faults.append(f"{line}: asked for at {row['site']}")
    if not is_held:
        return faults + ([f"{line}: held by {row['holder']}"] if row["holder"] else [])
    # Of a monitor that a virtual thread holds, only the holder is known.
    of_virtual = kind == "monitor" and holder.endswith(" v")
    if row["holder"] is None or (row["holder_site"] is None and not of_virtual):
        not_looked.append(line)
    if row["holder"] not in (None, holder):
        faults.append(f"{line}: held by {row['holder']}")
    if not of_virtual and "holdUntilAwaited" not in (row["holder_site"] or "holdUntilAwaited"):
        faults.append(f"{line}: the holder was at {row['holder_site']}")
    return faults


def record(options, folder, main_class, *more, flags=(), classes="jvm"):
    trace = f"{folder}/{main_class}.cft"
    flags = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal", *flags]
    program = [options.java, *flags, "-cp", options.build / "java" / classes, main_class]
    return run([options.build / "bin/contrafact", "record", "-o", trace, *more, "--", *program]).strip(), trace


def faults_of_sections(options, folder):
    printed, trace = record(options, folder, "Sections", "--classes", "Sections*")
    contrafact = options.build / "bin/contrafact"
    expected = dict(line.rsplit("|", 1) for line in printed.split("\n"))
    rows = rows_of_locks(options, trace)
    faults = []
    for lock, acquisitions in expected.items():
        found = rows[lock]["acquisitions"] if lock in rows else None
        if found != int(acquisitions):
            faults.append(f"{lock}: acquired {found} times, really {acquisitions}")
    waited_ns = rows[READERS[0]]["wait_total_ns"] if READERS[0] in rows else 0
    if waited_ns < READERS[1] * WAIT_MS_MIN * 1e6:
        faults.append(f"{READERS[0]}: {READERS[1]} readers waited for {waited_ns} ns")
    # As often as it was acquired, it was given back.
    names, open_sections = {}, collections.Counter()
    for line in run([contrafact, "export", trace, "--format", "text", "-o", "-"]).split("\n"):
        words = line.split()
        if words[:1] == ["lock"]:
            names[words[1]] = line.split('"')[1]
        elif len(words) > 3 and words[2] in ("lock_acquire", "lock_acquire_shared"):
            open_sections[words[3]] += 1
        elif len(words) == 4 and words[2] in ("lock_acquired", "lock_acquired_shared"):  # normally, or else a word follows
            open_sections[words[3]] += 1
        elif len(words) > 3 and words[2] == "lock_release":
            open_sections[words[3]] -= 1
    faults += [f"{names[lock]}: {count} acquisitions more than releases" for lock, count in open_sections.items() if count]
    print(f"{len(expected)} locks of a chosen class, {len(faults)} faults")
    return faults


def rows_of_locks(options, trace):
    rows = json.loads(run([options.build / "bin/contrafact", "locks", trace, "--json"]))["locks"]
    return {row["lock"]: row for row in rows if row["kind"] != "condition"}  # a monitor's wait set has its name


def faults_of_contention(options, folder):
    """Interpreted, every request takes longer than one that found its lock free does once it is compiled."""
    printed, trace = record(options, folder, "Contended", "--classes", "Contended*", flags=["-Xint"])
    rows, faults = rows_of_locks(options, trace), []
    for line in printed.split("\n"):
        lock, least, most = line.split("|")
        found = rows[lock]["contended"] if lock in rows else None
        if found is None or not int(least) <= found <= int(most):
            faults.append(f"{lock}: a thread waited for it {found} times, really {least} to {most}")
    print(f"{len(printed.splitlines())} locks that were free or not, {len(faults)} faults")
    return faults


def faults_of_waits(options, folder):
    printed, trace = record(options, folder, "Waits", "--classes", "Waits")
    sites = json.loads(run([options.build / "bin/contrafact", "locks", trace, "--json"]))["sites"]
    found = {row["site"].split(" ")[0]: (row["acquisitions"], row["failed"]) for row in sites if row["kind"] == "condition"}
    faults = []
    for line in printed.split("\n"):
        method, woken, failed = line.split("|")
        if found.get(method) != (int(woken), int(failed)):
            faults.append(f"{method}: of its waits (ended well, failed) {found.get(method)}, really {(woken, failed)}")
    print(f"{len(printed.splitlines())} ways to wait, {len(faults)} faults")
    return faults


def faults_of_pinned(options, folder):
    """With the program's class chosen, requests of locks are the recorder's own; without, they are blocks."""
    faults = []
    for chosen in ([], ["--classes", "Pinned"]):
        printed, trace = record(options, folder, "Pinned", *chosen, classes="jvm21")
        found = collections.Counter()
        for place in json.loads(run([options.build / "bin/contrafact", "locks", trace, "--json"])).get("pinned_places", []):
            found[(place["where"] or "").split(" ")[0]] += place["blocks"]
        expected = {method: int(times) for method, times in (line.split("|") for line in printed.split("\n"))}
        if found != expected:
            faults.append(f"{chosen}: blocked on their carriers {dict(found)}, really {expected}")
    print(f"{len(expected)} places where virtual threads keep their carriers, {len(faults)} faults")
    return faults


def faults_of_made(options, folder):
    _, trace = record(options, folder, "Made", "--classes", "Made*")
    lines = collections.defaultdict(list)
    source = pathlib.Path(__file__).resolve().parent / "java/Made.java"
    for number, line in enumerate(source.read_text().split("\n"), 1):
        if " // made: " in line:
            lines[line.split(" // made: ")[1]].append(number)
    rows, faults = rows_of_locks(options, trace), []
    for lock in {*lines, "Made$User.given (ReentrantLock)"}:
        first, *more = lines.get(lock, [None])
        said = rows[lock]["made_at"] if lock in rows else "nowhere: it is not among the locks"
        expected = f"(Made.java:{first})" + (f", and {len(more)} more" if more else "")
        if not (said or "").endswith(expected) if first else said is not None:
            faults.append(f"{lock}: made at {said}, really {expected if first else 'in no field of its own'}")
    print(f"{len(lines)} locks that are made in a field, {len(faults)} faults")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--java", default="java")
    parser.add_argument("--jdk", type=int, default=17, help="its version")
    options = parser.parse_args()
    contrafact = options.build / "bin/contrafact"
    with tempfile.TemporaryDirectory(prefix="contrafact-locks-") as folder:
        printed, trace = record(options, folder, "Locks")
        rows = json.loads(run([contrafact, "locks", trace, "--json"]))["waits"]
        faults = faults_of_sections(options, folder) + faults_of_contention(options, folder)
        faults += faults_of_waits(options, folder)
        faults += faults_of_made(options, folder)
        if options.jdk >= 21:
            faults += faults_of_pinned(options, folder)
    not_looked = []
    held, unheld = printed.split("\n--\n")
    for text, is_held in ((held, True), (unheld, False)):
        for line in text.split("\n"):
            faults += faults_of(line, rows, is_held, not_looked)
    # A look that took long, since the machine is busy, keeps the next ones away.
    if len(not_looked) > NOT_LOOKED_MAX:
        faults.append(f"the holder, or its place, is not known of {len(not_looked)}: {not_looked}")
    for fault in faults:
        print(fault)
    print(f"{len(printed.splitlines()) - 1} locks, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
