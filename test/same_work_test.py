#!/usr/bin/env python3
"""same_work.py tells pairs whose work differs from those whose work is the same, and from those for which nobody can tell."""
import random
import unittest

import same_work


def pair(twin_longer, noise, seed=1):
    """What measures a program and its twin: each run is longer by chance, now and then by much."""
    chance = random.Random(seed)

    def work_ns(which):
        disturbed = 1.5 if chance.random() < 0.1 else 1.0
        return 1e9 * (1 + (twin_longer if which == "twin" else 0)) * (1 + chance.uniform(0, noise)) * disturbed

    return work_ns


class SameWork(unittest.TestCase):
    def test_the_same_work_is_usable(self):
        for seed in range(20):
            self.assertIsNone(same_work.why_not(same_work.difference(pair(0.0, 0.002, seed))))

    def test_a_small_difference_counts_as_none_however_sure_it_is(self):
        middle, error_twice = same_work.difference(pair(0.005, 0.0001))
        self.assertGreater(middle, error_twice)
        self.assertIsNone(same_work.why_not((middle, error_twice)))

    def test_other_work_is_not(self):
        for longer in (-0.03, 0.03):
            self.assertIn("differs by", same_work.why_not(same_work.difference(pair(longer, 0.002))))

    def test_what_cannot_be_told_is_not(self):
        self.assertIn("cannot be compared", same_work.why_not(same_work.difference(pair(0.0, 0.3))))

    def test_more_turns_tell_what_few_do_not(self):
        few = [same_work.difference(pair(0.0, 0.04, seed), turns_max=same_work.TURNS) for seed in range(20)]
        more = [same_work.difference(pair(0.0, 0.04, seed)) for seed in range(20)]
        self.assertGreater(sum(same_work.why_not(one) is not None for one in few), 10)
        self.assertLess(sum(same_work.why_not(one) is not None for one in more), 5)

    def test_program_and_twin_take_turns_in_going_first(self):
        asked = []
        same_work.difference(lambda which: asked.append(which) or 1, turns=3)
        self.assertEqual(asked, ["base", "twin", "twin", "base", "base", "twin"])


if __name__ == "__main__":
    unittest.main()
