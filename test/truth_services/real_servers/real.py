#!/usr/bin/env python3
"""usage: real.py CONTRAFACT BUILD [--server NAME]... [--seconds S] [--repeats N] [--requests N] [--quick] [--foreign-max SHARE] [--json FILE]
                [--record FOLDER [--predict]] [--from FILE]

Servers that nobody here wrote (servers.py), as they are: what each can take and what its clients feel, measured without a recorder; and what
`contrafact load` says from one recording at 0.3 of that. Server and client have a core each. Saturation is by the server's own or a well-known client with 1, 4, 16, ... connections;
percentiles are by paced.cc, an open loop with requests at random. To the predicted ones comes the way: what the median client felt beside the server's own time
while it was recorded. --record also measures what recording costs at saturation: throughput recorded and not, in turn.

--from: no measuring; the figures of an earlier run (--json) and its recordings, predicted anew. --quick: short, without figures: that all of
it fits together. Exit status 1 if a client or server failed; 77 (not measured) where there are no two cores or nothing is installed."""
import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import servers  # has put the folder above on the path
import clients
import comparison
import programs
import server as watched
import machine
import services
import shortest_run
import truth

CONNECTIONS = (1, 4, 16, 64)
LOADS = (0.3, 0.5, 0.7, 0.8, 0.9)
RECORDED_LOAD = 0.3
PACED_CONNECTIONS = 32
PREDICT_LIMIT_S = 900


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
    words = [options.build / "bin" / "truth_services_paced", one.protocol, service.port, f"{rate:.3f}", f"{seconds:.2f}", 1, PACED_CONNECTIONS,
             one.write_requests(options.folder)]
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


def measure(options, name, one):
    print(name, flush=True)
    found = {"server": name}
    with running(options, one) as service:
        saturated(options, one, service, CONNECTIONS[-2])  # warms it up
        found["closed"] = closed_curve(options, one, service)
        found["saturation"] = truth.saturation_of(found["closed"])
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
        with running(options, one, [options.contrafact, "record", "-q", "-o", trace, "--"]) as service:
            figures = ask(service)
            service.stop()
        if not trace.exists():
            raise clients.Failure(f"{name}: no recording: {service.errors()}")
        figures["trace_bytes"] = trace.stat().st_size
        found["recorded"][load] = figures
        print(f"    recorded, {load}: {words_of(figures)}, {figures['trace_bytes'] / 1e6:.1f} MB", flush=True)
    with running(options, one) as service:
        saturated(options, one, service, connections)
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


def row(name, found):
    way = way_ms(found)
    curve = with_way(comparison.curve_of(found["predicted"]), way)
    one = comparison.Compared(name, found, curve, servers.LIMITED_BY[name], alone=True)
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
    parser.add_argument("--from", dest="earlier", type=pathlib.Path)
    options = parser.parse_args()
    options.contrafact, options.build = options.contrafact.resolve(), options.build.resolve()
    options.loads = LOADS
    if options.quick:
        options.seconds, options.requests, options.foreign_max, options.loads = 1, 100, 1.0, truth.QUICK_LOADS
    if options.record:
        options.record = options.record.resolve()
        options.record.mkdir(parents=True, exist_ok=True)
    return options


def chosen(options):
    for name in options.server or servers.SERVERS:
        if why := servers.SERVERS[name].missing():
            print(f"left out: {name}: {why}", flush=True)
        else:
            yield name, servers.SERVERS[name]


def main():
    options = parse()
    options.server_core, options.client_core = programs.cores() or (None, None)
    if options.server_core is None:
        shortest_run.not_measured("server and client need a core each, and there is one")
    services.end_with_this_process()
    found = json.loads(options.earlier.read_text())["servers"] if options.earlier else {}
    with tempfile.TemporaryDirectory() as folder:
        options.folder = pathlib.Path(folder)
        options.folder.chmod(0o755)
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
                    options.json.write_text(json.dumps({"machine": machine.words(), "servers": found}, indent=1))
        except (clients.Failure, services.Ended) as failure:
            sys.exit(f"real: {failure}")
    if not found:
        shortest_run.not_measured("none of the servers and their clients is installed")
    print("\n".join([*HEAD, *[row(name, one) for name, one in found.items() if "predicted" in one]]))


if __name__ == "__main__":
    main()
