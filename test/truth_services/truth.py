#!/usr/bin/env python3
"""usage: truth.py CONTRAFACT BUILD [--case NAME]... [--variant NAME]... [--seconds S] [--repeats N] [--quick] [--java JAVA]
                [--java-21 JAVA] [--requests N] [--arrivals random|even] [--loads SHARE...] [--foreign-max SHARE] [--json FILE] [--markdown FILE]
                [--beside] [--no-avx512] [--keep FOLDER] [--record FOLDER] [--predict] [--advise] [--no-warm] [--kept]

What services can take, and what their clients feel, before and after a change that was really made. Each service of cases.json is one
program that is told which variant to be; all variants give the same answers. Server and client have a core each. After a
warm-up, a closed loop (wrk) gets 1, 2, 4, 8, ... connections until the throughput grows no more: the saturation is what it is then. Then an
open loop (Vegeta) runs at shares of that, for --seconds, or longer for --requests. Percentiles are the
clients' own. All of that --repeats times, in rounds over all services, each time by a process of its own, and the medians. A measurement during which
others had more than --foreign-max of the server's or the client's core is made again, up to three times; what is still disturbed then makes that round of the
variant unusable.

--predict has `contrafact load` predict the curves from one recording of the base, under an open loop at 0.3 of its saturation: the base's, and by --apply with
the spec that specs/ has of it each variant's. --advise asks `contrafact advise` what to change, and compares that with the variant that
helps most. comparison.py has the aims, and what is held. Recordings are made with --warm, or with --no-warm without.

--keep FOLDER keeps each measured curve, and takes what is there: an interrupted command goes on where it stopped. --record FOLDER does the same with
recordings: NAME-open.cft, NAME-closed.cft under a closed loop with as many connections as saturate the base, NAME-locks.cft with the sections of
a JVM's locks; -plain behind these names with --no-warm. --kept measures and records nothing: what is not in these folders is left out, so that a
changed tool predicts the same curves from the same recordings. --quick: short runs, few loads, and no medians: that everything fits together.

Exit status 1 if a limit that is held is exceeded, answers differ, or a change helps otherwise than cases.json says; 77 (not measured) where there are no
two cores, a client is missing, or fewer than USABLE_MIN services could be measured."""
import argparse
import hashlib
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import clients
import comparison
import intervals
import programs
import rounds
import tables
import server  # has put the folder of what the truth tests share on the path
import machine
import services
import shortest_run

CONNECTIONS_MAX = 256
LOADS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
QUICK_LOADS = (0.3, 0.7)
RECORDED_LOAD = 0.3
OPEN_SECONDS_MAX = 60
USABLE_MIN = 8  # services, if not fewer are asked for
ATTEMPTS_MAX = 3
WARM_UP_CONNECTIONS = 16
RECORD_LIMIT_S = 600
# Of a --quick run, on whatever machine: that predictions are there, and are not absurd where others had little of the cores.
QUICK_HELD = {"saturation": comparison.Held(math.inf, 0.0, 0.5)}
QUICK_FOREIGN_MAX = 0.2


class Unusable(Exception):
    """A variant whose figures nobody could tell from others' load."""


def undisturbed(options, service, measure):
    """A client's figures while others had little of both cores."""
    disturbed = 0.0
    for attempt in range(ATTEMPTS_MAX):
        server.settle(service.port, service.settles_by)
        with server.Watched(service, options.server_core, options.client_core) as watched:
            figures = measure(attempt)
        figures |= {"server_share": watched.server, "client_share": watched.client, "foreign_share": watched.foreign}
        if watched.foreign <= options.foreign_max:
            return figures
        disturbed = max(disturbed, watched.foreign)
    raise Unusable(f"others had up to {100 * disturbed:.0f} % of a core")


