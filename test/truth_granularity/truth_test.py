#!/usr/bin/env python3
"""The limits tell a predictor that is right from one that says that nothing changes, and from others that are wrong. No program is run:
the curves are made up, and so is the machine."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import comparison
import programs
import real_curves

CASE = {"name": "Merge", "axes": ["tasks"], "rounds": 10, "default": 64, "settings": [32, 16, 8, 4, 2, 1], "why": "too small"}
REAL = {64: 2.0, 32: 1.5, 16: 1.2, 8: 1.1, 4: 1.0, 2: 1.02, 1: 1.9}


def point(setting, seconds, kind="merge-tasks"):
    ns = None if seconds is None else int(seconds * 1e9)
    return {"kind": kind, "setting": setting, "duration_ns": ns, "low_ns": ns and 0.95 * ns, "high_ns": ns and 1.05 * ns}


def document(predicted, default=64, scale=10, axis="tasks", body="Merge.lambda$round$0"):
    """What the command says of a program whose durations, by argument, it predicts so."""
    points = [point(scale * setting, seconds, None if setting == default else "merge-tasks") for setting, seconds in predicted.items()]
    known = {setting: seconds for setting, seconds in predicted.items() if seconds is not None}
    flat = [scale * setting for setting, seconds in known.items() if seconds <= 1.01 * min(known.values())]
    return {"curves": [{"axis": "tasks", "body": "Other.run", "place": "", "before": 64, "best": 64, "points": []},
                       {"axis": axis, "body": body, "place": "Merge.round (Merge.java:9)", "before": scale * default,
                        "best": scale * min(known, key=known.get), "flat_from": min(flat), "flat_to": max(flat), "points": points}]}


def compared(predicted, case=CASE, real=REAL):
    return comparison.Compared(case, comparison.curve_of(case, document(predicted)), real)


def faults(predicted, case=CASE, real=REAL):
    return list(comparison.faults_of(compared(predicted, case, real)))


class Limits(unittest.TestCase):
    def test_who_is_right_is_within_them_at_another_speed_too(self):
        self.assertEqual(faults(REAL), [])
        self.assertEqual(faults({setting: 1.3 * seconds for setting, seconds in REAL.items()}), [])

    def test_who_says_as_recorded_is_not(self):
        found = list(comparison.faults_of(comparison.as_recorded(compared(REAL))))
        self.assertEqual(len(found), 3, found)  # the curve twice, the best

    def test_who_says_as_recorded_is_not_where_a_program_only_just_counts(self):
        real = {64: 1.0, 32: 1 / real_curves.COUNTS_FROM, 16: 1.0, 8: 1.0, 4: 1.0}
        self.assertTrue(real_curves.counts(real, 64))
        self.assertTrue(list(comparison.faults_of(comparison.as_recorded(compared(real, real=real)))))

    def test_one_wrong_setting(self):
        self.assertEqual(faults(REAL | {1: 1.5}), ["Merge: the curve is -21.1 % off at 1"])

    def test_a_curve_that_is_a_little_wrong_everywhere(self):
        wrong = {setting: seconds * (1 if setting in (64, 4) else 1.08) for setting, seconds in REAL.items()}
        self.assertEqual(faults(wrong), ["Merge: the curve is 8.0 % off in the median"])

    def test_a_wrong_best_setting(self):
        found = faults(REAL | {8: 0.99})
        self.assertEqual(found, ["Merge: at 8 a gain of 50.5 % predicted, really 45.0 %",
                                 "Merge: the predicted best setting, 8, really takes 10.0 % longer than the best, 4"])

    def test_a_best_setting_that_the_curve_has_not(self):
        found = faults({setting: seconds for setting, seconds in REAL.items() if setting > 4})
        self.assertEqual(len(found), 1, found)
        self.assertIn("the predicted best setting, 8, really takes 10.0 % longer than the best, 4", found[0])

    def test_stuck_where_the_program_is_not(self):
        self.assertEqual(faults(REAL | {1: None}), ["Merge: said to get stuck at 1, and is not"])

    def test_a_gain_where_nothing_helps(self):
        case, real = dict(CASE, nothing_helps=True), {setting: 1.0 for setting in REAL}
        self.assertEqual(faults(real, case, real), [])
        self.assertEqual(faults(real | {8: 0.96}, case, real), ["Merge: nothing helps, and 4.0 % is promised"])

    def test_intervals(self):
        one = compared(REAL | {1: 1.75})
        self.assertEqual([setting for setting, held in one.held.items() if not held], [1])


class Settings(unittest.TestCase):
    def test_the_curve_must_begin_at_the_default(self):
        for wrong in (document(REAL, scale=3), document(REAL, axis="level"), document(REAL, body="Mergers.run"), {"curves": []}, {}):
            with self.assertRaises(real_curves.Failure):
                comparison.curve_of(CASE, wrong)
        self.assertEqual(comparison.curve_of(CASE, document(REAL, scale=1))["before"], 64)

    def test_a_native_program_is_known_by_its_source(self):
        case, curves = dict(CASE, name="merge", native=True), document(REAL, body="main._omp_fn.0")["curves"]
        for place in ("main (merge.cc:12)", "main._omp_fn.0+0x9c (truth_granularity_merge)"):
            self.assertEqual(comparison.curve_of(case, {"curves": [curves[0], dict(curves[1], place=place)]})["place"], place)
        with self.assertRaises(real_curves.Failure):
            comparison.curve_of(case, {"curves": curves})

    def test_tasks_are_counted_over_all_rounds(self):
        curve = comparison.curve_of(CASE, document(REAL))
        self.assertEqual([comparison.argument_of(CASE, curve, setting) for setting in (640, 320, 10, 5, 1280)], [64, 32, 1, None, None])

    def test_a_remainder_that_matters_cannot_be_run(self):
        curve = comparison.curve_of(CASE, document(REAL))
        self.assertIsNone(comparison.argument_of(CASE, curve, 220))
        self.assertEqual(comparison.argument_of(CASE, curve, 430), 43)

    def test_pieces_are_split_evenly_or_put_together(self):
        case = dict(CASE, default=3, multiple_of=3, most=30)
        curve = {"axis": "tasks", "before": 30}
        self.assertEqual([comparison.argument_of(case, curve, 10 * setting) for setting in (1, 2, 3, 4, 6, 9, 33)], [1, 2, 3, None, 6, 9, None])
        case = dict(CASE, default=16, multiple_of=16, most=30)
        curve = {"axis": "tasks", "before": 160}
        self.assertEqual([comparison.argument_of(case, curve, 10 * setting) for setting in (8, 6, 5, 3)], [8, 6, None, 3])

    def test_depth_counts_from_its_deepest(self):
        case = dict(CASE, axes=["level"], default=15)
        for before in (15, 16):
            curve = {"axis": "level", "before": before}
            self.assertEqual([comparison.argument_of(case, curve, before - less) for less in (0, 5, 15, 16)], [15, 10, 0, None])

    def test_a_best_setting_that_cannot_be_run(self):
        curve = comparison.curve_of(CASE, document(REAL | {3: 0.995}))
        self.assertEqual((curve["best"], comparison.best_argument(CASE, curve)), (30, 4))
        curve = comparison.curve_of(CASE, document(REAL | {3: 0.9}))
        self.assertIsNone(comparison.best_argument(CASE, curve))
        self.assertIn("its best setting, 30,", comparison.what_is_missing(CASE, curve))

    def test_too_few_settings(self):
        few = document({64: 2.0, 32: 1.5, 16: 1.2})
        self.assertIn("only 2", comparison.what_is_missing(CASE, comparison.curve_of(CASE, few)))
        self.assertIsNone(comparison.what_is_missing(CASE, comparison.curve_of(CASE, document(REAL))))

    def test_a_curve_without_the_recorded_run(self):
        for without in (REAL | {64: None}, {setting: seconds for setting, seconds in REAL.items() if setting != 64}):
            self.assertIn("as recorded", comparison.what_is_missing(CASE, comparison.curve_of(CASE, document(without))))

    def test_the_cases_fit_together(self):
        for case in programs.all_cases(None):
            scale = 1 if case["axes"] == ["level"] else case["rounds"]
            curve = {"axis": case["axes"][0], "before": scale * case["default"]}
            for setting in case["settings"]:
                self.assertEqual(comparison.argument_of(case, curve, scale * setting), setting, json.dumps(case))


class Measuring(unittest.TestCase):
    def measured(self, run, runs=5):
        return real_curves.measure(CASE, CASE["settings"], runs, run)

    def test_the_median_of_undisturbed_runs(self):
        chance = random.Random(1)
        found = self.measured(lambda setting: (9.0, "result 1\n", 0.5) if chance.random() < 0.2 else (REAL[setting] * chance.uniform(1, 1.01), "result 1\n", 0.0))
        self.assertIsNone(real_curves.why_unusable(found))
        for setting, one in found.items():
            self.assertAlmostEqual(one.median_s() / REAL[setting], 1.005, delta=0.006)

    def test_settings_take_turns(self):
        asked = []
        self.measured(lambda setting: asked.append(setting) or (1.0, "result 1\n", 0.0), runs=2)
        self.assertEqual(asked, sorted(REAL) + sorted(REAL, reverse=True))

    def test_more_runs_only_where_they_are_needed(self):
        chance, asked = random.Random(2), []
        found = self.measured(lambda setting: asked.append(setting) or (1.0 + (chance.uniform(0, 0.5) if setting == 8 else 0), "result 1\n", 0.0))
        self.assertEqual((asked.count(4), asked.count(8), asked.count(64)), (5, 15, 15))
        self.assertIn("not known well enough at 8 (", real_curves.why_unusable(found))

    def test_a_busy_machine_measures_nothing(self):
        found = self.measured(lambda setting: (1.0, "result 1\n", 0.3))
        self.assertIn("1 (disturbed)", real_curves.why_unusable(found))

    def test_another_result_is_another_program(self):
        with self.assertRaises(real_curves.Failure):
            self.measured(lambda setting: (1.0, f"result {setting == 1}\n", 0.0))


STAND_IN = """#!/bin/sh
if [ "$1" = info ]; then echo '{"duration_ns": 1000000000}'; else cat "$2"; fi  # granularity RECORDING --json -q
"""


class Whole(unittest.TestCase):
    """truth.py with a stand-in for the command, which says what is written where the recording should be."""

    def end_of(self, predict, unusable=()):
        """The exit status, and what was printed, if of every JVM program the settings named in cases.json really take `real`."""
        here = pathlib.Path(__file__).resolve().parent
        cases = [case for case in programs.all_cases(None) if not case.get("native") and not case.get("library")]
        with tempfile.TemporaryDirectory() as name:
            folder, real = pathlib.Path(name), []
            for case in cases:
                seconds = self.real(case)
                real.append({"name": case["name"], "unusable": "disturbed" if case["name"] in unusable else None,
                             "settings": {str(setting): {"median_s": one} for setting, one in seconds.items()}})
                level = case["axes"] == ["level"]
                (folder / f"{case['name']}.cft").write_text(json.dumps(document(
                    predict(case, seconds), case["default"], 1 if level else case["rounds"], case["axes"][0], f"{case['name']}.lambda$main$0")))
            (folder / "real.json").write_text(json.dumps(real))
            (folder / "stand-in").write_text(STAND_IN)
            (folder / "stand-in").chmod(0o755)
            done = subprocess.run([sys.executable, here / "truth.py", folder / "stand-in", folder, "--real", folder / "real.json", "--traces", folder],
                                  capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def real(self, case):
        """Half as long at the setting in the middle, or the same everywhere."""
        settings = [case["default"], *case["settings"]]
        best = len(settings) // 2
        return {setting: 1.0 if case.get("nothing_helps") else 1 + abs(i - best) / best for i, setting in enumerate(settings)}

    def test_who_is_right_passes(self):
        status, printed = self.end_of(lambda case, real: real)
        self.assertEqual(status, 0, printed)
        self.assertIn("15 of 15 count, 3 of which nothing helps", printed)
        self.assertIn("Who predicts that nothing changes exceeds a limit in 12 of the others", printed)

    def test_who_says_as_recorded_fails_in_every_program_that_counts(self):
        status, printed = self.end_of(lambda case, real: {setting: 1.0 if setting == case["default"] else 1.0001 for setting in real})
        self.assertEqual(status, 1, printed)
        for case in programs.all_cases(None):
            if not case.get("native") and not case.get("library"):
                self.assertEqual(f"FAULT {case['name']}: " in printed, not case.get("nothing_helps", False), case["name"])

    def test_a_program_without_a_curve_fails(self):
        status, printed = self.end_of(lambda case, real: {setting: real[setting] for setting in ([1] if case["name"] == "FineRounds" else real)})
        self.assertEqual(status, 1, printed)
        self.assertIn("FAULT FineRounds: ", printed)
        self.assertEqual(printed.count("FAULT"), 1, printed)

    def test_too_few_known_programs_measure_nothing(self):
        names = [case["name"] for case in programs.all_cases(None) if not case.get("nothing_helps")]
        self.assertEqual(self.end_of(lambda case, real: real, names[:4])[0], 0)
        status, printed = self.end_of(lambda case, real: real, names[:5])
        self.assertEqual(status, 77, printed)
        self.assertIn("not measured: 7 of 12 programs count", printed)


if __name__ == "__main__":
    unittest.main()
