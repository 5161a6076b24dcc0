#!/usr/bin/env python3
"""Requests per second of the example server before and after the advised changes were really made, under wrk with as many
connections as saturate it, beside what a recording of the base at a moderate load predicts. The two take turns."""

import argparse
import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import figures
import load_picture

sys.path.append(str(figures.ROOT / "examples"))
sys.path.append(str(figures.ROOT / "test" / "truth_services"))
import advised
import clients

CHANGES = 4  # that the improved variant makes
RECORDED_CONNECTIONS = 4
RECORDED_S = 6
WARM_UP_S = 3
MEASURED_S = 5
SERVED_S = 120  # after which a server ends by itself
SCRIPT_FOLDER = figures.ROOT / "examples" / "api-server"

NOTE = """
The example server (`examples/api-server`) and its variant in which the advised combination is made
(`examples/api-server-improved {sizes}`), a core for the server and one for the client: `wrk` with {before} and {after} connections,
as many as are said to saturate them. {rounds} pairs of runs that took turns. Predicted is by one recording of the first, made just before
under {recorded} connections. The aims are a ratio of at least 2, and predictions that are off by no more than 10 %.
"""


@contextlib.contextmanager
def serving(core, command, folder):
    """The port of a server that runs on this core; it is ended with SIGTERM."""
    log = folder / "server.log"
    with open(log, "w", encoding="utf-8") as output:
        server = subprocess.Popen(["taskset", "-c", str(core), *map(str, command), "--serve", "--seconds", str(SERVED_S)],
                                  stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        yield port_of(server, log)
    finally:
        server.terminate()
        try:
            server.wait(timeout=60)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def port_of(server, log):
    for _ in range(400):
        found = re.search(r"^serving on 127\.0\.0\.1:(\d+)", log.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return int(found[1])
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=0.05)
            break
    figures.fail(f"the server did not start: {log.read_text(encoding='utf-8').strip()[-600:]}")


def ask(port, core, connections, seconds):
    return clients.closed_loop(SCRIPT_FOLDER, port, core, connections, seconds)["requests_per_s"]


def predict(contrafact, jar, cores, folder):
    """(sizes of the improved server's pools; connections and requests a second before, and after; the rows of both curves)"""
    trace, specs = folder / "server.cft", folder / "specs"
    with serving(cores[0], [contrafact, "record", "--warm", "-o", trace, "--", figures.java(), "-jar", jar], folder) as port:
        rate = ask(port, cores[1], RECORDED_CONNECTIONS, RECORDED_S)
    figures.say(f"  recorded at {rate:.0f} requests/s")
    advice = figures.run([str(contrafact), "advise", str(trace), "--changes", str(CHANGES), "--specs", str(specs)])
    best = specs / "best.json"
    if advice.status != 0 or not best.exists():
        figures.fail(f"contrafact advise: exit status {advice.status}: {advice.errors.strip()[-600:]}")
    load = figures.run([str(contrafact), "load", str(trace), "--apply", str(best), "--csv"])
    if load.status != 0:
        figures.fail(f"contrafact load: exit status {load.status}: {load.errors.strip()[-600:]}")
    sizes, difference = advised.variant(best)
    if difference:
        figures.say(f"  {difference}")
    rows = advised.rows_of(load.output.decode())
    return sizes, advised.saturated(rows, "recorded"), advised.saturated(rows, "changed"), rows


def measure(jar, sizes, connections, cores, folder):
    with serving(cores[0], [figures.java(), "-jar", jar, *sizes], folder) as port:
        ask(port, cores[1], connections, WARM_UP_S)
        rate = ask(port, cores[1], connections, MEASURED_S)
    figures.say(f"  {jar.stem}: {rate:.1f} requests/s")
    return rate


def curve(jar, sizes, cores, folder):
    """Measured: (connections, requests a second)."""
    points = []
    with serving(cores[0], [figures.java(), "-jar", jar, *sizes], folder) as port:
        ask(port, cores[1], load_picture.CONNECTIONS[-1], WARM_UP_S)
        for connections in load_picture.CONNECTIONS:
            points.append((connections, ask(port, cores[1], connections, MEASURED_S)))
            figures.say(f"  {jar.stem}: {points[-1][1]:.1f} requests/s on {connections}")
    return points


def row(name, values, predicted, digits):
    median = statistics.median(values)
    return [name, figures.spread(values, digits), f"{predicted:.{digits}f}", f"{100 * (predicted / median - 1):+.1f} %"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder, with java/api-server.jar and java/api-server-improved.jar")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs (default 5)")
    parser.add_argument("--picture", action="store_true", help="draw docs/pictures/load.svg, and nothing else")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        figures.fail("server and client need a core each")
    build = pathlib.Path(options.build).resolve()
    base, improved = (build / "java" / f"{name}.jar" for name in ("api-server", "api-server-improved"))
    with tempfile.TemporaryDirectory(prefix="contrafact-server-") as name:
        folder = pathlib.Path(name)
        try:
            sizes, before, after, predicted = predict(build / "bin" / "contrafact", base, cores, folder)
            if options.picture:
                measured = {"recorded": curve(base, [], cores, folder), "changed": curve(improved, sizes, cores, folder)}
                load_picture.draw("contrafact load server.cft --apply specs/best.json", predicted, measured)
                return 0
            pairs = [(measure(base, [], before["clients"], cores, folder), measure(improved, sizes, after["clients"], cores, folder))
                     for _ in range(options.rounds)]
        except clients.Failure as failure:
            figures.fail(str(failure))
    rates = list(zip(*pairs))
    ratios = [changed / recorded for recorded, changed in pairs]
    text = figures.paragraph(NOTE.format(sizes=" ".join(sizes), before=before["clients"], after=after["clients"], rounds=options.rounds,
                                         recorded=RECORDED_CONNECTIONS))
    text += figures.markdown(["requests per second", "measured, median (min to max)", "predicted", "off"], [
        row("before", rates[0], before["per_s"], 1), row("after", rates[1], after["per_s"], 1),
        row("after / before", ratios, after["per_s"] / before["per_s"], 2)])
    figures.write_section("server", "What following the advice gains", figures.door("server", sys.argv[2:]), text,
                          {"before": rates[0], "after": rates[1], "ratios": ratios,
                           "predicted": {"before": before["per_s"], "after": after["per_s"]}})
    return 0 if statistics.median(ratios) >= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
