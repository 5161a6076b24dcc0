"""What a recording of each test program must hold: the counts that the program printed, held against the trace.

`check(program, facts, recording)` yields a line for each difference. The general rules are in GENERAL; a program whose
construct needs others names them in OWN. test/programs/README.md says what each count means.
"""
from recording import ended, failed, started


def units(facts, recording):
    """What `starts`, `ends` and `exceptions` of a program speak of: its pooled tasks or else its threads."""
    return recording.pooled() if "tasks" in facts else recording.program_threads()


def equal(name, recorded, expected):
    if recorded != expected:
        yield f"{name}: recorded {recorded}, the program says {expected}"


def between(name, recorded, low, high):
    if not low <= recorded <= high:
        yield f"{name}: recorded {recorded}, the program says {low} to {high}"


def waits_at_least(facts, recording):
    """Waits of the library may come on top: invokeAll and the like."""
    if len(recording.waits()) < facts["waits"]:
        yield f"waits: recorded {len(recording.waits())}, the program says at least {facts['waits']}"


# ---- rules for single counts

def tasks(facts, recording):
    yield from equal("tasks", len(recording.pooled()), facts["tasks"])


def starts(facts, recording):
    yield from equal("starts", len(started(units(facts, recording))), facts["starts"])


def ends(facts, recording):
    yield from equal("ends", len(ended(units(facts, recording))), facts["ends"])


def every_task_ended(facts, recording):
    if "ends" not in facts and "starts" not in facts:
        ran = recording.pooled()
        yield from equal("bodies that ended", len(ended(ran)), len(ran))


def exceptions(facts, recording):
    yield from equal("exceptions", len(failed(units(facts, recording))), facts["exceptions"])


def waits(facts, recording):
    yield from equal("waits", len(recording.waits()), facts["waits"])


def threads(facts, recording):
    yield from equal("threads", len(recording.program_threads()), facts["threads"])


def workers(facts, recording):
    yield from equal("workers", len(recording.workers()), facts["workers"])


def never_run(facts, recording):
    dropped = [t for t in recording.pooled() if t["start_ns"] is None and t["fate"] in ("dropped", "cancelled")]
    yield from equal("dropped", len(dropped), facts["never_run"])


def cancelled(facts, recording):
    yield from equal("cancelled", len([e for e in recording.of_kind("task_complete") if e[4] == 4]), facts["cancelled"])


def async_tasks(facts, recording):
    yield from equal("async tasks", len(recording.pooled()), facts["async_tasks"])


def pools(facts, recording):
    yield from equal("pools", len({t["pool"] for t in recording.pooled()} | {p["name"] for p in recording.pools}),
                     facts["pools"])


def violations_min(facts, recording):
    parks = [e for e in recording.of_kind("block_begin") if e[3] == 0]
    if len(parks) < facts["violations_min"]:
        yield f"blocks on a queue: recorded {len(parks)}, the program says at least {facts['violations_min']}"


def lock_blocks_min(facts, recording):
    parks = [e for e in recording.of_kind("block_begin") if e[3] == 0 and any(
        "ReentrantLock" in frame[0] or "AbstractQueuedSynchronizer" in frame[0] or "LockContention" in frame[0]
        for frame in recording.stack(e[4]))]
    if len(parks) < facts["lock_blocks_min"]:
        yield f"blocks on a lock: recorded {len(parks)}, the program says at least {facts['lock_blocks_min']}"


GENERAL = {"tasks": tasks, "starts": starts, "ends": ends, "exceptions": exceptions, "waits": waits, "threads": threads,
           "workers": workers, "never_run": never_run, "cancelled": cancelled, "async_tasks": async_tasks, "pools": pools,
           "violations_min": violations_min, "lock_blocks_min": lock_blocks_min}


# ---- programs whose constructs need rules of their own

def periodic(facts, recording):
    """A periodic task is a new task each time it is handed out."""
    yield from equal("runs", len(ended(recording.pooled())), facts["runs"])
    yield from exceptions(facts, recording)
    yield from waits_at_least(facts, recording)


def fork_join_all(facts, recording):
    """The library runs one of two on the calling thread: started without being handed over."""
    ran = recording.pooled() + recording.stages()
    yield from equal("bodies", len(ended(ran)), facts["ends"])
    yield from between("handed over", len(recording.pooled()), 1, facts["tasks"])


