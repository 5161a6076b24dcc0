"""For each test program: the facts that its recording must show, from the counts that it prints.

Each check yields (what, recorded, expected). `c` is the recording, `e` the program's own counts.
"""


def own_pools(c):
    """Tasks given to pools, without those of the library's own timers."""
    return {task for task, spawn in c.pooled.items() if not is_timer(c, task)}


def is_timer(c, task):
    return task in c.delayed and any(
        name in frame[0] for frame in c.stack(c.pooled[task][1])[:6] for name in ("CompletableFuture$Delayer", "CompletableFuture"))


def tasks(c, e):
    yield "tasks", len(own_pools(c)), e["tasks"]


def bodies(c, e):
    yield "starts", len(c.bodies), e.get("starts", e.get("ends", e.get("tasks")))
    if "ends" in e:
        yield "ends", len(set(c.ended) & c.bodies), e["ends"]


def waits(c, e):
    yield "waits", c.program_waits(), e["waits"]


def workers(c, e):
    yield "workers", len(c.threads_spawned), e["workers"]


def exceptions(c, e):
    yield "exceptions", sum(1 for task in c.bodies if c.ended.get(task) == "1"), e["exceptions"]


def threads(c, e):
    yield "threads", len(c.threads_spawned), e["threads"]
    yield "ends of threads", len(set(c.ended) & set(c.threads_spawned)), e["threads"]


def dropped(count):
    def check(c, e):
        yield "dropped", len(c.dropped), count(e)
        yield "dropped tasks that started", len(c.dropped & set(c.started)), 0
    return check


def periodic(c, e):
    yield "runs", len(c.bodies), e["runs"]
    yield "spawns", len(c.pooled), e["runs"]
    yield "delays", len(c.delayed), e["runs"]


def scheduled(c, e):
    yield "delays", len(c.delayed), e["tasks"]
    starts = {o[0]: time for _, time, o in c.all_events("task_start")}
    spawns = {o[0]: time for _, time, o in c.all_events("task_spawn")}
    early = [task for task, delay_us in c.delayed.items() if starts[task] - spawns[task] < (delay_us - 100) * 1000]
    yield "tasks that started before their time", early, []


def forks(c, e):
    yield "tasks", len(c.pooled), e["tasks"]
    yield "bodies", len(c.bodies), e["tasks"]
    yield "forks", sum(1 for o in c.pooled.values() if c.called_method(o[1]) == "fork"), e["forks"]


def invoke_all_forks(c, e):
    yield "bodies", len(c.bodies), e["tasks"]
    yield "tasks handed over", sum(1 for o in c.pooled.values() if c.called_method(o[1]) == "invokeAll"), e["invoke_all"]


def stages(c, e):
    # One body for each stage but the ten `exceptionally`, whose function is not called; those begin nothing.
    yield "asynchronous", len(c.pooled), e["async_tasks"]
    yield "created", len(c.created), e["stages"]
    yield "dependences", len(c.depends), e["stages"]
    completed_once = set(c.created) <= set(c.completed)
    yield "every stage completes", completed_once, True


def failures(c, e):
    yield "created", len(c.created), e["stages"]
    yield "suppliers that failed", sum(1 for task in own_pools(c) if c.ended.get(task) == "1"), e["exceptions"]


def combined(c, e):
    modes = [o[2] for o in c.depends]
    yield "every combination completes", set(c.created) <= set(c.completed), True
    yield "waits", c.program_waits(), e["waits"]
    yield "suppliers", len([t for t in c.pooled if t not in c.created]), e["suppliers"]
    yield "asynchronous", len(c.pooled), e["tasks"]
    yield "sources of which any will do", modes.count("1") > 0 and modes.count("1") % 2, 0


def by_hand(c, e):
    yield "timers", sum(1 for task in c.pooled if is_timer(c, task)), e["timers"]
    yield "tasks", len(own_pools(c)), e["tasks"]


def invoke_all(c, e):
    yield "gets", c.waits_in("get"), e["gets"]
    yield "waits of the library, for those that are not done yet", 0 < c.waits_in("invokeAll") <= e["tasks"], True


def invoke_any(c, e):
    yield "invoke_any", c.waits_in("invokeAny") >= e["invoke_any"], True
    got = {o[0] for _, _, o in c.all_events("wait_end") if o[0] != "-"}
    yield "got only tasks that ran", got <= c.bodies, True


def takes(c, e):
    yield "takes", c.waits_in("take"), e["takes"]
    yield "gets", c.waits_in("get"), e["waits"]
    got = [o[0] for _, _, o in c.all_events("wait_end")]
    yield "each task is got twice", sorted(got), sorted(list(c.pooled) * 2)


def blocks(reason, least):
    def check(c, e):
        seen = sum(1 for _, _, o in c.all_events("block_begin") if o[0] == reason)
        yield f"blocks for reason {reason}, at least {least(e)}", seen >= least(e), True
    return check


def timeouts(c, e):
    yield "timeouts", c.outcomes["2"], e["timeouts"]


