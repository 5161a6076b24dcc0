"""How far the intervals of predictions would have to be stretched to hold nine in ten, and whether intervals stretched by what all
other programs need hold those of the program that was left out."""
import math
import statistics

NOMINAL = 0.9
HELD_MIN = 0.85


class Prediction:
    """Of one change of a program; all in one unit. `noise`: by how much the measured value is uncertain, up or down."""

    def __init__(self, program, predicted, interval, measured, noise):
        self.program, self.predicted, self.measured = program, predicted, measured
        self.low, self.high = min(interval), max(interval)
        self.miss = max(0.0, abs(measured - predicted) - noise)

    def stretch(self):
        """By which the interval just holds what was measured: the miss in halves of the interval towards it."""
        half = self.high - self.predicted if self.measured > self.predicted else self.predicted - self.low
        return 0.0 if self.miss == 0 else self.miss / half if half > 0 else math.inf


def stretch_needed(predictions):
    """The least by which at least NOMINAL of them are held, and one more that is like them is, as often."""
    stretches = sorted(one.stretch() for one in predictions)
    rank = math.ceil(NOMINAL * (len(stretches) + 1))
    return stretches[min(rank, len(stretches)) - 1]


def judge(predictions, times_max=math.inf):
    """(words, whether intervals calibrated without a program hold HELD_MIN of the changes of the programs left out, and are no more than
    `times_max` times as wide as the error, in the median)"""
    if len({one.program for one in predictions}) < 2:
        return "left out of the calibration: of fewer than two programs there is none", True
    held, factors = 0, []
    for program in {one.program for one in predictions}:
        factor = stretch_needed([one for one in predictions if one.program != program])
        factors.append(factor)
        held += sum(one.stretch() <= factor for one in predictions if one.program == program)
    shown_width = statistics.median(one.high - one.low for one in predictions)
    width = shown_width * statistics.median(factors)
    error = statistics.median(abs(one.measured - one.predicted) for one in predictions)
    shown = sum(one.stretch() <= 1 for one in predictions)
    times = f"{width / error:.1f} times the error, medians (as shown {shown_width / error:.1f})" if error > 0 else f"{width:.3g}, the median error 0"
    words = (f"left out of the calibration: intervals stretched by {min(factors):.2f} to {max(factors):.2f}, which hold nine in ten of all other "
             f"programs' changes, hold {held} of {len(predictions)} (as shown {shown}); so stretched their width is {times}")
    return words, held >= HELD_MIN * len(predictions) and width <= times_max * error
