#!/usr/bin/env python3
"""usage: truth.py CONTRAFACT BUILD [--case NAME]... [--variant NAME]... [--seconds S] [--repeats N] [--quick] [--java JAVA]
                [--java-21 JAVA] [--requests N] [--arrivals random|even] [--loads SHARE...] [--foreign-max SHARE] [--json FILE] [--markdown FILE]
                [--beside] [--no-avx512] [--keep FOLDER] [--record FOLDER [--predict] [--advise]]

What services can take, and what their clients feel, before and after a change that was really made. Each service of cases.json is one
program that is told which variant to be; all variants give the same answers. Server and client have a core each. After a
warm-up, a closed loop (wrk) gets 1, 2, 4, 8, ... connections until the throughput grows no more: the saturation is what it is then, the median
of --repeats. Then an open loop (Vegeta) runs at shares of that, each --repeats times for --seconds, or longer for --requests. Percentiles are the
clients' own. A measurement during which others had more than --foreign-max of the server's or the client's core is made again, up to three times as
often as asked for; what is still disturbed then makes the variant unusable.

--record leaves in FOLDER the recordings NAME-open.cft, made under an open loop at 0.3 of the base's saturation, and NAME-closed.cft, under a closed
loop with as many connections as saturate it; what is there already is taken as it is. --predict has `contrafact load` predict the curves from the
first: the base's, and by --apply with the spec that specs/ has of it each variant's. comparison.py has the limits. --advise asks `contrafact advise`
what to change, and compares that with the variant that helps most. --keep reads each variant's measured curve from FOLDER, and measures and keeps it
where there is none: one command for each variant measures them one by one. --quick: short runs, few loads, and no figures: that everything fits together.

Exit status 1 if a limit is exceeded, answers differ, or a change helps otherwise than cases.json says; 77 (not measured) where there are no
two cores, a client is missing, or fewer than USABLE_MIN services could be measured."""
import argparse
import hashlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import clients
import comparison
import intervals
import programs
import server  # has put the folder of what the truth tests share on the path
import machine
import services
import shortest_run

CONNECTIONS_MAX = 256
GROWS_BY = 1.02  # at least, when connections are doubled; else it grows no more
LOADS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
QUICK_LOADS = (0.3, 0.7)
RECORDED_LOAD = 0.3
OPEN_SECONDS_MAX = 60
USABLE_MIN = 8  # services, if not fewer are asked for
ATTEMPTS_MAX = 3  # times as many as asked for
WARM_UP_CONNECTIONS = 16
RECORD_LIMIT_S = 600


class Unusable(Exception):
    """A variant whose figures nobody could tell from others' load."""


def undisturbed(options, service, measure, repeats):
    """So many measurements (figures of a client) during which others had little of both cores."""
    found, disturbed = [], 0.0
    for attempt in range(ATTEMPTS_MAX * repeats):
        server.settle(service.port, service.settles_by)
        with server.Watched(service, options.server_core, options.client_core) as watched:
            figures = measure(attempt)
        figures |= {"server_share": watched.server, "client_share": watched.client, "foreign_share": watched.foreign}
        if watched.foreign <= options.foreign_max:
            found.append(figures)
        disturbed = max(disturbed, watched.foreign)
        if len(found) == repeats:
            return found
    raise Unusable(f"others had up to {100 * disturbed:.0f} % of a core")


def middle(runs, **more):
    """The medians of what clients said, and what each run said."""
    return {**more, **{key: statistics.median(run[key] for run in runs) for key in runs[0]}, "runs": runs}


def spread(runs, key):
    return min(run[key] for run in runs), max(run[key] for run in runs)


def closed_curve(options, service):
    """Points of 1, 2, 4, ... connections until throughput grows no more."""
    points = []
    connections = 1
    while connections <= CONNECTIONS_MAX:
        runs = undisturbed(options, service, lambda _: clients.closed_loop(options.folder, service.port, options.client_core, connections, options.seconds),
                           options.repeats)
        points.append(middle(runs, connections=connections))
        print(f"    {connections} connections: {words(points[-1])}", flush=True)
        if len(points) >= 3 and max(point["requests_per_s"] for point in points[-2:]) < GROWS_BY * points[-3]["requests_per_s"]:
            break
        connections *= 2
    return points


def saturation_of(points):
    """Of all runs with as many connections as give the most, nearly: the greatest median alone would be that of the luckiest."""
    enough = max(point["requests_per_s"] for point in points) / GROWS_BY
    plateau = [point for point in points if point["requests_per_s"] >= enough]
    runs = [run for point in plateau for run in point["runs"]]
    low, high = spread(runs, "requests_per_s")
    return {"requests_per_s": statistics.median(run["requests_per_s"] for run in runs), "low": low, "high": high,
            "connections": plateau[0]["connections"]}


