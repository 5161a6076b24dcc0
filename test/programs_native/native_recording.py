"""One recorded run of a native test program, and what the checks of this folder share."""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import attempts

CONTRAFACT = pathlib.Path(sys.argv[1]).resolve()
PROGRAMS = CONTRAFACT.parent
LIBRARY = CONTRAFACT.parent.parent / "lib" / "libnative_library.so"


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def not_measured(why):
    print(f"not measured: {why}")
    sys.exit(77)


def run(command, timeout=60):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout)
    return done.returncode, done.stdout, done.stderr


class Recording:
    """One recorded run, with the same run unrecorded beside it."""

    def __init__(self, program, *arguments, options=(), plain_status=None):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "run.cft"
        command = [PROGRAMS / f"native_{program}", *arguments]
        status, out, _ = run(command)
        if status < 0:
            status = 128 - status  # as a shell says it, and `record` too
        recorded, recorded_out, self.err = run([CONTRAFACT, "record", "-o", self.path, *options, "--", *command])
        check(recorded_out == out, f"output differs:\n{out}\nrecorded:\n{recorded_out}\n{self.err}")
        check(recorded == status, f"status {status}, recorded {recorded}\n{self.err}")

    def json(self, command, path=None, status=0, arguments=()):
        ended, out, err = run([CONTRAFACT, command, "--json", *arguments, path or self.path])
        check(ended == status, f"{command}: {err}")
        return json.loads(out)

    def locks(self, path=None):
        return {row["lock"]: row for row in self.json("locks", path)["locks"]}

    def sites(self):
        return self.json("locks")["sites"]

    def events(self):
        return {row["event"]: row["count"] for row in self.json("info")["events"]}


def site(rows, text, lock=None):
    found = [row for row in rows if text in row["site"] and (lock is None or row["lock"] == lock)]
    check(found, f"no site with '{text}' among {[row['site'] for row in rows]}")
    return found[0]
