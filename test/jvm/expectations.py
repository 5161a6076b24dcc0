"""What the recording of each test program must hold: EXPECTATIONS names the rules of each program, ALWAYS holds for all.

A rule yields (what, recorded, expected) from the recording `r` and the counts `e` that the program prints, which
test/programs/README.md explains. Most rules look twice: at the file (r.file) and at what the tool makes of it (r.model).
"""
from recording import ended, failed, started


class AtLeast:
    """Equal to whatever is not less."""

    def __init__(self, least):
        self.least = least

    def __eq__(self, recorded):
        return recorded >= self.least

    def __repr__(self):
        return f"at least {self.least}"


class Between(AtLeast):
    def __init__(self, least, most):
        super().__init__(least)
        self.most = most

    def __eq__(self, recorded):
        return self.least <= recorded <= self.most

    def __repr__(self):
        return f"{self.least} to {self.most}"


# ---- tasks and threads

def tasks(r, e):
    yield "tasks", len(r.file.own_pooled()), e["tasks"]
    yield "tasks in the model", len(r.model.pooled()), e["tasks"]


def file_bodies(r, e):
    yield "starts", len(r.file.bodies), e.get("starts", e.get("ends", e.get("tasks")))
    if "ends" in e:
        yield "ends", len(set(r.file.ended) & r.file.bodies), e["ends"]


def bodies(r, e):
    """What was handed over began and ended; where the program does not say how much of it, all of it."""
    yield from file_bodies(r, e)
    pooled = r.model.pooled()
    yield "starts in the model", len(started(pooled)), e.get("starts", e.get("ends", e.get("tasks")))
    if "ends" in e or "starts" not in e:
        yield "ends in the model", len(ended(pooled)), e.get("ends", len(pooled))


def open_at_exit(r, e):
    """Bodies may still run when the program ends."""
    mine = r.file.bodies if "tasks" in e else set(r.file.threads_spawned)
    yield "starts", len(mine & set(r.file.started)), e["starts"]
    yield "ends", len(mine & set(r.file.ended)), e["ends"]
    units = r.model.pooled() if "tasks" in e else r.model.program_threads()
    yield "starts in the model", len(started(units)), e["starts"]
    yield "ends in the model", len(ended(units)), e["ends"]


def exceptions(r, e):
    yield "exceptions", sum(1 for task in r.file.bodies if r.file.ended.get(task) == "1"), e["exceptions"]
    yield "exceptions in the model", len(failed(r.model.pooled())), e["exceptions"]


def workers(r, e):
    yield "workers", len(r.file.threads_spawned), e["workers"]
    yield "workers in the model", len(r.model.workers()), e["workers"]


def program_threads(r, e):
    yield "threads in the model", len(r.model.program_threads()), e["threads"]


def threads(r, e):
    yield "threads", len(r.file.threads_spawned), e["threads"]
    yield "ends of threads", len(set(r.file.ended) & set(r.file.threads_spawned)), e["threads"]
    yield from program_threads(r, e)
    yield "ends of threads in the model", len(ended(r.model.program_threads())), e["threads"]


def died(r, e):
    yield "threads that ended by an exception", sum(1 for t in r.file.threads_spawned if r.file.ended.get(t) == "1"), e["workers_died"]


def dropped(count):
    def rule(r, e):
        yield "dropped", len(r.file.dropped), count(e)
        yield "dropped tasks that started", len(r.file.dropped & set(r.file.started)), 0
        yield "dropped in the model", len(r.model.of_kind("task_drop")), count(e)
    return rule


def never_run(r, e):
    never = [t for t in r.model.pooled() if t["start_ns"] is None and t["fate"] in ("dropped", "cancelled")]
    yield "never run in the model", len(never), e["never_run"]


def offered(r, e):
    yield "offered in the model", len(r.model.pooled()), e["offered"]
    yield "ends in the model", len(ended(r.model.pooled())), e["ends"]


def cancelled(r, e):
    yield "waits for cancelled ones", r.file.outcomes["4"], 5
    yield "cancelled", [o[1] for _, _, o in r.file.all_events("task_complete")].count("4"), e["cancelled"]
    yield "cancelled in the model", len([x for x in r.model.of_kind("task_complete") if x[4] == 4]), e["cancelled"]


def pools(r, e):
    yield "pools in the model", len(r.model.pools), e["pools"]


# ---- waits and blocks

def program_waits(r, e):
    yield "waits", r.file.program_waits(), e["waits"]


