"""The paper's figures 8 and 9 of the native programs, drawn by gnuplot into docs/pictures. Each takes what
native_programs.Measurement.values() gives of each program."""

import os
import pathlib
import shutil
import statistics
import subprocess

import figures

PICTURES = figures.ROOT / "docs" / "pictures"
ORDERS = {"free": "free order", "recorded": "recorded order (RLSC)", "deterministic": "deterministic order",
          "accesses": "all shared accesses in order"}

STYLE = """
set terminal svg size 960,400 font "Helvetica,13" background "white" dynamic
set output "{output}"
set datafile missing "-"
set border 3 lc rgb "#666666"
set tics nomirror tc rgb "#333333"
set grid y lc rgb "#dddddd" lt 1
set key outside top left horizontal reverse Left tc rgb "#333333" spacing 1.2
set xrange [-0.6:{last}.6]
set xtics ({labels})
"""
REPLAYS = """
set logscale y 2
set ylabel "replay / recorded time"
set format y "%gx"
set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb "#333333" lw 1.5
plot $data using ($1-0.27):2:3:4 with yerrorbars pt 7 ps 0.8 lw 2 lc rgb "#0072b2" title "{free}", \\
     $data using ($1-0.09):5:6:7 with yerrorbars pt 5 ps 0.8 lw 2 lc rgb "#d55e00" title "{recorded}", \\
     $data using ($1+0.09):8:9:10 with yerrorbars pt 9 ps 0.9 lw 2 lc rgb "#009e73" title "{deterministic}", \\
     $data using ($1+0.27):11:12:13 with yerrorbars pt 11 ps 0.9 lw 2 lc rgb "#cc79a7" title "{accesses}"
"""
CONTENTION = """
set ylabel "share of the run's time"
set format y "%g %%"
set yrange [0:105]
set ytics 0,20,100
set style fill solid
set boxwidth 0.26
plot $data using ($1-0.27):2 with boxes lc rgb "#0072b2" title "without unnecessary order, estimated", \\
     $data using 1:3 with boxes lc rgb "#d55e00" title "without unnecessary order, replayed by threads", \\
     $data using ($1+0.27):4 with boxes lc rgb "#009e73" title "the lock really changed (*: our truth programs)"
"""


def replays(values):
    """Figure 8: each order's mean, shortest and longest replay against the recorded time, of each program that was replayed.
    Returns the file, or None where no program was."""
    measured = [value for value in values if value["replays"]]
    rows = []
    for value in measured:
        row = []
        for order in ORDERS:
            recorded_s = value["facts"].get("complete" if order == "accesses" else "recorded", {}).get("seconds", 1)
            runs = [run / recorded_s for run in value["replays"].get(order) or []]
            row += [statistics.fmean(runs), min(runs), max(runs)] if runs else ["-"] * 3
        rows.append(row)
    return draw("replays.svg", [value["program"] for value in measured], rows, REPLAYS.format(**ORDERS))


def contention(rows):
    """Figure 9: what is left of each program's time. `rows`: (name, what native_contention.replays found)."""
    cells = [[100 * found["estimated"], 100 * found["replayed"], "-" if found["really"] is None else 100 * found["really"]] for _, found in rows]
    return draw("contention.svg", [name for name, _ in rows], cells, CONTENTION)


def draw(name, labels, rows, plot):
    if not rows:
        return None
    if not shutil.which("gnuplot"):
        figures.fail("gnuplot not found: `./dev setup bench` installs it")
    PICTURES.mkdir(exist_ok=True)
    unfinished = PICTURES / f"{name}.tmp"
    data = "\n".join(" ".join(str(cell) for cell in [number, *row]) for number, row in enumerate(rows))
    ticks = ", ".join(f'"{label}" {number}' for number, label in enumerate(labels))
    script = f"$data << END\n{data}\nEND\n" + STYLE.format(output=unfinished, last=len(rows) - 1, labels=ticks) + plot
    drawn = subprocess.run(["gnuplot"], input=script, text=True, capture_output=True)
    if drawn.returncode != 0 or not unfinished.exists():
        figures.fail(f"gnuplot could not draw {name}: {drawn.stderr.strip()[-600:]}")
    os.replace(unfinished, PICTURES / name)
    return pathlib.Path("pictures") / name