def open_loop(options, rate, seed):
    seconds = max(options.seconds, min(OPEN_SECONDS_MAX, options.requests / rate))
    return clients.open_loop(options.open_loop, options.folder, options.client_core, rate, seconds, seed, options.arrivals)


def open_curve(options, service, saturation_per_s):
    points = []
    for load in options.loads:
        rate = load * saturation_per_s
        runs = undisturbed(options, service, lambda attempt: open_loop(options, rate, attempt + 1), options.repeats)
        answers_ms = [ms for run in runs for ms in run.pop("answers_ms")]
        drawn = intervals.draws(answers_ms, (0.5, 0.99))
        points.append(middle(runs, load=load, p50_draws_ms=drawn[0.5], p99_draws_ms=drawn[0.99]))
        print(f"    {load} of saturation, {rate:.0f} a second: {words(points[-1])}", flush=True)
    return points


def words(point):
    def with_spread(key, digits):
        low, high = spread(point["runs"], key)
        return f"{point[key]:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
    return (f"{with_spread('requests_per_s', 1)} requests/s, p50 {with_spread('p50_ms', 2)} ms, p99 {with_spread('p99_ms', 2)} ms, "
            f"its core {100 * point['server_share']:.0f} %, the client's {100 * point['client_share']:.0f} %, others {100 * point['foreign_share']:.0f} %")


def warm_up(options, service):
    clients.closed_loop(options.folder, service.port, options.client_core, WARM_UP_CONNECTIONS, options.warm_up_seconds)


def measure(options, case, variant):
    """The curve of one variant, or why there is none as `unusable`; and its answers, for comparison with other variants'."""
    found = {"case": case["name"], "variant": variant, "arrivals": options.arrivals}
    print(f"{case['name']}/{variant}", flush=True)
    with server.running(options, case, variant) as service:
        paths = programs.requests(case)
        clients.write_requests(options.folder, service.port, paths)
        service.settles_by = paths[0]
        answers = {path: server.ask(service.port, path) for path in sorted(set(paths))}
        warm_up(options, service)
        try:
            found["closed"] = closed_curve(options, service)
            found["saturation"] = saturation_of(found["closed"])
            found["points"] = open_curve(options, service, found["saturation"]["requests_per_s"])
            found["p99_doubles_at"] = comparison.doubles_at(found["points"], found["points"][0]["offered_per_s"])
            found["p99_doubles_interval"] = comparison.doubling_interval(found["points"])
            if found["p99_doubles_at"]:
                print(f"    p99 doubles at {found['p99_doubles_at']:.0f} requests/s ({found['p99_doubles_interval']})", flush=True)
        except Unusable as unusable:
            found["unusable"] = str(unusable)
            print(f"    unusable: {unusable}", flush=True)
    return found, answers


def kept_curve(options, case, variant):
    """The measured curve of a variant, and a sum of its answers; from --keep, if it is there."""
    path = options.keep and options.keep / f"{case['name']}-{variant}.json"
    if path and path.exists():
        return json.loads(path.read_text())
    found, answers = measure(options, case, variant)
    found["answers"] = {path: hashlib.sha256(answer).hexdigest() for path, answer in answers.items()}
    found["machine"] = machine.words()
    if path and "unusable" not in found:
        path.write_text(json.dumps(found))
    return found


def record(options, case, base):
    """The base, recorded at one moderate open load, and apart from that in a saturating closed loop: the clients' figures of both."""
    saturation = base["saturation"]
    loads = {  # no other load is in a recording than the one that it is of
        "open": lambda _: open_loop(options, RECORDED_LOAD * saturation["requests_per_s"], 1),
        "closed": lambda service: clients.closed_loop(options.folder, service.port, options.client_core, saturation["connections"], options.seconds)}
    if case.get("locks"):  # once more, with the critical sections of the locks that the first recording shows
        loads["locks"] = loads["open"]
    found = {}
    for name, load in loads.items():
        trace = options.record / f"{case['name']}-{name}.cft"
        if trace.exists():
            continue
        more = ["--classes-from", options.record / f"{case['name']}-open.cft"] if name == "locks" else []
        warm = [] if case["runs"] == "native" else ["--warm"]
        with server.running(options, case, "base", [options.contrafact, "record", "-q", *warm, *more, "-o", trace, "--"]) as service:
            clients.write_requests(options.folder, service.port, programs.requests(case))
            load(service)  # warms it up
            server.settle(service.port, programs.requests(case)[0])
            with server.Watched(service, options.server_core, options.client_core) as watched:
                found[name] = load(service)
            found[name]["server_share"] = watched.server
            found[name].pop("answers_ms", None)
            service.stop()
        if not trace.exists():
            raise clients.Failure(f"{case['name']}: no recording: {service.errors()}")
        found[name]["trace_bytes"] = trace.stat().st_size
        print(f"    recorded, {name}: {found[name]}", flush=True)
    return found


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


