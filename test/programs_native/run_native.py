#!/usr/bin/env python3
"""Runs a native test program plain and recorded, and holds the recording against what the program does.

usage: run_native.py CONTRAFACT CASE
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

CONTRAFACT = pathlib.Path(sys.argv[1]).resolve()
PROGRAMS = CONTRAFACT.parent
LIBRARY = CONTRAFACT.parent.parent / "lib" / "libnative_library.so"


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def run(command, timeout=60):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout)
    return done.returncode, done.stdout, done.stderr


class Recording:
    """One recorded run, with the same run unrecorded beside it."""

    def __init__(self, program, *arguments, options=(), plain_status=None):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "run.cft"
        command = [PROGRAMS / f"native_{program}", *arguments]
        status, out, _ = run(command)
        if status < 0:
            status = 128 - status  # as a shell says it, and `record` too
        recorded, recorded_out, self.err = run([CONTRAFACT, "record", "-o", self.path, *options, "--", *command])
        check(recorded_out == out, f"output differs:\n{out}\nrecorded:\n{recorded_out}\n{self.err}")
        check(recorded == status, f"status {status}, recorded {recorded}\n{self.err}")

    def json(self, command, path=None, status=0):
        ended, out, err = run([CONTRAFACT, command, "--json", path or self.path])
        check(ended == status, f"{command}: {err}")
        return json.loads(out)

    def locks(self, path=None):
        return {row["lock"]: row for row in self.json("locks", path)["locks"]}

    def sites(self):
        return self.json("locks")["sites"]

    def events(self):
        return {row["event"]: row["count"] for row in self.json("info")["events"]}


def site(rows, text, lock=None):
    found = [row for row in rows if text in row["site"] and (lock is None or row["lock"] == lock)]
    check(found, f"no site with '{text}' among {[row['site'] for row in rows]}")
    return found[0]


def mutex():
    recording = Recording("mutex")
    lock = recording.locks()["contended"]
    check(lock["acquisitions"] == 400, lock)
    check(lock["contended"] > 0 and lock["wait_total_ns"] > 0, lock)
    check(lock["threads"] == 4, lock)
    # Forty holds of half a millisecond each.
    check(lock["hold_max_ns"] > 500_000 and lock["hold_total_ns"] > 20_000_000, lock)
    quiet = recording.locks()["quiet"]
    check((quiet["acquisitions"], quiet["contended"]) == (25, 0), quiet)
    row = site(recording.sites(), "worker (mutex.cc:12)", "contended")
    check(row["acquisitions"] == 400, row)
    check(row["owner"] == "worker (mutex.cc:12)" and row["owner_share"] > 0.3, row)
    events = recording.events()
    check(events["lock_release"] == 425, events)
    check(events["lock_request"] == events["lock_acquired"] == lock["contended"], events)
    check(events["task_spawn"] == events["task_start"] == events["task_end"] == 4, events)
    check(events["wait_begin"] == events["wait_end"] == 4, events)
    bodies = [row["body"]["method"] for row in recording.json("tasks")["classes"]]
    check(bodies == ["worker"], bodies)


def stripped():
    recording = Recording("stripped")
    rows = recording.sites()
    check(sum(row["acquisitions"] for row in rows) == 425, rows)
    check(all(row["site"].startswith("0x") and "native_stripped" in row["site"] for row in rows), rows)


def debug_files():
    """Names from debug files that lie apart: where the debug link says, beside the program or in .debug; and by build id, in a
    folder that the user names."""
    source = PROGRAMS / "native_mutex"
    for way in ["beside", "debug folder", "build id"]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program, debug = folder / "program", folder / "program.debug"
            environment = {}
            if way == "debug folder":
                debug = folder / ".debug" / "program.debug"
            elif way == "build id":
                notes = run(["readelf", "--notes", source])[1]
                build_id = notes.split("Build ID:")[1].split()[0]
                debug = folder / "debug" / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
                environment = {"CONTRAFACT_DEBUG_PATH": f"{folder / 'nothing here'}:{folder / 'debug'}"}
            debug.parent.mkdir(parents=True, exist_ok=True)
            commands = [["objcopy", "--only-keep-debug", source, debug], ["objcopy", "--strip-all", source, program]]
            if way != "build id":
                commands.append(["objcopy", f"--add-gnu-debuglink={debug}", program])
            for command in commands:
                status, _, err = run(command)
                check(status == 0, err)
            trace = folder / "run.cft"
            status, _, err = run([CONTRAFACT, "record", "-o", trace, "--", program])
            check(status == 3, err)

            def sites(variables):
                done = subprocess.run([CONTRAFACT, "locks", "--json", trace], env=dict(os.environ, **variables),
                                      capture_output=True, text=True, timeout=60)
                check(done.returncode == 0, done.stderr)
                return json.loads(done.stdout)["sites"]

            found = sites(environment)
            check(site(found, "worker (mutex.cc:12)", "contended")["acquisitions"] == 400, (way, found))
            if environment:
                check(not any("mutex.cc" in row["site"] for row in sites({})), f"{way}: names without the folder")
            debug.unlink()
            check(not any("mutex.cc" in row["site"] for row in sites(environment)), f"{way}: names without the debug file")


def handlers():
    """A program that asks for its signal handlers finds its own, and they run, also in children and after an exec."""
    for options in [[], ["--sets=always"], ["--accesses"], ["--sets=always", "--children"]]:
        Recording("handlers", options=options)


def sandboxes():
    """Programs that restrict their system calls do what they did, and are not ended for what sets need."""
    for options in [["--sets=always"], ["--accesses"], []]:
        for case in ["strict_mode", "strict_mode_in_section", "only_its_own_calls", "in_a_section", "with_handlers",
                     "thread_ends", "workers", "workers_bound"]:
            Recording("sandboxes", case, options=options)
    facts = Recording("sandboxes", "only_asks", options=["--sets=always"]).json("info")["facts"]
    check("sets.ended" not in facts and facts["sets.segments.complete"] == "600", facts)


def no_command():
    """Only its user may read a trace, and it need not hold the arguments, also of processes that the program starts."""
    for options in [[], ["--children"]]:
        recording = Recording("exec", options=["--no-command", *options])
        traces = list(pathlib.Path(recording.folder.name).iterdir())
        for trace in traces:
            check(trace.stat().st_mode & 0o777 == 0o600, oct(trace.stat().st_mode))
            command = recording.json("info", trace)["facts"]["command"]
            check(command == "native_exec", command)
    plain = Recording("sections", "jumps").json("info")["facts"]["command"]
    check(plain == f"{PROGRAMS / 'native_sections'} jumps", plain)


def full_disk():
    """The file cannot grow any more, as on a full disk: the program goes on to its end, and what was written is kept."""
    sections = 20_000
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        trace, progress = folder / "t.cft", folder / "progress"
        program = [PROGRAMS / "harm_progress", progress, sections]
        command = [str(word) for word in [CONTRAFACT, "record", "-o", trace, "--", *program]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            done = lambda: int.from_bytes(progress.read_bytes()[:8], "little") if progress.exists() else 0
            while child.poll() is None and done() < sections // 10:
                time.sleep(0.001)
            written = pathlib.Path(f"{trace}.recording").stat().st_size
            resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (written + 1000, written + 1000))
            out, err = child.communicate(timeout=60)
        check(child.returncode == 33 and out == "" and done() == sections, (child.returncode, out, err, done()))
        check(err.count("recording stopped, the program went on: cannot write") == 2, err)
        check("events were dropped, the recorder could not write them" in err, err)
        status, text, said = run([CONTRAFACT, "info", trace])
        check(status == 0 and "the recorder could not write them" in text, (status, text, said))


def lock_errors():
    """Whatever the C library says of a lock, with whatever consequence, it says recorded too: for each function of locks that the
    agent stands in front of."""
    agent = run(["nm", "-D", "--defined-only", CONTRAFACT.parent.parent / "lib" / "libcontrafact_native.so"])[1].split()
    called = {word.split("@")[0] for word in run(["nm", "-D", PROGRAMS / "native_lock_errors"])[1].split()}
    of_locks = ("pthread_mutex", "pthread_rwlock", "pthread_spin", "pthread_cond", "pthread_barrier", "pthread_once", "sem_", "mtx_", "cnd_", "call_once")
    functions = {word for word in agent if word.startswith(of_locks)}
    check("mtx_lock" in functions and functions <= called, functions - called)
    recording = Recording("lock_errors")
    locks = [row for row in recording.json("locks")["locks"] if row["failed"] > 0]
    check({row["kind"] for row in locks} >= {"mutex", "rwlock", "spinlock", "semaphore"}, locks)
    Recording("lock_errors", options=["--sets=always"])
    Recording("lock_errors", options=["--accesses"])


def cpp20():
    """What waits by itself and then calls syscall: the waits and wakes are seen, at a word, not what they are for."""
    recording = Recording("cpp20")
    status, text, err = run([CONTRAFACT, "export", "--format", "text", recording.path])
    check(status == 0, err)
    waits = [line for line in text.splitlines() if " main sync_wait " in line]
    check(len(waits) >= 4, text)
    check({row["kind"] for row in recording.json("locks")["locks"]} == {"futex"}, text)
    check("cpp20.cc" in text, text)
    check("no lock of the C library's was taken; " in recording.err, recording.err)


def futexes():
    """Locks of the program's own: which word they waited at, where, and who ended the waits; what serves as a lock is shown first."""
    recording = Recording("futexes")
    status, text, err = run([CONTRAFACT, "locks", recording.path])
    rows = [row for row in recording.json("locks")["locks"] if row["kind"] == "futex"]
    check(recording.json("info")["trace"]["loss"]["blocks_damaged"] == 0, recording.json("info"))
    rows = [row for row in rows if row["contended"] > 0]
    check(len(rows) == 2, rows)
    # How often threads meet at the lock is chance on a busy machine; that several do is not.
    contended = max(rows, key=lambda row: row["threads"])
    check(contended["threads"] >= 2, rows)
    given = next(row for row in rows if row is not contended)
    check("::total_lock" in contended["lock"] and contended["lock"] in text, text)
    check("::given" in given["lock"] and given["lock"] not in text and "that only waiting is for" in text, text)
    waiting = [row for row in recording.sites() if row["lock"] == contended["lock"] and row["contended"] > 0]
    check(waiting and all("lock (futexes.cc" in row["site"] and "unlock (futexes.cc" in row["owner"] for row in waiting), waiting)
    _, advice, _ = run([CONTRAFACT, "advise", recording.path])
    check(contended["lock"] in advice.splitlines()[0], advice)