def fork_join(facts, recording):
    yield from tasks(facts, recording)
    yield from equal("bodies that ended", len(ended(recording.pooled())), facts["tasks"])
    yield from equal("waits", len(recording.waits()), facts["waits"])


def stream(facts, recording):
    if len(ended(recording.pooled())) < facts["tasks_min"]:
        yield f"tasks: recorded {len(ended(recording.pooled()))}, at least {facts['tasks_min']} expected"
    if len(recording.waits()) < facts["waits_min"]:
        yield f"waits: recorded {len(recording.waits())}, at least {facts['waits_min']} expected"


def future_stages(facts, recording):
    """Each of ten futures has two suppliers and thirteen dependent stages, six of them asynchronous."""
    yield from async_tasks(facts, recording)
    yield from equal("async tasks that ended", len(ended(recording.pooled())), facts["async_tasks"])
    yield from equal("waits", len(recording.waits()), facts["waits"])
    # exceptionally's body never runs, since nothing fails; its stage completes with its source.
    depending = {task for task, _, _ in recording.dependencies}
    if len(depending) < facts["stages"]:
        yield f"dependent stages: recorded {len(depending)}, the program says {facts['stages']}"


def future_failures(facts, recording):
    yield from equal("tasks", len(recording.pooled()), facts["tasks"])
    yield from equal("exceptions", len(failed(recording.pooled())), facts["exceptions"])
    yield from equal("stages", len({task for task, _, _ in recording.dependencies}), facts["stages"])
    yield from equal("waits", len(recording.waits()), facts["waits"])


def future_combine(facts, recording):
    yield from equal("tasks", len(ended(recording.pooled())), facts["tasks"])
    yield from equal("waits", len(recording.waits()), facts["waits"])
    sources = {}
    for task, source, mode in recording.dependencies:
        sources.setdefault(task, []).append((source, mode))
    yield from equal("futures that depend on three (allOf)", sum(len(s) == 3 for s in sources.values()), 10)
    # thenCombine, its asynchronous form, thenAcceptBoth, runAfterBoth
    both = [s for s in sources.values() if len(s) == 2 and all(mode == "all" for _, mode in s)]
    yield from equal("futures that depend on both of two", len(both), 40)


def by_hand(facts, recording):
    in_pool = [t for t in recording.pooled() if "ThreadPoolExecutor" in (t["pool"] or "") and
               "Scheduled" not in t["pool"]]
    yield from equal("tasks", len(ended(in_pool)), facts["tasks"])
    yield from equal("threads", len(recording.program_threads()), facts["threads"])
    yield from equal("waits", len(recording.waits()), facts["waits"])


def invoke_all(facts, recording):
    yield from tasks(facts, recording)
    yield from ends(facts, recording)
    yield from workers(facts, recording)
    yield from between("waits", len(recording.waits()), facts["gets"], facts["gets"] + facts["tasks"])


def invoke_any(facts, recording):
    yield from tasks(facts, recording)
    yield from exceptions(facts, recording)
    yield from workers(facts, recording)
    if len(recording.waits()) < facts["invoke_any"]:
        yield f"waits: recorded {len(recording.waits())}, at least one for each of {facts['invoke_any']} calls expected"


def bare_future_task(facts, recording):
    """Handed to no pool: run by a thread of its own, or by the one that asks for the result."""
    yield from equal("tasks", len(ended(recording.stages())), facts["ends"])
    yield from threads(facts, recording)
    yield from waits(facts, recording)


def completion_service(facts, recording):
    """take() is a wait for whichever comes first; the get() after it finds the result there."""
    yield from tasks(facts, recording)
    yield from ends(facts, recording)
    yield from workers(facts, recording)
    yield from between("waits", len(recording.waits()), facts["takes"], facts["takes"] + facts["waits"])
    unnamed = [e for e in recording.waits() if e[3] is None]
    yield from equal("waits for whichever comes first", len(unnamed), facts["takes"])
    got = {e[3] for e in recording.of_kind("wait_end") if e[3] is not None}
    yield from equal("results taken", len(got), facts["takes"])


def task_throws(facts, recording):
    yield from tasks(facts, recording)
    yield from exceptions(facts, recording)
    yield from waits(facts, recording)


