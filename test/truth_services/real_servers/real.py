#!/usr/bin/env python3
"""usage: real.py CONTRAFACT BUILD [--server NAME]... [--seconds S] [--repeats N] [--requests N] [--quick] [--foreign-max SHARE] [--json FILE]
                [--record FOLDER] [--predict] [--from FILE] [--markdown FILE]

Servers that nobody here wrote (servers.py), as they are: what each can take and what its clients feel, measured without a recorder; and what
`contrafact load` says from one recording at 0.3 of that. Server and client have a core each. Saturation is by the server's own or a well-known client with 1, 4, 16, ... connections;
percentiles are by an open loop with requests at random: paced.cc, or Vegeta of a server that speaks HTTP. To the predicted ones comes the way: what the median
client felt beside the server's own time while it was recorded. --record, and --predict without it, also measure what recording costs at saturation: throughput recorded
and not, in turn.

--from: no measuring; the figures of an earlier run (--json) and its recordings, predicted anew. --quick: short, few loads, and no medians: that all of
it fits together. Exit status 1 if a client or server failed, or predictions are beyond HELD; 77 (not measured) where there are no two cores or nothing is installed."""
import argparse
import contextlib
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import servers  # has put the folder above on the path
import clients
import comparison
import programs
import rounds
import server as watched
import machine
import services
import shortest_run
import tables
import truth

CONNECTIONS = (1, 4, 16, 64)
LOADS = (0.3, 0.5, 0.7, 0.8, 0.9)
RECORDED_LOAD = 0.3
PACED_CONNECTIONS = 32
PREDICT_LIMIT_S = 900
# What is held of predictions, by comparison.py: what was reached, with some room. p99 is that of a few stops of the machine here (docs/accuracy.md).
HELD = {"saturation": comparison.Held(0.20, 0.0, 0.45), "p50": comparison.Held(0.35, 0.0)}
QUICK_HELD = {"saturation": comparison.Held(math.inf, 0.0, 0.7)}
CLIENT_SHARE_MIN, SERVER_SHARE_MAX = 0.94, 0.9  # of their cores at saturation: what then limits is the client, of which nothing is predicted


@contextlib.contextmanager
def running(options, one, recorder=()):
    port = services.free_port()
    words = ["taskset", "-c", options.server_core, *recorder, *one.command(options.folder, port)]
    with services.Service(words, folder=options.folder) as service:
        service.wait_for_port(port)
        service.port = port
        one.fill(port)
        yield service


def measured(options, service, measure):
    """The clients' figures, of the least disturbed of up to three tries, with the shares of both cores."""
    best = None
    for _ in range(truth.ATTEMPTS_MAX):
        with watched.Watched(service, options.server_core, options.client_core) as shares:
            figures = measure()
        figures |= {"server_share": shares.server, "client_share": shares.client, "foreign_share": shares.foreign}
        if best is None or figures["foreign_share"] < best["foreign_share"]:
            best = figures
        if best["foreign_share"] <= options.foreign_max:
            break
    return best


def paced(options, one, service, rate):
    seconds = max(options.seconds, min(truth.OPEN_SECONDS_MAX, options.requests / rate))
    requests = one.write_requests(options.folder, service.port)
    if one.protocol == "http":
        found = clients.open_loop(options.open_loop, options.folder, options.client_core, rate, seconds, 1)
        found.pop("answers_ms")
        return found
    words = [options.build / "bin" / "truth_services_paced", one.protocol, service.port, f"{rate:.3f}", f"{seconds:.2f}", 1, PACED_CONNECTIONS, requests]
    return json.loads(clients.run(words, options.client_core, seconds))


def words_of(point):
    percentiles = f", p50 {point['p50_ms']:.3f} ms, p99 {point['p99_ms']:.3f} ms" if "p99_ms" in point else ""
    return (f"{point['requests_per_s']:.0f} requests/s{percentiles}, its core {100 * point['server_share']:.0f} %, the client's {100 * point['client_share']:.0f} %, "
            f"others {100 * point['foreign_share']:.0f} %")


def saturated(options, one, service, connections):
    return measured(options, service, lambda: one.saturate(options.folder, service.port, options.client_core, connections, options.seconds))


def closed_curve(options, one, service):
    points = []
    for connections in CONNECTIONS:
        runs = [saturated(options, one, service, connections) for _ in range(options.repeats)]
        points.append({"connections": connections, "requests_per_s": statistics.median(run["requests_per_s"] for run in runs), "runs": runs})
        print(f"    {connections} connections: {words_of({**runs[0], **points[-1]})}", flush=True)
    return points


