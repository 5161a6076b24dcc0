"""The clients, which nobody here wrote: wrk keeps a number of connections busy (closed loop); Vegeta sends requests whatever becomes
of the last ones (open loop; open_loop/main.go says when). Both take the same requests in turn, and the figures are their own."""
import json
import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
MS_OF = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}
BEYOND_S = 60  # a client that has not ended so long after it should have is ended


class Failure(Exception):
    """What makes a measurement none."""


class Unavailable(Exception):
    """A client that cannot be had here."""


def missing():
    """Why clients cannot be run, or ""."""
    if not shutil.which("wrk"):
        return "wrk is not installed"
    return "" if shutil.which("go") else "Go is not installed, which builds the client of open loops"


def build_open_loop(folder):
    """The client of open loops, in versions that go.mod pins and go.sum holds to. Built once; its path, or a Failure."""
    program = pathlib.Path(folder).resolve() / "open_loop"
    sources = [HERE / "open_loop" / name for name in ("main.go", "go.mod", "go.sum")]
    if program.exists() and all(program.stat().st_mtime > source.stat().st_mtime for source in sources):
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    fetched = run_go("mod", "download")
    if fetched.returncode != 0:
        raise Unavailable(f"Vegeta cannot be fetched: {fetched.stderr.strip()[-400:]}")
    built = run_go("build", "-o", str(program), ".")
    if built.returncode != 0:
        raise Failure(f"the client of open loops cannot be built: {built.stderr.strip()[-400:]}")
    return program


def run_go(*words):
    return subprocess.run(["go", *words], cwd=HERE / "open_loop", capture_output=True, text=True, timeout=600,
                          env={**os.environ, "GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local"})


def write_requests(folder, port, paths):
    """What both clients read: a script for wrk, targets for Vegeta."""
    listed = ", ".join(f'"{path}"' for path in paths)
    (folder / "requests.lua").write_text(f"local paths = {{{listed}}}\nlocal at = 0\nrequest = function()\n  at = at % #paths + 1\n"
                                         '  return wrk.format("GET", paths[at])\nend\n')
    (folder / "requests.txt").write_text("".join(f"GET http://127.0.0.1:{port}{path}\n" for path in paths))


def run(words, core, seconds):
    done = subprocess.run(["taskset", "-c", str(core), *map(str, words)], capture_output=True, text=True, timeout=seconds + BEYOND_S)
    if done.returncode != 0:
        raise Failure(f"{words[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def closed_loop(folder, port, core, connections, seconds):
    """wrk with so many connections, each of which sends its next request as soon as it has the answer to its last."""
    words = ["wrk", "--threads", 1, "--connections", connections, "--duration", f"{seconds}s", "--timeout", "30s", "--latency",
             "--script", folder / "requests.lua", f"http://127.0.0.1:{port}"]
    return parse_wrk(run(words, core, seconds))


def parse_wrk(text):
    """What wrk prints, as figures; its other answers than 200 and its errors make a Failure."""
    wrong = re.search(r"Socket errors:.*|Non-2xx.*", text)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    percentiles = {share: float(value) * MS_OF[unit] for share, value, unit in re.findall(r"^\s+(\d+)%\s+([\d.]+)(us|ms|s|m) *$", text, re.MULTILINE)}
    if wrong or not rate or not {"50", "90", "99"} <= set(percentiles):
        raise Failure(f"wrk: {wrong.group(0) if wrong else text.strip()[-400:]}")
    return {"requests_per_s": float(rate[1]), **{f"p{share}_ms": percentiles[share] for share in ("50", "90", "99")}}


def open_loop(program, folder, core, per_second, seconds, seed, arrivals="random"):
    """Vegeta at a rate, with arrivals at random unless `even`."""
    words = [program, "-targets", folder / "requests.txt", "-rate", f"{per_second:.3f}", "-seconds", f"{seconds:.2f}", "-seed", seed, "-arrivals", arrivals]
    return parse_vegeta(run(words, core, seconds))


def parse_vegeta(text):
    """Its report, and of all answers in the order in which they were asked for, in milliseconds."""
    report_text, answers_text = text.strip().split("\n", 1)
    report, answers = json.loads(report_text), json.loads(answers_text)
    if report["success"] < 1:
        raise Failure(f"vegeta: answers {report['status_codes']}, {'; '.join(report['errors'])[:300]}")
    latencies = report["latencies"]
    return {"requests": report["requests"], "offered_per_s": report["rate"], "requests_per_s": report["throughput"],
            **{f"p{share}_ms": latencies[f"{share}th"] / 1e6 for share in ("50", "90", "99")},
            "answers_ms": [us / 1e3 for _, us in sorted(answers)]}
