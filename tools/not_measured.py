#!/usr/bin/env python3
"""usage: not_measured.py MOST JUNIT...

Says which tests of the given JUnit files measured nothing, and why: by their exit status 77 and a line "not measured: WHY".
Exit status 1 if they are more than MOST, not counting those that this processor lacks something for ("this processor ..." is
their reason): no quieter machine would measure them, and with these counted nobody without AVX-512 could pass `./dev test --all`. Then, which parts of the unit tests were skipped (GTEST_SKIP), mostly for what the
processor or the user cannot do; of these count the ones that begin with "not measured: ", for the machine was busy. At last, how many attempts failed of the tests that
make several and pass with some of them failed (test/attempts.py).
"""
import re
import sys
import xml.etree.ElementTree

# As Google Test prints a skipped test: its name, and the messages under "FILE:LINE: Skipped", if any.
PART = re.compile(r"^\[ RUN      \] (\S+)\n((?:(?!\[ RUN ).*\n)*?)\[  SKIPPED \] \1 \(", re.MULTILINE)
MESSAGE = re.compile(r": Skipped\n(.*)\n")
LACKING = ": this processor "
COUNTED = ": not measured: "  # of parts
ATTEMPTS = re.compile(r"^attempts: (\d+) of (\d+) failed: (.*)$", re.MULTILINE)
WHY = re.compile(r"^not measured: (.*)$", re.MULTILINE)


def not_measured(path):
    for test in xml.etree.ElementTree.parse(path).iter("testcase"):
        if test.find("skipped") is None or test.get("status") == "disabled":
            continue
        why = WHY.search(test.findtext("system-out", ""))
        yield f"{test.get('name')}: {why.group(1) if why else 'no reason given'}"


def skipped_parts(path):
    for test in xml.etree.ElementTree.parse(path).iter("testcase"):
        for part in PART.finditer(test.findtext("system-out", "")):
            why = "; ".join(message for message in MESSAGE.findall(part.group(2)) if message)
            yield f"{test.get('name')}: {part.group(1)}: {why or 'no reason given'}"


def attempts(path):
    """(test, how many failed, of how many, at what)"""
    for test in xml.etree.ElementTree.parse(path).iter("testcase"):
        for failed, made, what in ATTEMPTS.findall(test.findtext("system-out", "")):
            yield test.get("name"), int(failed), int(made), what


def main():
    most, paths = int(sys.argv[1]), sys.argv[2:]
    found = [test for path in paths for test in not_measured(path)]
    parts = [part for path in paths for part in skipped_parts(path)]
    found += [part.replace(COUNTED, ": ") for part in parts if COUNTED in part]
    parts = [part for part in parts if COUNTED not in part]
    print(f"not measured: {len(found)}" + "".join(f"\n  {test}" for test in found))
    print(f"skipped within tests: {len(parts)}" + "".join(f"\n  {part}" for part in parts))
    tried = [attempt for path in paths for attempt in attempts(path)]
    print(f"failed attempts: {sum(failed for _, failed, _, _ in tried)} of {sum(made for _, _, made, _ in tried)}" +
          "".join(f"\n  {test}: {failed} of {made}: {what}" for test, failed, made, what in tried if failed > 0))
    lacking = sum(LACKING in test for test in found)
    if len(found) - lacking > most:
        sys.exit(f"at most {most} may be" + (f", besides {lacking} for what this processor lacks" if lacking else ""))


if __name__ == "__main__":
    main()
