"""What was measured, and what is predicted of it, as tables in Markdown: those of docs/accuracy.md. Nothing here runs anything."""
import comparison
import intervals

MEASURED_HEAD = ["| service | variant | saturation, requests/s | connections | server's core | p50, p99 at 0.3, ms | at 0.5 | at 0.7 | at 0.9 | p99 doubles at |",
                 "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
PREDICTED_HEAD = ["| service | variant | limited by, really and predicted | saturation, requests/s: measured | predicted | off | times the base: measured, predicted "
                  "| p50 at 0.3, 0.5, 0.7: measured, ms; off | p99: measured, ms; off (measured to within) | p99 doubles at: measured; predicted |",
                  "|---|---|---|--:|--:|--:|--:|---|---|---|"]
LOADS = (0.3, 0.5, 0.7, 0.9)


def measured_row(one):
    if "unusable" in one:
        return f"| `{one['case']}` | {one['variant']} | unusable: {one['unusable']} | | | | | | | |"
    top, at = one["saturation"], {point["load"]: point for point in one["points"]}
    share = max(point["server_share"] for point in one["closed"])
    cells = [f"{at[load]['p50_ms']:.2f}, {at[load]['p99_ms']:.2f}" if load in at else "" for load in LOADS]
    doubles = f"{one['p99_doubles_at'] / top['requests_per_s']:.2f}" if one.get("p99_doubles_at") else "nowhere"
    return (f"| `{one['case']}` | {one['variant']} | {of_runs(top)} | {top['connections']} | {100 * share:.0f} % | {' | '.join(cells)} | {doubles} |")


def of_runs(saturation):
    return f"{saturation['requests_per_s']:.0f} ({saturation['low']:.0f} to {saturation['high']:.0f})"


def measured_table(cases, found):
    return [*MEASURED_HEAD, *[measured_row(one) for case in cases for one in found.get(case["name"], {}).get("measured", [])]]


def half_interval(point):
    """Half of the width of the interval of a measured p99, as a share of it; None if it is not known."""
    if "p99_draws_ms" not in point:
        return None
    low, high = intervals.interval(point["p99_draws_ms"])
    return (high - low) / 2 / point["p99_ms"]


def share_text(share):
    return "none" if share is None else f"{100 * share:+.0f} %"


def latencies(one, percentile):
    """What was measured at each compared load, and by how much the prediction is off."""
    points, errors = one.points(), one.errors()
    texts = []
    for point in points:
        within = half_interval(point) if percentile == "p99" else None
        texts.append(share_text(errors[percentile, point["load"]]) + (f" (±{100 * within:.0f} %)" if within is not None else ""))
    return f"{', '.join(ms_text(point[f'{percentile}_ms']) for point in points)}; {', '.join(texts)}"


def ms_text(ms):
    return f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"


def doubling(one):
    measured, predicted = ("nowhere" if rate is None else f"{rate:.0f}" for rate in one.doubling())
    interval = one.measured.get("p99_doubles_interval")
    if interval:
        measured += f" ({' to '.join('...' if bound is None else f'{bound:.0f}' for bound in interval)})"
    return f"{measured}; {predicted}"


def predicted_row(case, one, found):
    """Of a curve that was measured."""
    variant, top, predicted = one["variant"], one["saturation"], found["predicted"].get(one["variant"])
    begin = f"| `{case['name']}` | {variant} | {case['limited_by'][variant]}"
    if not predicted:
        return f"{begin} | {of_runs(top)} | no spec | | | | | |"
    compared = comparison.Compared("", one, predicted)
    base = next((other for other in found["measured"] if other["variant"] == "base" and "unusable" not in other), None)
    times = ""
    if base and variant != "base":
        times = (f"{top['requests_per_s'] / base['saturation']['requests_per_s']:.2f}, "
                 f"{predicted['saturation']['requests_per_s'] / found['predicted']['base']['saturation']['requests_per_s']:.2f}")
    return (f"{begin}, {predicted['saturation']['limited_by'] or 'nothing'} | {of_runs(top)} | {predicted['saturation']['requests_per_s']:.0f} | "
            f"{100 * compared.saturation_error():+.1f} % | {times} | {latencies(compared, 'p50')} | {latencies(compared, 'p99')} | {doubling(compared)} |")


def predicted_table(cases, found):
    rows = [predicted_row(case, one, found[case["name"]]) for case in cases if "predicted" in found.get(case["name"], {})
            for one in found[case["name"]]["measured"] if "unusable" not in one]
    return [*PREDICTED_HEAD, *rows] if rows else []


def document(command, machines, processes, sentences, predictions, measurements):
    """A section of docs/accuracy.md: how it was made, what it says, the tables. Lists of texts."""
    parts = [f"    {command}", f"Machine: {machines}. {processes}", "\n".join(f"- {sentence}" for sentence in sentences), "\n".join(predictions)]
    if measurements:
        parts += ["All that was measured:", "\n".join(measurements)]
    return "\n\n".join(part for part in parts if part) + "\n"


def write_section(path, name, text):
    """Between the marks of that name, if the document has them; else the text is all of it."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    document = path.read_text() if path.exists() else ""
    if begin in document and end in document:
        text = f"{document.split(begin, 1)[0]}{begin}\n{text}{end}{document.split(end, 1)[1]}"
    path.write_text(text)
