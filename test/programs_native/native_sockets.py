"""What is recorded of sockets: each call that moved bytes, with its connection, and nothing of these bytes."""

import json
import pathlib
import sys

from native_recording import CONTRAFACT, Recording, check, run

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import trace_bytes

SECRET = "confidential"  # what all requests and answers are full of
CONNECTIONS, REQUESTS, REQUEST_BYTES, ANSWER_BYTES = 3, 5, 20, 300
REQUESTS_BYTES, ANSWERS_BYTES = REQUESTS * REQUEST_BYTES, REQUESTS * ANSWER_BYTES


class Ends:
    """What each connection's end did."""

    def __init__(self, path):
        status, out, err = run([CONTRAFACT, "export", path, "--format", "json", "-q"])
        check(status == 0, err)
        check(not trace_bytes.holds(path, SECRET, "native_connections"), f"{path} holds what was said over the connections")
        document = json.loads(out)
        check(document["loss"]["events_dropped"] == 0, document["loss"])
        self.rows = document.get("connections", [])
        self.receives, self.sends = [[] for _ in self.rows], [[] for _ in self.rows]
        for time, _, kind, connection, count in document["events"]:
            if kind in ("receive", "send"):
                (self.receives if kind == "receive" else self.sends)[connection].append((time, count))

    def did(self, kind=None):
        """Of each connection: receives, bytes, sends, bytes."""
        return [(len(r), sum(n for _, n in r), len(s), sum(n for _, n in s)) for row, r, s in zip(self.rows, self.receives, self.sends)
                if kind in (None, row[0])]

    def bytes_before(self, calls, connections, time):
        return sum(count for c in connections for at, count in calls[c] if at <= time)


def ends_of(case, *options):
    recording = Recording("connections", case, options=options)
    return recording, Ends(recording.path)


def of_server(case, *options):
    recording, ends = ends_of(case, *options)
    of_clients, of_servers = (REQUESTS, ANSWERS_BYTES, REQUESTS, REQUESTS_BYTES), (REQUESTS + 1, REQUESTS_BYTES, REQUESTS, ANSWERS_BYTES)
    check(ends.did("connected") == [of_clients] * CONNECTIONS, ends.did())
    check(ends.did("accepted") == [of_servers] * CONNECTIONS, ends.did())
    check(len(ends.rows) == 2 * CONNECTIONS, ends.rows)
    port = next(row[1] for row in ends.rows if row[0] == "accepted")
    check(port > 0 and all(row[2 if row[0] == "connected" else 1] == port for row in ends.rows), ends.rows)
    check(all(row[2] > 0 for row in ends.rows), f"the kernel tells who is accepted: {ends.rows}")
    clients = {row[2] for row in ends.rows if row[0] == "accepted"}
    check(all(row[1] in clients | {0} for row in ends.rows if row[0] == "connected"), f"ports that are another's: {ends.rows}")
    # Requests and answers take turns: no byte is received before it was sent.
    of = {kind: [c for c, row in enumerate(ends.rows) if row[0] == kind] for kind in ("accepted", "connected")}
    for one, other in (("accepted", "connected"), ("connected", "accepted")):
        for connection in of[one]:
            for time, _ in ends.receives[connection]:
                received, sent = ends.bytes_before(ends.receives, of[one], time), ends.bytes_before(ends.sends, of[other], time)
                check(received <= sent, f"{one} received {received} bytes when {sent} were sent")
    info = recording.json("info")["connections"]
    check((info["accepted"], info["connected"], info["bytes_sent"]) == (CONNECTIONS, CONNECTIONS, CONNECTIONS * (REQUESTS_BYTES + ANSWERS_BYTES)),
          info)


def sockets():
    for options in [], ["--sets=always"]:
        of_server("threads", *options)
        of_server("epoll", *options)
        pair, datagrams = ends_of("pair", *options)[1], ends_of("datagrams", *options)[1]
        check(sorted(pair.did("other")) == [(0, 0, 4, 80), (5, 80, 0, 0)] and len(pair.rows) == 2, pair.did())
        check(sorted(datagrams.did("other")) == [(0, 0, 1, 7), (1, 7, 0, 0)], datagrams.did())
        again = ends_of("again", *options)[1]
        check(sorted(again.did("other")) == [(0, 0, 1, 1)] * 4 + [(1, 1, 0, 0)] * 4, again.did())
        straight = ends_of("straight", *options)[1]
        check(sorted(straight.did("other")) == [(0, 0, 1, 100), (0, 0, 1, 100), (1, 100, 0, 0)], straight.did())


def requests():
    recording = Recording("requests")
    loads = recording.json("load")
    check(loads["endpoints_named_by"] == "code", loads["endpoints_named_by"])
    found = {row["endpoint"]: row["requests"] for row in loads["programs"][0]["endpoints"]}
    check(set(found) == {"handle_item", "handle_order"}, found)  # of short ones some have no known answer, and are left out
    check(found["handle_order"] <= 20 and found["handle_item"] <= 40 and sum(found.values()) >= 40, found)
    core = {row["endpoint"]: row["pause_ns"] for row in loads["programs"][0]["endpoints"]}
    check(core["handle_order"] > 2e6 > core["handle_item"], core)


def sockets_of_children():
    recording = Recording("connections", "children", options=["--children"])
    files = sorted(pathlib.Path(recording.folder.name).iterdir())
    check(len(files) == 2, files)
    own = Ends(recording.path)
    child = Ends(next(path for path in files if path != recording.path))
    answered = (REQUESTS, ANSWERS_BYTES, REQUESTS, REQUESTS_BYTES)
    check(sorted(own.did()) == sorted([(1, 2, 2, 4), (1, 1, 0, 0), answered]), own.did())
    early = next(row for row, did in zip(own.rows, own.did()) if did == (1, 2, 2, 4))
    check([early[0], early[2], early[1]] == ["connected", *next(row[1:] for row, did in zip(own.rows, own.did()) if did == (1, 1, 0, 0))],
          f"{early} of {own.rows}: the port that the kernel chose")
    check(sorted(child.did("accepted")) == sorted([(REQUESTS + 1, REQUESTS_BYTES, REQUESTS, ANSWERS_BYTES), (0, 0, 1, 2)]), child.did())
    inherited = next(row for row, did in zip(child.rows, child.did()) if did == (0, 0, 1, 2))
    check(inherited in own.rows, f"the child's {inherited} is none of {own.rows}")
