"""What a recording holds, read through cft_dump, and the counts that tests compare."""
import collections
import subprocess

# Library methods that wait for the result of one task or thread, when the program calls them.
WAIT_METHODS = {"get", "join", "quietlyJoin", "invoke", "take", "poll"}


class Recording:
    def __init__(self, dump, path):
        text = subprocess.run([dump, path], capture_output=True, text=True, check=True).stdout
        self.facts, self.methods, self.contexts, self.pools, self.threads = {}, {}, {}, {}, {}
        self.events = collections.defaultdict(list)  # by thread: (time, kind, operands)
        self.losses, self.trailer = [], None
        for line in text.split("\n"):
            kind, *fields = line.split("\t")
            if kind == "fact":
                self.facts[fields[0]] = fields[1]
            elif kind == "method":
                self.methods[fields[0]] = fields[1:]
            elif kind == "context":
                self.contexts[fields[0]] = fields[1:]
            elif kind == "pool":
                self.pools[fields[0]] = fields[1:]
            elif kind == "thread":
                self.threads[fields[0]] = fields[1:]
            elif kind == "loss":
                self.losses.append(fields[0])
            elif kind == "trailer":
                self.trailer = fields
            elif kind == "event" and not fields[2].startswith("cpu_"):
                self.events[fields[0]].append((int(fields[1]), fields[2], fields[3:]))
        for thread, events in self.events.items():
            if self.threads[thread][1] == "1":  # a virtual thread's events come through the buffers of its carriers
                events.sort(key=lambda event: event[0])
        self.count()

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
        bodies = set(self.started) - set(self.threads_spawned)
        self.bodies = bodies
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

    def body(self, task):
        spawn = self.pooled.get(task) or self.threads_spawned.get(task)
        return self.methods.get(spawn[3]) if spawn else None

    def program_waits(self):
        return sum(1 for _, called in self.waits if called in WAIT_METHODS)

    def waits_in(self, method):
        return sum(1 for _, called in self.waits if called == method)

    def pool_of_program(self, task):
        return self.pooled[task][2]

    def faults(self):
        """What no recording may show."""
        if self.trailer is None:
            yield "no trailer"
        elif self.trailer[2] != "0":
            yield f"{self.trailer[2]} events dropped"
        yield from self.losses
        for task, n in self.started.items():
            if n > 1:
                yield f"task {task} started {n} times"
        for task, n in self.completed.items():
            if n > 1:
                yield f"task {task} completed {n} times"
        closers = {"task_end": "task_start", "wait_end": "wait_begin", "worker_busy": "worker_idle", "block_end": "block_begin",
                   "method_exit": "method_enter"}
        openers = set(closers.values())
        for thread, events in self.events.items():
            open_brackets, last = [], 0
            for time, kind, operands in events:
                if time < last:
                    yield f"thread {thread}: time goes back at {kind} by {last - time} ns"
                last = time
                if kind in openers:
                    if kind == "block_begin" and open_brackets and open_brackets[-1][0] in ("wait_begin", "worker_idle"):
                        yield f"thread {thread}: a block inside {open_brackets[-1][0]}"
                    open_brackets.append((kind, operands[:1]))
                elif kind in closers:
                    if not open_brackets or open_brackets[-1][0] != closers[kind]:
                        yield f"thread {thread}: {kind} closes {open_brackets[-1:]}"
                    else:
                        begun = open_brackets.pop()
                        if kind == "task_end" and begun[1] != operands[:1]:
                            yield f"thread {thread}: end of task {operands[0]} inside {begun[1]}"