def quick():
    """A program that exits at once."""
    recording = Recording("quick")
    info = recording.json("info")
    check(len(info["threads"]) == 1 and not info["trace"]["loss"]["cut_off"], info)
    check("no lock" in recording.json("locks")["empty_reason"], recording.json("locks"))


def reused():
    """Each life of a place is a lock of its own; those of one variable have its name."""
    recording = Recording("reused")
    rows = recording.json("locks")["locks"]
    lives = {}
    for row in rows:
        lives.setdefault((row["lock"] if row["lock"].isidentifier() else "", row["kind"]), []).append(row["acquisitions"])
    check(sorted(lives[("place", "mutex")]) == [3, 5], lives)
    check((lives[("both", "mutex")], lives[("both", "rwlock")]) == ([7], [11]), lives)
    check(sorted(lives[("plain", "mutex")]) == [2, 4], lives)
    check(sorted(lives[("", "mutex")]) == [13, 17], lives)
    check(lives[("c11", "mutex")] == [1, 1] and lives[("credits", "semaphore")] == [1, 1], lives)
    check(len(lives[("changed", "condition")]) == 2 and len(lives[("guard", "mutex")]) == 1, lives)
    events = recording.events()
    # place, both, both's rwlock, the heap's two; twice the condition, C11's mutex and the semaphore.
    check((events["lock_init"], events["lock_destroy"]) == (2 + 2 + 2 + 3 * 2, 2 + 2 + 1 + 3 * 2), events)
    check(events["sync_wait"] == events["sync_woken"], events)


