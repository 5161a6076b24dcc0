#!/usr/bin/env python3
"""usage: endpoints.py BUILD --java PATH... [--kind NAME]...

Records servers of real frameworks (endpoints/Servers.java), in versions that endpoints/pom.xml pins, and asserts that each request has the
endpoint that the program says, and that nothing else of a request is in the trace. The jars are fetched into BUILD/frameworks, by Maven,
unless they are there. Ends with 77 where they cannot be fetched.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
from record_frameworks import NOT_MEASURED, compile_java, fetch  # noqa: E402

SECONDS_MAX = 120
KINDS = ("tomcat", "spring", "jetty", "jetty-servlets", "netty", "vertx", "undertow")


def output_of(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=SECONDS_MAX)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def faults_of(options, java, folder, classes, jars, kind):
    contrafact = options.build / "bin/contrafact"
    trace = folder / f"{kind}.cft"
    flags = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"]
    printed = output_of([contrafact, "record", "-o", trace, "--", java, *flags, "-cp", f"{classes}:{jars}/*", "Servers", kind])
    expected = collections.Counter({name: int(count) for count, name in (line.split(" ", 1) for line in printed.splitlines())})
    loads = json.loads(output_of([contrafact, "load", trace, "--json", "-q"]))
    found = {row["endpoint"]: row["requests"] for row in loads["programs"][0]["endpoints"]}
    left_out = [int(note.split()[0]) for note in loads["notes"] if "requests are left out" in note]  # nobody knows who answered
    missing = expected - collections.Counter(found)
    if collections.Counter(found) - expected or missing.total() != sum(left_out):
        yield f"found {found}, expected {dict(expected)}, left out {left_out}"
    if loads["endpoints_named_by"] != "recording":
        yield "endpoints are called as code"
    text = output_of([contrafact, "export", trace, "--format", "json", "-q"])
    facts = json.loads(text)["facts"]
    yield from (f"{key} {facts[key]}" for key in ("probe.refused", "probe.missing") if facts.get(key, "0") != "0")
    if "confidential" in text:
        yield "the trace holds what was said"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--java", nargs="+", required=True)
    parser.add_argument("--kind", action="append", choices=KINDS)
    options = parser.parse_args()
    jars = options.build / "frameworks" / "endpoints"
    why = fetch(jars, HERE / "endpoints")
    if why:
        print(f"not measured: {why}")
        return NOT_MEASURED
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compile_java(f"{jars}/*", folder / "classes", (HERE / "endpoints").glob("*.java"))
        for java in options.java:
            for kind in options.kind or KINDS:
                faults += [f"{kind} on {java}: {fault}" for fault in faults_of(options, java, folder, folder / "classes", jars, kind)]
    print("\n".join(faults) or "every request has its endpoint")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
