#!/usr/bin/env python3
"""The comparison by made-up numbers: what is right has no fault, each limit can be exceeded, and who says "as recorded" exceeds some."""
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clients
import comparison
import intervals

LOADS = (0.3, 0.5, 0.7, 0.9)
WRK = """Running 3s test @ http://127.0.0.1:1
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     9.54ms    5.20ms  57.54ms   87.27%
    Req/Sec     0.89k   267.20     1.13k    73.33%
  Latency Distribution
     50%  754.00us
     75%    9.42ms
     90%   16.12ms
     99%    1.03s 
  2640 requests in 3.00s, 285.94KB read
Requests/sec:    878.50
Transfer/sec:     95.23KB
"""


def queue(rate=400.0, service_ms=5.0, limited_by="pool"):
    """The curve of one queue, with latencies that grow as one over what is left of the capacity."""
    def point(load):
        wait_ms = service_ms / (1 - load)
        return {"load": load, "offered_per_s": load * rate, "requests_per_s": load * rate, "p50_ms": 0.7 * wait_ms, "p90_ms": 2.3 * wait_ms, "p99_ms": 4.6 * wait_ms}
    return {"saturation": {"requests_per_s": rate, "low": 0.99 * rate, "high": 1.01 * rate, "limited_by": limited_by}, "points": [point(load) for load in LOADS]}


def compared(predicted=None, **more):
    return comparison.Compared("one", queue(), predicted or queue(), **more)


def stretched(what, factor, load):
    curve = queue()
    for point in curve["points"]:
        if point["load"] == load:
            point[what] *= factor
    return curve


class Right(unittest.TestCase):
    def test_no_fault(self):
        self.assertEqual(list(comparison.faults_of_all([compared(limited_by="pool", alone=True)])), [])

    def test_points_elsewhere_are_interpolated(self):
        curve = queue()
        curve["points"] = [dict(point, offered_per_s=point["offered_per_s"] + shift) for point in queue()["points"] for shift in (-0.01, 0.01)]
        self.assertEqual(list(comparison.faults_of_all([compared(curve)])), [])


class Wrong(unittest.TestCase):
    def faults(self, *all_compared):
        return list(comparison.faults_of_all(all_compared))

    def test_saturation(self):
        self.assertEqual(self.faults(compared(queue(rate=400) | {"saturation": {"requests_per_s": 430, "limited_by": "pool"}})),
                         ["saturation is 7.5 % off in the median"])
        off = queue() | {"saturation": {"requests_per_s": 450, "limited_by": "pool"}}
        self.assertEqual(self.faults(compared(), compared(), comparison.Compared("two", queue(), off)), ["two: saturation is 12.5 % off"])
        self.assertIn("one: saturation from one moderate load is +12.5 % off", self.faults(compared(off, alone=True)))

    def test_latency(self):
        self.assertEqual(self.faults(compared(stretched("p50_ms", 1.16, 0.5))), ["one: p50 at 0.5 of saturation is +16.0 % off"])
        self.assertEqual(self.faults(compared(stretched("p99_ms", 0.74, 0.5))), ["one: p99 at 0.5 of saturation is -26.0 % off"])
        self.assertEqual(self.faults(compared(stretched("p50_ms", 1.14, 0.5))), [])

    def test_beyond_the_curve(self):
        curve = queue()
        del curve["points"][0]
        self.assertIn("one: no p50 is predicted at 0.3 of saturation", self.faults(compared(curve)))

    def test_doubling(self):
        measured, predicted = compared().doubling()
        self.assertTrue(0.5 * 400 < measured < 0.7 * 400 and measured == predicted, measured)  # 1 / (1 - load) doubles at 0.65
        self.assertTrue(any("p99 doubles at" in fault for fault in self.faults(compared(stretched("p99_ms", 1.3, 0.5)))))

    def test_doubling_that_is_not(self):
        flat = queue()
        for point in flat["points"]:
            point["p99_ms"] = 20.0
        self.assertTrue(any("doubles nowhere that was measured" in fault for fault in self.faults(comparison.Compared("one", flat, queue()))))
        self.assertTrue(any("predicted never to" in fault for fault in self.faults(compared(flat))))

    def test_what_limits(self):
        self.assertEqual(self.faults(compared(limited_by="lock")), ["one: limited by lock, predicted by pool"])

    def test_as_recorded(self):
        for recorded in queue()["points"][:3]:
            faults = self.faults(comparison.as_recorded(compared(limited_by="pool", alone=True), recorded))
            for word in ("saturation", "p50", "p99", "limited by"):
                self.assertTrue(any(word in fault for fault in faults), (word, faults))

    def test_ranking(self):
        self.assertIsNone(comparison.ranking_fault("one", "together", {"together": 2.0, "in-place": 1.0}))
        self.assertEqual(comparison.ranking_fault("one", "together", {"together": 1.0, "in-place": 1.1}),
                         "one: in-place is ranked first, together helps most")