def waits(r, e):
    """The program's, and no other."""
    yield from program_waits(r, e)
    yield "waits in the model", len(r.model.waits()), e["waits"]


def waits_and_more(r, e):
    """Waits of the library come on top: Runtime joins the hooks' threads, and the like."""
    yield from program_waits(r, e)
    yield "waits in the model", len(r.model.waits()), AtLeast(e["waits"])


def timeouts(r, e):
    yield "timeouts", r.file.outcomes["2"], e["timeouts"]


def interrupted(r, e):
    yield "interrupted", r.file.outcomes["3"], e["interrupted"]


def blocks(reason, least):
    def rule(r, e):
        yield f"blocks for reason {reason}", r.file.blocks(reason), AtLeast(least(e))
        recorded = len([x for x in r.model.of_kind("block_begin") if x[3] == int(reason)])
        yield f"blocks for reason {reason} in the model", recorded, AtLeast(least(e))
    return rule


def notified(r, e):
    """Whoever notifies wakes a thread, and the file says which: Object.notify and notifyAll."""
    wakes = r.file.all_events("wake")
    counts = {True: 0, False: 0}
    for thread, events in r.file.events.items():
        begun = None
        for time, kind, operands in events:
            if kind == "block_begin" and operands[0] == "3" and r.file.threads[thread][0] != "Common-Cleaner":
                begun = time
            elif kind == "block_end" and begun is not None:
                counts[any(o[0] == thread and begun <= t <= time for _, t, o in wakes)] += 1
                begun = None
    yield "waits that somebody ended", counts[True], e["notified"]
    yield "waits that time ended", counts[False], e["unnotified"]


def own_pool(r, e):
    yield "pools of the program's own", [row[0] for row in r.file.pools.values()], ["programs.HomeMadePool$Pool", "programs.HomeMadePool$Desk"]
    runners = {thread for thread, _, o in r.file.all_events("task_start") if o[0] in r.file.pooled}
    yield "threads that run its tasks", runners <= {t for t, row in r.file.threads.items() if row[0].startswith("own-")}, True
    yield "threads", len(r.file.threads_spawned), e["threads"]


def handed(r, e):
    """Each hand-out is over before its thread does anything else, and so is shutting the pool down."""
    yield "hand-outs that are over", len(r.file.all_events("task_handed")), e["tasks"]
    yield "pools shut down", [len(r.file.all_events(kind)) for kind in ("pool_close", "pool_closed")], [1, 1]


def permits(r, e):
    # Threads that come to one at once may each number it: a row that no event names.
    named = {o[0] for kind in ("permit_take", "permit_give") for _, _, o in r.file.all_events(kind)}
    yield "semaphores, and what they had at first", [row[2] for pool, row in r.file.pools.items() if pool in named], ["1"]
    for kind in ("permit_take", "permit_give"):
        yield kind, [o[1] for _, _, o in r.file.all_events(kind)], ["1"] * e["tasks"]


def semaphores(r, e):
    """The first 65,536 are recorded; of the rest it is told how many they are."""
    yield "semaphores", sum(row[0].endswith(".Semaphore") for row in r.file.pools.values()), 65536
    for kind in ("permit_take", "permit_give"):
        yield kind, len(r.file.all_events(kind)), 65536
    yield "semaphores that were not recorded", r.file.facts.get("semaphores.untold"), str(e["semaphores"] - 65536)


def lock_blocks(r, e):
    """Parks at a lock, by their stacks."""
    names = ("ReentrantLock", "AbstractQueuedSynchronizer", "LockContention")
    parks = [x for x in r.model.of_kind("block_begin") if x[3] == 0 and any(
        name in frame[0] for name in names for frame in r.model.stack(x[4]))]
    yield "blocks on a lock in the model", len(parks), AtLeast(e["lock_blocks_min"])


def monitor_blocks(r, e):
    """Who waits for a monitor stands at the line that asks for it."""
    stacks = [r.model.stack(x[4]) for x in r.model.of_kind("block_begin") if x[3] == 2]
    lines = {stack[0][2] for stack in stacks if stack[0][0].startswith("programs.")}
    # The first task waits, too, where it begins later than another one.
    yield "lines that wait for the monitor", lines - {e["synchronized_first"]}, {e["synchronized"]}


# ---- names and contexts

def named_lambdas(r, e):
    names = {tuple((r.file.body(task) or ["?", "?"])[:2]) for task in r.file.pooled}
    yield "bodies in the program's class", all(name[0].startswith("programs.") for name in names), True
    yield "bodies with a line", all(int(r.file.body(task)[3]) > 0 for task in r.file.pooled), True


