"""Critical sections with their read and write sets, and the remedies that follow from them."""

import json
import pathlib
import tempfile

from native_recording import CONTRAFACT, LIBRARY, PROGRAMS, Recording, attempts, check, run, site


def ulc():
    """The increments commute, so the waiting for them is benign and an atomic would do, but it is enough not to sleep in the
    lock, which gains about as much; without sets nothing is claimed."""
    recording = Recording("mutex", options=["--sets=always"])
    found = recording.json("ulc")
    check(found["sections"]["sets"]["complete"] == found["sections"]["count"], found["sections"])
    site = found["sites"][0]
    check(site["site"] == "worker (mutex.cc:12)" and site["pairs"] > 0, site)
    check(site["benign"] == site["pairs"] and site["cost_ns"] > 0, site)
    best = {remedy["what"]: remedy for remedy in found["remedies"][:2]}
    check(set(best) == {"shorten-section", "make-atomic"}, found["remedies"])
    shorter, atomic = best["shorten-section"], best["make-atomic"]
    check(shorter["locks"] == "contended" and shorter["free_order"] > 0.1, shorter)
    check(40 <= int(shorter["sections"].split(" of ")[0]) < 100, shorter)  # those that sleep
    check(abs(shorter["free_order"] - atomic["free_order"]) < 0.1, best)
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
    """What the kernel keeps orders sections that share no memory: positions, what goes into a socket, the working folder. So do streams."""
    recording = Recording("kernel_state", options=["--sets=always"])
    document = recording.json("ulc")
    needed = ["two_writes", "vectors", "seek_and_read", "messages", "takes", "mask", "folder", "handler", "same_place",
              "append_and_close", "prints", "prints_to_stream", "puts_to_stream", "copies_of_one"]
    free = ["prints_to_own_stream", "writes_to_own", "messages_to_own", "other_place", "same_place_read", "loads", "appends_to_own", "asks"]
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
        documents = [remedies(case)[0] for _ in range(3)]
        wrong = [one for one in documents if not any(row["what"].startswith("split-lock") for row in one["remedies"])]
        attempts.report(f"split-lock of {case}", len(wrong), len(documents))
        check(not wrong, [(case, one["remedies"], one["refused"]) for one in wrong])


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


def twice():
    """Two runs, two files; the second is not made where the first one fails."""
    with tempfile.TemporaryDirectory(prefix="contrafact-twice-") as name:
        folder = pathlib.Path(name)
        command = [CONTRAFACT, "record", "-q", "--sets", "--twice", "-o", folder / "run.cft", "--"]
        status, out, err = run(command + [PROGRAMS / "native_rwlock"])
        _, once, _ = run([PROGRAMS / "native_rwlock"])
        check((status, out) == (0, 2 * once), (status, out, err))
        check(sorted(path.name for path in folder.iterdir()) == ["run-sets.cft", "run.cft"], list(folder.iterdir()))
        sets = {path.stem: json.loads(run([CONTRAFACT, "info", "--json", "-q", path])[1])["facts"].get("sets.windows_ns")
                for path in folder.iterdir()}
        check(sets["run"] is None and sets["run-sets"] == "12333333/37000000", sets)
        status, _, _ = run([*command[:-2], folder / "failed.cft", "--", "sh", "-c", "exit 3"])
        check(status == 3 and (folder / "failed.cft").exists() and not (folder / "failed-sets.cft").exists(), status)
    status, _, err = run([CONTRAFACT, "record", "--twice", "--", PROGRAMS / "native_rwlock"])
    check(status == 1 and "give --sets too" in err, err)


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