def clock():
    """Times from the processor's counter and from the kernel: the same program, the same facts."""
    recording = Recording("mutex")
    facts = recording.json("info")["facts"]
    check(facts["clock.source"] == "processor" or facts["clock.source"].startswith("kernel: the "), facts)
    check((facts["clock.source"] == "processor") == ("clock.error_ns" in facts), facts)
    begin_ns = time.monotonic_ns()
    recording = Recording("mutex", options=["--clock", "kernel"])
    end_ns = time.monotonic_ns()
    facts = recording.json("info")["facts"]
    check(facts["clock.source"] == "kernel: as asked for" and "clock.error_ns" not in facts, facts)
    check(begin_ns < int(facts["start.monotonic_ns"]) < end_ns, facts)
    check(recording.locks()["contended"]["acquisitions"] == 400, recording.locks())


def mutex_kinds():
    recording = Recording("mutex_kinds")
    locks = recording.locks()
    check(locks["recursive"]["acquisitions"] == 1, locks["recursive"])
    check(locks["checking"]["acquisitions"] == 1 and locks["checking"]["failed"] == 1, locks["checking"])
    check(locks["robust"]["acquisitions"] == 2, locks["robust"])
    timed = locks["timed"]
    check((timed["acquisitions"], timed["failed"]) == (1, 3), timed)
    check(timed["wait_max_ns"] >= 19_000_000, timed)


def rwlock():
    recording = Recording("rwlock")
    lock = recording.locks()["lock"]
    check(lock["kind"] == "rwlock", lock)
    check((lock["acquisitions"], lock["contended"], lock["failed"]) == (4, 2, 1), lock)
    events = recording.events()
    check(events["lock_acquire_shared"] == 2 and events["lock_request_shared"] == 1, events)
    writer = site(recording.sites(), "main", "lock")
    check(writer["wait_total_ns"] > 10_000_000 and "reader" in writer["owner"], writer)
    late = site(recording.sites(), "late_reader", "lock")
    check(late["owner"].startswith("main"), late)


def spinlock():
    lock = Recording("spinlock").locks()["lock"]
    check((lock["kind"], lock["acquisitions"]) == ("spinlock", 2001), lock)


def condition():
    recording = Recording("condition")
    events = recording.events()
    # The cancelled thread makes the C library load its unwinder, once: that broadcasts too.
    check(events["sync_signal"] == 100 and 1 <= events["sync_broadcast"] <= 2, events)
    check(events["sync_wait"] == events["sync_woken"], events)
    locks = recording.locks()
    check(locks["everybody"]["acquisitions"] == 3 and locks["everybody"]["wait_max_ns"] > 20_000_000, locks["everybody"])
    check(locks["never"]["failed"] == 2, locks["never"])  # the timeout and the cancelled one
    # Whoever waits gives the mutex up: as many releases as acquisitions.
    mutex_events = sum(events.get(kind, 0) for kind in ("lock_acquire", "lock_acquired"))
    check(mutex_events == events["lock_release"], events)


def barrier():
    recording = Recording("barrier")
    lock = recording.locks()["barrier"]
    check((lock["kind"], lock["acquisitions"]) == ("barrier", 15), lock)
    check(lock["wait_total_ns"] > 5 * 3_000_000, lock)


def semaphore():
    recording = Recording("semaphore")
    locks = recording.locks()
    check(locks["items"]["acquisitions"] == 22 and locks["items"]["contended"] > 5, locks["items"])
    check(locks["items"]["failed"] == 2, locks["items"])
    check(locks["from_handler"]["acquisitions"] == 1, locks["from_handler"])
    check(recording.events()["sync_signal"] == 21, recording.events())


def once():
    recording = Recording("once")
    rows = [row for row in recording.locks().values() if row["lock"] == "control"]
    check(len(rows) == 1, rows)
    check(rows[0]["kind"] == "once", rows)
    check(rows[0]["acquisitions"] == 3, rows)  # one ran it, two waited
    check(rows[0]["contended"] == 2 and rows[0]["hold_total_ns"] >= 30_000_000, rows)


def cpp():
    recording = Recording("cpp")
    locks = recording.locks()
    row = site(recording.sites(), "add (cpp.cc:1", "mutex")
    check(row["acquisitions"] == 30, row)
    check(locks["shared"]["acquisitions"] == 4, locks["shared"])
    check(any("changed" == name for name in locks) or recording.events().get("sync_wait", 0) == 0, locks)
    bodies = [row["body"]["method"] for row in recording.json("tasks")["classes"]]
    check(any("main::{lambda" in body for body in bodies), bodies)


def wrappers():
    """Whoever calls what only locks is where a lock is asked for: also of the first acquisitions, from which that was learnt."""
    recording = Recording("wrappers")
    counts = {}
    for row in recording.sites():
        function = row["site"].split(" (")[0]
        counts[function] = counts.get(function, 0) + row["acquisitions"]
    check(counts == {"insert": 150, "erase": 150, "append": 150, "look_up": 150, "walk": 15}, counts)
    bodies = {row["body"]["method"].split("{")[0] for row in recording.json("tasks")["classes"]}
    check(bodies == {"worker", "Server::serve", "main::"}, bodies)


def c11():
    recording = Recording("c11")
    locks = recording.locks()
    check(locks["changed"]["acquisitions"] == 1 and locks["changed"]["wait_total_ns"] > 10_000_000, locks["changed"])
    check(locks["mutex"]["acquisitions"] == 3 and locks["mutex"]["failed"] == 1, locks["mutex"])
    check(locks["flag"]["acquisitions"] == 1, locks["flag"])


def blocking():
    recording = Recording("blocking")
    status, out, err = run([CONTRAFACT, "export", "--format", "csv", "-o", pathlib.Path(recording.folder.name) / "csv",
                            recording.path])
    document = recording.events()
    # Two sleeps, the read, the wait for the word, one poll of two, the child: the parent's process only.
    check(document["block_begin"] == document["block_end"], document)
    check(6 <= document["block_begin"] <= 9, document)