def truth_of(options, case):
    """All variants' curves, the base's recordings and what was predicted from them; answers that differ are a Failure."""
    measured, expected = {}, None
    for variant in ["base", *case["variants"]]:
        if options.variant and variant not in options.variant:
            continue
        measured[variant] = kept_curve(options, case, variant)
        answers = measured[variant]["answers"]
        if expected is not None and answers != expected:
            path = next(path for path in answers if answers[path] != expected[path])
            raise clients.Failure(f"{case['name']}/{variant} answers {path} with {answers[path]!r}, others with {expected[path]!r}")
        expected = answers
    found = {"measured": list(measured.values())}
    base = measured.get("base")
    if options.record and base and "unusable" not in base:
        found["recorded"] = record(options, case, base)
        trace = options.record / f"{case['name']}-{'locks' if case.get('locks') else 'open'}.cft"
        if options.predict:
            found["predicted"] = predict(options, case, trace)
        if options.advise:
            found["advised"] = advise(options, case, trace)
    return found


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


HEAD = ["| service | variant | saturation, requests/s | connections | server's core | p50, p99 at 0.3, ms | at 0.5 | at 0.7 | at 0.9 | p99 doubles at |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"]


def row(one):
    if "unusable" in one:
        return f"| `{one['case']}` | {one['variant']} | unusable: {one['unusable']} | | | | | | | |"
    top, at = one["saturation"], {point["load"]: point for point in one["points"]}
    share = max(point["server_share"] for point in one["closed"])
    cells = [f"{at[load]['p50_ms']:.2f}, {at[load]['p99_ms']:.2f}" if load in at else "" for load in (0.3, 0.5, 0.7, 0.9)]
    doubles = f"{one['p99_doubles_at'] / top['requests_per_s']:.2f}" if one["p99_doubles_at"] else "nowhere"
    return (f"| `{one['case']}` | {one['variant']} | {top['requests_per_s']:.0f} ({top['low']:.0f} to {top['high']:.0f}) | {top['connections']} | "
            f"{100 * share:.0f} % | {' | '.join(cells)} | {doubles} |")


PREDICTED_HEAD = ["| service | variant | limited by, really and predicted | saturation, requests/s: measured | predicted | off | times the base: measured, predicted "
                  "| p50 at 0.3, 0.5, 0.7: off | p99: off (measured to within) | p99 doubles at: measured, predicted |", "|---|---|---|--:|--:|--:|--:|---|---|---|"]


def share_text(share):
    return "none" if share is None else f"{100 * share:+.0f} %"


def half_interval(point):
    """Half of the width of the interval of a measured p99, as a share of it; None if it is not known."""
    if "p99_draws_ms" not in point:
        return None
    low, high = intervals.interval(point["p99_draws_ms"])
    return (high - low) / 2 / point["p99_ms"]


def predicted_row(case, variant, found):
    measured = next(one for one in found["measured"] if one["variant"] == variant)
    base = next(one for one in found["measured"] if one["variant"] == "base")
    top, predicted = measured["saturation"], found["predicted"].get(variant)
    if not predicted:
        return f"| `{case['name']}` | {variant} | {case['limited_by'][variant]} | {top['requests_per_s']:.0f} | no spec: {case.get('no_spec', {}).get(variant, '')} | | | | | |"
    one = comparison.Compared("", measured, predicted)
    errors = one.errors()
    within = {point["load"]: half_interval(point) for point in one.points()}
    p99 = ", ".join(f"{share_text(errors['p99', load])} (±{100 * (within[load] or 0):.0f} %)" for load in comparison.COMPARED_LOADS if ("p99", load) in errors)
    p50 = ", ".join(share_text(errors["p50", load]) for load in comparison.COMPARED_LOADS if ("p50", load) in errors)
    doubles = ", ".join("nowhere" if rate is None else f"{rate:.0f}" for rate in one.doubling())
    interval = measured.get("p99_doubles_interval")
    if interval:
        doubles += f" ({' to '.join('...' if bound is None else f'{bound:.0f}' for bound in interval)})"
    times = (f"{top['requests_per_s'] / base['saturation']['requests_per_s']:.2f}, "
             f"{predicted['saturation']['requests_per_s'] / found['predicted']['base']['saturation']['requests_per_s']:.2f}")
    return (f"| `{case['name']}` | {variant} | {case['limited_by'][variant]}, {predicted['saturation']['limited_by'] or 'nothing'} | "
            f"{top['requests_per_s']:.0f} ({top['low']:.0f} to {top['high']:.0f}) | {predicted['saturation']['requests_per_s']:.0f} | "
            f"{100 * one.saturation_error():+.1f} % | {'' if variant == 'base' else times} | {p50} | {p99} | {doubles} |")


