"""Programs that tell their accesses: `record --accesses`."""

import json

from native_recording import CONTRAFACT, LIBRARY, PROGRAMS, Recording, check, run


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