def own_pool_sorted(facts, recording):
    yield from tasks(facts, recording)
    yield from ends(facts, recording)
    yield from workers(facts, recording)


def rejected(facts, recording):
    yield from equal("offered", len(recording.pooled()), facts["offered"])
    yield from equal("ends", len(ended(recording.pooled())), facts["ends"])
    yield from equal("dropped", len(recording.of_kind("task_drop")), facts["aborted"] + facts["discarded"])


def cancel(facts, recording):
    yield from tasks(facts, recording)
    yield from equal("starts", len(started(recording.pooled())), facts["starts"])
    yield from cancelled(facts, recording)
    yield from waits(facts, recording)


def nested_pools(facts, recording):
    yield from tasks(facts, recording)
    yield from ends(facts, recording)
    yield from waits(facts, recording)
    yield from equal("pools", len(recording.pools), facts["pools"])


def shut_down_hook(facts, recording):
    yield from tasks(facts, recording)
    yield from ends(facts, recording)
    # Exactly the program's: Runtime itself joins the hooks' threads.
    yield from waits_at_least(facts, recording)


def virtual_threads(facts, recording):
    yield from equal("virtual threads", len(recording.virtual_threads()), facts["virtual_threads"])
    yield from equal("tasks of the executor", len(recording.pooled()), facts["tasks"])
    bodies = ended(recording.pooled()) + ended(recording.program_threads())
    if len(bodies) < facts["ends"]:
        yield f"ends: recorded {len(bodies)}, the program says {facts['ends']}"
    yield from waits_at_least(facts, recording)


OWN = {"ScheduledPeriodic": periodic, "ForkJoinFib": fork_join, "ForkJoinInvokeAll": fork_join_all,
       "ForkJoinCompleter": fork_join, "ParallelStream": stream, "FutureStages": future_stages,
       "FutureFailures": future_failures, "FutureCombine": future_combine, "FutureByHand": by_hand,
       "InvokeAll": invoke_all, "InvokeAny": invoke_any, "BareFutureTask": bare_future_task,
       "CompletionService": completion_service, "TaskThrows": task_throws, "OwnExecutor": own_pool_sorted,
       "Rejected": rejected, "Cancel": cancel, "NestedPools": nested_pools, "ShutdownHook": shut_down_hook,
       "VirtualThreads": virtual_threads}


def named_by_host(program, recording):
    """No task is named by a hidden class; those made in the program have a file and a line."""
    for task in recording.pooled() + recording.program_threads() + recording.stages():
        body = task["body"] or ""
        if "$$Lambda" in body or "/0x" in body:
            yield f"a task is named by a hidden class: {body}"
            return
        if body.startswith((program + ".", program + "$")) and ".java:" not in body:
            yield f"no file and line: {body}"
            return


def placed_in_source(program, recording):
    """Every spawn by the program has frames of the program, with file and line."""
    mine = "programs." + program
    for kind, context in (("task_spawn", 4), ("wait_begin", 4)):
        for event in recording.of_kind(kind):
            if event[context] is None:
                continue
            frames = [frame for frame in recording.stack(event[context]) if frame[0].startswith(mine)]
            bad = [frame for frame in frames if not frame[1] or not frame[2]]
            if bad:
                yield f"{kind}: a frame without file or line: {bad[0]}"
                return
    spawns = [e for e in recording.of_kind("task_spawn") if e[4] is not None]
    if spawns and not any(frame[0].startswith(mine) for e in spawns for frame in recording.stack(e[4])):
        yield f"no spawn has a frame of {mine}"


def nothing_lost(recording):
    loss = recording.loss
    if loss["events_dropped"] or loss["blocks_damaged"]:
        yield f"lost: {loss}"


def check(program, facts, recording, halted=False):
    name = program.split(".")[-1]
    if name in OWN:
        yield from OWN[name](facts, recording)
    else:
        for key, rule in GENERAL.items():
            if key in facts:
                yield from rule(facts, recording)
        if "tasks" in facts:
            yield from every_task_ended(facts, recording)
    yield from named_by_host(name, recording)
    yield from placed_in_source(name, recording)
    yield from nothing_lost(recording)
    if recording.loss["cut_off"] and not halted:
        yield "the file has no trailer, though the program came to its end"
