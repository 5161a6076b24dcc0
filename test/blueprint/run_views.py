#!/usr/bin/env python3
"""usage: run_views.py BUILD [--java PATH]...

The views of a profile: sums are kept at every level and by folding, pictures show what their options say, and broken
profiles give one line.
"""
import argparse
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from profiled import profile


def blueprint(build, *options):
    return subprocess.run([f"{build}/bin/contrafact", "blueprint", *options], capture_output=True, text=True)


def rows(build, path, *options):
    done = blueprint(build, path, "--format", "csv", *options)
    assert done.returncode == 0, done
    return list(csv.DictReader(io.StringIO(done.stdout)))


def check_sums(build, path):
    document = json.loads(pathlib.Path(path).read_text())
    objects = sum(row[5] for row in document["methods"])
    sizes = sum(row[6] for row in document["methods"])
    calls = sum(call[2] for call in document["calls"])
    assert objects and sizes and calls
    for level in ("method", "class", "package"):
        nodes = rows(build, path, "--level", level)
        edges = rows(build, path, "--level", level, "--rows", "edges")
        assert sum(int(row["objects"]) for row in nodes) == objects, level
        assert sum(int(row["bytes"]) for row in nodes) == sizes, level
        for column in ("calls_made", "calls_received"):
            assert sum(int(row[column]) for row in nodes) == calls, (level, column)
        assert sum(int(row["calls"]) for row in edges) == calls, level
        for row in nodes:
            different = {edge["callee"] for edge in edges if edge["caller"] == row["name"]} - {row["name"]}
            assert int(row["callees"]) == len(different), row
    assert {row["name"] for row in rows(build, path, "--level", "package")} == {"known", "(outside)"}


def check_input_is_kept(build, path):
    before = pathlib.Path(path).read_bytes()
    done = blueprint(build, path, "--format", "dot", "-o", path)
    assert done.returncode == 3 and "it is the input" in done.stderr, done
    assert pathlib.Path(path).read_bytes() == before


def sides(dot):
    return {m[3]: (float(m[1]), float(m[2]))
            for m in re.finditer(r'n\d+ \[width=([\d.]+) height=([\d.]+).*?label="?([\w.$<>() ]*)"?', dot)}


def check_dot(build, path):
    dot = blueprint(build, path, "--format", "dot", "--top", "5", "--width", "calls-received", "--height", "calls-made").stdout
    nodes = re.findall(r"^  n\d+ \[.*$", dot, re.M)
    assert len(nodes) == 5 + 2, dot  # with those outside and the others
    assert sum("others" in node for node in nodes) == 1 and sum("(outside)" in node for node in nodes) == 1, dot
    received = {row["name"].split("(")[0]: int(row["calls_received"]) for row in rows(build, path)}
    widths = {}
    for node in nodes:
        name = re.search(r'tooltip="known\.([\w.$<>]+)\(', node)
        if name:
            widths["known." + name[1]] = float(re.search(r"width=([\d.]+)", node)[1])
    assert len(widths) == 5, nodes
    largest = max(received[name] for name in widths)
    for name, width in widths.items():
        assert abs(width - max(0.12, 2.2 * received[name] / largest)) < 0.001, (name, width)
    pen = [float(width) for width in re.findall(r"penwidth=([\d.]+) arrowsize", dot)]
    assert max(pen) == 9.0, pen


def check_pictures(build, path, folder):
    page = f"{folder}/view.html"
    if not shutil.which("dot"):
        done = blueprint(build, path, "-o", page)
        assert done.returncode == 4 and "install the package graphviz" in done.stderr, done
        return
    done = blueprint(build, path, "-o", page, "--top", "8")
    assert done.returncode == 0 and done.stderr == f"contrafact: wrote {page}\n", done
    text = pathlib.Path(page).read_text()
    assert text.count('class="node"') == 8 + 2 and "{{" not in text, text[:500]
    svg = blueprint(build, path, "--format", "svg", "--level", "class").stdout
    assert svg.startswith("<?xml") and "Known$Derived" in svg, svg[:300]
    # Graphviz out of reach.
    env = dict(os.environ, PATH="/nonexistent")
    done = subprocess.run([f"{build}/bin/contrafact", "blueprint", path, "-o", page], capture_output=True, text=True, env=env)
    assert done.returncode == 4 and "install the package graphviz" in done.stderr, done


def check_broken(build, path, folder):
    good = pathlib.Path(path).read_text()
    broken = [
        ("", "not JSON"), (good[: len(good) // 2], "not JSON"), ("[1]", "is no blueprint profile"),
        (good.replace('"version":1', '"version":2'), "version 2"), (good.replace('"calls":', '"cals":'), "without methods or calls"),
        (re.sub(r'"calls":\[\n\[\d+,', '"calls":[\n[99999,', good), "call 0 is malformed"),
        (re.sub(r'"methods":\[\n\["', '"methods":[\n[1,"', good), "method 0 is malformed"),
        (good.replace('"calls":[', '"calls":[["a",1,2],'), "call 0 is malformed"),
    ]
    for text, line in broken:
        assert text != good, line
        file = pathlib.Path(folder, "broken.json")
        file.write_text(text)
        done = blueprint(build, str(file))
        assert done.returncode == 2 and done.stdout == "" and line in done.stderr and done.stderr.count("\n") == 1, (line, done)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--java", action="append")
    arguments = parser.parse_args()
    java = (arguments.java or ["java"])[0]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/known.json"
        done = profile(arguments.build, path, ["--include", "known.*"], [java, "-cp", f"{arguments.build}/java/known", "known.Known"])
        assert done.returncode == 0, done
        check_sums(arguments.build, path)
        check_dot(arguments.build, path)
        check_input_is_kept(arguments.build, path)
        check_pictures(arguments.build, path, folder)
        check_broken(arguments.build, path, folder)
    print("views: all as documented")


if __name__ == "__main__":
    sys.exit(main())
