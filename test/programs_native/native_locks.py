"""What is recorded of each kind of lock, of threads and of waits."""

import json
import pathlib
import re

from native_recording import CONTRAFACT, PROGRAMS, Recording, check, not_measured, run, site


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


def costs():
    """What events of kinds that are frequent take their thread, so that predictions can leave it out."""
    recording = Recording("many_events")
    status, text, err = run([CONTRAFACT, "export", "--format", "text", recording.path])
    check(status == 0, err)
    facts = dict(line.split()[1:3] for line in text.splitlines() if line.startswith("fact recording.ns."))
    check(set(facts) == {"recording.ns.lock_acquire", "recording.ns.lock_release"}, facts)
    check(all(1 <= int(ns) <= 2000 for ns in facts.values()), facts)


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


def rust():
    """A service of Rust's: which code waited at which of its library's mutexes, and for as long as the program itself measured."""
    if not (PROGRAMS / "native_rust_service").exists():
        not_measured("there is no compiler for Rust here (rustc)")
    recording = Recording("rust_service")
    own_ns = int(re.search(r"^waited (\d+)$", recording.err, re.MULTILINE).group(1))
    at_cache = [row for row in recording.sites() if "Cache::look_up (rust_service.rs:" in row["site"]]
    waited_ns = sum(row["wait_total_ns"] for row in at_cache)
    print(f"rust: waited {waited_ns / 1e6:.1f} ms, by the program's own clock {own_ns / 1e6:.1f} ms ({100 * (waited_ns / own_ns - 1):+.1f} %)")
    check(abs(waited_ns / own_ns - 1) < 0.05, (own_ns, recording.sites()))
    check(len({row["lock"] for row in at_cache}) == 1, at_cache)
    _, text, _ = run([CONTRAFACT, "locks", recording.path])
    check(at_cache[0]["lock"] in text, text)  # it serves as a lock
    _, advice, _ = run([CONTRAFACT, "advise", recording.path])
    check(at_cache[0]["lock"] in advice.splitlines()[0], advice)


def bare_futexes():
    """Waits that no event tells of come first, with the code that waits; an unrelated mutex hides them not."""
    recording = Recording("bare_futexes")
    check(any("sum_mutex" in name and lock["acquisitions"] == 30 for name, lock in recording.locks().items()), recording.locks())
    document = recording.json("locks")
    places = document["unseen_places"]
    waits = [place for place in places if place["system_call"] == "futex" and "futex (bare_futexes.cc" in place["where"]]
    check(document["unseen_wait_share"] > 0.5 and places and sum(place["looks"] for place in waits) >= 5, document)
    check(len({place["futex"] for place in waits}) in (1, 2) and 0 not in {place["futex"] for place in waits}, waits)
    for command in ("locks", "advise"):
        _, text, _ = run([CONTRAFACT, command, "-q", recording.path])
        check("threads were blocked for" in text.splitlines()[0] and "looks in futex at" in text.splitlines()[0], text)


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


def callers():
    """Each wait has the callers that it had, also where the stack is as deep as at the wait before."""
    recording = Recording("callers")
    status, text, err = run([CONTRAFACT, "export", "--format", "json", recording.path])
    check(status == 0, err)
    trace = json.loads(text)
    methods = [row[0] for row in trace["methods"]]
    found = []
    for event in trace["events"]:
        if event[2] != "lock_request":
            continue
        names, context = [], event[4]
        while context is not None:
            parent, method, _ = trace["contexts"][context]
            names.append(methods[method] if method is not None else "?")
            context = parent
        found += [name for name in names if "from_one" in name or "from_other" in name]
    one, other = (sum(name.endswith(ending) for name in found) for ending in ("from_one", "from_other"))
    check((one, other) == (20, 20) and len(found) == 40, found)
    check(found[::2] == [found[0]] * 20 and found[1::2] == [found[1]] * 20, found)


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


def locks_text():
    recording = Recording("mutex")
    status, out, err = run([CONTRAFACT, "locks", recording.path])
    check(status == 0, err)
    check("worker (mutex.cc:12)" in out and "contended" in out and "waits for" in out, out)
