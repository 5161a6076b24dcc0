#!/usr/bin/env python3
"""Large programs with all their critical sections translated: same output and status as unrecorded, and how many of their
sets are complete. Programs that are not installed are named and left out.

usage: large_programs.py CONTRAFACT [NAME...]
"""

import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import services
import shortest_run

CONTRAFACT = pathlib.Path(sys.argv[1]).resolve()
LIMIT_S = 90
PYTHON = "/usr/bin/python3"

THREADS_IN_PYTHON = """
import queue, threading
jobs, results = queue.Queue(), queue.Queue()
def work():
    while (job := jobs.get()) is not None: results.put(sum(i * i for i in range(job)))
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for i in range(500): jobs.put(i)
for _ in threads: jobs.put(None)
for t in threads: t.join()
print(sum(results.get() for _ in range(500)))
"""
COMPRESS_IN_NODE = """
const zlib = require('zlib');
let left = 30, bytes = 0;
for (let i = 0; i < 30; i++) zlib.gzip(Buffer.alloc(50000 + i, i), (e, out) => { bytes += out.length; if (--left == 0) console.log(bytes); });
"""
QUERIES = """
create table t(a integer primary key, b integer, c text);
with recursive n(x) as (select 1 union all select x + 1 from n where x < 20000) insert into t select x, x * 7919 % 10007, 'row ' || x from n;
create index i on t(b);
select count(*), sum(b), max(c) from t where b between 100 and 5000;
select b, count(*) from t group by b % 7 order by 2 limit 3;
"""


def words(path, lines):
    source = random.Random(1)
    vocabulary = ["".join(source.choices("etaoinshrdlu", k=source.randint(2, 9))) for _ in range(5000)]
    path.write_text("".join(" ".join(source.choices(vocabulary, k=20)) + "\n" for _ in range(lines)))


class Programs:
    """name -> what to run. A server is stopped by a signal after its session, whose answers are the output."""

    def __init__(self, folder):
        text = folder / "text"
        words(text, 40_000)
        (folder / "query.sql").write_text(QUERIES)
        frame_bytes = 352 * 288 * 3 // 2
        noise = random.Random(2).randbytes(frame_bytes + 60 * 37)
        (folder / "video").write_bytes(b"".join(noise[i * 37:i * 37 + frame_bytes] for i in range(30)))
        (folder / "Sum.java").write_text(
            "import java.util.*; import java.util.concurrent.*; public class Sum { public static void main(String[] a) throws Exception {"
            " var e = Executors.newFixedThreadPool(4); long s = 0; var f = new ArrayList<Future<Long>>(); for (int i = 0; i < 100; i++)"
            " { int k = i; f.add(e.submit(() -> { long t = 0; for (int j = 0; j < 10000; j++) t += j % (k + 1); return t; })); }"
            " for (var x : f) s += x.get(); e.shutdown(); System.out.println(s); } }")
        repository = folder / "repository"
        repository.mkdir()
        for i in range(30):
            (repository / f"file{i}").write_bytes(text.read_bytes()[i * 10_000:i * 10_000 + 60_000])
        git = ["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@b"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
            subprocess.run([*git, *command], check=False, capture_output=True)
        self.commands = {
            "pbzip2": ["pbzip2", "-p3", "-c", text],
            "xz": ["xz", "-T2", "-1", "--block-size=512KiB", "-c", text],
            "pigz": ["pigz", "-p3", "-n", "-c", text],
            "zstd": ["zstd", "-T2", "-q", "-c", text],
            "sort": ["sort", "--parallel=3", "-S", "64M", text],
            "sqlite3": ["sqlite3", ":memory:", f".read {folder / 'query.sql'}"],
            "git": ["git", "-C", repository, "-c", "pack.threads=3", "grep", "-c", "e"],
            "gdb": ["gdb", "-q", "-batch", "-nx", "-ex", "info functions main", shutil.which("pbzip2") or "/bin/true"],
            "x264": ["x264", "--quiet", "--threads", "3", "--demuxer", "raw", "--input-res", "352x288", "--fps", "25", "--preset",
                     "veryfast", "--muxer", "raw", "-o", "-", folder / "video"],
            "7z": ["7z", "a", "-an", "-txz", "-mmt=3", "-mx=2", "-so", text],
            "curl": ["curl", "-s", "-Z", f"file://{text}", f"file://{folder / 'query.sql'}"],
            "python3": [PYTHON, "-c", THREADS_IN_PYTHON],
            "node": ["node", "-e", COMPRESS_IN_NODE],
            "java": ["java", "-cp", folder, "Sum"],
        }
        self.servers = {"memcached": services.memcached_session, "redis-server": services.redis_session}
        if shutil.which("javac"):
            subprocess.run(["javac", "-d", folder, folder / "Sum.java"], check=False, capture_output=True)

    def server_command(self, name, port):
        if name == "memcached":
            return ["memcached", "-u", "root", "-l", "127.0.0.1", "-p", str(port), "-t", "3"]
        return ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"]


def run(command):
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=LIMIT_S)
    return done.returncode, done.stdout, time.monotonic() - begin


def run_server(before, programs, name):
    port = services.free_port()
    begin = time.monotonic()
    with services.Service([*before, *programs.server_command(name, port)]) as service:
        service.wait_for_port(port)
        answers = programs.servers[name](port)
        elapsed_s = time.monotonic() - begin
        return service.stop(signal.SIGINT), answers, elapsed_s


def facts_of(path):
    done = subprocess.run([CONTRAFACT, "info", path], capture_output=True, text=True)
    return dict(re.findall(r"^sets\.([a-z_.]+)\s+(\d+)", done.stdout, re.M))


def main():
    failed = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = Programs(folder)
        wanted = sys.argv[2:] or [*programs.commands, *programs.servers]
        missing = [one for one in wanted if not shutil.which(one)]
        for one in wanted:
            if one in missing:
                continue
            trace = folder / f"{one}.cft"
            record = [CONTRAFACT, "record", "-q", "--native", "-o", trace, "--sets=always", "--"]
            if one in programs.servers:
                plain, recorded = run_server([], programs, one), run_server(record, programs, one)
            else:
                plain, recorded = run(programs.commands[one]), run([*record, *programs.commands[one]])
            facts = facts_of(trace)
            same = plain[:2] == recorded[:2]
            if not same or "segments.complete" not in facts:
                failed.append(one)
            left = ", ".join(f"{key[5:]} {value}" for key, value in facts.items() if key.startswith("left."))
            print(f"{one:12} {'same output' if same else 'OUTPUT DIFFERS':14} {plain[2]:6.2f} s, with sets {recorded[2]:6.2f} s; segments "
                  f"complete {facts.get('segments.complete')}, incomplete {facts.get('segments.incomplete')}, "
                  f"code {int(facts['code_bytes']) >> 10} KiB"
                  f"{' (' + left + ')' if left else ''}", flush=True)
    if failed:
        sys.exit("FAILED: " + ", ".join(failed))
    if missing:
        shortest_run.not_measured("not installed (./dev setup real): " + ", ".join(missing))
    print("large programs: ok")


main()
