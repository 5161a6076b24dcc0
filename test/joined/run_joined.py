#!/usr/bin/env python3
"""usage: run_joined.py CONTRAFACT BIN_DIR [--separate]

A gateway and a backend of four workers, each a process, recorded together (`record --children`, or --separate: each by a `record` of its own) at a
low load, and joined. `contrafact load` of the joined recording must predict what the two can answer together, name the backend's workers as the limit,
and predict what they can answer with twice as many workers; both are really measured, plain. The gateway's recording alone shows no
such limit, as what the backend took then it takes at any load.

The backend's workers sleep for each request, so that what is predicted hardly depends on the machine. Exit status 77 (not measured) where others left the
programs so little of the machine that they answer much less than they could, or used much of it during the recording: then sleeps last longer."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "bench"), str(HERE.parent)]
import services
import shortest_run

WORKERS = 4
PER_WORKER = 100  # requests a second: it sleeps for 10 ms
CLIENTS = 24  # more than there are workers in any variant
SECONDS = 3
RECORDED_CLIENTS, RECORDED_PAUSE_S, RECORDED_SECONDS = 2, 0.02, 8
OFF_MAX = 0.1  # what is predicted, of what is measured
BUSY_MAX = 0.4  # of all cores, while it is recorded: the programs use a tenth
USABLE_MIN = 0.75  # of what the workers' sleeps allow


class Client(threading.Thread):
    """Asks again and again on one connection, until the deadline; counts the answers."""

    def __init__(self, port, deadline, pause_s):
        super().__init__(daemon=True)
        self.port, self.deadline, self.pause_s, self.answers, self.failure = port, deadline, pause_s, 0, None

    def run(self):
        try:
            with services.connect(self.port) as connection:
                while time.monotonic() < self.deadline:
                    connection.sendall(b"GET /item?id=%d HTTP/1.1\r\n\r\n" % (self.answers % 37))
                    receive_answer(connection)
                    self.answers += 1
                    time.sleep(self.pause_s)
        except (OSError, ValueError) as failure:
            self.failure = failure


def receive_answer(connection):
    received = b""
    while b"\r\n\r\n" not in received:
        received += receive(connection)
    head, body = received.split(b"\r\n\r\n", 1)
    length = int(head.rsplit(b"Content-Length: ", 1)[1])
    while len(body) < length:
        body += receive(connection)


def receive(connection):
    part = connection.recv(4096)
    if not part:
        raise ValueError("the gateway closed the connection")
    return part


def answered_per_s(port, clients, seconds, pause_s=0.0):
    begin = time.monotonic()
    all_clients = [Client(port, begin + seconds, pause_s) for _ in range(clients)]
    for client in all_clients:
        client.start()
    for client in all_clients:
        client.join()
    if failure := next((client.failure for client in all_clients if client.failure), None):
        sys.exit(f"joined: a client failed: {failure}")
    return sum(client.answers for client in all_clients) / (time.monotonic() - begin)


def cores_s():
    """For how long all cores were in use, and for how long there were any."""
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def asked_for_a_recording(port):
    """Not measured, if others use the machine meanwhile."""
    busy, there = cores_s()
    answered_per_s(port, RECORDED_CLIENTS, RECORDED_SECONDS, RECORDED_PAUSE_S)
    busy, there = (now - then for now, then in zip(cores_s(), (busy, there)))
    if busy > BUSY_MAX * there:
        shortest_run.not_measured(f"{100 * busy / there:.0f} % of the cores were in use during the recording")


def running(words, port):
    service = services.Service(words)
    service.wait_for_port(port)
    return service


def measured(programs, workers):
    """What both can answer, plain."""
    port = services.free_port()
    with running(programs.together(port, services.free_port(), workers), port):
        return answered_per_s(port, CLIENTS, SECONDS)


class Programs:
    def __init__(self, contrafact, folder):
        self.contrafact, self.folder = contrafact, folder

    def together(self, port, backend_port, workers):
        return [self.folder / "joined_gateway", port, backend_port, self.folder / "joined_backend", workers]

    def record(self, output, *more):
        return [self.contrafact, "record", "-q", *more, "-o", output, "--"]


def record_together(programs, folder):
    """Recordings of both, by one command; the gateway's first."""
    port = services.free_port()
    with running([*programs.record(folder / "run.cft", "--children"), *programs.together(port, services.free_port(), WORKERS)], port) as service:
        asked_for_a_recording(port)
        service.stop()
    return [folder / "run.cft", *sorted(folder.glob("run.[0-9]*.cft"))]


