"""What several rounds measured of one variant of a service, each in a process of its own: one curve of medians. A JVM compiles a program
otherwise in each process, and no repetition within one shows that. Nothing here runs anything."""
import statistics

import comparison

GROWS_BY = 1.02  # throughput at least, when connections are doubled; else it grows no more


def middle(runs, **more):
    """The medians of what clients said, and what each run said."""
    return {**more, **{key: statistics.median(run[key] for run in runs) for key in runs[0]}, "runs": runs}


def spread(runs, key):
    return min(run[key] for run in runs), max(run[key] for run in runs)


def saturation_of(points):
    """Of all runs with as many connections as give the most, nearly: the greatest median alone would be that of the luckiest."""
    enough = max(point["requests_per_s"] for point in points) / GROWS_BY
    plateau = [point for point in points if point["requests_per_s"] >= enough]
    runs = [run for point in plateau for run in point["runs"]]
    low, high = spread(runs, "requests_per_s")
    return {"requests_per_s": statistics.median(run["requests_per_s"] for run in runs), "low": low, "high": high,
            "connections": plateau[0]["connections"]}


def with_sums(found):
    """A curve with what follows from its points."""
    found["saturation"] = saturation_of(found["closed"])
    if found["points"]:
        found["p99_doubles_at"] = comparison.doubles_at(found["points"], found["points"][0]["offered_per_s"])
        found["p99_doubles_interval"] = comparison.doubling_interval(found["points"])
    return found


def merged(found):
    """The curve of all rounds that were not disturbed; of them all, if all were."""
    usable = [one for one in found if "unusable" not in one]
    if len(usable) <= 1:
        return (usable or found)[0]

    def of_place(points, key):
        """By place, the points of all rounds there."""
        at = {}
        for one in usable:
            for point in one[points]:
                at.setdefault(point[key], []).append(point)
        return sorted(at.items())

    def runs_of(points):
        return [run for point in points for run in point["runs"]]

    closed = [middle(runs_of(points), connections=connections) for connections, points in of_place("closed", "connections")]
    opened = []
    for load, points in of_place("points", "load"):
        draws = {key: [statistics.median(drawn) for drawn in zip(*(point[key] for point in points))] for key in ("p50_draws_ms", "p99_draws_ms")}
        opened.append(middle(runs_of(points), load=load, **draws))
    return with_sums({**usable[0], "closed": closed, "points": opened})
