"""left_out.py on made-up predictions."""
import math
import unittest

import left_out


def prediction(program, measured, half=0.1, noise=0.0):
    return left_out.Prediction(program, 0.5, (0.5 - half, 0.5 + half), measured, noise)


class LeftOut(unittest.TestCase):
    def test_a_stretch_is_the_miss_in_halves_of_the_interval(self):
        self.assertAlmostEqual(prediction("a", 0.7).stretch(), 2.0)
        self.assertAlmostEqual(prediction("a", 0.7, noise=0.1).stretch(), 1.0)
        self.assertEqual(prediction("a", 0.55, noise=0.1).stretch(), 0.0)
        self.assertEqual(left_out.Prediction("a", 0.5, (0.5, 0.6), 0.4, 0).stretch(), math.inf)

    def test_nine_in_ten_are_held(self):
        predictions = [prediction(str(i), 0.5 + i / 100) for i in range(1, 20)]
        self.assertAlmostEqual(left_out.stretch_needed(predictions), 1.8)

    def test_a_program_that_is_like_the_others_is_held(self):
        words, is_held = left_out.judge([prediction(str(i), 0.5 + i / 100) for i in range(1, 21)])
        self.assertTrue(is_held, words)

    def test_a_program_unlike_all_others_is_not_held_by_them(self):
        predictions = [prediction(str(i), 0.51) for i in range(20)] + [prediction("x", 0.9 + i / 100) for i in range(8)]
        words, is_held = left_out.judge(predictions)
        self.assertFalse(is_held, words)
        self.assertIn("hold 20 of 28", words)

    def test_intervals_may_not_be_much_wider_than_the_error(self):
        predictions = [prediction(str(i), 0.5 + i / 100) for i in range(1, 21)]  # the median error is 0.105
        words, is_held = left_out.judge(predictions, 4)
        self.assertTrue(is_held, words)
        self.assertIn("(as shown 10)", words)
        self.assertIn("(as shown 1.9)", words)
        words, is_held = left_out.judge(predictions, 3)
        self.assertFalse(is_held, words)


if __name__ == "__main__":
    unittest.main()
