"""When the shortest of a program's runs may stand for the program undisturbed, and what is said where nothing may: what the
truth tests share."""
import sys

NEAR = 0.01
NOT_MEASURED = 77  # the exit status that ctest and `./dev test` know


def spread(durations):
    """By how much of it the shortest is shorter than the next: other load lengthens each run by another amount."""
    shortest = sorted(durations)[:2]
    return shortest[-1] / shortest[0] - 1


def is_quiet(durations):
    return spread(durations) <= NEAR


def not_measured(why):
    print(f"not measured: {why}")
    sys.exit(NOT_MEASURED)
