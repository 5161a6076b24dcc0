"""The services of cases.json: how each is started, and which requests its clients send."""
import json
import os
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
REQUESTS = 997  # that clients send in turn
SEED = 20240601


def all_cases(names):
    cases = json.loads((HERE / "cases.json").read_text())
    unknown = set(names or []) - {case["name"] for case in cases}
    if unknown:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}")
    return [case for case in cases if not names or case["name"] in names]


def command(options, case, variant, port, seconds):
    arguments = [variant, str(port), str(seconds)]
    if case["runs"] == "native":
        return [f"{options.build}/bin/truth_services_{case['name']}", *arguments]
    return [options.java, *case.get("jvm", []), "-cp", f"{options.build}/java/truth_services", case["name"], *arguments]


def requests(case):
    """The same for all variants and clients: items drawn at random, some more often than others."""
    draws = random.Random(SEED)
    items = case.get("ids", 35)
    return [f"/item?id={int(items * draws.random() ** 1.5)}" for _ in range(REQUESTS)]


def cores():
    """One for the server and one for the client, or None where there are no two."""
    usable = sorted(os.sched_getaffinity(0))
    return (usable[0], usable[-1]) if len(usable) >= 2 else None