def threads():
    recording = Recording("threads")
    events = recording.events()
    check(events["task_spawn"] == 2000 and events["thread_begin"] == 2001, events)
    check(events["wait_end"] == 1900, events)
    check(recording.locks()["mutex"]["acquisitions"] == 1900, recording.locks()["mutex"])
    check("dropped" not in recording.err, recording.err)


def forks():
    recording = Recording("forks")
    check(recording.locks()["mutex"]["acquisitions"] == 10, recording.locks())
    check(len(list(pathlib.Path(recording.folder.name).iterdir())) == 1, "children left files")


def daemon():
    """The program ends at once, and what it forked does the work: record says so, if it is true."""
    for options, outlives in [([], True), (["--children"], True), ([], False)]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            may_end = folder / "may_end"
            if not outlives:
                may_end.touch()
            command = [CONTRAFACT, "record", *options, "-o", folder / "t.cft", "--", PROGRAMS / "native_daemon", may_end]
            if not outlives:
                command.append("waits")
            with open(folder / "said", "w+") as said:  # the child keeps it open
                status = subprocess.run([str(word) for word in command], stdout=said, stderr=said, timeout=60).returncode
                said.seek(0)
                text = said.read()
            may_end.touch()
            check(status == 0, text)
            hints = "1 process that the program forked goes on after its end and is not recorded: --children records" in text
            check(hints == (outlives and not options), (options, outlives, text))


def children():
    recording = Recording("forks", options=["--children"])
    files = sorted(pathlib.Path(recording.folder.name).iterdir())
    check(len(files) == 4, files)  # the process, the fork, the one that executes, the spawned one
    for path in files:
        check(recording.locks(path)["mutex"]["acquisitions"] == 10, path)
    recording = Recording("forks", options=["--children", "--sets=always"])
    for path in sorted(pathlib.Path(recording.folder.name).iterdir()):
        facts = recording.json("info", path)["facts"]
        check((facts["sets.segments.complete"], facts["sets.segments.incomplete"]) == ("10", "0"), (path, facts))
    # Forked with a lock held, from translated code: the child ends without another section.
    Recording("sections", "forks", options=["--children", "--sets=always"])


def exec():
    recording = Recording("exec")
    locks = recording.locks()
    check(list(locks) == ["after"] and locks["after"]["acquisitions"] == 10, locks)
    check("discarded" not in recording.err, recording.err)
    with tempfile.TemporaryDirectory() as folder:
        run_for_a_while = f"sleep 0.2; exec {PROGRAMS / 'native_mutex'}"
        _, _, err = run([CONTRAFACT, "record", "-o", pathlib.Path(folder) / "t.cft", "--", "sh", "-c", run_for_a_while])
        check("became another one by exec; what it did before that (" in err, err)
        gone = pathlib.Path(folder) / "gone"
        gone.mkdir()
        status, _, err = run([CONTRAFACT, "record", "-o", gone / "t.cft", "--", "sh", "-c", f"rm -r {gone}; exit 7"])
        check(status == 7 and "was removed while the program ran" in err, (status, err))


def ends():
    for how in ["_exit", "quick_exit", "abort", "kill", "segv", "pthread_exit"]:
        recording = Recording("ends", how)
        lock = recording.locks()["mutex"]
        # The worker's first 100 ms at least: what a killed program loses is the last of it.
        check(lock["acquisitions"] > 20, f"{how}: {lock}")
        loss = recording.json("info")["trace"]["loss"]
        check(not loss["cut_off"] and loss["events_dropped"] == 0, f"{how}: {loss}")


def libraries():
    recording = Recording("libraries", LIBRARY)
    row = site(recording.sites(), "use_library_lock")
    check(row["acquisitions"] == 5 and "library.cc" in row["site"], row)
    facts = recording.json("info")["facts"]
    modules = [text for key, text in facts.items() if key.startswith("module.") and text.endswith(str(LIBRARY))]
    check(len(modules) == 1 and modules[0].split()[1] != "0", modules)  # when it went


def libraries_again():
    """A library that came back to its place: every command names its code, and none fails."""
    recording = Recording("libraries", LIBRARY, LIBRARY)
    facts = recording.json("info")["facts"]
    modules = [text.split() for key, text in facts.items() if key.startswith("module.") and text.endswith(str(LIBRARY))]
    check(len(modules) == 2 and modules[0][2:5] == modules[1][2:5], modules)
    row = site(recording.sites(), "use_library_lock")
    check(row["acquisitions"] == 10 and "library.cc" in row["site"], row)
    check(recording.locks()["library_lock"]["acquisitions"] == 10, recording.locks())


def refused():
    status, _, err = run([CONTRAFACT, "record", "-o", "/tmp/never.cft", "--", PROGRAMS / "native_static"])
    check(status != 0 and "statically linked" in err, err)
    check(not os.path.exists("/tmp/never.cft"), "a file was left")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "other"
        path.write_bytes((PROGRAMS / "native_mutex").read_bytes())
        path.chmod(0o755)
        damaged = bytearray(path.read_bytes())
        damaged[18] = 0x28  # another machine's
        path.write_bytes(damaged)
        status, _, err = run([CONTRAFACT, "record", "-o", pathlib.Path(folder) / "t.cft", "--", path])
        check(status != 0 and "no program for 64-bit x86" in err, err)
        path.write_bytes((PROGRAMS / "native_mutex").read_bytes())
        other = 65534 if os.geteuid() == 0 else None
        if other:  # a set-user-ID program of somebody else
            os.chown(path, other, other)
            path.chmod(0o4755)
            os.chmod(folder, 0o755)
            status, _, err = run([CONTRAFACT, "record", "-o", pathlib.Path(folder) / "t.cft", "--", path])
            check(status != 0 and "set-user-ID" in err, (status, err))
            os.chown(path, 0, 0)
        path.chmod(0o755)
        path.write_text("hello\n")
        status, _, err = run([CONTRAFACT, "record", "-o", pathlib.Path(folder) / "t.cft", "--", path])
        check(status == 126 and "neither an ELF program nor a script" in err, (status, err))
        status, _, err = run([CONTRAFACT, "record", "--memory", "999999G", "-o", pathlib.Path(folder) / "t.cft", "--",
                              PROGRAMS / "native_mutex"])
        check(status == 1 and "more than this machine's memory" in err and err.count("\n") == 1, (status, err))
        status, _, err = run([CONTRAFACT, "record", "--sets=abc", "-o", pathlib.Path(folder) / "t.cft", "--",
                              PROGRAMS / "native_mutex"])
        check(status == 1 and "'abc' is no window and period" in err, (status, err))