def closed_curve(options, service):
    """Points of 1, 2, 4, ... connections until throughput grows no more."""
    points = []
    connections = 1
    while connections <= CONNECTIONS_MAX:
        run = undisturbed(options, service, lambda _: clients.closed_loop(options.folder, service.port, options.client_core, connections, options.seconds))
        points.append(rounds.middle([run], connections=connections))
        print(f"    {connections} connections: {words(run)}", flush=True)
        if len(points) >= 3 and max(point["requests_per_s"] for point in points[-2:]) < rounds.GROWS_BY * points[-3]["requests_per_s"]:
            break
        connections *= 2
    return points


def open_loop(options, rate, seed):
    seconds = max(options.seconds, min(OPEN_SECONDS_MAX, options.requests / rate))
    return clients.open_loop(options.open_loop, options.folder, options.client_core, rate, seconds, seed, options.arrivals)


def open_curve(options, service, saturation_per_s, number):
    points = []
    for load in options.loads:
        rate = load * saturation_per_s
        run = undisturbed(options, service, lambda attempt: open_loop(options, rate, ATTEMPTS_MAX * (number - 1) + attempt + 1))
        drawn = intervals.draws(run.pop("answers_ms"), (0.5, 0.99))
        points.append(rounds.middle([run], load=load, p50_draws_ms=drawn[0.5], p99_draws_ms=drawn[0.99]))
        print(f"    {load} of saturation, {rate:.0f} a second: {words(run)}", flush=True)
    return points


def words(run):
    return (f"{run['requests_per_s']:.1f} requests/s, p50 {run['p50_ms']:.2f} ms, p99 {run['p99_ms']:.2f} ms, "
            f"its core {100 * run['server_share']:.0f} %, the client's {100 * run['client_share']:.0f} %, others {100 * run['foreign_share']:.0f} %")


def warm_up(options, service):
    clients.closed_loop(options.folder, service.port, options.client_core, WARM_UP_CONNECTIONS, options.warm_up_seconds)


def measure(options, case, variant, number, saturation_per_s):
    """The curve of one variant in one round, or why there is none as `unusable`; and its answers, for comparison with other variants'. The open loop's loads are
    shares of the saturation, of this round if none is given."""
    found = {"case": case["name"], "variant": variant, "arrivals": options.arrivals}
    print(f"{case['name']}/{variant}, round {number}", flush=True)
    with server.running(options, case, variant) as service:
        paths = programs.requests(case)
        clients.write_requests(options.folder, service.port, paths)
        service.settles_by = paths[0]
        answers = {path: server.ask(service.port, path) for path in sorted(set(paths))}
        warm_up(options, service)
        try:
            found["closed"] = closed_curve(options, service)
            saturation_per_s = saturation_per_s or rounds.saturation_of(found["closed"])["requests_per_s"]
            found["points"] = open_curve(options, service, saturation_per_s, number)
            rounds.with_sums(found)
            if found["p99_doubles_at"]:
                print(f"    p99 doubles at {found['p99_doubles_at']:.0f} requests/s ({found['p99_doubles_interval']})", flush=True)
        except Unusable as unusable:
            found["unusable"] = str(unusable)
            print(f"    unusable: {unusable}", flush=True)
    return found, answers


def write_whole(path, document):
    """So that an interrupted command leaves no half of it."""
    beginning = path.with_suffix(".part")
    beginning.write_text(json.dumps(document))
    beginning.rename(path)


def curve(options, case, variant, number, saturation_per_s):
    """The measured curve of a variant in one round, with sums of its answers: from --keep, if it is there; None if it may not be measured."""
    path = options.keep and options.keep / f"{case['name']}-{variant}{'' if number == 1 else f'-{number}'}.json"
    if path and path.exists():
        return json.loads(path.read_text())
    if options.kept:
        print(f"left out: {case['name']}/{variant}, round {number}: it is not in --keep", flush=True)
        return None
    found, answers = measure(options, case, variant, number, saturation_per_s)
    found["answers"] = {path: hashlib.sha256(answer).hexdigest() for path, answer in answers.items()}
    found["machine"] = machine.words()
    if path and "unusable" not in found:
        write_whole(path, found)
    return found


