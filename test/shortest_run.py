"""When the shortest of a program's runs may stand for the program undisturbed: what the truth tests share."""

NEAR = 0.01
TIMES = 4


def settled(durations, runs):
    """Whether there were enough: `runs`, and a second one as short as the shortest within NEAR, for other load lengthens each
    run by another amount; or TIMES as many."""
    if len(durations) < runs:
        return False
    shortest = sorted(durations)[:2]
    return len(durations) >= TIMES * runs or len(shortest) < 2 or shortest[1] <= (1 + NEAR) * shortest[0]