def scripts():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.sh"
        path.write_text(f"#!/bin/sh\n{PROGRAMS / 'native_mutex'}\nexit 2\n")
        path.chmod(0o755)
        trace = pathlib.Path(folder) / "t.cft"
        status, out, err = run([CONTRAFACT, "record", "-o", trace, "--", path])
        check(status == 2 and out == "400\n", (status, out, err))
        check("is a script: its interpreter '/bin/sh' is recorded, not what it starts" in err, err)
        # A wrapper that goes on as the program is no child.
        status, out, err = run([CONTRAFACT, "record", "-o", trace, "--", "env", "A=b", PROGRAMS / "native_mutex"])
        check(status == 3, (status, err))
        status, out, _ = run([CONTRAFACT, "locks", "--json", trace])
        check('"contended"' in out and '"quiet"' in out, out[:400])


def info():
    recording = Recording("mutex")
    facts = recording.json("info")["facts"]
    check(facts["agent"] == "native" and "cpu.switches" in facts, facts)
    check("425 locks taken" in recording.err.replace(",", ""), recording.err)


def locks_text():
    recording = Recording("mutex")
    status, out, err = run([CONTRAFACT, "locks", recording.path])
    check(status == 0, err)
    check("worker (mutex.cc:12)" in out and "contended" in out and "waits for" in out, out)


def ulc():
    """The increments commute, so the waiting for them is benign and an atomic would do, but it is enough not to sleep in the
    lock; without sets nothing is claimed."""
    recording = Recording("mutex", options=["--sets=always"])
    found = recording.json("ulc")
    check(found["sections"]["sets"]["complete"] == found["sections"]["count"], found["sections"])
    site = found["sites"][0]
    check(site["site"] == "worker (mutex.cc:12)" and site["pairs"] > 0, site)
    check(site["benign"] == site["pairs"] and site["cost_ns"] > 0, site)
    best = found["remedies"][0]
    check(best["what"] == "shorten-section" and best["locks"] == "contended" and best["free_order"] > 0.1, best)
    check(40 <= int(best["sections"].split(" of ")[0]) < 100, best)  # those that sleep
    atomic = next(remedy for remedy in found["remedies"] if remedy["what"] == "make-atomic")
    check(atomic["locks"] == "contended" and atomic["recorded_order"] > 0.1, atomic)
    check(0 < found["conflicts_only_ns"] < found["duration_ns"], found)
    plain = Recording("mutex").json("ulc", status=4)
    check("contrafact record --sets" in plain["empty_reason"], plain["empty_reason"])
    check(plain["remedies"] == [] and plain["sites"][0]["unknown"] == plain["sites"][0]["pairs"], plain["sites"])


def sets_everywhere():
    """Whatever programs do in critical sections, it goes as ever; all that can be complete is."""
    whole = {"jumps"}
    for case in ["cancel", "cancel_asynchronously", "exceptions", "jumps", "signals", "signal_flags", "signal_jumps",
                 "interrupted_call", "forks",
                 "libraries", "handed_over", "ends_inside", "restricts_itself"]:
        recording = Recording("sections", case, options=["--sets=always"])
        facts = recording.json("info")["facts"]
        check("sets.segments.complete" in facts, f"{case}: {facts}")
        if case == "signals":
            check(int(facts["sets.left.signal"]) > 5, f"{case}: {facts}")
        if case == "interrupted_call":
            check(facts.get("sets.segments.signal") == "1", f"{case}: {facts}")
        if case == "libraries":  # each section calls dlclose and goes on
            check(facts["sets.left.called_natively"] == "5" and "sets.segments.left" not in facts, facts)
        if case == "restricts_itself":
            check((facts["sets.segments.complete"], facts["sets.segments.not_observed"]) == ("10", "10"), facts)
            check("restricts" in facts["sets.ended"], facts)
        if case in whole:
            check(facts["sets.segments.incomplete"] == "0", f"{case}: {facts}")
            check(int(facts["sets.segments.complete"]) >= 20, f"{case}: {facts}")
    for program in ["barrier", "once", "semaphore"]:  # nobody holds a lock
        Recording(program, options=["--sets=always"])
    for program in ["c11", "condition", "cpp", "mutex", "mutex_kinds", "rwlock", "spinlock",
                    "threads", "exec", "forks", "stripped"]:
        recording = Recording(program, options=["--sets=always"])
        facts = recording.json("info")["facts"]
        check(int(facts["sets.segments.complete"]) > 0, f"{program}: {facts}")
    facts = Recording("libraries", LIBRARY, options=["--sets=always"]).json("info")["facts"]
    check(int(facts["sets.segments.complete"]) > 0, facts)


def sets():
    recording = Recording("access_sets", options=["--sets=always"])
    info = recording.json("info")
    facts = info["facts"]
    check(facts["sets.segments.incomplete"] == "0", facts)
    # Of each of the workers' rounds three segments, and the read.
    check(facts["sets.segments.complete"] == "61", facts)
    events = recording.events()
    check(events["accesses"] >= 61, events)  # a long segment has several parts


