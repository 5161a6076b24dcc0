"""Records Endpoints.java, whose servers' requests have names: each request has the endpoint that the program says, there are no more names
than may be, and nothing else of a request is in the trace."""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

KINDS = ("http", "many", "own")
CONFIGURATION = """# its handlers
endpoint Endpoints$Orders.handle
endpoint Endpoints$Router.route method=2 path=3
endpoint Endpoints$Router.dispatch method=1.thrower path=1.path
endpoint nowhere.Handler.*
"""


def output_of(command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def record(options, folder, kind):
    contrafact = options.build / "bin/contrafact"
    trace = pathlib.Path(folder, f"{kind}.cft")
    configuration = pathlib.Path(folder, "trace.conf")
    configuration.write_text(CONFIGURATION)
    flags = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"]
    printed = output_of([contrafact, "record", "--config", configuration, "-o", trace, "--", options.java, *flags, "-cp",
                         options.build / "java/jvm", "Endpoints", kind])
    document = output_of([contrafact, "export", trace, "--format", "json", "-q"])
    loads = json.loads(output_of([contrafact, "load", trace, "--json", "-q"])) if kind != "many" else None
    return printed, document, loads


def faults_of(kind, printed, text, loads):
    document = json.loads(text)
    expected = collections.Counter({name: int(count) for count, name in (line.split(" ", 1) for line in printed.splitlines())})
    names = [row[0] for row in document.get("endpoints", [])]
    found = collections.Counter(names[operands[0]] for _, _, what, *operands in document["events"] if what == "endpoint")
    faults = [f"{kind}: {name}: {found[name]} requests, not {expected[name]}" for name in sorted({*expected, *found})
              if found[name] != expected[name]]
    if loads is not None:
        drawn = {row["endpoint"]: row["requests"] for row in loads["programs"][0]["endpoints"]}
        if drawn != expected:
            faults.append(f"{kind}: load has {drawn}")
    facts = document["facts"]
    faults += [f"{kind}: {key} {facts[key]}" for key in ("probe.refused", "probe.missing") if facts.get(key, "0") != "0"]
    unmatched = "nowhere.Handler.*" if kind == "own" else None
    if unmatched and facts.get("endpoints.unmatched") != unmatched:
        faults.append(f"{kind}: unmatched: {facts.get('endpoints.unmatched')}")
    if "endpoints.too_many" in facts:
        faults.append(f"{kind}: endpoints.too_many {facts.get('endpoints.too_many')}")
    if "onfidential" in text.replace("CONFIDENTIAL", ""):
        faults.append(f"{kind}: the trace holds what was said")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--java", default="java")
    parser.add_argument("--kind", action="append", choices=KINDS)
    options = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kind or KINDS:
            faults += faults_of(kind, *record(options, folder, kind))
    print("\n".join(faults) or "every request has its endpoint")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
