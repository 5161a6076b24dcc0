"""A recording as the tests see it, at two levels: `RecordedFile` is what stands in the file, event by event, read through
cft_dump; `Model` is what the tool makes of it, as `contrafact export --format json` prints it. Both know nothing of what
a recording should hold: expectations.py does.
"""
import collections
import json
import subprocess

COMMAND_SECONDS_MAX = 120
# Library methods that wait for the result of one task or thread, when the program calls them.
WAIT_METHODS = {"get", "join", "quietlyJoin", "invoke", "take", "poll"}
# Threads that pools and the library start by themselves.
WORKER_BODIES = ("ThreadPoolExecutor$Worker.", "ForkJoinWorkerThread.", "ForkJoinPool.", "DelayScheduler.", "CarrierThread.")
CLOSERS = {"task_end": "task_start", "wait_end": "wait_begin", "worker_busy": "worker_idle", "block_end": "block_begin",
           "method_exit": "method_enter"}
OPENERS = set(CLOSERS.values())


class Recording:
    def __init__(self, build, path):
        self.file = RecordedFile(f"{build}/bin/cft_dump", path)
        self.model = Model(f"{build}/bin/contrafact", path)


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS_MAX)
    if done.returncode != 0:
        raise ValueError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


class RecordedFile:
    """Ids are texts as in the file, "-" is none; an event is (time, kind, operands)."""

    def __init__(self, dump, path):
        self.facts, self.methods, self.contexts, self.pools, self.threads = {}, {}, {}, {}, {}
        self.events = collections.defaultdict(list)  # by thread
        self.losses, self.trailer = [], None
        for line in output_of([dump, path]).split("\n"):
            self.add(*line.split("\t"))
        for thread, events in self.events.items():
            if self.threads[thread][1] == "1":  # a virtual thread's events come through the buffers of its carriers
                events.sort(key=lambda event: event[0])
        self.count()

    def add(self, kind, *fields):
        if kind == "fact":
            self.facts[fields[0]] = fields[1]
        elif kind in ("method", "context", "pool", "thread"):
            getattr(self, kind + "s")[fields[0]] = fields[1:]
        elif kind == "loss":
            self.losses.append(fields[0])
        elif kind == "trailer":
            self.trailer = fields
        elif kind == "event":
            self.events[fields[0]].append((int(fields[1]), fields[2], fields[3:]))

    def all_events(self, kind):
        return [(thread, time, operands) for thread, events in self.events.items() for time, k, operands in events if k == kind]

    def count(self):
        operands = lambda kind: [o for _, _, o in self.all_events(kind)]
        self.pooled = {o[0]: o for o in operands("task_spawn") if o[2] != "-"}
        self.threads_spawned = {o[0]: o for o in operands("task_spawn") if o[2] == "-"}
        self.created = {o[0] for o in operands("task_create")}
        self.started = collections.Counter(o[0] for o in operands("task_start"))
        self.ended = {o[0]: o[1] for o in operands("task_end")}
        self.completed = collections.Counter(o[0] for o in operands("task_complete"))
        self.dropped = {o[0] for o in operands("task_drop")}
        self.delayed = {o[0]: int(o[1]) for o in operands("task_delay")}
        self.depends = operands("task_depends")
        self.bodies = set(self.started) - set(self.threads_spawned)
        self.waits = [(o[0], self.called_method(o[1])) for o in operands("wait_begin")]
        self.outcomes = collections.Counter(o[1] for o in operands("wait_end"))

    def stack(self, context):
        """Innermost frame first: (class, method, line)."""
        frames = []
        while context != "-" and context in self.contexts:
            parent, method, line = self.contexts[context]
            name = self.methods.get(method, ["?", "?"])
            frames.append((name[0], name[1], int(line)))
            context = parent
        return frames

    def called_method(self, context):
        """The library's method that the program called; "" if the program is not on the stack."""
        called = ""
        for class_name, method, _ in self.stack(context):
            if class_name.startswith("programs."):
                return called
            called = method
        return ""

    def is_timer(self, task):
        """Whether the library scheduled it for a time limit of a future."""
        return task in self.delayed and any("CompletableFuture" in frame[0] for frame in self.stack(self.pooled[task][1])[:6])

    def own_pooled(self):
        """Tasks given to pools, without those of the library's own timers."""
        return {task for task in self.pooled if not self.is_timer(task)}

    def body(self, task):
        spawn = self.pooled.get(task) or self.threads_spawned.get(task)
        return self.methods.get(spawn[3]) if spawn else None

    def program_waits(self):
        return sum(1 for _, called in self.waits if called in WAIT_METHODS)

    def waits_in(self, method):
        return sum(1 for _, called in self.waits if called == method)

    def blocks(self, reason):
        return sum(1 for _, _, o in self.all_events("block_begin") if o[0] == reason)

    def faults(self):
        """What no recording may show."""
        if self.trailer is None:
            yield "no trailer"
        elif self.trailer[2] != "0":
            yield f"{self.trailer[2]} events dropped"
        yield from self.losses
        yield from (f"task {task} started {n} times" for task, n in self.started.items() if n > 1)
        yield from (f"task {task} completed {n} times" for task, n in self.completed.items() if n > 1)
        for thread, events in self.events.items():  # but for the kernel's, which overlap with them in time
            yield from self.faults_of_thread(thread, [e for e in events if not e[1].startswith(("cpu_", "vm_ran", "cores_idle"))])

    @staticmethod
    def faults_of_thread(thread, events):
        open_brackets, last = [], 0
        for time, kind, operands in events:
            if time < last:
                yield f"thread {thread}: time goes back at {kind} by {last - time} ns"
            last = time
            if kind in OPENERS:
                if kind == "block_begin" and open_brackets and open_brackets[-1][0] in ("wait_begin", "worker_idle"):
                    yield f"thread {thread}: a block inside {open_brackets[-1][0]}"
                open_brackets.append((kind, operands[:1]))
            elif kind in CLOSERS:
                if not open_brackets or open_brackets[-1][0] != CLOSERS[kind]:
                    yield f"thread {thread}: {kind} closes {open_brackets[-1:]}"
                    continue
                begun = open_brackets.pop()
                if kind == "task_end" and begun[1] != operands[:1]:
                    yield f"thread {thread}: end of task {operands[0]} inside {begun[1]}"