def trace_of(options, case, load):
    plain = "-plain" if options.no_warm else ""
    return options.record / f"{case['name']}-{load}{plain}.cft"


def record(options, case, base):
    """The base, recorded at one moderate open load, and apart from that in a saturating closed loop: the clients' figures of both, as far as they
    are recorded now or were kept with the recordings."""
    saturation = base["saturation"]
    loads = {  # no other load is in a recording than the one that it is of
        "open": lambda _: open_loop(options, RECORDED_LOAD * saturation["requests_per_s"], 1),
        "closed": lambda service: clients.closed_loop(options.folder, service.port, options.client_core, saturation["connections"], options.seconds)}
    if case.get("locks"):  # once more, with the critical sections of the locks that the first recording shows
        loads["locks"] = loads["open"]
    found = {}
    for name, load in loads.items():
        trace = trace_of(options, case, name)
        figures = trace.with_suffix(".json")
        if not trace.exists() and not options.kept:
            write_whole(figures, record_one(options, case, name, load, trace))
            print(f"    recorded, {name}: {figures.read_text()}", flush=True)
        if figures.exists():
            found[name] = json.loads(figures.read_text())
    return found


def record_one(options, case, name, load, trace):
    """Again, up to three times, while others had more than --foreign-max of the cores; the last one is kept all the same, with that share."""
    for attempt in range(1, ATTEMPTS_MAX + 1):
        found = record_once(options, case, name, load, trace)
        if found["foreign_share"] <= options.foreign_max:
            break
        print(f"    recorded, {name}, attempt {attempt}: others had {100 * found['foreign_share']:.0f} % of a core", flush=True)
    return found


def record_once(options, case, name, load, trace):
    """In a folder of its own: what an interrupted recording leaves is never taken for a part of another one."""
    with tempfile.TemporaryDirectory(prefix=f"{trace.stem}-", dir=trace.parent) as folder:
        part = pathlib.Path(folder) / trace.name
        found = record_into(options, case, name, load, part)
        if case.get("processes"):
            part = joined(options, case, part)
        part.rename(trace)
    return found | {"trace_bytes": trace.stat().st_size}


def record_into(options, case, name, load, trace):
    more = ["--classes-from", trace_of(options, case, "open")] if name == "locks" else ["--children"] if case.get("processes") else []
    warm = [] if options.no_warm else ["--warm"]
    with server.running(options, case, "base", [options.contrafact, "record", "-q", *warm, *more, "-o", trace, "--"]) as service:
        clients.write_requests(options.folder, service.port, programs.requests(case))
        load(service)  # warms it up
        server.settle(service.port, programs.requests(case)[0])
        with server.Watched(service, options.server_core, options.client_core) as watched:
            found = load(service)
        found["foreign_share"] = watched.foreign
        found.pop("answers_ms", None)
        service.stop()
    if not trace.exists():
        raise clients.Failure(f"{case['name']}: no recording: {service.errors()}")
    return found


def joined(options, case, trace):
    """One trace of the recordings of all its processes, of which `trace` is the first."""
    whole = trace.with_name("joined.cft")
    parts = [trace, *sorted(trace.parent.glob(f"{trace.stem}.[0-9]*{trace.suffix}"))]
    done = subprocess.run([options.contrafact, "join", "-o", whole, *parts], capture_output=True, text=True, timeout=RECORD_LIMIT_S)
    if done.returncode != 0:
        raise clients.Failure(f"{case['name']}: contrafact join ended with {done.returncode}: {done.stderr.strip()[:400]}")
    return whole


def asked(options, case, *words):
    """What a command of contrafact says as JSON."""
    done = subprocess.run([options.contrafact, *words, "--json", "-q"], capture_output=True, text=True, timeout=RECORD_LIMIT_S)
    if done.returncode != 0:
        raise clients.Failure(f"{case['name']}: contrafact {words[0]} ended with {done.returncode}: {done.stderr.strip()[:400]}")
    return json.loads(done.stdout)