class Cases(unittest.TestCase):
    def test_what_helps(self):
        case = {"name": "one", "best": "good"}
        self.assertEqual(list(comparison.faults_of_case(case, {"base": 100, "good": 140, "fair": 120})), [])
        self.assertEqual(list(comparison.faults_of_case(case, {"base": 100, "good": 140, "fair": 150})), ["one: good helps less than fair"])
        self.assertEqual(list(comparison.faults_of_case(case, {"base": 100, "good": 120})), ["one: good gives only 1.20 times the throughput"])

    def test_nothing_helps(self):
        self.assertEqual(list(comparison.faults_of_case({"name": "one"}, {"base": 100, "other": 104})), [])
        self.assertEqual(list(comparison.faults_of_case({"name": "one"}, {"base": 100, "other": 110})),
                         ["one: nothing helps, and other gives 1.10 times the throughput"])


class Clients(unittest.TestCase):
    def test_wrk(self):
        self.assertEqual(clients.parse_wrk(WRK), {"requests_per_s": 878.5, "p50_ms": 0.754, "p90_ms": 16.12, "p99_ms": 1030.0})

    def test_wrong_answers_are_no_figures(self):
        for line in ("  Non-2xx or 3xx responses: 3", "  Socket errors: connect 0, read 0, write 0, timeout 2"):
            with self.assertRaises(clients.Failure):
                clients.parse_wrk(WRK.replace("Requests/sec", line + "\nRequests/sec"))
        report = '{"success": 0.5, "status_codes": {"500": 1, "200": 1}, "errors": ["500 Internal"], "latencies": {}}'
        with self.assertRaises(clients.Failure):
            clients.parse_vegeta(report + "\n\n[]")

    def test_vegeta(self):
        report = ('{"success": 1, "requests": 2, "rate": 50.5, "throughput": 49, "latencies": {"50th": 2000000, "90th": 3000000, "99th": 4000000}}'
                  '\n\n[[900,4000],[0,2000]]\n')
        self.assertEqual(clients.parse_vegeta(report), {"requests": 2, "offered_per_s": 50.5, "requests_per_s": 49, "p50_ms": 2.0, "p90_ms": 3.0,
                                                        "p99_ms": 4.0, "answers_ms": [2.0, 4.0]})


class Intervals(unittest.TestCase):
    def test_percentiles(self):
        self.assertEqual(intervals.percentile(list(range(1, 101)), 0.99), 99)
        self.assertEqual(intervals.percentile([1, 2, 3], 0.5), 2)

    def test_what_never_varies_is_sure(self):
        self.assertEqual(intervals.interval(intervals.draws([5.0] * 300, (0.99,))[0.99]), (5.0, 5.0))

    def test_more_requests_are_surer(self):
        def width(count):
            dice = random.Random(3)
            low, high = intervals.interval(intervals.draws([dice.expovariate(1) for _ in range(count)], (0.99,))[0.99])
            self.assertLess(low, 4.6)
            self.assertGreater(high, 4.6)
            return high - low
        self.assertLess(width(4000), width(400))

    def test_doubling(self):
        points = [dict(point, p99_draws_ms=[point["p99_ms"] * share for share in (0.9, 1.0, 1.1)]) for point in queue()["points"]]
        low, high = comparison.doubling_interval(points)
        self.assertAlmostEqual(low, high)
        self.assertAlmostEqual(low, comparison.doubles_at(points, points[0]["offered_per_s"]))


if __name__ == "__main__":
    unittest.main()