def named_reference(r, e):
    yield "bodies", {tuple(r.file.body(task)[:2]) for task in r.file.pooled}, {
        ("java.util.concurrent.atomic.AtomicInteger", "incrementAndGet")}


def contexts(r, e):
    innermost = [next((f for f in r.file.stack(o[1]) if f[0].startswith("programs.")), None) for o in r.file.pooled.values()]
    yield "spawns with a frame of the program, and its line", all(f and f[2] > 0 for f in innermost), True


def deep(r, e):
    longest = max(len(r.file.stack(o[1])) for o in r.file.pooled.values())
    yield "frames of the deepest context", longest, int(r.file.facts["context.depth_max"])


# ---- constructs with rules of their own

def periodic(r, e):
    """A periodic task is a new task each time it is handed out."""
    yield "runs", len(r.file.bodies), e["runs"]
    yield "spawns", len(r.file.pooled), e["runs"]
    yield "delays", len(r.file.delayed), e["runs"]
    yield "runs in the model", len(ended(r.model.pooled())), e["runs"]


def scheduled(r, e):
    yield "delays", len(r.file.delayed), e["tasks"]
    starts = {o[0]: time for _, time, o in r.file.all_events("task_start")}
    spawns = {o[0]: time for _, time, o in r.file.all_events("task_spawn")}
    early = [task for task, delay_us in r.file.delayed.items() if starts[task] - spawns[task] < (delay_us - 100) * 1000]
    yield "tasks that started before their time", early, []


def forks(r, e):
    yield "tasks", len(r.file.pooled), e["tasks"]
    yield "bodies", len(r.file.bodies), e["tasks"]
    yield "forks", sum(1 for o in r.file.pooled.values() if r.file.called_method(o[1]) == "fork"), e["forks"]
    yield "tasks in the model", len(r.model.pooled()), e["tasks"]
    yield "ends in the model", len(ended(r.model.pooled())), e["tasks"]


def invoke_all_forks(r, e):
    """The library runs one of two on the calling thread: started without being handed over."""
    yield "bodies", len(r.file.bodies), e["tasks"]
    yield "tasks handed over", sum(1 for o in r.file.pooled.values() if r.file.called_method(o[1]) == "invokeAll"), e["invoke_all"]
    yield "bodies in the model", len(ended(r.model.pooled() + r.model.stages())), e["ends"]
    yield "handed over in the model", len(r.model.pooled()), Between(1, e["tasks"])


def stream(r, e):
    yield "tasks in the model", len(ended(r.model.pooled())), AtLeast(e["tasks_min"])
    yield "waits in the model", len(r.model.waits()), AtLeast(e["waits_min"])


def stages(r, e):
    """Of ten futures, each with two suppliers and thirteen dependent stages, six of them asynchronous. There is one body for
    each stage but the ten `exceptionally`, whose function is not called: their stages complete with their sources."""
    yield "asynchronous", len(r.file.pooled), e["async_tasks"]
    yield "created", len(r.file.created), e["stages"]
    yield "dependences", len(r.file.depends), e["stages"]
    yield "every stage completes", set(r.file.created) <= set(r.file.completed), True
    yield "asynchronous in the model", len(r.model.pooled()), e["async_tasks"]
    yield "ends of asynchronous ones in the model", len(ended(r.model.pooled())), e["async_tasks"]
    yield "stages in the model", len({task for task, _, _ in r.model.dependencies}), AtLeast(e["stages"])


def failures(r, e):
    yield "created", len(r.file.created), e["stages"]
    own = r.file.own_pooled()
    yield "suppliers that failed", sum(1 for task in own if r.file.ended.get(task) == "1"), e["exceptions"]
    yield "tasks in the model", len(r.model.pooled()), e["tasks"]
    yield "exceptions in the model", len(failed(r.model.pooled())), e["exceptions"]
    yield "stages in the model", len({task for task, _, _ in r.model.dependencies}), e["stages"]