def ulc_of_a_part():
    """Of a damaged or cut file, ulc says that it is not the whole run, and how much is missing where that is known."""
    recording = Recording("mutex", options=["--sets=always"])
    check(recording.json("ulc")["sections"]["whole_run"], recording.json("ulc")["sections"])
    content = recording.path.read_bytes()
    part = pathlib.Path(recording.folder.name) / "part.cft"
    missed = 0
    for tenth in range(3, 10):
        at = len(content) * tenth // 10
        for changed in (content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1:], content[:at]):
            part.write_bytes(changed)
            document = json.loads(run([CONTRAFACT, "ulc", "--json", part])[1])
            notes = document["trace"]["loss"]["notes"]
            check(not document["sections"]["whole_run"] and notes, (tenth, document["sections"]))
            _, text, err = run([CONTRAFACT, "ulc", part])
            check(all(note in err for note in notes), (tenth, err))
            if "empty_reason" not in document:  # else no section is left, and the notes say all
                check("in the file ha" in text, (tenth, text))
                check("sections that began or ended there are not counted" in text or "the file ends early" in text, (tenth, text))
            missed += any("events are missing, of" in note for note in notes)
    check(missed > 0, "no place was damaged that holds events")


def hidden_accesses():
    """Conflicts by libraries, by the allocator, on a thread's stack, and in its own variables: none may be taken for unnecessary contention."""
    for program in ["hidden_accesses", "hidden_accesses_compiled"]:
        recording = Recording(program, options=["--sets=always"])
        document = recording.json("ulc")
        check(document["sections"]["sets"]["complete"] == document["sections"]["count"] == 240, document["sections"])
        # What fill_block comes after is the block of another round, if at the same place.
        for function in ["library_writes", "move_block", "write_box", "own_box", "add_to_local", "read_local", "set_pause",
                         "take_pause"]:
            row = site(document["sites"], f"{function} (hidden_accesses.cc")
            check(row["pairs"] == row["conflict"] >= 19, (program, function, row))
        # Nobody else has a block that a section allocates: who gets it does so by something else than this lock.
        for function in ["clear_block", "write_cleared"]:
            row = site(document["sites"], f"{function} (hidden_accesses.cc")
            check(row["pairs"] == row["null_lock"] >= 19, (program, function, row))


def allocator():
    """A thread that a handler took out of the allocator for good is not believed to be there."""
    recording = Recording("allocator", options=["--sets=always"])
    document = recording.json("ulc")
    row = site(document["sites"], "changes (allocator.cc")
    check(row["conflict"] == row["pairs"] >= 19, row)


def section_kinds(program="section_kinds"):
    """What translation finds on an optimised program, through to the verdict."""
    recording = Recording(program, options=["--sets=always"])
    document = recording.json("ulc")
    check(document["sections"]["sets"]["complete"] == document["sections"]["count"] == 280, document["sections"])
    kinds = {"nothing": "null_lock", "reads": "read_read", "writes_apart": "disjoint_write", "copies_apart": "disjoint_write",
             "writes_the_same": "benign", "adds": "benign", "conflicts": "conflict"}
    for function, kind in kinds.items():
        row = site(document["sites"], f"{function} (section_kinds.cc")
        check(row["pairs"] == row[kind] == 39, (function, kind, row))


def kernel_state():
    """What the kernel keeps orders sections that share no memory: positions, what goes into a socket, the working folder."""
    recording = Recording("kernel_state", options=["--sets=always"])
    document = recording.json("ulc")
    needed = ["two_writes", "vectors", "seek_and_read", "messages", "takes", "mask", "folder", "handler", "same_place",
              "append_and_close", "prints", "copies_of_one"]
    free = ["writes_to_own", "messages_to_own", "other_place", "same_place_read", "loads", "appends_to_own", "asks"]
    for function in needed + free:
        row = site(document["sites"], f"{function} (kernel_state.cc")
        conflicts = row["pairs"] if function in needed else 0
        check(row["pairs"] == 9 and row["conflict"] == conflicts and row["unknown"] == 0, (function, row))


def containers():
    """Remedies for standard containers: what a look-up copies is the reader's own, and a lock that is not split has a reason."""
    def remedies(case):
        recording = Recording("containers", case, options=["--sets=always"])
        document = recording.json("ulc")
        complete = document["sections"]["sets"]["complete"]
        check(complete > 0.98 * document["sections"]["count"], document["sections"])
        return document, [row["what"].split(" into")[0] for row in document["remedies"] if row["where"].startswith("look_up (")]

    document, found = remedies("cache")
    check("reader-writer-lock" in found and not {"drop-lock", "split-lock"} & set(found), document["remedies"])
    [readers] = [row for row in document["remedies"] if row["what"] == "reader-writer-lock"]
    check(int(readers["sections"].split(" of ")[0]) >= 1560 and "replace" not in readers["where"], readers)
    check(not any("split-lock" in row["what"] for row in document["remedies"]), document["remedies"])
    # What shares nothing but an allocator, called with the lock held and without it, in each of three recordings.
    for case in ["shelves", "windows"]:
        for _ in range(3):
            document, _ = remedies(case)
            check(any(row["what"].startswith("split-lock") for row in document["remedies"]), (case, document["remedies"], document["refused"]))


def remedies():
    """What would help at locks of code as people write it: in a recording as a user makes it, with windows of sets."""
    cases = {"logging": ("shorten-section", "Log::add"), "remote": ("shorten-section", "Cache::get"),
             "registry": ("shared-look", "Registry::use"), "bank": ("split-lock", "Bank::book"),
             "stats": ("split-lock", "Stats::add"), "queue": ("shorten-section", "Queue::put")}
    for case, (what, where) in cases.items():
        plain, sets = Recording("remedies", case), Recording("remedies", case, options=["--sets"])
        status, out, err = run([CONTRAFACT, "ulc", "--all", "--json", "-q", plain.path, sets.path])
        document = json.loads(out)
        # No more of the two: how long sections of one recording take beside those of another is the machine's affair as well.
        check(document["counterparts"]["missing"] < document["counterparts"]["found"] / 10, document["counterparts"])
        named = [(row["what"].split(" into")[0], row["where"].split(" (")[0]) for row in document["remedies"]]
        check((what, where) in named, (case, document["remedies"], document["refused"]))
        if case == "remote":
            [note] = [row["note"] for row in document["remedies"] if row["what"] == what]
            check("from the middle of" in note and "which block at Cache::ask" in note, note)