def record_apart(programs, folder):
    port, backend_port = services.free_port(), services.free_port()
    with running([*programs.record(folder / "backend.cft"), programs.folder / "joined_backend", backend_port, WORKERS], backend_port) as backend, \
         running([*programs.record(folder / "gateway.cft"), programs.folder / "joined_gateway", port, backend_port], port) as gateway:
        asked_for_a_recording(port)
        gateway.stop()
        backend.stop()
    return [folder / "gateway.cft", folder / "backend.cft"]


def asked(programs, *words):
    done = subprocess.run([str(word) for word in (programs.contrafact, *words)], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(f"joined: contrafact {words[0]} ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    return done


def saturations(programs, trace, *more):
    """Of the recorded program, and of the changed one if there is a spec: what each can answer, and what limits it."""
    document = json.loads(asked(programs, "load", trace, "--json", "-q", *more).stdout)
    return [(one["saturation"]["per_s"], one["limited_by"]) for one in document["programs"]]


def twice_the_workers(folder, pool):
    spec = folder / "more-workers.json"
    size = {"before": WORKERS, "after": 2 * WORKERS}
    spec.write_text(json.dumps({"schema": "contrafact-improvement-1", "improvements": [{"optimisation": "pool-size", "threads": pool, "size": size}]}))
    return spec


def off(predicted, really):
    return predicted / really - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact", type=pathlib.Path)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--separate", action="store_true")
    options = parser.parse_args()
    services.end_with_this_process()
    programs = Programs(options.contrafact.resolve(), options.programs.resolve())
    base, twin = measured(programs, WORKERS), measured(programs, 2 * WORKERS)
    print(f"measured: {base:.0f} requests/s with {WORKERS} workers, {twin:.0f} with {2 * WORKERS}", flush=True)
    for really, workers in ((base, WORKERS), (twin, 2 * WORKERS)):
        if really < USABLE_MIN * workers * PER_WORKER:
            shortest_run.not_measured(f"{workers} workers answered {really:.0f} requests a second of {workers * PER_WORKER}: others had too much of the machine")
    faults = []

    def hold(is_so, fault):
        if not is_so:
            faults.append(fault)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        recordings = (record_apart if options.separate else record_together)(programs, folder)
        hold(len(recordings) == 2, f"{len(recordings)} recordings, not 2")
        told = asked(programs, "join", "-o", folder / "all.cft", *recordings).stderr
        print(told.strip(), flush=True)
        hold("joined_gateway (" in told and "joined_backend (" in told and " between them" in told, "join names the processes and their connections otherwise")
        [(alone, _)] = saturations(programs, recordings[0])
        [(joined, limit)] = saturations(programs, folder / "all.cft")
        print(f"predicted: {joined:.0f} ({100 * off(joined, base):+.1f} %), limited by {limit}; of the gateway's recording alone {alone:.0f}", flush=True)
        hold(abs(off(joined, base)) <= OFF_MAX, f"predicted {joined:.0f} requests/s, measured {base:.0f}")
        hold(limit["kind"] == "pool" and limit["size"] == WORKERS and "joined_backend" in limit["name"], f"the limit is {limit}")
        hold(alone > 1.5 * base, f"the gateway's recording alone shows a limit, too: {alone:.0f} requests/s")
        [_, (changed, _)] = saturations(programs, folder / "all.cft", "--apply", twice_the_workers(folder, limit["name"]))
        print(f"predicted with twice the workers: {changed:.0f} ({100 * off(changed, twin):+.1f} %)", flush=True)
        hold(abs(off(changed, twin)) <= OFF_MAX, f"predicted {changed:.0f} requests/s with twice the workers, measured {twin:.0f}")
    print("\n".join(f"wrong: {fault}" for fault in faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
