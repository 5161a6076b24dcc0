"""docs/pictures/load.svg: requests answered a second against connections, predicted and measured. server.py, with --picture, measures what
is drawn here."""
import math

import figures

PICTURE = figures.ROOT / "docs" / "pictures" / "load.svg"
CONNECTIONS = (1, 2, 4, 8, 16, 32, 64, 128)
COLOURS = {"recorded": "#8a8a8a", "changed": "#1764ab"}
NAMES = {"recorded": "as recorded", "changed": "with the advised changes"}
LEFT, RIGHT, TOP, BOTTOM = 70, 740, 58, 328  # of the plot, in pixels
STEP = 500  # requests a second, between lines


def predicted_of(rows):
    """By program, (connections, requests a second) of the rows that `contrafact load --csv` prints, where connections are drawn."""
    found = {}
    for row in rows:
        if row["clients"] and not row["remark"].startswith("saturated") and int(row["clients"]) in CONNECTIONS:
            found.setdefault(row["program"], {})[int(row["clients"])] = float(row["per_s"])
    return {program: sorted(points.items()) for program, points in found.items()}


def svg(command, predicted, measured):
    """`predicted`, `measured`: by program, lists of (connections, requests a second). `command`: what the prediction is by."""
    top = STEP * math.ceil(max(rate for curves in (predicted, measured) for points in curves.values() for _, rate in points) / STEP)

    def at(point):
        connections, rate = point
        return (LEFT + (RIGHT - LEFT) * math.log2(connections) / math.log2(CONNECTIONS[-1]), BOTTOM - (BOTTOM - TOP) * rate / top)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 380" font-family="sans-serif" font-size="13">',
           '<rect width="760" height="380" fill="white"/>', f'<text x="{LEFT}" y="20" font-family="monospace">$ {command}</text>',
           f'<text x="{LEFT}" y="40">Requests answered a second, by connections that ask: predicted (lines) and measured (circles)</text>']
    for rate in range(0, top + 1, STEP):
        _, y = at((1, rate))
        out.append(f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
                   f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{rate}</text>')
    for connections in CONNECTIONS:
        out.append(f'<text x="{at((connections, 0))[0]:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{connections}</text>')
    out.append(f'<text x="{(LEFT + RIGHT) / 2:.0f}" y="{BOTTOM + 42}" text-anchor="middle">connections</text>')
    for program, colour in COLOURS.items():
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, predicted.get(program, [])))
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{line}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="white" stroke="{colour}" stroke-width="2"/>' for x, y in map(at, measured.get(program, []))]
        x, y = at(max(predicted[program], key=lambda point: (point[1], -point[0])))
        out.append(f'<text x="{min(x, 560):.0f}" y="{y - 12:.0f}" text-anchor="{"end" if x > 300 else "start"}" fill="{colour}">{NAMES[program]}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def draw(command, rows, measured):
    PICTURE.write_text(svg(command, predicted_of(rows), measured), encoding="utf-8")
    figures.say(f"  {PICTURE.relative_to(figures.ROOT)}")
