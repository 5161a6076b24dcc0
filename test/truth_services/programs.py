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


def that_can_be_run(options, cases):
    """Without those of which something is missing; says what."""
    why = {"libraries": fetch(options) if any(case["runs"] == "libraries" for case in cases) else "",
           "java-21": "" if options.java_21 else "no --java-21"}
    for case in cases:
        if why.get(case["runs"]):
            print(f"left out: {case['name']}: {why[case['runs']]}", flush=True)
    return [case for case in cases if not why.get(case["runs"])]


def fetch(options):
    """Fetches the libraries and compiles the services that use them. "" or why not."""
    sys.path.append(str(HERE.parent / "frameworks"))
    import record_frameworks
    folder = options.build / "truth_services"
    why = record_frameworks.fetch(folder / "jars", HERE / "libraries")
    if not why:
        record_frameworks.compile_java(f"{options.build}/java/truth_services:{folder}/jars/*", folder / "classes", (HERE / "libraries").glob("*.java"))
    return why


def command(options, case, variant, port, seconds):
    if case["runs"] == "example":
        jar = f"{options.build}/java/api-server{'' if variant == 'base' else '-' + variant}.jar"
        return [options.java, "-jar", jar, "--serve", "--port", str(port), "--seconds", str(seconds)]
    arguments = [variant, str(port), str(seconds)]
    if case["runs"] == "native":
        return [f"{options.build}/bin/truth_services_{case['name']}", *arguments]
    java, classes = {"java": (options.java, "{build}/java/truth_services"),
                     "java-21": (options.java_21, "{build}/java/truth_services_21"),
                     "libraries": (options.java, "{build}/truth_services/classes:{build}/java/truth_services:{build}/truth_services/jars/*")}[case["runs"]]
    return [java, *case.get("jvm", []), "-cp", classes.format(build=options.build), case["name"], *arguments]


def requests(case):
    """The same for all variants and clients: items drawn at random, some more often than others."""
    draws = random.Random(SEED)
    if case.get("requests") == "shop":
        return [shop_request(draws) for _ in range(REQUESTS)]
    items = case.get("ids", 35)
    return [f"/item?id={int(items * draws.random() ** 1.5)}" for _ in range(REQUESTS)]


def shop_request(draws):
    """In the mix of examples/api-server/requests.lua."""
    kind, user = draws.randrange(100), draws.randrange(200)
    word = min(draws.randrange(100), draws.randrange(100))
    if kind < 30:
        return f"/profile?user={user}"
    if kind < 55:
        return f"/feed?user={user}"
    if kind < 75:
        return f"/search?word=word{word}"
    return f"/checkout?user={user}&product={word}&quantity=2" if kind < 85 else f"/recommendations?user={user}"


def cores():
    """One for the server and one for the client, or None where there are no two."""
    usable = sorted(os.sched_getaffinity(0))
    return (usable[0], usable[-1]) if len(usable) >= 2 else None
