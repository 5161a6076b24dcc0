#!/usr/bin/env python3
"""usage: own_pools.py BUILD --java PATH

Records workers that wait for the few connections of a pool that the program has written itself (java/OwnPools.java): of classes that the
configuration names, and of the JDK's blocking queues. Every taking and giving back is recorded, and what more connections would save is
simulated as they really save it. Queues by which threads hand something on are no pools. Ends with 77 where the machine is too busy to say how
long the program takes.
"""
import argparse
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "frameworks")]
from recording import RecordedFile  # noqa: E402
from resources import SIZE, compared_faults, output_of, recorded_faults  # noqa: E402

NOT_MEASURED = 77
# By kind, if there is one.
CONFIGURATION = {"monitor": "resource OwnPools$MonitorPool take=acquire give=release size=size\n",
                 "condition": "resource OwnPools$Cond*Pool take=tryAcquire,tryNow give=release size=capacity # a getter\n",
                 "plain": "resource OwnPools$PlainPool take=get give=giveBack\n"}
NOWHERE = "resource OwnPools$Nowhere take=get give=put size=3\n"
UNMATCHED = "OwnPools$Nowhere.get, OwnPools$Nowhere.put"
QUEUES = {"array": "ArrayBlockingQueue", "linked": "LinkedBlockingQueue", "deque": "LinkedBlockingDeque"}
# By kind: the pool's name, how often it is asked before it is known as a pool, and the size that is recorded.
KINDS = {"monitor": ("OwnPools$MonitorPool", 0, SIZE), "condition": ("OwnPools$ConditionPool", 0, SIZE), "plain": ("OwnPools$PlainPool", 0, 0),
         **{kind: (f"java.util.concurrent.{name} of OwnPools$Connection", 2, SIZE) for kind, name in QUEUES.items()}}
NO_POOLS = {"consumed": "400 consumed", "retried": "400 consumed", "retriedFirst": "400 consumed", "resubmitted": "400 run", "recycled": "400 used"}
FLAGS = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"]


def recorded(options, folder, *arguments):
    trace, configuration = pathlib.Path(folder, f"{arguments[0]}.cft"), pathlib.Path(folder, "trace.conf")
    configuration.write_text(CONFIGURATION.get(arguments[0], "") + NOWHERE)
    program = [options.java, *FLAGS, "-cp", f"{options.build}/java/jvm", "OwnPools", *arguments]
    printed = output_of([f"{options.build}/bin/contrafact", "record", "-q", "--config", configuration, "-o", trace, "--", *program])
    return trace, RecordedFile(f"{options.build}/bin/cft_dump", trace), printed, program


def pool_faults(options, folder, kind):
    pool, unknown, size = KINDS[kind]
    trace, file, printed, program = recorded(options, folder, kind, SIZE)
    asked, recorded_ns = map(int, printed.split())
    yield from recorded_faults(file, pool, asked - unknown, size)
    if file.facts.get("resources.unmatched") != UNMATCHED:
        yield f"unmatched: {file.facts.get('resources.unmatched')}"
    yield from compared_faults(options, kind, program[:-1], recorded_ns, trace, pool, folder)


def no_pool_faults(options, folder, kind):
    _, file, printed, _ = recorded(options, folder, kind)
    if printed.strip() != NO_POOLS[kind]:
        yield f"it printed {printed!r}"
    pools = {number: row for number, row in file.pools.items() if "Queue" in row[0] and f"resource.none.{number}" not in file.facts}
    if pools:
        yield f"taken for pools: {list(pools.values())}"
    if kind == "retriedFirst" and not any(key.startswith("resource.none.") for key in file.facts):
        yield "it did not seem to be a pool at first"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--java", default="java")
    parser.add_argument("--kind", action="append", choices=[*KINDS, *NO_POOLS])
    options = parser.parse_args()
    options.not_measured, found = [], 0
    with tempfile.TemporaryDirectory(prefix="contrafact-own-pools-") as folder:
        for kind in options.kind or [*KINDS, *NO_POOLS]:
            for fault in (pool_faults if kind in KINDS else no_pool_faults)(options, folder, kind):
                found += 1
                print(f"{kind} ({options.java}): {fault}", flush=True)
    for line in options.not_measured:
        print(f"not measured: {line}")
    sys.exit(1 if found else NOT_MEASURED if options.not_measured else 0)


if __name__ == "__main__":
    main()
