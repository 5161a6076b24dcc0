"""What is recorded of tasks that native programs hand to runtimes and pools."""

import pathlib
import sys
import tempfile

from native_recording import CONTRAFACT, PROGRAMS, Recording, attempts, check, not_measured, run

SOURCES = pathlib.Path(__file__).resolve().parent


def need_llvm_openmp():
    if not any(pathlib.Path("/usr/lib").glob("llvm-*/lib/libomp.so.5")):
        not_measured("no OpenMP runtime of LLVM's is installed (libomp-19-dev)")


def line_of(source, text):
    """The number of the only line that has the text."""
    found = [i for i, line in enumerate((SOURCES / source).read_text().splitlines(), 1) if text in line]
    check(len(found) == 1, f"{source}: '{text}' in lines {found}")
    return found[0]


def classes_of(recording, source, pool=None):
    """The line of `source` where they are made, and how many there are, of each class of tasks. Runs of a runtime's own
    threads are none."""
    rows = [row for row in recording.json("tasks")["classes"] if row["spawn"] is not None and "via" not in row["spawn"]]
    return sorted((row["spawn"]["line"], row["count"]) for row in rows
                  if row["spawn"]["file"] == source and (pool is None or pool in row["pool"]))


def openmp_counts(program, threads, recorded):
    """Each construct with a known number of tasks. `recorded(case)`: how many tasks each class of the recording has."""
    # A region's tasks, one for each thread, and those of the other constructs. A loop with a fixed schedule is its own
    # affair with gcc; clang asks the runtime for each thread's part.
    check(sum(recorded("regions")) == 5 * threads, "regions")
    parts = [threads] if program.endswith("llvm") else []
    for case, of_tasks in {"nested": [50, 50, 50], "groups": [40, 40], "chunks": [100], "fixed": parts, "barriers": [], "chain": [10],
                           "at_once": [8], "loop_of_tasks": [20]}.items():
        counts = recorded(case)
        expected = [threads, *of_tasks]
        # Clang copies constructs in loops, and each copy is a class.
        check(sum(counts) == sum(expected) if parts else sorted(counts) == sorted(expected), (case, counts))
    # Once in tens of thousands the runtime names a place of its own instead of the program's: all are there, but one of
    # them counts as made where the region begins.
    counts = recorded("recursion")
    check(sum(counts) == threads + 232 + 232, counts)
    check(sum(recorded("outside")) == 3, "outside")


def openmp(program="openmp_tasks", replaced=True):
    """Under LLVM's runtime in place of GNU's: the same output, and exact counts."""
    need_llvm_openmp()
    threads = 3

    def recorded(case):
        recording = Recording(program, case, threads)
        check(("OpenMP: LLVM's runtime" in recording.err) == replaced, recording.err)
        events = recording.events()
        check(events["task_start"] == events["task_end"], (case, events))
        check(events["wait_begin"] == events["wait_end"], (case, events))
        info = recording.json("info")
        check(info["trace"]["loss"]["notes"] == [], info["trace"]["loss"])
        check("LLVM OMP" in info["facts"]["openmp.runtime"], info["facts"])
        return [count for _, count in classes_of(recording, "openmp_tasks.cc", "OpenMP team of")]

    openmp_counts(program, threads, recorded)


def openmp_llvm():
    """The same, compiled for that runtime."""
    if not (PROGRAMS / "native_openmp_tasks_llvm").exists():
        not_measured("clang and its OpenMP runtime are not installed (clang-19, libomp-19-dev)")
    openmp("openmp_tasks_llvm", False)


def openmp_kept():
    """Without LLVM's runtime, and where it must not stand in, `record` says that tasks are not seen, and so does who reads it."""
    recording = Recording("openmp_tasks", "nested", 3, options=["--keep-openmp"])
    check("libgomp, does not report its tasks: they are not seen" in recording.err, recording.err)
    notes = recording.json("tasks")["trace"]["loss"]["notes"]
    check(notes == ["the work of OpenMP (libgomp) is not among the tasks: the agent cannot see it"], notes)
    check(classes_of(recording, "openmp_tasks.cc", "OpenMP") == [], recording.json("tasks"))


def named_tasks():
    """Tasks that a program's own pool names: exact counts, its workers, who waits, what was dropped."""
    recording = Recording("named_pool")
    source = "named_pool.cc"
    submit = line_of(source, "CONTRAFACT_TASK_SUBMIT(name_, job->function)")
    rows = [row for row in recording.json("tasks")["classes"] if "adders" in row["pool"]]
    check([row["body"]["method"] for row in rows] and all("add_up" in row["body"]["method"] for row in rows), rows)
    check(all(row["spawn"]["line"] == submit for row in rows), (submit, rows))
    check(sum(row["count"] for row in rows) == 65, rows)
    events = recording.events()
    check(events["task_drop"] == 5, events)
    check(events["task_start"] == 60 + 3 and events["task_end"] == 60 + 3, events)
    check(events["wait_begin"] == 60 + 3, events)
    by_hand = Recording("named_tasks_c")
    rows = [row for row in by_hand.json("tasks")["classes"] if "by hand" in row["pool"]]
    check(sorted(row["count"] for row in rows) == [4, 4], rows)
    check(all(row["body"]["method"] == "nothing" for row in rows), rows)
    check(by_hand.events()["wait_end"] == 8, by_hand.events())