def sets_compiled():
    recording = Recording("access_sets_compiled", options=["--sets=always"])
    facts = recording.json("info")["facts"]
    check(facts["sets.source"] == "translation and compiler" and facts["sets.blocks"] != "0", facts)
    check((facts["sets.segments.complete"], facts["sets.segments.incomplete"]) == ("61", "0"), facts)
    section_kinds("section_kinds_compiled")  # the runtime's own accesses are in no set
    # Without translation nobody knows what else ran: conflicts are seen, but no set is complete.
    recording = Recording("section_kinds_compiled", options=["--sets=always", "--sets-from", "compiler"])
    facts = recording.json("info")["facts"]
    check((facts["sets.source"], facts["sets.segments.complete"]) == ("compiler", "0"), facts)
    check(facts["sets.segments.not_observed"] == facts["sets.segments.incomplete"] == "280", facts)
    rows = recording.json("ulc")["sites"]
    for row in rows:
        check(row["conflict"] + row["unknown"] == row["pairs"] == 39, row)
    for function in ["conflicts", "writes_the_same"]:
        check(site(rows, f"{function} (section_kinds.cc")["conflict"] == 39, (function, rows))
    status, _, err = run([CONTRAFACT, "record", "--sets=always", "--sets-from", "compiler", "-o", recording.path, "--",
                          PROGRAMS / "native_mutex"])
    check(status == 3 and "the program tells nothing of its accesses" in err, (status, err))
    without = Recording("access_sets_compiled")
    check("accesses" not in without.events(), without.events())


def sets_windows():
    recording = Recording("mutex", options=["--sets=1ms/200ms"])
    facts = recording.json("info")["facts"]
    outside = int(facts["sets.sections.outside_window"])
    check(outside > 0 and outside + int(facts["sets.segments.complete"]) == 425, facts)
    status, _, err = run([CONTRAFACT, "record", "--sets=2s/1s", "--", PROGRAMS / "native_mutex"])
    check(status != 0 and "the window in '2s/1s' is longer than its period" in err, err)
    for options, windows in [(["--sets"], "12333333/37000000"), (["--sets", "--slowdown", "2"], "18500000/37000000")]:
        recording = Recording("mutex", options=options)
        check(recording.json("info")["facts"]["sets.windows_ns"] == windows, recording.json("info")["facts"])
    status, _, err = run([CONTRAFACT, "record", "--sets=1ms/2ms", "--slowdown", "2", "--", PROGRAMS / "native_mutex"])
    check(status == 1 and "--slowdown chooses the windows of --sets" in err, err)
    plain = Recording("mutex")
    status, out, err = run([CONTRAFACT, "ulc", "--json", "-q", recording.path, plain.path])
    found = json.loads(out)
    check(found["trace"]["path"] == str(plain.path) and found["counterparts"]["path"] == str(recording.path), found["trace"])
    check(found["counterparts"]["found"] + found["counterparts"]["missing"] == found["sections"]["count"], found["counterparts"])
    check(found["counterparts"]["missing"] < found["sections"]["count"] / 10, found["counterparts"])


READ, WRITTEN, CHANGED = 1, 2, 4
BLOCK_HEADER_BYTES, ACCESS_LOG_BLOCK = 32, 12


def accesses():
    """Every access of every thread, in its order, whether it holds a lock or not; and a replay in that order."""
    recording = Recording("accesses", options=["--accesses"])
    info = recording.json("info")
    check(info["accesses"]["lost"] == 0 and info["accesses"]["count"] > 4000, info["accesses"])
    check(info["facts"]["accesses.count"] == str(info["accesses"]["count"]), info["facts"])
    check(info["facts"]["sets.segments.complete"] == "20" and info["facts"]["sets.segments.incomplete"] == "0", info["facts"])
    addresses = [int(word, 16) for word in recording.err.split("addresses ")[1].split()[:4]]
    _, dump, _ = run([PROGRAMS / "cft_dump", recording.path])
    lines = [line.split("\t") for line in dump.splitlines()]
    # What the library does for a thread's end, it does natively at first.
    gaps = [number for number, line in enumerate(lines) if line[0] == "loss"]
    worked = [number for number, line in enumerate(lines) if line[0] == "access" and int(line[2], 16) in addresses]
    check(all(not lines[gap][1].startswith("thread 0") for gap in gaps), gaps)
    for thread in (1, 2):
        last = max(number for number in worked if lines[number][1] == str(thread))
        check(all(gap > last for gap in gaps if lines[gap][1].startswith(f"thread {thread}")), (gaps, last))
    log = [(int(line[1]), int(line[2], 16), int(line[4])) for line in lines if line[0] == "access"]

    def at(address, thread=None):
        return [(who, flags) for who, where, flags in log if where == address and thread in (None, who)]

    def count(accesses, flag):
        return sum(1 for _, flags in accesses if flags & flag)

    # Either worker may be the first that gets a core, and a number.
    writers = [{who for who, flags in at(addresses[number]) if flags & WRITTEN} for number in (0, 1)]
    check(sorted(writers, key=min) == [{1}, {2}], writers)
    for number in (0, 1):
        [thread] = writers[number]
        first, second = at(addresses[number], thread), at(addresses[number] + 8, thread)
        others = [(who, flags) for who, flags in at(addresses[number]) + at(addresses[number] + 8) if who != thread]
        check(others == [(0, READ)], others)  # main prints the sum
        check((count(first, WRITTEN), count(first, READ)) == (1000, 500), (count(first, WRITTEN), count(first, READ)))
        check((count(second, WRITTEN), count(second, READ)) == (500, 500), (count(second, WRITTEN), count(second, READ)))
        # Two of the first's writes between two of the second's, all the way.
        order = "".join("a" if where == addresses[number] else "b" for who, where, flags in log
                        if who == thread and flags & WRITTEN and where in (addresses[number], addresses[number] + 8))
        check(order == "aba" * 500, order[:40])
        check((count(at(addresses[2], thread), WRITTEN), count(at(addresses[2], thread), READ)) == (10, 10), "both")
    check([who for who, flags in at(addresses[3]) if flags & WRITTEN] == [0] * 7, at(addresses[3]))

    status, out, err = run([CONTRAFACT, "replay", "--json", "--runs", "2", "--order", "accesses", recording.path])
    check(status == 0, err)
    replayed = json.loads(out)
    shared = replayed["shared_accesses"]
    check(shared["accesses"] == info["accesses"]["count"] and shared["lost"] == 0, shared)
    check(40 <= shared["shared"] < shared["accesses"] / 2 and 20 <= shared["turns"] <= shared["shared"], shared)
    check(replayed["not_done"] == {} and [row["out_of_order"] for row in replayed["parts"]] == [0], replayed["parts"])
    check_damaged_log(recording, info["accesses"]["count"])
    plain = Recording("accesses")
    status, _, err = run([CONTRAFACT, "replay", "--json", "--runs", "1", "--order", "accesses", plain.path])
    check(status == 4 and "contrafact record --accesses records them" in err, err)
    both = json.loads(run([CONTRAFACT, "replay", "--json", "--runs", "1", "--order", "recorded", "--order", "accesses", plain.path])[1])
    check("contrafact record --accesses" in "".join(both["not_done"].values()), both["not_done"])


