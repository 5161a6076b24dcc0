"""How sure a measured percentile is. Answers that follow each other are alike (they met in the same queue), so requests are drawn again
in blocks of neighbours: the moving-block bootstrap (Kunsch, 1989). Nothing here runs anything."""
import random

BLOCK = 50      # requests: longer than what one queue holds up
DRAWS = 200
SHARE = 0.90    # of the draws lie within an interval
SEED = 20240601


def percentile(in_order, share):
    """Of sorted values: the least that so large a share does not exceed."""
    return in_order[max(0, min(len(in_order), -(-int(share * len(in_order) * 1e6) // 10**6)) - 1)]


def draws(values, shares, count=DRAWS):
    """By share: the percentile in each of so many runs that might have been; `values` in the order of time."""
    block = min(BLOCK, max(1, len(values) // 4))
    dice = random.Random(SEED)
    found = {share: [] for share in shares}
    for _ in range(count):
        drawn = []
        while len(drawn) < len(values):
            begin = dice.randrange(len(values) - block + 1)
            drawn += values[begin:begin + block]
        drawn = sorted(drawn[:len(values)])
        for share in shares:
            found[share].append(percentile(drawn, share))
    return found


def interval(drawn):
    """The middle SHARE of the draws."""
    in_order = sorted(drawn)
    out = (1 - SHARE) / 2
    return in_order[int(out * (len(in_order) - 1))], in_order[int((1 - out) * (len(in_order) - 1) + 0.5)]
