#!/usr/bin/env python3
"""advised.py BEST.json LOAD.csv: what the demo needs of an advice. Prints the improved server's options for the sizes of its pools;
then clients, requests a second and p99 in ms at saturation, as recorded and changed; then how the advice differs from the changes
that are made in examples/api-server-improved, if it does."""

import csv
import json
import pathlib
import sys

POOLS = {8: "--handlers", 16: "--workers"}  # by the sizes in examples/api-server
INLINED = ["FeedApi", "ProfileApi"]  # in examples/api-server-improved


def variant(best):
    """(options of the improved server: the advised sizes; how its other changes differ from the advised ones, or "")"""
    sizes, inlined, others = {option: size for size, option in POOLS.items()}, [], []
    for change in json.loads(pathlib.Path(best).read_text(encoding="utf-8"))["improvements"]:
        if change["optimisation"] == "pool-size" and change["size"]["before"] in POOLS:
            sizes[POOLS[change["size"]["before"]]] = change["size"]["after"]
        elif change["optimisation"] == "convert-to-inline" and change["body"]["method"].startswith("lambda$handle$"):
            inlined.append(change["body"]["class"].rsplit(".", 1)[-1])
        else:
            others.append(change["optimisation"])
    same = not others and sorted(inlined) == INLINED
    difference = "" if same else (f"This recording's advice is another combination than the improved variant, which inlines the tasks of "
                                  f"{' and '.join(INLINED)}: what is measured is not quite what is predicted.")
    return [str(word) for pair in sizes.items() for word in pair], difference


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def saturated(rows, program):
    row = next(row for row in rows if row["program"] == program and row["remark"].startswith("saturated"))
    return {"clients": int(row["clients"]), "per_s": float(row["per_s"]), "p99_ms": int(row["p99_ns"]) / 1e6}


def main():
    sizes, difference = variant(sys.argv[1])
    rows = rows_of(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
    print(*sizes)
    print(*saturated(rows, "recorded").values(), *saturated(rows, "changed").values())
    if difference:
        print(f"({difference})")


if __name__ == "__main__":
    main()