def predicted_table(cases, found):
    rows = [predicted_row(case, one["variant"], found[case["name"]]) for case in cases if "predicted" in found.get(case["name"], {})
            for one in found[case["name"]]["measured"] if "unusable" not in one]
    return [*PREDICTED_HEAD, *rows] if rows else []


def advice_faults(cases, found):
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
        if fault:
            yield fault


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--case", action="append")
    parser.add_argument("--variant", action="append")
    parser.add_argument("--seconds", type=int, default=10, help="of a closed loop, and of an open one at least")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--java", default="java")
    parser.add_argument("--java-21", help="a later one, for services that need it")
    parser.add_argument("--requests", type=int, default=3000, help="of an open loop, at least, if that takes a minute at most")
    parser.add_argument("--arrivals", choices=["random", "even"], default="random")
    parser.add_argument("--foreign-max", type=float, default=0.05)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--advise", action="store_true")
    parser.add_argument("--loads", type=float, nargs="+", help="of the open loop, as shares of the saturation")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--beside", action="store_true", help="a program that computes all the time shares the server's core")
    parser.add_argument("--no-avx512", action="store_true")
    options = parser.parse_args()
    if options.beside:
        options.foreign_max = max(options.foreign_max, 1.0)
    options.contrafact, options.build = options.contrafact.resolve(), options.build.resolve()
    if options.quick:
        options.seconds, options.requests, options.repeats, options.foreign_max = 2, 100, 1, 1.0
    options.loads = QUICK_LOADS if options.quick else options.loads or LOADS
    options.warm_up_seconds = 2 if options.quick else 15
    return options


def main():
    options = parse()
    cores = programs.cores()
    why = clients.missing() or ("" if cores else "server and client need a core each, and there is one")
    if why:
        shortest_run.not_measured(why)
    options.server_core, options.client_core = cores
    services.end_with_this_process()
    cases, found = programs.that_can_be_run(options, programs.all_cases(options.case)), {}
    for name in ("record", "keep"):
        if folder := getattr(options, name):
            setattr(options, name, folder.resolve())
            folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        options.folder = pathlib.Path(folder)
        try:
            options.open_loop = clients.build_open_loop(options.build / "truth_services")
        except clients.Unavailable as unavailable:
            shortest_run.not_measured(str(unavailable))
        try:
            for case in cases:
                found[case["name"]] = truth_of(options, case)
                if options.json:
                    options.json.write_text(json.dumps({"machine": machine.words(), "cases": found}, indent=1))
        except (clients.Failure, services.Ended) as failure:
            sys.exit(f"truth: {failure}")
    table = [*HEAD, *[row(one) for case in cases for one in found[case["name"]]["measured"]]]
    print("\n".join(table))
    predictions = predicted_table(cases, found)
    print("\n".join(predictions))
    if options.markdown:
        options.markdown.write_text(f"Made by `python3 test/truth_services/truth.py build/release/bin/contrafact build/release --seconds {options.seconds} --repeats {options.repeats}` on\n"
                                    f"{machine.words()}; medians, with the least and the greatest.\n\n" + "\n".join([*table, "", *predictions]) + "\n")
    if options.quick:
        return
    usable = [case for case in cases if not any("unusable" in one for one in found[case["name"]]["measured"])]
    if len(usable) < min(USABLE_MIN, len(options.case or programs.all_cases(None))):
        shortest_run.not_measured(f"others had too much of the cores: only {len(usable)} services were measured")
    faults = [fault for case in usable if not options.variant
              for fault in comparison.faults_of_case(case, {one["variant"]: one["saturation"]["requests_per_s"] for one in found[case["name"]]["measured"]})]
    faults += comparison.faults_of_all(comparisons(usable, found))
    faults += advice_faults(usable, found)
    print("\n".join(f"beyond a limit: {fault}" for fault in faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
