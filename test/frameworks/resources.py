#!/usr/bin/env python3
"""usage: resources.py BUILD --java PATH...

Records workers that wait for the few connections of a pool (resources/Pools.java), of each library whose pools are known, in versions that
resources/pom.xml pins. Every taking and giving back is recorded, and what more connections would save is simulated
as they really save it. The jars are fetched into BUILD/frameworks, by Maven, unless they are there. Ends with 77 where they cannot be fetched,
or where the machine is too busy to say how long the program takes.
"""
import argparse
import collections
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "jvm")]
from record_frameworks import NOT_MEASURED, compile_java, fetch  # noqa: E402
from recording import RecordedFile  # noqa: E402

SECONDS_MAX = 120
SIZE, MORE = 2, 4
# By kind: the pool's name, how often it takes and gives connections by itself for each that it may have.
KINDS = {"hikari": ("com.zaxxer.hikari.pool.HikariPool orders", 0),
         "commons": ("org.apache.commons.pool2.impl.GenericObjectPool", 0),
         "tomcat": ("org.apache.tomcat.jdbc.pool.ConnectionPool Tomcat Connection Pool", 1),
         "h2": ("org.h2.jdbcx.JdbcConnectionPool", 0),
         "c3p0": ("com.mchange.v2.resourcepool.BasicResourcePool", 0),
         "druid": ("com.alibaba.druid.pool.DruidDataSource", 0),
         "agroal": ("io.agroal.pool.ConnectionPool", 0),
         "dbcp1": ("org.apache.commons.pool.impl.GenericObjectPool", 0),
         "keyed": ("org.apache.commons.pool2.impl.GenericKeyedObjectPool", 0),
         "http4": ("org.apache.http.pool.AbstractConnPool", 0),
         "http5": ("org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager", 0),
         "mongo": ("com.mongodb.internal.connection.ConcurrentPool", 0),
         "vibur": ("java.util.concurrent.Semaphore", 0)}
# Of the time from the first query to the end. Connections that sleep leave little to chance: 64 queries of 15 ms, two or four at a time.
SAVED_OFF_MAX = 0.1
QUERY_NS = 15e6
LEAST_NS = 64 * QUERY_NS / SIZE
BUSY = 1.25  # times as long as the queries alone


def output_of(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=SECONDS_MAX)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def recorded_faults(file, pool, asked, size=SIZE):
    rows = [number for number, row in file.pools.items() if row[0] == pool]
    if len(rows) != 1:
        yield f"{len(rows)} pools of that name among {list(file.pools.values())}"
        return
    row = file.pools[rows[0]]
    if list(row[2:]) != [str(size)] * 2:
        yield f"its size is {row[2:]}"
    for kind in ("permit_take", "permit_give"):
        count = sum(int(o[1]) for _, _, o in file.all_events(kind) if o[0] == rows[0])
        if count != asked:
            yield f"{count} permits in {kind}, not {asked}"
    out, most = 0, 0
    changes = [(time_ns, kind == "permit_take") for kind in ("permit_take", "permit_give") for _, time_ns, o in file.all_events(kind) if o[0] == rows[0]]
    for _, takes in sorted(changes):
        out += 1 if takes else -1
        most = max(most, out)
    if out != 0 or most != SIZE:
        yield f"at most {most} were out, and {out} at the end"
    missing = file.facts.get("probe.missing", "") + file.facts.get("probe.refused.0", "")
    if missing:
        yield f"probes without a place: {missing}"


def saved_ns(contrafact, trace, pool, folder):
    """What is simulated to be saved, and what the simulation of the unchanged run is off."""
    spec = pathlib.Path(folder, "spec.json")
    spec.write_text(json.dumps({"schema": "contrafact-improvement-1", "improvements": [
        {"optimisation": "pool-size", "pool": pool, "size": {"before": SIZE, "after": MORE}}]}))
    durations = []
    for change in ([], ["--apply", spec]):
        out = pathlib.Path(folder, "estimated.cft")
        output_of([contrafact, "estimate", trace, *change, "--model", "redispatch", "-q", "-o", out])
        durations.append(json.loads(output_of([contrafact, "info", out, "--json", "-q"]))["duration_ns"])
    return durations[0] - durations[1]


def faults(options, java, folder, kind):
    pool, by_itself = KINDS[kind]
    program = [java, f"-Durl={options.url}", "-cp", f"{folder}/classes:{options.lib}/*", "Pools", kind]
    trace = pathlib.Path(folder, f"{kind}.cft")
    asked, recorded_ns = map(int, output_of([f"{options.build}/bin/contrafact", "record", "-q", "-o", trace, "--", *program, SIZE]).split())
    yield from recorded_faults(RecordedFile(f"{options.build}/bin/cft_dump", trace), pool, asked + by_itself * SIZE)
    yield from compared_faults(options, kind, program, recorded_ns, trace, pool, folder)


def compared_faults(options, kind, program, recorded_ns, trace, pool, folder):
    """What MORE connections save, simulated from the recording and measured of the program, which takes its size as last argument."""
    plain = {size: min(int(output_of([*program, size]).split()[1]) for _ in range(2)) for size in (SIZE, MORE)}
    busy = max(recorded_ns, plain[SIZE], plain[MORE] * MORE / SIZE) / LEAST_NS
    if busy > BUSY:
        options.not_measured.append(f"{kind}: {busy:.2f} times as long as its queries")
        return
    really, simulated = plain[SIZE] - plain[MORE], saved_ns(f"{options.build}/bin/contrafact", trace, pool, folder)
    off = (simulated - really) / plain[SIZE]
    print(f"{kind}: {MORE} connections save {really / 1e6:.0f} ms of {plain[SIZE] / 1e6:.0f}, simulated {simulated / 1e6:.0f}: {off:+.1%}", flush=True)
    if abs(off) > SAVED_OFF_MAX:
        yield f"what more connections save is {off:+.1%} off"


class Napping(http.server.BaseHTTPRequestHandler):
    """Answers as late as a database does."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        time.sleep(QUERY_NS / 1e9)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--java", nargs="+", required=True)
    parser.add_argument("--kind", action="append", choices=KINDS)
    options = parser.parse_args()
    options.lib, options.not_measured = pathlib.Path(options.build) / "frameworks" / "resources", []
    why = fetch(options.lib, HERE / "resources")
    if why:
        print(f"not measured: {why}")
        sys.exit(NOT_MEASURED)
    found = collections.Counter()
    server = http.server.ThreadingHTTPServer(("localhost", 0), Napping)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    options.url = f"http://localhost:{server.server_address[1]}/"
    with tempfile.TemporaryDirectory(prefix="contrafact-resources-") as folder:
        compile_java(f"{options.lib}/*", f"{folder}/classes", [HERE / "resources" / "Pools.java"])
        for java in options.java:
            for kind in options.kind or KINDS:
                for fault in faults(options, java, folder, kind):
                    found[kind] += 1
                    print(f"{kind} ({java}): {fault}", flush=True)
    if found:
        sys.exit(1)
    for line in options.not_measured:
        print(f"not measured: {line}")
    sys.exit(NOT_MEASURED if options.not_measured else 0)


if __name__ == "__main__":
    main()