def spec_of(case, variant):
    """The change of a variant as an improvement spec, or None: cases.json says why there is none."""
    path = programs.HERE / "specs" / f"{case['name']}-{variant}.json"
    return path if path.exists() else None


def predict(options, case, trace):
    """By variant, the curve that `contrafact load` has of it: all from the recording of the base."""
    found = {}
    for variant in ["base", *case["variants"]]:
        spec = spec_of(case, variant)
        if variant != "base" and not spec:
            continue
        document = asked(options, case, "load", trace, "--arrivals", "open", *(["--apply", spec] if spec else []))
        found[variant] = comparison.curve_of(document, -1 if spec else 0)
    return found


def advise(options, case, trace):
    """The changes that `contrafact advise` would make together, the first one first, as specs, and what it promises."""
    with tempfile.TemporaryDirectory() as folder:
        document = asked(options, case, "advise", trace, "--specs", folder)
        service = document["service"]
        specs = []
        for number in range(1, len(service["best"]) + 1):
            path = next(pathlib.Path(folder).glob(f"{number:02d}-*.json"), None) or next(pathlib.Path(folder).glob(f"{number}-*.json"), None)
            specs += json.loads(path.read_text())["improvements"] if path else []
    return {"changes": specs, "before_per_s": service["before"]["per_s"], "after_per_s": service["after"]["per_s"]}


def check_answers(case, measured):
    """Answers of two variants that differ are a Failure."""
    for one in measured[1:]:
        expected, answers = measured[0]["answers"], one["answers"]
        if answers != expected:
            path = next((path for path in answers if answers[path] != expected.get(path)), "fewer paths")
            raise clients.Failure(f"{case['name']}/{one['variant']} answers {path} otherwise than {measured[0]['variant']}")


def measure_round(options, case, number, found, before):
    """One round of a service: its variants' curves, in `before` by variant with those of earlier rounds; after the first also the base's recordings and what is
    predicted from them."""
    for variant in ["base", *case["variants"]]:
        if options.variant and variant not in options.variant:
            continue
        of_variant = before.setdefault(variant, [])
        first = next((one["saturation"]["requests_per_s"] for one in of_variant if "unusable" not in one), None)
        if one := curve(options, case, variant, number, first):
            of_variant.append(one)
    check_answers(case, [one for of_variant in before.values() for one in of_variant])
    found["measured"] = [rounds.merged(of_variant) for of_variant in before.values() if of_variant]
    base = next((one for one in found["measured"] if one["variant"] == "base" and "unusable" not in one), None)
    if base and options.record and "recorded" not in found:
        analyse(options, case, base, found)


def analyse(options, case, base, found):
    found["recorded"] = record(options, case, base)
    trace = trace_of(options, case, "locks" if case.get("locks") else "open")
    if not trace.exists():
        print(f"left out: {case['name']}: {trace.name} is not in --record", flush=True)
        return
    if options.predict:
        found["predicted"] = predict(options, case, trace)
    if options.advise:
        found["advised"] = advise(options, case, trace)


def comparisons(cases, found):
    compared = []
    for case in cases:
        of_case = found.get(case["name"], {})
        for measured in of_case.get("measured", []):
            variant = measured["variant"]
            if variant in of_case.get("predicted", {}) and "unusable" not in measured:
                compared.append(comparison.Compared(f"{case['name']}/{variant}", measured, of_case["predicted"][variant],
                                                    case["limited_by"][variant], alone=variant == "base"))
    return compared


def ranking_faults(cases, found):
    """Of each service whose twins were predicted, the fault of their order, or None."""
    for case in cases:
        predicted = found[case["name"]].get("predicted", {})
        if len(predicted) > 1:
            base = predicted["base"]["saturation"]["requests_per_s"]
            gains = {variant: curve["saturation"]["requests_per_s"] / base for variant, curve in predicted.items() if variant != "base"}
            yield comparison.ranking_fault(case["name"], comparison.best_of(case), gains)


