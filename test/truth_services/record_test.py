#!/usr/bin/env python3
"""How truth.py records, with made-up services: recordings that others disturbed are made again, and what an interrupted one has left is no part of a
later one."""
import argparse
import contextlib
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import truth


class RecordTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.record = pathlib.Path(folder.name)
        self.foreign = [0.0]  # of each attempt
        self.joined = []
        self.options = argparse.Namespace(contrafact="contrafact", record=self.record, folder=self.record, foreign_max=0.05, no_warm=False, server_core=0, client_core=1)

    @contextlib.contextmanager
    def running(self, options, case, variant, words):
        first = pathlib.Path(words[words.index("-o") + 1])
        first.write_text("first")
        if "--children" in words:
            first.with_name(f"{first.stem}.17{first.suffix}").write_text("second")
        yield types.SimpleNamespace(port=1, stop=lambda: None, errors=lambda: "")

    @contextlib.contextmanager
    def watched(self, *_):
        yield types.SimpleNamespace(server=0.5, client=0.1, foreign=self.foreign.pop(0))

    def join(self, words, **_):
        output, *parts = map(pathlib.Path, words[words.index("-o") + 1:])
        self.joined.append([part.read_text() for part in parts])
        output.write_text("joined")
        return subprocess.CompletedProcess(words, 0, "", "")

    def recorded(self, case):
        trace = truth.trace_of(self.options, case, "open")
        with mock.patch.object(truth.server, "running", self.running), mock.patch.object(truth.server, "Watched", self.watched), \
             mock.patch.object(truth.server, "settle"), mock.patch.object(truth.clients, "write_requests"), \
             mock.patch.object(truth.programs, "requests", lambda case: ["/"]), mock.patch.object(truth.subprocess, "run", self.join):
            return truth.record_one(self.options, case, "open", lambda service: {"requests_per_s": 5.0}, trace), trace

    def test_parts_of_an_interrupted_recording_are_no_parts_of_the_next(self):
        (self.record / "shop-open.4711.cft").write_text("stale")
        found, trace = self.recorded({"name": "shop", "processes": 2})
        self.assertEqual(self.joined, [["first", "second"]])
        self.assertEqual(trace.read_text(), "joined")
        self.assertEqual(found["trace_bytes"], len("joined"))
        self.assertEqual({path.name for path in self.record.iterdir()}, {"shop-open.cft", "shop-open.4711.cft"})

    def test_a_disturbed_recording_is_made_again(self):
        self.foreign = [0.4, 0.01]
        found, trace = self.recorded({"name": "shop"})
        self.assertEqual((found["foreign_share"], self.foreign), (0.01, []))
        self.assertEqual(trace.read_text(), "first")

    def test_the_last_attempt_is_kept_with_its_disturbance(self):
        self.foreign = [0.4] * truth.ATTEMPTS_MAX
        found, _ = self.recorded({"name": "shop"})
        self.assertEqual((found["foreign_share"], self.foreign), (0.4, []))


if __name__ == "__main__":
    unittest.main()
