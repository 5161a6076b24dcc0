"""What a child is allowed to leave in recordings that comes back from a signal's handler into a wait of its parent's (waits.cc).

In its parent's nothing: it holds what it holds where the child ends in the handler. In its own, what the child did itself: no end of
a wait that it never began.
"""

import json
import subprocess

FAMILIES = ["mutexes", "rwlocks", "conditions", "meetings", "threads", "onces", "initialisers", "polls", "transfers", "sleeps", "processes"]
OF_CHANCE = ("cpu_out", "cpu_in", "cores_idle", "accesses", "accesses_cut")  # as the kernel likes, and as long as waits last
SECTIONS_OF_CHILD = 3
OWN_INITIALISERS = {"onces": 1}    # that a child runs itself, each a section
BEGINS_OF = {"lock_acquired": "lock_request", "lock_acquired_shared": "lock_request_shared", "sync_woken": "sync_wait",
             "wait_end": "wait_begin", "block_end": "block_begin"}
DEADLINE_S = 60


def counts(contrafact, trace):
    """Of events by kind, or why the trace cannot be read."""
    done = subprocess.run([contrafact, "info", "--json", trace], capture_output=True, text=True, timeout=DEADLINE_S)
    if done.returncode != 0:
        return {}, [f"{trace.name} cannot be read: {done.stderr}"]
    info = json.loads(done.stdout)
    loss = info["trace"]["loss"]
    wrong = [f"{trace.name} is damaged: {loss}"] if loss["blocks_damaged"] or loss["events_dropped"] or loss["notes"] else []
    return {row["event"]: row["count"] for row in info["events"]}, wrong


def wrong_in_parent(held, wanted):
    return [f"the parent's recording has {held.get(kind, 0)} {kind}, and {wanted.get(kind, 0)} where its children end in the handler"
            for kind in sorted(set(held) | set(wanted)) if kind not in OF_CHANCE and held.get(kind) != wanted.get(kind)]


def wrong_in_child(name, held, family):
    wrong = [f"{name}, of a child, has {held[end]} {end} for {held.get(begin, 0)} {begin}" for end, begin in BEGINS_OF.items()
             if held.get(end, 0) > held.get(begin, 0)]
    sections = SECTIONS_OF_CHILD + OWN_INITIALISERS.get(family, 0)
    if held.get("lock_acquire", 0) != sections:
        wrong.append(f"{name}, of a child, has {held.get('lock_acquire', 0)} lock_acquire for {sections} sections")
    return wrong


def complaints(contrafact, trace, record, family):
    """Of a recorded run. `record`: the command's begin, for a run whose children end in the handler."""
    held, wrong = counts(contrafact, trace)
    for child in sorted(path for path in trace.parent.iterdir() if path != trace):
        held_by_child, found = counts(contrafact, child)
        wrong += found or wrong_in_child(child.name, held_by_child, family)
    other = trace.parent.with_name(trace.parent.name + ".at_once") / trace.name
    other.parent.mkdir()
    program = contrafact.parent / "harm_waits"
    command = [other if word == str(trace) else word for word in record] + [program, family, "at_once"]
    subprocess.run(command, cwd=other.parent, capture_output=True, timeout=DEADLINE_S, check=True)
    wanted, found = counts(contrafact, other)
    return wrong + found + wrong_in_parent(held, wanted)