def interrupted(c, e):
    yield "interrupted", c.outcomes["3"], e["interrupted"]


def cancelled(c, e):
    yield "waits for cancelled ones", c.outcomes["4"], 5
    outcomes = [o[1] for _, _, o in c.all_events("task_complete")]
    yield "cancelled", outcomes.count("4"), e["cancelled"]


def open_at_exit(c, e):
    mine = c.bodies if "tasks" in e else set(c.threads_spawned)
    yield "starts", len(mine & set(c.started)), e["starts"]
    yield "ends", len(mine & set(c.ended)), e["ends"]


def named_lambdas(c, e):
    names = {tuple((c.body(task) or ["?", "?"])[:2]) for task in c.pooled}
    yield "bodies in the program's class", all(name[0].startswith("programs.") for name in names), True
    yield "bodies with a line", all(int(c.body(task)[3]) > 0 for task in c.pooled), True


def named_reference(c, e):
    yield "bodies", {tuple(c.body(task)[:2]) for task in c.pooled}, {("java.util.concurrent.atomic.AtomicInteger", "incrementAndGet")}


def contexts(c, e):
    innermost = [next((f for f in c.stack(o[1]) if f[0].startswith("programs.")), None) for o in c.pooled.values()]
    yield "spawns with a frame of the program, and its line", all(f and f[2] > 0 for f in innermost), True


def deep(c, e):
    longest = max(len(c.stack(o[1])) for o in c.pooled.values())
    yield "frames of the deepest context", longest, int(c.facts["context.depth_max"])


def virtual(c, e):
    kinds = [row[1] for row in c.threads.values()]
    yield "virtual threads", kinds.count("1"), e["virtual_threads"]
    mine = {task for task in c.threads_spawned if c.threads_spawned[task][3] != "-"}
    yield "tasks of the executor", len(c.pooled), e["tasks"]
    yield "ends", len(mine & set(c.ended)) >= e["ends"], True
    yield "sleeps", sum(1 for _, _, o in c.all_events("block_begin") if o[0] == "1"), e["ends"]


def died(c, e):
    yield "threads that ended by an exception", sum(1 for t in c.threads_spawned if c.ended.get(t) == "1"), e["workers_died"]


COMMON = (tasks, bodies, waits)
CHECKS = {
    "ThreadPoolExecute": COMMON + (workers, named_reference, contexts),
    "ThreadPoolSubmit": COMMON + (workers, contexts),
    "CachedPool": COMMON + (workers, named_lambdas),
    "ScheduledOnce": COMMON + (workers, scheduled),
    "ScheduledPeriodic": (periodic, waits, exceptions),
    "ForkJoinFib": (forks, waits),
    "ForkJoinInvokeAll": (invoke_all_forks,),
    "ForkJoinCompleter": (forks, waits),
    "ParallelStream": (),
    "FutureAsync": COMMON,
    "FutureStages": (stages, waits),
    "FutureFailures": (failures, waits),
    "FutureCombine": (combined,),
    "FutureByHand": (by_hand,),
    "InvokeAll": (tasks, bodies, workers, invoke_all),
    "InvokeAny": (tasks, exceptions, workers, invoke_any),
    "BareFutureTask": (bodies, threads, waits),
    "CompletionService": (tasks, bodies, workers, takes),
    "PlainThreads": (threads, waits),
    "ManyThreads": (threads, waits),
    "TaskThrows": (tasks, exceptions, waits, died),
    "ExitInTheMidst": (tasks, open_at_exit, workers),
    "ExitFromTask": (tasks, open_at_exit, waits),
    "UncaughtInMain": COMMON + (workers,),
    "DaemonsAtExit": (open_at_exit,),
    "Halt": COMMON + (workers,),
    "ShutdownHook": COMMON,
    "QueueFeed": COMMON + (blocks("0", lambda e: e["violations_min"]),),
    "LockContention": COMMON + (workers, blocks("0", lambda e: e["lock_blocks_min"])),
    "MonitorContention": COMMON + (workers, blocks("2", lambda e: 1), blocks("3", lambda e: 1)),
    "Barriers": COMMON + (workers,),
    "DeepStacks": COMMON + (workers, deep),
    "StackTraceInTask": (tasks, exceptions, waits, workers),
    "OwnExecutor": (tasks, bodies, workers),
    "OwnFutureTask": COMMON + (workers,),
    "SameRunnable": COMMON + (workers,),
    "Rejected": (bodies, dropped(lambda e: e["aborted"] + e["discarded"])),
    "ShutdownNow": (tasks, bodies, dropped(lambda e: e["never_run"])),
    "Cancel": (tasks, bodies, waits, cancelled, dropped(lambda e: e["cancelled"] - 5)),
    "TimedGet": COMMON + (timeouts,),
    "InterruptedGet": (tasks, waits, interrupted),
    "NestedPools": COMMON,
    "WorkStealing": COMMON,
    "VirtualThreads": (virtual, waits),
}