def async_threads():
    """The threads of std::async are tasks, made where the program asks for them."""
    recording = Recording("async")
    counts = classes_of(recording, "async.cc")
    check(counts == [(line_of("async.cc", "// one place"), 6), (line_of("async.cc", "// another"), 4)], counts)
    check(recording.events()["wait_end"] >= 10, recording.events())


def simulated_error(recording):
    """By what share the simulated unchanged run is longer than the recorded one."""
    document = recording.json("estimate", arguments=["--model", "redispatch"])
    text = next(row["before"] for row in document["effect"] if row["figure"] == "duration, simulated")
    number, unit = text.split()
    return float(number) * {"us": 1e3, "ms": 1e6, "s": 1e9}[unit] / document["base_duration_ns"] - 1


def check_simulated(program, *arguments):
    """The middle error of three runs in which no thread had to wait long for a core; false if there are none."""
    busy_most, kept_most, runs, enough = 0.05, 0.05, 9, 3
    errors = []
    for _ in range(runs):
        recording = Recording(program, *arguments)
        threads = recording.json("info")["threads"]
        if any(row["preempted_ns"] > busy_most * row["span_ns"] for row in threads):
            continue
        errors.append(simulated_error(recording))
        if len(errors) == enough:
            break
    if len(errors) < enough:
        not_measured(f"threads had to wait for a core in {runs - len(errors)} of {runs} runs")
    error = sorted(errors)[enough // 2]
    print(f"{program} {arguments[0]}: {100 * error:+.1f} %")
    attempts.report(f"{program} {arguments[0]} simulated", sum(abs(one) >= kept_most for one in errors), enough)
    check(abs(error) < kept_most, (program, arguments, errors))


def openmp_times():
    """Simulated unchanged, programs whose work OpenMP shares out take as long as they did: explicit tasks, recursive ones, a loop's
    chunks, fixed parts, and phases between barriers."""
    need_llvm_openmp()
    for case in ["tasks", "recursion", "loop", "fixed", "phases"]:
        check_simulated("openmp_times", case, 2)


def named_times():
    """So does a pool of the program's own."""
    check_simulated("named_pool", 400_000)


def tbb():
    """oneTBB: the same output, and exact counts where the library leaves them to the program."""
    if not (PROGRAMS / "native_tbb_tasks").exists():
        not_measured("oneTBB is not installed (libtbb-dev)")
    source = "tbb_tasks.cc"

    def recorded(case, options=()):
        recording = Recording("tbb_tasks", case, options=options)
        check("oneTBB" not in recording.err, recording.err)
        check(recording.json("info")["trace"]["loss"]["notes"] == [], case)
        return recording

    def made_at(recording):
        rows = recording.json("tasks")["classes"]
        return {row["spawn"]["line"]: row["count"] for row in rows
                if row["spawn"] is not None and row["pool"] == "oneTBB" and "apart" not in (row["body"] or {})}

    recording = recorded("group")
    check(made_at(recording) == {line_of(source, "// made here"): 40}, made_at(recording))
    recording = recorded("recursion")
    counts = made_at(recording)
    check(counts == {line_of(source, "// the left one"): 127, line_of(source, "// the right one"): 127}, counts)
    check(recording.events()["wait_begin"] == 127, recording.events())
    # 64 leaves, each of one iteration: the loop's own task is one of them.
    recording = recorded("loop")
    rows = [row for row in recording.json("tasks")["classes"] if row["pool"] == "oneTBB" and "apart" not in row["body"]]
    check(sum(row["count"] for row in rows) == 64, rows)
    check(all("start_for" in row["body"]["method"] for row in rows), rows)
    # What was enqueued, and what a cancelled group or an exception left.
    events = recorded("arena").events()
    check(events["task_start"] == events["task_end"] >= 10 + 2, events)
    for case in ["exception", "cancel"]:
        events = recorded(case).events()
        check(events["task_drop"] > 0, (case, events))
        # A thread that the library made may not have begun.
        check(0 <= events["task_spawn"] - events["task_drop"] - events["task_start"] <= 1, (case, events))
        check(events["wait_begin"] == events["wait_end"] == events["task_complete"], (case, events))
    recorded("reduce")
    for options in [["--sets=always"], ["--children"], ["--accesses"]]:
        for case in ["group", "recursion", "exception", "cancel"]:
            Recording("tbb_tasks", case, options=options)


def unseen_runtimes():
    """Of programs that look like Go's and Rust's with Rayon, `record` says that their tasks are not seen, and so does the recording."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for runtime, change in {"Go": ["--add-section", ".go.buildinfo=/dev/null"],
                                "Rayon": ["--add-symbol", "_ZN10rayon_core8registry=0x1000"]}.items():
            program, trace = folder / runtime, folder / "run.cft"
            status, _, err = run(["objcopy", *change, PROGRAMS / "native_quick", program])
            check(status == 0, err)
            plain = run([program])
            status, out, err = run([CONTRAFACT, "record", "-o", trace, "--", program])
            check((status, out) == plain[:2], err)
            check(f"tasks of {runtime} are not seen: only its threads" in err, err)
            err = run([CONTRAFACT, "tasks", trace])[2]
            check(f"the work of {runtime} is not among the tasks" in err, err)
        _, _, err = run([CONTRAFACT, "record", "-o", folder / "run.cft", "--", PROGRAMS / "native_quick"])
        check("not seen: only its threads" not in err, err)
