#!/usr/bin/env python3
"""usage: not_measured.py MOST JUNIT...

Says which tests of the given JUnit files measured nothing, and why: by their exit status 77 and a line "not measured: WHY".
Exit status 1 if they are more than MOST.
"""
import re
import sys
import xml.etree.ElementTree

WHY = re.compile(r"^not measured: (.*)$", re.MULTILINE)


def not_measured(path):
    for test in xml.etree.ElementTree.parse(path).iter("testcase"):
        if test.find("skipped") is None or test.get("status") == "disabled":
            continue
        why = WHY.search(test.findtext("system-out", ""))
        yield f"{test.get('name')}: {why.group(1) if why else 'no reason given'}"


def main():
    most, found = int(sys.argv[1]), [test for path in sys.argv[2:] for test in not_measured(path)]
    print(f"not measured: {len(found)}" + "".join(f"\n  {test}" for test in found))
    if len(found) > most:
        sys.exit(f"at most {most} may be")


if __name__ == "__main__":
    main()
