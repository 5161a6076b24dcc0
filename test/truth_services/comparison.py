"""A predicted curve of latency and throughput against load beside the measured one, and which limits that exceeds. Nothing here runs
anything. A curve is {"saturation": {"requests_per_s", "low", "high", "limited_by"}, "points": [{"offered_per_s", "requests_per_s",
"p50_ms", "p90_ms", "p99_ms"}, ...]}, whoever made it; a measured point says besides which `load` it is, a share of the saturation."""
import math
import statistics

import intervals

# Errors as shares of what was measured. `saturation_*`: over all curves; `alone`: of the recorded program from one recording at
# a moderate load; the others hold at each point of each curve.
LIMITS = {"saturation_median": 0.05, "saturation_worst": 0.10, "alone": 0.10, "p50": 0.15, "p99": 0.25, "doubles": 0.07}
COMPARED_LOADS = (0.3, 0.5, 0.7)
PERCENTILES = ("p50", "p99")
NEAR = 1e-6
HELPS_FROM = 1.3  # times the throughput: a change that is said to help; one that is not gives less than HELPS_NOT
HELPS_NOT = 1.05
ABOUT = 1.05  # changes that help by this much more or less help about as much


def curve_of(document, number=0):
    """What `contrafact load --json` says of one program, in this file's terms: the recorded one is the first, the changed one the last. The
    only place that knows its shape."""
    program = document["programs"][number]
    points = [{"offered_per_s": point["offered_per_s"], "requests_per_s": point["per_s"],
               **{f"p{p}_ms": point[f"p{p}_ns"] / 1e6 for p in (50, 90, 99)}}
              for point in program["curve"] if point["offered_per_s"] is not None and not point["hangs"]]
    limit = program["limited_by"]["kind"]
    saturation = {"requests_per_s": program["saturation"]["per_s"], "low": program["saturation"]["low"], "high": program["saturation"]["high"],
                  "limited_by": {"permits": "resource", "none": None}.get(limit, limit)}
    return {"saturation": saturation, "points": sorted(points, key=lambda point: point["offered_per_s"])}


def between(points, offered_per_s, what):
    """A value of a curve at a load between two of its points, as a straight line; None beyond the first and the last."""
    for low, high in zip(points, points[1:]):
        if low["offered_per_s"] * (1 - NEAR) <= offered_per_s <= high["offered_per_s"] * (1 + NEAR):
            width = high["offered_per_s"] - low["offered_per_s"]
            share = (offered_per_s - low["offered_per_s"]) / width if width > 0 else 0.0
            return low[what] + share * (high[what] - low[what])
    return None


def doubles_at(points, from_per_s):
    """The load in requests a second at which p99 is twice what it is at `from_per_s`, or None if it is nowhere; between two points p99
    grows exponentially, as it does before a saturation."""
    first = between(points, from_per_s, "p99_ms")
    if first is None:
        return None
    for low, high in zip(points, points[1:]):
        if high["offered_per_s"] > from_per_s and low["p99_ms"] < 2 * first <= high["p99_ms"]:
            share = math.log(2 * first / low["p99_ms"]) / math.log(high["p99_ms"] / low["p99_ms"])
            return low["offered_per_s"] + share * (high["offered_per_s"] - low["offered_per_s"])
    return None


def doubling_interval(points):
    """Where p99 doubles in nine of ten runs that might have been measured: [low, high], of which None is beyond the last load; None if nothing
    was drawn."""
    if any("p99_draws_ms" not in point for point in points):
        return None
    found = []
    for drawn in zip(*(point["p99_draws_ms"] for point in points)):
        curve = [{**point, "p99_ms": p99_ms} for point, p99_ms in zip(points, drawn)]
        found.append(doubles_at(curve, curve[0]["offered_per_s"]) or math.inf)
    low, high = intervals.interval(found)
    return [None if bound == math.inf else bound for bound in (low, high)]


class Compared:
    """One variant of a service: its measured curve and the predicted one. `alone`: predicted for the program as it was recorded at a
    moderate load."""

    def __init__(self, name, measured, predicted, limited_by=None, alone=False):
        self.name, self.measured, self.predicted, self.limited_by, self.alone = name, measured, predicted, limited_by, alone

    def saturation_error(self):
        return self.predicted["saturation"]["requests_per_s"] / self.measured["saturation"]["requests_per_s"] - 1

    def points(self):
        return [point for point in self.measured["points"] if any(abs(point["load"] - load) < NEAR for load in COMPARED_LOADS)]

    def errors(self):
        """By percentile and load, of the predicted latency; None where none is predicted."""
        found = {}
        for point in self.points():
            for percentile in PERCENTILES:
                predicted = between(self.predicted["points"], point["offered_per_s"], f"{percentile}_ms")
                found[percentile, point["load"]] = None if predicted is None else predicted / point[f"{percentile}_ms"] - 1
        return found

    def doubling(self):
        """The loads at which p99 has doubled, measured and predicted, as requests a second or None."""
        from_per_s = min(point["offered_per_s"] for point in self.points())
        return tuple(doubles_at(curve["points"], from_per_s) for curve in (self.measured, self.predicted))


