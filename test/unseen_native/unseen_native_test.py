#!/usr/bin/env python3
"""What unseen_native.py counts as the error of an advice."""
import unittest

import unseen_native


def row(remedy, rank, really, found, unusable=None):
    made = {"name": "a", "remedy": remedy, "rank": rank, "really": really, "unusable": unusable}
    made["gain"] = unseen_native.promised(made, [{"gain": gain} for gain in found])
    made["error"] = unseen_native.error_of(made)
    return made


class Errors(unittest.TestCase):
    def test_a_remedy_that_is_not_advised_is_a_promise_of_nothing(self):
        self.assertAlmostEqual(row("split-lock", None, 0.5, [])["error"], -50)
        self.assertAlmostEqual(row("split-lock", None, 0.5, [0.4])["error"], -50)  # another one is

    def test_who_is_not_advised_loses_nothing_by_a_change_that_is_slower(self):
        self.assertEqual(row("split-lock", None, -0.3, [])["error"], 0)
        self.assertAlmostEqual(row("split-lock", 1, -0.3, [0.1])["error"], 40)

    def test_what_is_advised_is_held_against_what_it_gains(self):
        self.assertAlmostEqual(row("split-lock", 2, 0.5, [0.6, 0.4])["error"], -10)
        self.assertAlmostEqual(row(None, None, 0.0, [0.1])["error"], 10)

    def test_the_figures_are_of_all_that_have_a_right_remedy(self):
        rows = [row("split-lock", None, 0.5, []), row("split-lock", 1, 0.5, [0.48]), row(None, None, 0.0, []),
                row("split-lock", None, 0.9, [], "not quiet")]
        errors, advised = unseen_native.sizes_of_errors(rows)
        self.assertEqual([round(one) for one in errors], [50, 2])
        self.assertEqual([round(one) for one in advised], [2])
        self.assertIn("worst 50.0; the 1 that are advised: median 2.0", unseen_native.words_on_errors(errors, advised))

    def test_without_any_advice_there_is_still_an_error(self):
        self.assertIn("the 0 that are advised: none", unseen_native.words_on_errors([50.0], []))


if __name__ == "__main__":
    unittest.main()
