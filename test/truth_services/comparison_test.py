#!/usr/bin/env python3
"""The comparison by made-up numbers: what is right has no fault, each aim and each limit that is held can be exceeded, and who says "as
recorded" exceeds some of both."""
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clients
import comparison
import intervals
import rounds

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


def off(rate, limited_by="pool"):
    """The curve of a queue with another saturation, and the right latencies."""
    return queue() | {"saturation": {"requests_per_s": rate, "limited_by": limited_by}}


def many(*predicted):
    """As many curves as medians and shares are held of: of those of the list in turn, and all others right."""
    wrong = [comparison.Compared(f"{number}", queue(), curve, "pool") for number, curve in enumerate(predicted)]
    return wrong + [compared(limited_by="pool") for _ in range(10 - len(wrong))]


class Right(unittest.TestCase):
    def test_no_fault(self):
        self.assertEqual(list(comparison.beyond_aims([compared(limited_by="pool", alone=True)])), [])
        self.assertEqual(list(comparison.faults_of_all(many())), [])

    def test_points_elsewhere_are_interpolated(self):
        curve = queue()
        curve["points"] = [dict(point, offered_per_s=point["offered_per_s"] + shift) for point in queue()["points"] for shift in (-0.01, 0.01)]
        self.assertEqual(list(comparison.beyond_aims([compared(curve)])), [])


class BeyondAims(unittest.TestCase):
    def beyond(self, *all_compared):
        return list(comparison.beyond_aims(all_compared))

    def test_saturation(self):
        self.assertEqual(self.beyond(compared(off(436))), [])
        self.assertEqual(self.beyond(compared(), comparison.Compared("two", queue(), off(450))), ["two: saturation is +12.5 % off"])
        self.assertEqual(self.beyond(compared(off(350), alone=True)), ["one: saturation from one moderate load is -12.5 % off"])

    def test_latency(self):
        self.assertEqual(self.beyond(compared(stretched("p50_ms", 1.16, 0.5))), ["one: p50 at 0.5 of saturation is +16.0 % off"])
        self.assertEqual(self.beyond(compared(stretched("p99_ms", 0.74, 0.5))), ["one: p99 at 0.5 of saturation is -26.0 % off"])
        self.assertEqual(self.beyond(compared(stretched("p50_ms", 1.14, 0.5))), [])

    def test_beyond_the_curve(self):
        curve = queue()
        del curve["points"][0]
        self.assertIn("one: no p50 is predicted at 0.3 of saturation", self.beyond(compared(curve)))

    def test_doubling(self):
        measured, predicted = compared().doubling()
        self.assertTrue(0.5 * 400 < measured < 0.7 * 400 and measured == predicted, measured)  # 1 / (1 - load) doubles at 0.65
        self.assertTrue(any("p99 doubles at" in fault for fault in self.beyond(compared(stretched("p99_ms", 1.3, 0.5)))))

    def test_doubling_that_is_not(self):
        self.assertTrue(any("doubles nowhere that was measured" in fault for fault in self.beyond(comparison.Compared("one", flat(), queue()))))
        self.assertTrue(any("predicted never to" in fault for fault in self.beyond(compared(flat()))))
        self.assertEqual(self.beyond(comparison.Compared("one", flat(), flat())), [])

    def test_what_limits(self):
        self.assertEqual(self.beyond(compared(limited_by="lock")), ["one: limited by lock, predicted by pool"])

    def test_as_recorded(self):
        for recorded in queue()["points"][:3]:
            faults = self.beyond(comparison.as_recorded(compared(limited_by="pool", alone=True), recorded))
            for word in ("saturation", "p50", "p99", "limited by"):
                self.assertTrue(any(word in fault for fault in faults), (word, faults))


def flat():
    """A curve whose p99 never grows."""
    curve = queue()
    for point in curve["points"]:
        point["p99_ms"] = 20.0
    return curve