def as_recorded(one, recorded):
    """What a predictor would say for which nothing ever changes: at every load what was recorded at one of them."""
    points = [dict(point, requests_per_s=recorded["requests_per_s"], **{f"p{p}_ms": recorded[f"p{p}_ms"] for p in (50, 90, 99)})
              for point in one.measured["points"]]
    rate = recorded["requests_per_s"]
    saturation = {"requests_per_s": rate, "low": rate, "high": rate, "limited_by": None}
    return Compared(one.name, one.measured, {"saturation": saturation, "points": points}, one.limited_by, one.alone)


def faults_of(one):
    """What of one curve is beyond the limits that hold for each."""
    if one.alone and abs(one.saturation_error()) > LIMITS["alone"]:
        yield f"{one.name}: saturation from one moderate load is {100 * one.saturation_error():+.1f} % off"
    for (percentile, load), error in one.errors().items():
        if error is None:
            yield f"{one.name}: no {percentile} is predicted at {load} of saturation"
        elif abs(error) > LIMITS[percentile]:
            yield f"{one.name}: {percentile} at {load} of saturation is {100 * error:+.1f} % off"
    measured, predicted = one.doubling()
    if measured and not predicted:
        yield f"{one.name}: p99 doubles at {measured:.0f} requests a second, and is predicted never to"
    elif measured and abs(predicted / measured - 1) > LIMITS["doubles"]:
        yield f"{one.name}: p99 doubles at {measured:.0f} requests a second, predicted at {predicted:.0f}"
    elif predicted and not measured and predicted * (1 + LIMITS["doubles"]) < one.measured["points"][-1]["offered_per_s"]:
        yield f"{one.name}: p99 doubles nowhere that was measured, and is predicted to at {predicted:.0f} requests a second"
    named = one.predicted["saturation"].get("limited_by")
    if one.limited_by and named != one.limited_by:
        yield f"{one.name}: limited by {one.limited_by}, predicted by {named or 'nothing'}"


def faults_of_all(compared):
    """What of all curves together is beyond the limits, each curve's own besides."""
    for one in compared:
        yield from faults_of(one)
    errors = [(one.name, abs(one.saturation_error())) for one in compared]
    median = statistics.median(error for _, error in errors) if errors else 0.0
    if median > LIMITS["saturation_median"]:
        yield f"saturation is {100 * median:.1f} % off in the median"
    for name, error in errors:
        if error > LIMITS["saturation_worst"]:
            yield f"{name}: saturation is {100 * error:.1f} % off"


def ranking_fault(name, best, gains):
    """Whether the change that helps most is foretold to; `gains`: by variant, the predicted saturation's."""
    first = max(gains, key=gains.get) if gains else None
    return None if first == best else f"{name}: {first or 'nothing'} is ranked first, {best} helps most"


def place_of(change):
    """What says in an improvement spec which change it is, but for its size: the kind, and the pool or the innermost frame."""
    def frame(frames):
        return (frames[0].get("class"), frames[0].get("method"), frames[0].get("line")) if frames else None
    at = change.get("spawn", {}).get("frames") or change.get("before", {}).get("frames")
    sites = [frame(site["frames"]) for site in change.get("sites", [])]
    return change["optimisation"], change.get("threads"), change.get("pool"), frame(at), tuple(sites[:1])


def advice_fault(name, advised, wanted):
    """Whether what is advised first is a part of a change that really helps most; `wanted`: these as improvements of specs, none if
    nothing helps; `advised`: likewise, the first one first."""
    if not wanted:
        return f"{name}: {advised[0]['optimisation']} is advised, and nothing helps" if advised else None
    if not advised:
        return f"{name}: nothing is advised, and {wanted[0]['optimisation']} helps"
    places = {place_of(change) for change in wanted}
    return None if place_of(advised[0]) in places else f"{name}: {advised[0]['optimisation']} is advised first, {wanted[0]['optimisation']} helps most"


def best_of(case):
    """The variants that help most, about as much as each other; none: nothing helps."""
    best = case.get("best") or []
    return [best] if isinstance(best, str) else best


def faults_of_case(case, saturation):
    """Whether what cases.json says of a service's changes is so; `saturation`: requests a second by variant."""
    gains = {variant: rate / saturation["base"] for variant, rate in saturation.items() if variant != "base"}
    best = case.get("best")
    if not best:
        yield from (f"{case['name']}: nothing helps, and {variant} gives {gain:.2f} times the throughput" for variant, gain in gains.items() if gain > HELPS_NOT)
        return
    for variant in best_of(case):
        if gains[variant] < HELPS_FROM:
            yield f"{case['name']}: {variant} gives only {gains[variant]:.2f} times the throughput"
        if gains[variant] * ABOUT < max(gains.values()):
            yield f"{case['name']}: {variant} helps less than {max(gains, key=gains.get)}"
