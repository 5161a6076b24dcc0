#!/usr/bin/env python3
"""advised.py BEST.json LOAD.csv: what the demo needs of an advice. Prints the improved server's options for the sizes of its pools;
then clients, requests a second and p99 in ms at saturation, as recorded and changed; then how the advice differs from the changes
that are made in examples/api-server-improved, if it does."""

import csv
import json
import sys

POOLS = {8: "--handlers", 16: "--workers"}  # by the sizes in examples/api-server
INLINED = ["FeedApi", "ProfileApi"]  # in examples/api-server-improved


def sizes_and_inlined(changes):
    sizes, inlined, others = dict(zip(POOLS.values(), POOLS)), [], []
    for change in changes:
        if change["optimisation"] == "pool-size" and change["size"]["before"] in POOLS:
            sizes[POOLS[change["size"]["before"]]] = change["size"]["after"]
        elif change["optimisation"] == "convert-to-inline" and change["body"]["method"].startswith("lambda$handle$"):
            inlined.append(change["body"]["class"].rsplit(".", 1)[-1])
        else:
            others.append(change["optimisation"])
    return sizes, inlined, others


def saturated(rows, program):
    row = next(row for row in rows if row["program"] == program and row["remark"].startswith("saturated"))
    return [row["clients"], row["per_s"], int(row["p99_ns"]) / 1e6]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        sizes, inlined, others = sizes_and_inlined(json.load(file)["improvements"])
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    print(*(word for pair in sizes.items() for word in pair))
    print(*saturated(rows, "recorded"), *saturated(rows, "changed"))
    if others or sorted(inlined) != INLINED:
        print(f"(This recording's advice is another combination than the improved variant, which inlines the tasks of {' and '.join(INLINED)}: "
              "what is measured below is not what is predicted.)")


if __name__ == "__main__":
    main()