class Held(unittest.TestCase):
    """What fails a run: a prediction that is wrong, of one curve or of many."""

    def faults(self, *predicted):
        return list(comparison.faults_of_all(many(*predicted)))

    def test_one_that_is_far_off(self):
        self.assertEqual(self.faults(off(400 * 1.4)), [])
        self.assertEqual(self.faults(off(400 * 1.5)), ["saturation: the worst is 50.0 % off, 45 % are held"])

    def test_one_alone(self):
        self.assertEqual(list(comparison.faults_of_all([compared(off(400 * 1.5))])), ["saturation: the worst is 50.0 % off, 45 % are held"])
        self.assertEqual(list(comparison.faults_of_all([compared(stretched("p50_ms", 2, 0.5))])), [])  # its percentiles are in no median

    def test_the_median(self):
        self.assertEqual(self.faults(*[off(424)] * 4), [])
        self.assertEqual(self.faults(*[off(424)] * 6), ["saturation: 6.0 % off in the median, 5 % are held"])
        self.assertEqual(self.faults(*[off(376)] * 6), ["saturation: 6.0 % off in the median, 5 % are held"])  # errors of both signs count

    def test_too_many_beyond_an_aim(self):
        self.assertEqual(self.faults(*[off(448)] * 3), [])
        self.assertEqual(self.faults(*[off(448)] * 4), ["saturation: 60 % are within 10 %, 65 are held"])

    def test_latencies(self):
        for what, wrong in (("p50", 1.2), ("p99", 0.6)):
            curve = queue()
            for point in curve["points"]:
                point[f"{what}_ms"] *= wrong
            faults = self.faults(*[curve] * 10)
            self.assertEqual(len([fault for fault in faults if fault.startswith(f"{what}: ")]), 2, faults)
            self.assertEqual(self.faults(curve), [])

    def test_nothing_predicted(self):
        curve = queue()
        del curve["points"][0]
        self.assertIn("p50: inf % off in the median, 15 % are held", self.faults(*[dict(curve, points=[])] * 10))

    def test_doubling(self):
        self.assertIn("doubles: inf % off in the median, 10 % are held", self.faults(*[flat()] * 10))

    def test_what_limits(self):
        self.assertEqual(self.faults(off(400, "cores")), [])
        self.assertEqual(self.faults(off(400, "cores"), off(400, None)), ["limited by: right in 8 of 10, 90 % are held"])

    def test_as_recorded(self):
        recorded = queue()["points"][0]
        curve = comparison.as_recorded(compared(), recorded).predicted
        faults = self.faults(*[curve] * 10)
        for kind in ("saturation", "p50", "p99", "doubles", "limited by"):
            self.assertTrue(any(fault.startswith(kind) for fault in faults), (kind, faults))

    def test_summary(self):
        self.assertEqual(list(comparison.summary_of(many(off(448, "cores")))), [
            "Saturation is 0.0 % off in the median, 12.0 % at worst; 9 of 10 are within 10 %.",
            "p50 is 0.0 % off in the median, 0.0 % at worst; 30 of 30 are within 15 %.",
            "p99 is 0.0 % off in the median, 0.0 % at worst; 30 of 30 are within 25 %.",
            "The load at which p99 doubles is 0.0 % off in the median, 0.0 % at worst; 10 of 10 are within 7 %.",
            "What limits is named rightly in 9 of 10."])

    def test_ranking(self):
        self.assertIsNone(comparison.ranking_fault("one", ["together"], {"together": 2.0, "in-place": 1.0}))
        self.assertIsNone(comparison.ranking_fault("one", ["together", "in-place"], {"together": 2.0, "in-place": 2.1}))
        self.assertEqual(comparison.ranking_fault("one", ["together"], {"together": 1.0, "in-place": 1.1}),
                         "one: in-place is ranked first, together helps most")
        self.assertEqual(comparison.ranking_fault("one", ["together"], {}), "one: nothing is ranked first, together helps most")

    def test_ranking_where_nothing_helps(self):
        self.assertIsNone(comparison.ranking_fault("one", [], {"other": 1.04}))
        self.assertIsNone(comparison.ranking_fault("one", [], {}))
        self.assertEqual(comparison.ranking_fault("one", [], {"other": 1.2}), "one: other is predicted to give 1.20 times the throughput, and nothing helps")

    def test_shares_of_what_is_right(self):
        self.assertIsNone(comparison.fault_of_right("ranked first", [True] * 8 + [False] * 2))
        self.assertEqual(comparison.fault_of_right("ranked first", [True] * 7 + [False] * 3), "ranked first: right in 7 of 10, 80 % are held")
        self.assertIsNone(comparison.fault_of_right("ranked first", [False]))  # one says little

    def test_advice(self):
        size = {"optimisation": "pool-size", "pool": "handlers", "size": {"before": 8, "after": 16}}
        other = {"optimisation": "pool-size", "pool": "workers"}
        self.assertIsNone(comparison.advice_fault("one", [size, other], [dict(size, size={"before": 8, "after": 40})]))
        self.assertEqual(comparison.advice_fault("one", [other, size], [size]), "one: pool-size is advised first, pool-size helps most")
        self.assertEqual(comparison.advice_fault("one", [], [size]), "one: nothing is advised, and pool-size helps")
        self.assertEqual(comparison.advice_fault("one", [size], []), "one: pool-size is advised, and nothing helps")