def warm_up(options, one, service):
    seconds = max(options.seconds, one.warm_up_s // 3 if options.quick else one.warm_up_s)
    one.saturate(options.folder, service.port, options.client_core, CONNECTIONS[-2], seconds)


def measure(options, name, one):
    print(name, flush=True)
    found = {"server": name}
    with running(options, one) as service:
        warm_up(options, one, service)
        found["closed"] = closed_curve(options, one, service)
        found["saturation"] = rounds.saturation_of(found["closed"])
        found["points"] = []
        for load in options.loads:
            rate = load * found["saturation"]["requests_per_s"]
            point = measured(options, service, lambda: paced(options, one, service, rate))
            found["points"].append({"load": load, "offered_per_s": rate, **point})
            print(f"    {load} of saturation, {rate:.0f} a second: {words_of(point)}", flush=True)
        found["p99_doubles_at"] = comparison.doubles_at(found["points"], found["points"][0]["offered_per_s"])
    return found


def record(options, name, one, found):
    """One recording at a moderate open load, and what recording costs at saturation."""
    found["recorded"] = {}
    rate, connections = RECORDED_LOAD * found["saturation"]["requests_per_s"], found["saturation"]["connections"]
    loads = {"open": lambda service: measured(options, service, lambda: paced(options, one, service, rate)),
             "saturated": lambda service: saturated(options, one, service, connections)}
    for load, ask in loads.items():
        trace = options.record / f"{name}-{load}.cft"
        with running(options, one, [options.contrafact, "record", "-q", "--warm", "-o", trace, "--"]) as service:
            if one.warm_up_s and load == "saturated":
                warm_up(options, one, service)
            elif one.warm_up_s:
                ask(service)  # no other load is in a recording than the one that it is of
            figures = ask(service)
            service.stop()
        if not trace.exists():
            raise clients.Failure(f"{name}: no recording: {service.errors()}")
        figures["trace_bytes"] = trace.stat().st_size
        found["recorded"][load] = figures
        print(f"    recorded, {load}: {words_of(figures)}, {figures['trace_bytes'] / 1e6:.1f} MB", flush=True)
    with running(options, one) as service:
        warm_up(options, one, service)
        again = saturated(options, one, service, connections)
    plain = (found["saturation"]["requests_per_s"] + again["requests_per_s"]) / 2
    found["recorded"]["slower"] = plain / found["recorded"]["saturated"]["requests_per_s"]
    print(f"    not recorded again: {words_of(again)}; recorded it takes {found['recorded']['slower']:.2f} times as long", flush=True)


def predict(options, name):
    done = subprocess.run([options.contrafact, "load", options.record / f"{name}-open.cft", "--arrivals", "open", "--json", "-q"], capture_output=True,
                          text=True, timeout=PREDICT_LIMIT_S)
    if done.returncode != 0:
        raise clients.Failure(f"{name}: contrafact load ended with {done.returncode}: {done.stderr.strip()[:400]}")
    return json.loads(done.stdout)


HEAD = ["| server | limited by, really and predicted | saturation, requests/s: measured | predicted | off | the way, ms | p50 at 0.3, 0.5, 0.7: measured, ms | off | p99: measured, ms | off | p99 doubles at: measured, predicted | recorded, times as long |",
        "|---|---|--:|--:|--:|--:|---|---|---|---|---|--:|"]


def way_ms(found):
    """What a client felt beside the server's own time, in the median, while it was recorded: the network, and until the server's thread ran."""
    return max(0.0, found["recorded"]["open"]["p50_ms"] - found["predicted"]["recorded"]["p50_ns"] / 1e6)


def with_way(curve, ms):
    points = [{**point, **{f"p{p}_ms": point[f"p{p}_ms"] + ms for p in (50, 90, 99)}} for point in curve["points"]]
    return {**curve, "points": points}


def compared(name, found):
    return comparison.Compared(name, found, with_way(comparison.curve_of(found["predicted"]), way_ms(found)), servers.LIMITED_BY[name], alone=True)


def is_client_limited(found):
    """Whether the client had no more of its core to ask with, and the server had."""
    at_top = next(point for point in found["closed"] if point["connections"] == found["saturation"]["connections"])
    return (statistics.median(run["client_share"] for run in at_top["runs"]) >= CLIENT_SHARE_MIN
            and statistics.median(run["server_share"] for run in at_top["runs"]) <= SERVER_SHARE_MAX)


def report(options, found):
    """Prints all, and writes --markdown. What of the predictions is beyond what is held."""
    missing = [f"{name}: nothing is predicted" for name, one in found.items() if options.predict and "predicted" not in one]
    limited = [name for name, one in found.items() if is_client_limited(one)]
    curves = [compared(name, one) for name, one in found.items() if "predicted" in one and name not in limited]
    table = [*HEAD, *[row(name, one) for name, one in found.items() if "predicted" in one]]
    sentences = [*comparison.summary_of(curves), *[f"Of `{name}` the client's core is what limits: it is in none of these." for name in limited]]
    print("\n".join([*table, *sentences, *[f"beyond an aim: {text}" for text in comparison.beyond_aims(curves)]]))
    if options.markdown:
        command = (f"python3 test/truth_services/real_servers/real.py build/release/bin/contrafact build/release --seconds {options.seconds} "
                   f"--repeats {options.repeats} --requests {options.requests} --predict")
        runs = "One run of each." if options.repeats == 1 else f"Saturation is the median of {options.repeats} runs."
        tables.write_section(options.markdown, "real-servers", tables.document(command, options.machine, runs, sentences, table, []))
    if options.quick:
        curves = [one for one in curves if max(run["foreign_share"] for point in one.measured["closed"] for run in point["runs"]) <= truth.QUICK_FOREIGN_MAX]
    return [*missing, *comparison.faults_of_all(curves, QUICK_HELD if options.quick else HELD)]


def row(name, found):
    way, one = way_ms(found), compared(name, found)
    curve = one.predicted
    errors, points = one.errors(), one.points()

    def off(error):
        return "none" if error is None else f"{100 * error:+.0f} %"

    def of(percentile):
        return (", ".join(f"{point[f'{percentile}_ms']:.3f}" for point in points), ", ".join(off(errors[percentile, point["load"]]) for point in points))
    doubles = ["never" if load is None else f"{load:.0f}" for load in one.doubling()]
    cells = [f"`{name}`", f"{one.limited_by}, {curve['saturation']['limited_by']}", f"{found['saturation']['requests_per_s']:.0f}",
             f"{curve['saturation']['requests_per_s']:.0f}", off(one.saturation_error()), f"{way:.3f}", *of("p50"), *of("p99"), ", ".join(doubles),
             f"{found['recorded']['slower']:.2f}"]
    return f"| {' | '.join(cells)} |"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrafact", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--server", action="append", choices=list(servers.SERVERS))
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--requests", type=int, default=3000, help="of an open loop, at least, if that takes a minute at most")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--foreign-max", type=float, default=0.05)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--markdown", type=pathlib.Path, help="a new file, or docs/accuracy.md, of which it rewrites the section")
    parser.add_argument("--from", dest="earlier", type=pathlib.Path)
    options = parser.parse_args()
    options.contrafact, options.build = options.contrafact.resolve(), options.build.resolve()
    options.loads = LOADS
    if options.quick:
        options.seconds, options.requests, options.foreign_max, options.loads = 1, 100, 1.0, truth.QUICK_LOADS
    return options