def advice_faults(cases, found):
    """Of each service that was advised on, the fault of what is advised first, or None."""
    for case in cases:
        advised = found[case["name"]].get("advised")
        if advised is None:
            continue
        best = comparison.best_of(case)
        specs = [spec for variant in best if (spec := spec_of(case, variant))]
        if best and not specs:
            continue
        wanted = [change for spec in specs for change in json.loads(spec.read_text())["improvements"]]
        fault = comparison.advice_fault(case["name"], advised["changes"], wanted)
        print(f"{case['name']}: advised {[change['optimisation'] for change in advised['changes']]}: {fault or 'as it should be'}")
        yield fault


def command_of(options):
    """The command without the machine's folders, as documents show it."""
    words = ["python3 test/truth_services/truth.py build/release/bin/contrafact build/release --java-21 JAVA"]
    words += [f"--case {name}" for name in options.case or []] + [f"--variant {name}" for name in options.variant or []]
    words.append(f"--seconds {options.seconds} --repeats {options.repeats} --requests {options.requests}")
    words += [f"--loads {' '.join(map(str, options.loads))}"] if tuple(options.loads) != LOADS else []
    words += [f"--{name.replace('_', '-')}" for name in ("predict", "advise", "no_warm", "beside", "no_avx512") if getattr(options, name)]
    return " ".join(words)


def machines_of(found):
    """Where the curves were measured: kept ones may be another machine's."""
    return "; ".join(sorted({one.get("machine") or machine.words() for of_case in found.values() for one in of_case.get("measured", [])}))


def report(options, cases, found):
    """Prints all, and writes --markdown. What fails the run, as texts."""
    usable = [case for case in cases if found[case["name"]].get("measured") and not any("unusable" in one for one in found[case["name"]]["measured"])]
    compared = comparisons(cases, found)
    rankings, advice = list(ranking_faults(cases, found)), list(advice_faults(cases, found))
    measurements, predictions = tables.measured_table(cases, found), tables.predicted_table(cases, found)
    sentences = list(comparison.summary_of(compared))
    for what, faults in (("The change that helps most is predicted to do so", rankings), ("What is advised first is a part of such a change", advice)):
        if faults:
            sentences.append(f"{what} in {sum(fault is None for fault in faults)} of {len(faults)} services.")
    beyond = [*comparison.beyond_aims(compared), *[fault for fault in rankings + advice if fault]]
    print("\n".join([*measurements, *predictions, *sentences, *[f"beyond an aim: {text}" for text in beyond]]))
    if options.markdown:
        processes = f"Medians of {options.repeats} processes of each variant." if options.repeats > 1 else "One process of each variant."
        text = tables.document(command_of(options), machines_of(found), processes, sentences, predictions, measurements)
        tables.write_section(options.markdown, "services", text)
    if options.quick:
        quiet = [one for one in compared if max(run["foreign_share"] for point in one.measured["closed"] for run in point["runs"]) <= QUICK_FOREIGN_MAX]
        return [*missing_predictions(options, cases, found), *comparison.faults_of_all(quiet, QUICK_HELD)]
    if len(usable) < min(USABLE_MIN, len(options.case or programs.all_cases(None))):
        shortest_run.not_measured(f"others had too much of the cores: only {len(usable)} services were measured")
    whole = [case for case in usable if len(found[case["name"]]["measured"]) == 1 + len(case["variants"])]
    faults = [fault for case in whole
              for fault in comparison.faults_of_case(case, {one["variant"]: one["saturation"]["requests_per_s"] for one in found[case["name"]]["measured"]})]
    faults += comparison.faults_of_all(compared)
    for what, of_services in (("ranked first", rankings), ("advised first", advice)):
        if fault := comparison.fault_of_right(what, [one is None for one in of_services]):
            faults.append(fault)
    return faults + missing_predictions(options, cases, found)