class Rounds(unittest.TestCase):
    """What several rounds measured of one variant, as one curve."""

    @staticmethod
    def one(rate, **more):
        run = {"offered_per_s": rate, "requests_per_s": rate, "p50_ms": 1000 / rate, "p99_ms": 2000 / rate, "server_share": 0.5}
        point = {**run, "load": 0.3, "p50_draws_ms": [1.0, 2.0], "p99_draws_ms": [rate, rate], "runs": [run]}
        return rounds.with_sums({"case": "one", "variant": "base", "answers": {}, "closed": [dict(run, connections=count, runs=[run]) for count in (1, 2)],
                                 "points": [point], **more})

    def test_medians(self):
        found = rounds.merged([self.one(90.0), self.one(100.0), self.one(130.0)])
        self.assertEqual(found["saturation"]["requests_per_s"], 100.0)
        self.assertEqual((found["saturation"]["low"], found["saturation"]["high"]), (90.0, 130.0))
        self.assertEqual(found["points"][0]["p50_ms"], 10.0)
        self.assertEqual(found["points"][0]["p99_draws_ms"], [100.0, 100.0])
        self.assertEqual(len(found["points"][0]["runs"]), 3)

    def test_a_round_that_was_disturbed_is_left_out(self):
        disturbed = {"case": "one", "variant": "base", "answers": {}, "unusable": "others had much"}
        self.assertEqual(rounds.merged([disturbed, self.one(100.0)])["saturation"]["requests_per_s"], 100.0)
        self.assertEqual(rounds.merged([disturbed, disturbed])["unusable"], "others had much")

    def test_more_connections_in_one_round(self):
        longer = self.one(100.0)
        longer["closed"].append(dict(longer["closed"][0], connections=4))
        self.assertEqual([point["connections"] for point in rounds.merged([self.one(90.0), longer])["closed"]], [1, 2, 4])


class Cases(unittest.TestCase):
    def test_what_helps(self):
        case = {"name": "one", "best": "good"}
        self.assertEqual(list(comparison.faults_of_case(case, {"base": 100, "good": 140, "fair": 120})), [])
        self.assertEqual(list(comparison.faults_of_case(case, {"base": 100, "good": 140, "fair": 165})), ["one: good helps less than fair"])
        self.assertEqual(list(comparison.faults_of_case(case, {"base": 100, "good": 120})), ["one: good gives only 1.20 times the throughput"])

    def test_nothing_helps(self):
        self.assertEqual(list(comparison.faults_of_case({"name": "one"}, {"base": 100, "other": 104})), [])
        self.assertEqual(list(comparison.faults_of_case({"name": "one"}, {"base": 100, "other": 120})),
                         ["one: nothing helps, and other gives 1.20 times the throughput"])


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
