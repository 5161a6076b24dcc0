"""Whether a program and its twin do the same work, but for their lock: what the suites share that hold one's time against the
other's. Where code lies alone makes the same work 10 to 20 % longer on some processors."""
import statistics

TURNS = 11
TURNS_MAX = 55
DIFFERENCE_MAX = 0.01
USABLE_MIN = 8  # pairs that a suite needs


def middle_of(ratios):
    """Their median, and twice its standard error by their median deviation: a turn that was disturbed has no weight."""
    middle = statistics.median(ratios)
    deviation = statistics.median(abs(ratio - middle) for ratio in ratios)
    # Of normal errors: 1.483 median deviations are a standard deviation, and the median's is 1.253 of the mean's.
    return middle, 2 * 1.483 * 1.253 * deviation / len(ratios) ** 0.5


def difference(work_ns, turns=TURNS, turns_max=TURNS_MAX):
    """By how much the twin's work takes longer, and twice the standard error: the median of turns. There are more than `turns`
    where these do not tell it to DIFFERENCE_MAX: how many hangs on the error alone, not on the difference. `work_ns` measures
    "base" or "twin"."""
    ratios = []
    while len(ratios) < turns or (len(ratios) < turns_max and middle_of(ratios)[1] > DIFFERENCE_MAX):
        order = ("base", "twin") if len(ratios) % 2 == 0 else ("twin", "base")
        used = {which: work_ns(which) for which in order}
        ratios.append(used["twin"] / used["base"] - 1)
    return middle_of(ratios)


def why_not(found):
    """Why the pair is unusable, or None. What is known to differ by less than DIFFERENCE_MAX counts as the same, however sure the
    difference is: many turns would tell any two programs apart."""
    middle, error_twice = found
    if error_twice > DIFFERENCE_MAX:
        return f"its work cannot be compared: +-{100 * error_twice:.1f} %"
    if abs(middle) > DIFFERENCE_MAX:
        return f"its work differs by {100 * middle:+.1f} %"
    return None