def missing_predictions(options, cases, found):
    """Of services whose base was measured, what was asked for and is not there."""
    if options.kept:
        return []
    wanted = [what for asked_for, what in ((options.predict, "predicted"), (options.advise, "advised")) if asked_for]
    return [f"{case['name']}: nothing is {what}" for case in cases for what in wanted
            if what not in found[case["name"]] and any(one["variant"] == "base" and "unusable" not in one for one in found[case["name"]].get("measured", []))]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--case", action="append")
    parser.add_argument("--variant", action="append")
    parser.add_argument("--seconds", type=int, default=10, help="of a closed loop, and of an open one at least")
    parser.add_argument("--repeats", type=int, default=3, help="rounds, each of new processes")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--java", default="java")
    parser.add_argument("--java-21", help="a later one, for services that need it")
    parser.add_argument("--requests", type=int, default=3000, help="of an open loop, at least, if that takes a minute at most")
    parser.add_argument("--arrivals", choices=["random", "even"], default="random")
    parser.add_argument("--foreign-max", type=float, default=0.05)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path, help="a new file, or docs/accuracy.md, of which it rewrites the section")
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--advise", action="store_true")
    parser.add_argument("--loads", type=float, nargs="+", help="of the open loop, as shares of the saturation")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--beside", action="store_true", help="a program that computes all the time shares the server's core")
    parser.add_argument("--no-avx512", action="store_true")
    parser.add_argument("--no-warm", action="store_true", help="recordings are made without --warm")
    parser.add_argument("--kept", action="store_true", help="nothing is measured or recorded: what is not kept is left out")
    options = parser.parse_args()
    if options.kept and not options.keep:
        parser.error("--kept needs --keep FOLDER")
    if options.beside:
        options.foreign_max = max(options.foreign_max, 1.0)
    options.contrafact, options.build = options.contrafact.resolve(), options.build.resolve()
    if options.quick:
        options.seconds, options.requests, options.repeats, options.foreign_max = 2, 100, 1, 1.0
    options.loads = QUICK_LOADS if options.quick else options.loads or LOADS
    options.warm_up_seconds = 2 if options.quick else 15
    return options


def why_not(options):
    """Why nothing can be measured here, or ""."""
    options.server_core, options.client_core = programs.cores() or (None, None)
    if options.kept:
        return ""
    if options.server_core is None:
        return "server and client need a core each, and there is one"
    if why := clients.missing():
        return why
    try:
        options.open_loop = clients.build_open_loop(options.build / "truth_services")
    except clients.Unavailable as unavailable:
        return str(unavailable)
    return ""


def measure_all(options, cases):
    """By service: measured, recorded, predicted, advised."""
    found, before = {case["name"]: {} for case in cases}, {case["name"]: {} for case in cases}
    for number in range(1, options.repeats + 1):
        for case in cases:
            measure_round(options, case, number, found[case["name"]], before[case["name"]])
            if options.json:
                options.json.write_text(json.dumps({"machine": machine.words(), "cases": found}, indent=1))
    return found


def main():
    options = parse()
    services.end_with_this_process()
    cases = programs.all_cases(options.case)
    if not options.kept:
        cases = programs.that_can_be_run(options, cases)
    with tempfile.TemporaryDirectory() as folder:
        options.folder = pathlib.Path(folder)
        if (options.predict or options.advise) and not options.record:
            options.record = options.folder / "recorded"  # of this tool, by this command
        for name in ("record", "keep"):
            if kept := getattr(options, name):
                setattr(options, name, kept.resolve())
                kept.mkdir(parents=True, exist_ok=True)
        try:
            if why := why_not(options):
                shortest_run.not_measured(why)
            found = measure_all(options, cases)
            faults = report(options, cases, found)
        except (clients.Failure, services.Ended) as failure:
            sys.exit(f"truth: {failure}")
    print("\n".join(f"beyond a limit: {fault}" for fault in faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