def chosen(options):
    for name in options.server or servers.SERVERS:
        one = servers.SERVERS[name]
        why = "" if options.earlier else one.missing() or (missing_open_loop(options) if one.protocol == "http" else "")
        if why:
            print(f"left out: {name}: {why}", flush=True)
        else:
            yield name, one


def missing_open_loop(options):
    """Builds Vegeta's loop. Why there is none, or ""."""
    if why := clients.missing():
        return why
    try:
        options.open_loop = clients.build_open_loop(options.build / "truth_services")
    except clients.Unavailable as unavailable:
        return str(unavailable)
    return ""


def main():
    options = parse()
    options.server_core, options.client_core = programs.cores() or (None, None)
    if options.server_core is None:
        shortest_run.not_measured("server and client need a core each, and there is one")
    services.end_with_this_process()
    earlier = json.loads(options.earlier.read_text()) if options.earlier else {"machine": machine.words(), "servers": {}}
    found, options.machine = earlier["servers"], earlier["machine"]
    with tempfile.TemporaryDirectory() as folder:
        options.folder = pathlib.Path(folder)
        options.folder.chmod(0o755)
        if options.predict and not options.record:
            options.record = options.folder / "recorded"
        if options.record:
            options.record = options.record.resolve()
            options.record.mkdir(parents=True, exist_ok=True)
        try:
            for name, one in chosen(options):
                if not options.earlier:
                    one.prepare(options.folder)
                    found[name] = measure(options, name, one)
                    if options.record:
                        record(options, name, one, found[name])
                if options.predict and name in found:
                    found[name]["predicted"] = predict(options, name)
                if options.json:
                    options.json.write_text(json.dumps({"machine": options.machine, "servers": found}, indent=1))
        except (clients.Failure, services.Ended) as failure:
            sys.exit(f"real: {failure}")
    if not found:
        shortest_run.not_measured("none of the servers and their clients is installed")
    beyond = report(options, found)
    print("\n".join(f"beyond a limit: {fault}" for fault in beyond))
    sys.exit(1 if beyond else 0)


if __name__ == "__main__":
    main()