def combined(r, e):
    modes = [o[2] for o in r.file.depends]
    yield "every combination completes", set(r.file.created) <= set(r.file.completed), True
    yield "suppliers", len([t for t in r.file.pooled if t not in r.file.created]), e["suppliers"]
    yield "asynchronous", len(r.file.pooled), e["tasks"]
    yield "sources of which any will do", modes.count("1") > 0 and modes.count("1") % 2, 0
    yield "ends in the model", len(ended(r.model.pooled())), e["tasks"]
    sources = {}
    for task, source, mode in r.model.dependencies:
        sources.setdefault(task, []).append(mode)
    yield "stages of three sources (allOf)", sum(len(s) == 3 for s in sources.values()), 10
    # thenCombine, its asynchronous form, thenAcceptBoth, runAfterBoth
    yield "stages of both of two sources", sum(s == ["all", "all"] for s in sources.values()), 40


def by_hand(r, e):
    yield "timers", sum(1 for task in r.file.pooled if r.file.is_timer(task)), e["timers"]
    yield "tasks", len(r.file.own_pooled()), e["tasks"]
    in_pool = [t for t in r.model.pooled() if "ThreadPoolExecutor" in (t["pool"] or "") and "Scheduled" not in t["pool"]]
    yield "ends in the model", len(ended(in_pool)), e["tasks"]
    yield "waits in the model", len(r.model.waits()), e["waits"]


def invoke_all(r, e):
    yield "gets", r.file.waits_in("get"), e["gets"]
    yield "waits of the library, for those that are not done yet", r.file.waits_in("invokeAll"), Between(e["invoke_all"], e["tasks"])
    yield "waits in the model", len(r.model.waits()), Between(e["gets"], e["gets"] + e["tasks"])


def invoke_any(r, e):
    yield "invoke_any", r.file.waits_in("invokeAny"), AtLeast(e["invoke_any"])
    got = {o[0] for _, _, o in r.file.all_events("wait_end") if o[0] != "-"}
    yield "got only tasks that ran", got <= r.file.bodies, True
    yield "waits in the model", len(r.model.waits()), AtLeast(e["invoke_any"])


def bare_futures(r, e):
    """Handed to no pool: run by a thread of its own, or by the one that asks for the result."""
    yield "tasks in the model", len(ended(r.model.stages())), e["ends"]


def takes(r, e):
    """take() is a wait for whichever comes first; the get() after it finds the result there."""
    yield "takes", r.file.waits_in("take"), e["takes"]
    yield "gets", r.file.waits_in("get"), e["waits"]
    got = [o[0] for _, _, o in r.file.all_events("wait_end")]
    yield "each task is got twice", sorted(got), sorted(list(r.file.pooled) * 2)
    yield "waits in the model", len(r.model.waits()), Between(e["takes"], e["takes"] + e["waits"])
    yield "waits for whichever comes first", len([x for x in r.model.waits() if x[3] is None]), e["takes"]
    results = {x[3] for x in r.model.of_kind("wait_end") if x[3] is not None}
    yield "results taken", len(results), e["takes"]


def virtual(r, e):
    yield "virtual threads", [row[1] for row in r.file.threads.values()].count("1"), e["virtual_threads"]
    yield "tasks of the executor", len(r.file.pooled), e["tasks"]
    mine = {task for task, spawn in r.file.threads_spawned.items() if spawn[3] != "-"}
    yield "ends", len(mine & set(r.file.ended)), AtLeast(e["ends"])
    yield "sleeps", r.file.blocks("1"), e["ends"]
    yield "virtual threads in the model", len(r.model.virtual_threads()), e["virtual_threads"]
    yield "tasks of the executor in the model", len(r.model.pooled()), e["tasks"]
    yield "ends in the model", len(ended(r.model.pooled() + r.model.program_threads())), AtLeast(e["ends"])


# ---- the table

