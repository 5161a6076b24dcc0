"""Runs programs under `contrafact profile` and reads what the blueprint analysis wrote."""
import collections
import json
import re
import subprocess

RUN_SECONDS_MAX = 300
VERIFY = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"]


def jdk_release(java):
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    return int(re.search(r'version "(\d+)', text).group(1))


def profile(build, output, options, program):
    """The finished process; `program` is the whole command."""
    command = [f"{build}/bin/contrafact", "profile", "-o", output] + options + ["--"] + program
    return subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)


def own_lines(done):
    return [line for line in done.stderr.split("\n") if line.startswith("contrafact: ")]


class Profile:
    """Names are class.method, with `descriptors` class.method(descriptor)."""

    def __init__(self, path, descriptors=False):
        with open(path) as file:
            document = json.load(file)
        self.run = document["run"]
        name = lambda row: "-" if not row[0] else f"{row[0]}.{row[1]}" + (row[2] if descriptors else "")
        names = [name(row) for row in document["methods"]]
        self.calls, self.objects, self.bytes = collections.Counter(), collections.Counter(), collections.Counter()
        for caller, callee, count in document["calls"]:
            self.calls[names[caller], names[callee]] += count
        for row in document["methods"]:
            if row[5]:
                self.objects[name(row)] += row[5]
                self.bytes[name(row)] += row[6]