def check_damaged_log(recording, count):
    """What a damaged part of the file held of the log is counted, and said by whatever uses the log."""
    whole = recording.path.read_bytes()
    content = bytearray(whole)
    blocks = [at for at in each_block(whole) if whole[at + 4] == ACCESS_LOG_BLOCK]
    check(blocks, "no block of accesses")
    for at in blocks:
        content[at + BLOCK_HEADER_BYTES] ^= 1
    damaged = recording.path.with_name("damaged.cft")
    damaged.write_bytes(content)
    log = recording.json("info", damaged)["accesses"]
    check((log["count"], log["missing"]) == (0, count), log)
    _, out, _ = run([CONTRAFACT, "info", damaged])
    check("accesses missing in the file" in out and f"{len(blocks)} damaged part" in out, out)
    status, _, err = run([CONTRAFACT, "replay", "--runs", "1", "--order", "accesses", damaged])
    check(status == 4 and "the log of accesses was lost with the damaged parts of the file" in err, (status, err))


def each_block(content):
    """Where the blocks of a trace begin (docs/format.md)."""
    at = int.from_bytes(content[12:16], "little")
    while at < len(content):
        yield at
        at += BLOCK_HEADER_BYTES + int.from_bytes(content[at + 8:at + 12], "little")


def accesses_everywhere():
    """Whatever programs do, they do it translated as ever."""
    for case in ["cancel", "cancel_asynchronously", "exceptions", "jumps", "signals", "signal_flags", "signal_jumps",
                 "interrupted_call", "forks", "libraries", "handed_over", "ends_inside"]:
        facts = Recording("sections", case, options=["--accesses"]).json("info")["facts"]
        check(int(facts["accesses.count"]) > 0, f"{case}: {facts}")
    for program in ["access_sets_compiled", "allocator", "barrier", "blocking", "c11", "condition", "cpp", "exec", "forks",
                    "mutex", "mutex_kinds", "once", "rwlock", "semaphore", "spinlock", "stripped", "threads"]:
        facts = Recording(program, options=["--accesses"]).json("info")["facts"]
        check(int(facts["accesses.count"]) > 0, f"{program}: {facts}")
    facts = Recording("libraries", LIBRARY, options=["--accesses"]).json("info")["facts"]
    check(int(facts["accesses.count"]) > 0, facts)


def accesses_windows():
    """Nothing outside of the windows; a sample is enough for a rate."""
    whole = int(Recording("threads", options=["--accesses"]).json("info")["facts"]["accesses.count"])
    part = int(Recording("threads", options=["--accesses=1ms/20ms"]).json("info")["facts"]["accesses.count"])
    check(0 < part < whole / 2, (part, whole))
    status, _, err = run([CONTRAFACT, "record", "--accesses=2s/1s", "--", PROGRAMS / "native_mutex"])
    check(status != 0 and "--accesses: the window in '2s/1s' is longer than its period" in err, err)
    status, _, err = run([CONTRAFACT, "record", "--accesses", "--sets", "--", PROGRAMS / "native_mutex"])
    check(status != 0 and "--sets" in err, err)


def sets_long_section():
    """After a million accesses under one lock the thread goes on natively, until it holds none."""
    recording = Recording("long_section", options=["--sets=always"])
    facts = recording.json("info")["facts"]
    check(facts["sets.left.long_section"] == "1" and facts["sets.segments.incomplete"] == "0", facts)
    # 1,048,576 accesses are 5,243 inner sections; each is two segments with what lies between.
    check(2 * 5200 < int(facts["sets.segments.complete"]) - 10 < 2 * 5300, facts)
    sets = recording.json("ulc")["sections"]["sets"]
    complete, unseen = sets["complete"], sets["not_observed"]
    check(complete + unseen == 20_011 and 5200 + 10 < complete < 5300 + 10, sets)


def printing():
    """What is emptied from the log before the end of a section is cut into parts as well: at each call of snprintf.

    One part that has the writing in it, too, would keep all of the printing within the lock.
    """
    recording = Recording("printing", options=["--sets=always"])
    status, text, err = run([CONTRAFACT, "export", "--format", "text", recording.path])
    check(status == 0, err)
    check(recording.json("ulc")["sections"]["sets"]["complete"] == 200, text[:2000])
    parts = sum(" accesses " in line for line in text.splitlines())
    check(parts > 200 * 4, parts)


globals()[sys.argv[2]]()
print(f"native {sys.argv[2]}: ok")