COMMON = (tasks, bodies, waits)
EXPECTATIONS = {
    "ThreadPoolExecute": COMMON + (workers, named_reference, contexts),
    "ThreadPoolSubmit": COMMON + (workers, contexts, handed),
    "CachedPool": COMMON + (workers, named_lambdas),
    "ScheduledOnce": COMMON + (workers, scheduled),
    "ScheduledPeriodic": (periodic, waits_and_more, exceptions),
    "ForkJoinFib": (forks, waits),
    "ForkJoinInvokeAll": (invoke_all_forks,),
    "ForkJoinCompleter": (forks, waits),
    "ParallelStream": (stream,),
    "FutureAsync": COMMON,
    "FutureStages": (stages, waits),
    "FutureFailures": (failures, waits),
    "FutureCombine": (combined, waits),
    "FutureByHand": (by_hand, program_threads),
    "InvokeAll": (tasks, bodies, workers, invoke_all),
    "InvokeAny": (tasks, bodies, exceptions, workers, invoke_any),
    "BareFutureTask": (file_bodies, bare_futures, threads, waits),
    "CompletionService": (tasks, bodies, workers, takes),
    "PlainThreads": (threads, waits),
    "ManyThreads": (threads, waits),
    "TaskThrows": (tasks, bodies, exceptions, waits, died),
    "ExitInTheMidst": (tasks, open_at_exit, workers),
    "ExitFromTask": (tasks, open_at_exit, waits),
    "UncaughtInMain": COMMON + (workers,),
    "DaemonsAtExit": (open_at_exit, program_threads),
    "Halt": COMMON + (workers,),
    "ShutdownHook": (tasks, bodies, waits_and_more),
    "QueueFeed": COMMON + (blocks("0", lambda e: e["violations_min"]),),
    "LockContention": COMMON + (workers, blocks("0", lambda e: e["lock_blocks_min"]), lock_blocks),
    "MonitorContention": COMMON + (workers, blocks("2", lambda e: 1), blocks("3", lambda e: 1), monitor_blocks),
    "Notified": (threads, notified),
    "HomeMadePool": (tasks, bodies, own_pool),
    "Barriers": COMMON + (workers, permits),
    "ManySemaphores": COMMON + (workers, semaphores),
    "DeepStacks": COMMON + (workers, deep),
    "StackTraceInTask": (tasks, bodies, exceptions, waits, workers),
    "OwnExecutor": (tasks, bodies, workers),
    "OwnFutureTask": COMMON + (workers,),
    "SameRunnable": COMMON + (workers,),
    "Rejected": (file_bodies, offered, dropped(lambda e: e["aborted"] + e["discarded"])),
    "ShutdownNow": (tasks, bodies, dropped(lambda e: e["never_run"]), never_run),
    "Cancel": (tasks, bodies, waits, cancelled, dropped(lambda e: e["cancelled"] - 5)),
    "TimedGet": COMMON + (timeouts,),
    "InterruptedGet": (tasks, bodies, program_threads, waits, interrupted),
    "NestedPools": COMMON + (pools,),
    "PoolsAtOnce": COMMON + (program_threads, pools),
    "WorkStealing": COMMON,
    "VirtualThreads": (virtual, waits_and_more),
}


# ---- what holds for every program

def no_faults(r, program):
    yield "faults of the file", list(r.file.faults())[:5], []
    yield "classes that could not be given probes", r.file.facts.get("probe.refused"), "0"
    yield "probes without a place", r.file.facts.get("probe.missing"), None


def nothing_lost(r, program):
    yield "events dropped", r.model.loss["events_dropped"], 0
    yield "blocks damaged", r.model.loss["blocks_damaged"], 0
    yield "the file has no end", r.model.loss["cut_off"], False


def named_by_host(r, program):
    """No task is named by a hidden class; those made in the program have a file and a line."""
    bodies_ = [t["body"] or "" for t in r.model.pooled() + r.model.program_threads() + r.model.stages()]
    yield "bodies named by a hidden class", [b for b in bodies_ if "$$Lambda" in b or "/0x" in b][:1], []
    unplaced = [b for b in bodies_ if b.startswith((program + ".", program + "$")) and ".java:" not in b]
    yield "bodies without file and line", unplaced[:1], []


def placed_in_source(r, program):
    """Frames of the program have file and line, and some spawn has such a frame."""
    mine = "programs." + program
    stack_of = {}
    for kind in ("task_spawn", "wait_begin"):
        used = {x[4] for x in r.model.of_kind(kind) if x[4] is not None}
        stack_of[kind] = {context: r.model.stack(context) for context in used}
        frames = [f for stack in stack_of[kind].values() for f in stack if f[0].startswith(mine)]
        yield f"frames without file or line at a {kind}", [f for f in frames if not f[1] or not f[2]][:1], []
    stacks = stack_of["task_spawn"].values()
    if stacks:
        yield "a spawn has a frame of the program", any(f[0].startswith(mine) for stack in stacks for f in stack), True


ALWAYS = (no_faults, nothing_lost, named_by_host, placed_in_source)


def expected(program, recording, counts):
    """(what, recorded, expected) of everything that is asserted of the program's recording."""
    for rule in EXPECTATIONS[program]:
        yield from rule(recording, counts)
    for rule in ALWAYS:
        yield from rule(recording, program)


def differences(program, recording, counts):
    for what, recorded, wanted in expected(program, recording, counts):
        if not wanted == recorded:
            yield f"{what}: recorded {recorded}, expected {wanted}"
