"""A predicted curve beside the real one: which of its settings a program can be run at, how far off they are, and which limits that
exceeds. Nothing here runs anything."""
import math
import statistics

import real_curves

LIMITS = {"curve_median": 0.05, "curve_worst": 0.15, "best": 0.05, "gain": 0.05}
KEEP_GAIN_MAX = 0.03
POINTS_MIN = 3  # of a curve, besides the recorded one
REACHED_WITHIN = 0.05
# A merge that leaves a remainder makes one smaller task at the end; the programs divide evenly. Among so many it does not matter.
EVEN_ENOUGH = 40


def curve_of(case, document):
    """The curve of the program's own tasks, whose recorded setting is the program's default."""
    curves = document.get("curves") or []
    named = [curve for curve in curves if curve["axis"] in case["axes"] and is_own(case, curve)]
    fitting = [curve for curve in named if scale_of(case, curve)]
    if not fitting:
        begin = ", ".join(f"{curve['axis']} {curve['before']} of {curve['body']}" for curve in curves)
        raise real_curves.Failure(f"{case['name']}: no curve begins at its {case['axes'][0]}; there are: {begin or 'none'}")
    return min(fitting, key=lambda curve: case["axes"].index(curve["axis"]))


def is_own(case, curve):
    """Whether its tasks are of the program's main class, or handed out in its one source file (or binary, of which that is the name)."""
    if case.get("native"):
        return case["name"] in curve["place"]
    return curve["body"].split(".")[0].split("$")[0] == case["name"]


def scale_of(case, curve):
    """How many of the curve's units one of the program's is, or None if the curve begins elsewhere. Tasks are counted over all
    rounds, threads perhaps. A level's is 1, whether the outermost task's is 0 or 1."""
    if curve["axis"] == "level":
        return 1 if abs(curve["before"] - case["default"]) <= 1 else None
    for scale in (case.get("rounds", 1), 1):
        if curve["before"] == scale * case["default"]:
            return scale
    return None


def argument_of(case, curve, setting):
    """The program's argument for a setting of the curve, or None if it cannot be run so."""
    default = case["default"]
    if curve["axis"] == "level":
        argument = default - (curve["before"] - setting)
        return argument if 0 <= argument <= default else None
    scale = scale_of(case, curve)
    argument = round(setting / scale)
    if not 1 <= argument <= case.get("most", default) or abs(argument * scale - setting) > REACHED_WITHIN * setting:
        return None
    pieces = case.get("multiple_of")
    if pieces and argument < pieces:
        return argument if math.ceil(pieces / math.ceil(pieces / argument)) == argument else None
    divides = argument % default == 0 or default % argument == 0
    return argument if divides or (not pieces and argument >= EVEN_ENOUGH) else None


def duration_as_recorded(curve):
    """Simulated; None if it got stuck."""
    return next((point["duration_ns"] for point in curve["points"] if point["kind"] is None), None)


def best_argument(case, curve):
    """That of the curve's best setting; if the program cannot have it, of the best that it can within the flat region around it. None
    if there is none."""
    best = argument_of(case, curve, curve["best"])
    if best is not None:
        return best
    flat = [(point["duration_ns"], argument_of(case, curve, point["setting"])) for point in curve["points"]
            if point["duration_ns"] is not None and curve["flat_from"] <= point["setting"] <= curve["flat_to"]]
    return min(((duration, argument) for duration, argument in flat if argument is not None), default=(None, None))[1]


class Compared:
    """A case's curve beside what the program really took. `real`: seconds by argument."""

    def __init__(self, case, curve, real):
        self.case, self.curve, self.real, self.default = case, curve, real, case["default"]
        as_recorded = duration_as_recorded(curve)
        self.predicted, self.held, self.unreachable, self.stuck = {}, {}, [], []
        for point in curve["points"]:
            argument = argument_of(case, curve, point["setting"])
            if argument is None:
                self.unreachable.append(point["setting"])
            elif argument in real and point["duration_ns"] is None:
                self.stuck.append(argument)
            elif argument in real:
                self.predicted[argument] = point["duration_ns"] / as_recorded
                self.held[argument] = point["low_ns"] / as_recorded <= real[argument] / real[self.default] <= point["high_ns"] / as_recorded
        self.best = best_argument(case, curve)

    def keeps(self):
        return self.case.get("nothing_helps", False)

    def counts(self):
        return self.keeps() or real_curves.counts(self.real, self.default)

    def errors(self):
        """By argument, of the predicted duration as a share of the recorded one's."""
        return {argument: ratio * self.real[self.default] / self.real[argument] - 1
                for argument, ratio in self.predicted.items() if argument != self.default}

    def median_error(self):
        return statistics.median(map(abs, self.errors().values()))

    def worst_error(self):
        return max(map(abs, self.errors().values()))

    def best_is_longer(self):
        """By how much the predicted best setting really takes longer than the best one."""
        return self.real[self.best] / min(self.real.values()) - 1

    def gain(self):
        return 1 - self.real[self.best] / self.real[self.default]

    def predicted_gain(self):
        return 1 - self.predicted[self.best]


def as_recorded(one):
    """What a predictor would say for which nothing ever changes."""
    curve = dict(one.curve, best=one.curve["before"], flat_from=one.curve["before"], flat_to=one.curve["before"],
                 points=[dict(point, duration_ns=1, low_ns=1, high_ns=1) for point in one.curve["points"]])
    return Compared(one.case, curve, one.real)


def arguments_of(case, curve):
    """Every argument that the curve has a prediction for."""
    return sorted({argument_of(case, curve, point["setting"]) for point in curve["points"]} - {None})


def what_is_missing(case, curve):
    """Why the curve cannot be compared, or None."""
    if not duration_as_recorded(curve):
        return f"{case['name']}: its curve does not say how long the run takes as recorded"
    if best_argument(case, curve) is None:
        return f"{case['name']}: its best setting, {curve['best']}, and what is as good, is none that the program can have"
    reached = [argument for argument in arguments_of(case, curve) if argument != case["default"]]
    if len(reached) < POINTS_MIN:
        return f"{case['name']}: only {len(reached)} of its curve's {len(curve['points'])} settings can be run"
    return None


def faults_of_gain(one):
    if one.best in one.stuck:
        yield f"{one.case['name']}: the best setting is one that is said to get stuck"
        return
    if abs(one.predicted_gain() - one.gain()) > LIMITS["gain"]:
        yield f"{one.case['name']}: at {one.best} a gain of {100 * one.predicted_gain():.1f} % predicted, really {100 * one.gain():.1f} %"
    if one.keeps() and one.predicted_gain() > KEEP_GAIN_MAX:
        yield f"{one.case['name']}: nothing helps, and {100 * one.predicted_gain():.1f} % is promised"


def faults_of(one):
    """Of one program that counts."""
    yield from faults_of_gain(one)
    for argument in one.stuck:
        yield f"{one.case['name']}: said to get stuck at {argument}, and is not"
    if one.median_error() > LIMITS["curve_median"]:
        yield f"{one.case['name']}: the curve is {100 * one.median_error():.1f} % off in the median"
    if one.worst_error() > LIMITS["curve_worst"]:
        worst = max(one.errors(), key=lambda argument: abs(one.errors()[argument]))
        yield f"{one.case['name']}: the curve is {100 * one.errors()[worst]:+.1f} % off at {worst}"
    if one.best_is_longer() > LIMITS["best"]:
        yield (f"{one.case['name']}: the predicted best setting, {one.best}, really takes {100 * one.best_is_longer():.1f} % longer than "
               f"the best, {real_curves.best_of(one.real)}")
