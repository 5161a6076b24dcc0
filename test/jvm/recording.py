"""A recording as the tests see it: the JSON that `contrafact export --format json` prints, and the counts in it."""
import json
import subprocess

# Threads that pools and the library start by themselves.
WORKER_BODIES = ("ThreadPoolExecutor$Worker.", "ForkJoinWorkerThread.", "ForkJoinPool.", "DelayScheduler.", "CarrierThread.")
COMMAND_SECONDS_MAX = 120


class Recording:
    def __init__(self, contrafact, path):
        done = subprocess.run([contrafact, "export", path, "--format", "json", "-q"], capture_output=True, text=True,
                              timeout=COMMAND_SECONDS_MAX)
        if done.returncode != 0:
            raise ValueError(f"contrafact export ended with {done.returncode}: {done.stderr.strip()}")
        document = json.loads(done.stdout)
        self.loss = document["loss"]
        self.facts = document["facts"]
        self.tasks = document["tasks"]
        self.threads = document["threads"]
        self.pools = document["pools"]
        self.methods = document["methods"]
        self.contexts = document["contexts"]
        self.dependencies = document["dependencies"]
        self.events = document["events"]
        self.threads_by_id = {thread["thread"]: thread for thread in self.threads}

    # ---- tasks

    def pooled(self, pool=None):
        return [t for t in self.tasks if t["kind"] == "pooled" and (pool is None or pool in (t["pool"] or ""))]

    def stages(self):
        return [t for t in self.tasks if t["kind"] == "stage"]

    def program_threads(self):
        return [t for t in self.tasks if t["kind"] == "thread" and not (t["body"] or "").startswith(WORKER_BODIES)]

    def workers(self):
        return [t for t in self.tasks if t["kind"] == "thread" and (t["body"] or "").startswith(WORKER_BODIES)]

    def virtual_threads(self):
        return [t for t in self.threads if t["virtual"]]

    # ---- events

    def of_kind(self, kind):
        return [e for e in self.events if e[2] == kind]

    def waits(self):
        """Waits for results: pairs of the thread and the event."""
        return [e for e in self.of_kind("wait_begin")]

    def violations(self):
        return [e for e in self.of_kind("block_begin")]

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
