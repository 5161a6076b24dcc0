"""When the shortest of a program's runs may stand for the program undisturbed, and what is said where nothing may: what the
truth tests share."""
import sys

NEAR = 0.01
RUNS_MAX = 3  # times as many as asked for
NOT_MEASURED = 77  # the exit status that ctest and `./dev test` know


def spread(durations):
    """By how much of it the shortest is shorter than the next: other load lengthens each run by another amount."""
    shortest = sorted(durations)[:2]
    return shortest[-1] / shortest[0] - 1


def is_quiet(durations):
    return spread(durations) <= NEAR


def all_of(run, count):
    """What so many runs gave, the shortest first, each a tuple that begins with its length. `run` is given its number."""
    return sorted((run(number) for number in range(count)), key=lambda one: one[0])


def measured(run, least):
    """The same of `least` runs, and of up to RUNS_MAX times as many until the two shortest are near each other: other load
    lengthens each by another amount, so then neither was disturbed by much. What they are compared with plays no part."""
    found = all_of(run, least)
    while len(found) < RUNS_MAX * least and not is_quiet([one[0] for one in found]):
        found.append(run(len(found)))
        found.sort(key=lambda one: one[0])
    return found


def not_measured(why):
    print(f"not measured: {why}")
    sys.exit(NOT_MEASURED)
