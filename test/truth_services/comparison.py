"""A predicted curve of latency and throughput against load beside the measured one, and which limits that exceeds. Nothing here runs
anything. A curve is {"saturation": {"requests_per_s", "low", "high", "limited_by"}, "points": [{"offered_per_s", "requests_per_s",
"p50_ms", "p90_ms", "p99_ms"}, ...]}, whoever made it; a measured point says besides which `load` it is, a share of the saturation."""
import dataclasses
import math
import statistics

import intervals

# The aims, errors as shares of what was measured: of each curve's saturation, also of the program as it was recorded at one moderate
# load; of p50 and p99 at each compared load; of the load at which p99 doubles.
AIMS = {"saturation": 0.10, "p50": 0.15, "p99": 0.25, "doubles": 0.07}


@dataclasses.dataclass(frozen=True)
class Held:
    """What the errors of one kind must keep to: their median, the share of them that is within the aim, and the worst."""
    median_max: float
    within_min: float
    worst_max: float = math.inf


# What the tests hold. The median of saturation is the aim's; all else is what was reached, with some room: docs/accuracy.md says what stands
# between it and the aims.
HELD = {"saturation": Held(0.05, 0.65, 0.45), "p50": Held(0.15, 0.7), "p99": Held(0.25, 0.65), "doubles": Held(0.10, 0.4)}
RIGHT_MIN = {"limited by": 0.9, "ranked first": 0.8, "advised first": 0.7}  # shares of the curves, and of the services
ERRORS_MIN = 8  # curves: of fewer no median or share is held, only the worst
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
        points = self.points()
        if not points:
            return None, None
        from_per_s = min(point["offered_per_s"] for point in points)
        return tuple(doubles_at(curve["points"], from_per_s) for curve in (self.measured, self.predicted))


def as_recorded(one, recorded):
    """What a predictor would say for which nothing ever changes: at every load what was recorded at one of them."""
    points = [dict(point, requests_per_s=recorded["requests_per_s"], **{f"p{p}_ms": recorded[f"p{p}_ms"] for p in (50, 90, 99)})
              for point in one.measured["points"]]
    rate = recorded["requests_per_s"]
    saturation = {"requests_per_s": rate, "low": rate, "high": rate, "limited_by": None}
    return Compared(one.name, one.measured, {"saturation": saturation, "points": points}, one.limited_by, one.alone)


def doubling_error(one):
    """Of the load at which p99 doubles; infinite where it does only in one of both, None where it does in neither, or is predicted to
    beyond what was measured."""
    measured, predicted = one.doubling()
    if measured and predicted:
        return predicted / measured - 1
    if measured:
        return math.inf
    is_beyond = not predicted or predicted * (1 + AIMS["doubles"]) >= one.measured["points"][-1]["offered_per_s"]
    return None if is_beyond else math.inf


def errors_of(compared):
    """By kind, the errors of all curves, without sign; infinite where nothing is predicted."""
    found = {kind: [] for kind in AIMS}
    for one in compared:
        found["saturation"].append(abs(one.saturation_error()))
        for (percentile, _), error in one.errors().items():
            found[percentile].append(math.inf if error is None else abs(error))
        if (error := doubling_error(one)) is not None:
            found["doubles"].append(abs(error))
    return found


def is_named(one):
    return one.predicted["saturation"].get("limited_by") == one.limited_by


def beyond_aims(compared):
    """What of each curve is beyond the aims, in words: to be looked at."""
    for one in compared:
        if abs(one.saturation_error()) > AIMS["saturation"]:
            from_one = " from one moderate load" if one.alone else ""
            yield f"{one.name}: saturation{from_one} is {100 * one.saturation_error():+.1f} % off"
        for (percentile, load), error in one.errors().items():
            if error is None:
                yield f"{one.name}: no {percentile} is predicted at {load} of saturation"
            elif abs(error) > AIMS[percentile]:
                yield f"{one.name}: {percentile} at {load} of saturation is {100 * error:+.1f} % off"
        yield from doubling_beyond(one)
        if one.limited_by and not is_named(one):
            yield f"{one.name}: limited by {one.limited_by}, predicted by {one.predicted['saturation'].get('limited_by') or 'nothing'}"


def doubling_beyond(one):
    error, (measured, predicted) = doubling_error(one), one.doubling()
    if error is None or abs(error) <= AIMS["doubles"]:
        return
    if not predicted:
        yield f"{one.name}: p99 doubles at {measured:.0f} requests a second, and is predicted never to"
    elif measured:
        yield f"{one.name}: p99 doubles at {measured:.0f} requests a second, predicted at {predicted:.0f}"
    else:
        yield f"{one.name}: p99 doubles nowhere that was measured, and is predicted to at {predicted:.0f} requests a second"


def share_within(errors, kind):
    return sum(error <= AIMS[kind] for error in errors) / len(errors)


def faults_of_errors(errors, held):
    """`errors`: of each kind. What of them is beyond what is held."""
    for kind, limit in held.items():
        found = errors[kind]
        if found and max(found) > limit.worst_max:
            yield f"{kind}: the worst is {100 * max(found):.1f} % off, {100 * limit.worst_max:.0f} % are held"
        if len(found) < ERRORS_MIN:
            continue
        if (median := statistics.median(found)) > limit.median_max:
            yield f"{kind}: {100 * median:.1f} % off in the median, {100 * limit.median_max:.0f} % are held"
        if (within := share_within(found, kind)) < limit.within_min:
            yield f"{kind}: {100 * within:.0f} % are within {100 * AIMS[kind]:.0f} %, {100 * limit.within_min:.0f} are held"


def fault_of_right(what, rights):
    """`rights`: whether each of them is right."""
    if len(rights) >= ERRORS_MIN and sum(rights) < RIGHT_MIN[what] * len(rights):
        return f"{what}: right in {sum(rights)} of {len(rights)}, {100 * RIGHT_MIN[what]:.0f} % are held"
    return None


def faults_of_all(compared, held=None):
    """What of all curves together is beyond what is held."""
    yield from faults_of_errors(errors_of(compared), HELD if held is None else held)
    if fault := fault_of_right("limited by", [is_named(one) for one in compared if one.limited_by]):
        yield fault


def summary_of(compared):
    """The errors of all curves, a sentence for each kind."""
    words = {"saturation": "Saturation", "p50": "p50", "p99": "p99", "doubles": "The load at which p99 doubles"}
    for kind, errors in errors_of(compared).items():
        if not errors:
            continue
        worst = "not predicted" if max(errors) == math.inf else f"{100 * max(errors):.1f} %"
        within = sum(error <= AIMS[kind] for error in errors)
        yield (f"{words[kind]} is {100 * statistics.median(errors):.1f} % off in the median, {worst} at worst; {within} of {len(errors)} "
               f"are within {100 * AIMS[kind]:.0f} %.")
    named = [is_named(one) for one in compared if one.limited_by]
    if named:
        yield f"What limits is named rightly in {sum(named)} of {len(named)}."


def ranking_fault(name, best, gains):
    """Whether the change that is predicted to help most is one of those that really do; `best`: these, none if nothing helps; `gains`: by
    variant, how many times the base's the predicted saturation is."""
    first = max(gains, key=gains.get) if gains else None
    if not best:
        return f"{name}: {first} is predicted to give {gains[first]:.2f} times the throughput, and nothing helps" if first and gains[first] > HELPS_NOT else None
    return None if first in best else f"{name}: {first or 'nothing'} is ranked first, {' or '.join(best)} helps most"


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