class Model:
    def __init__(self, contrafact, path):
        document = json.loads(output_of([contrafact, "export", path, "--format", "json", "-q"]))
        self.loss = document["loss"]
        self.tasks = document["tasks"]
        self.threads = document["threads"]
        self.pools = document["pools"]
        self.methods = document["methods"]
        self.contexts = document["contexts"]
        self.dependencies = document["dependencies"]
        self.events = document["events"]

    # ---- tasks

    def pooled(self):
        return [t for t in self.tasks if t["kind"] == "pooled"]

    def stages(self):
        return [t for t in self.tasks if t["kind"] == "stage"]

    def program_threads(self):
        return [t for t in self.tasks if t["kind"] == "thread" and not (t["body"] or "").startswith(WORKER_BODIES)]

    def workers(self):
        return [t for t in self.tasks if t["kind"] == "thread" and (t["body"] or "").startswith(WORKER_BODIES)]

    def virtual_threads(self):
        return [t for t in self.threads if t["virtual"]]

    # ---- events: arrays of time, thread, kind and operands

    def of_kind(self, kind):
        return [e for e in self.events if e[2] == kind]

    def waits(self):
        return self.of_kind("wait_begin")

    def stack(self, context):
        """Frames, innermost first: (method, file, line)."""
        frames = []
        while context is not None:
            parent, method, line = self.contexts[context]
            name, file, _ = self.methods[method] if method is not None else ("?", "", 0)
            frames.append((name, file, line))
            context = parent
        return frames

    def calls(self):
        """How often each traced method was entered and left."""
        counts = {}
        for kind, place in (("method_enter", 0), ("method_exit", 1)):
            for event in self.of_kind(kind):
                name = self.methods[event[3]][0] if event[3] is not None else "?"
                counts.setdefault(name, [0, 0])[place] += 1
        return counts


def ended(tasks):
    return [t for t in tasks if t["end_ns"] is not None and t["fate"] != "cut off"]


def started(tasks):
    return [t for t in tasks if t["start_ns"] is not None]


def failed(tasks):
    return [t for t in tasks if t["fate"] == "exception"]
