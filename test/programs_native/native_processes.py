"""What is recorded of processes: how they begin, end and become others; and what `record` says of them."""

import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

from native_recording import CONTRAFACT, LIBRARY, PROGRAMS, Recording, check, not_measured, run, site


def stripped():
    recording = Recording("stripped")
    rows = recording.sites()
    check(sum(row["acquisitions"] for row in rows) == 425, rows)
    check(all(row["site"].startswith("0x") and "native_stripped" in row["site"] for row in rows), rows)


def debug_files():
    """Names from debug files that lie apart: where the debug link says, beside the program or in .debug; and by build id, in a
    folder that the user names."""
    source = PROGRAMS / "native_mutex"
    for way in ["beside", "debug folder", "build id"]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program, debug = folder / "program", folder / "program.debug"
            environment = {}
            if way == "debug folder":
                debug = folder / ".debug" / "program.debug"
            elif way == "build id":
                notes = run(["readelf", "--notes", source])[1]
                build_id = notes.split("Build ID:")[1].split()[0]
                debug = folder / "debug" / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
                environment = {"CONTRAFACT_DEBUG_PATH": f"{folder / 'nothing here'}:{folder / 'debug'}"}
            debug.parent.mkdir(parents=True, exist_ok=True)
            commands = [["objcopy", "--only-keep-debug", source, debug], ["objcopy", "--strip-all", source, program]]
            if way != "build id":
                commands.append(["objcopy", f"--add-gnu-debuglink={debug}", program])
            for command in commands:
                status, _, err = run(command)
                check(status == 0, err)
            trace = folder / "run.cft"
            status, _, err = run([CONTRAFACT, "record", "-o", trace, "--", program])
            check(status == 3, err)

            def sites(variables):
                done = subprocess.run([CONTRAFACT, "locks", "--json", trace], env=dict(os.environ, **variables),
                                      capture_output=True, text=True, timeout=60)
                check(done.returncode == 0, done.stderr)
                return json.loads(done.stdout)["sites"]

            found = sites(environment)
            check(site(found, "worker (mutex.cc:12)", "contended")["acquisitions"] == 400, (way, found))
            if environment:
                check(not any("mutex.cc" in row["site"] for row in sites({})), f"{way}: names without the folder")
            debug.unlink()
            check(not any("mutex.cc" in row["site"] for row in sites(environment)), f"{way}: names without the debug file")


def handlers():
    """A program that asks for its signal handlers finds its own, and they run, also in children and after an exec."""
    for options in [[], ["--sets=always"], ["--accesses"], ["--sets=always", "--children"]]:
        Recording("handlers", options=options)


def sandboxes():
    """Programs that restrict their system calls do what they did, and are not ended for what sets need."""
    for options in [["--sets=always"], ["--accesses"], []]:
        for case in ["strict_mode", "strict_mode_in_section", "only_its_own_calls", "in_a_section", "with_handlers",
                     "thread_ends", "workers", "workers_bound"]:
            Recording("sandboxes", case, options=options)
    facts = Recording("sandboxes", "only_asks", options=["--sets=always"]).json("info")["facts"]
    check("sets.ended" not in facts and facts["sets.segments.complete"] == "600", facts)


def no_command():
    """Only its user may read a trace, and it need not hold the arguments, also of processes that the program starts."""
    for options in [[], ["--children"]]:
        recording = Recording("exec", options=["--no-command", *options])
        traces = list(pathlib.Path(recording.folder.name).iterdir())
        for trace in traces:
            check(trace.stat().st_mode & 0o777 == 0o600, oct(trace.stat().st_mode))
            command = recording.json("info", trace)["facts"]["command"]
            check(command == "native_exec", command)
    plain = Recording("sections", "jumps").json("info")["facts"]["command"]
    check(plain == f"{PROGRAMS / 'native_sections'} jumps", plain)


def full_disk():
    """The file cannot grow any more, as on a full disk: the program goes on to its end, and what was written is kept."""
    sections = 20_000
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        trace, progress = folder / "t.cft", folder / "progress"
        program = [PROGRAMS / "harm_progress", progress, sections]
        command = [str(word) for word in [CONTRAFACT, "record", "-o", trace, "--", *program]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            done = lambda: int.from_bytes(progress.read_bytes()[:8], "little") if progress.exists() else 0
            while child.poll() is None and done() < sections // 10:
                time.sleep(0.001)
            written = pathlib.Path(f"{trace}.recording").stat().st_size
            resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (written + 1000, written + 1000))
            out, err = child.communicate(timeout=60)
        check(child.returncode == 33 and out == "" and done() == sections, (child.returncode, out, err, done()))
        check(err.count("recording stopped, the program went on: cannot write") == 2, err)
        check("events were dropped, the recorder could not write them" in err, err)
        status, text, said = run([CONTRAFACT, "info", trace])
        check(status == 0 and "the recorder could not write them" in text, (status, text, said))


def quick():
    """A program that exits at once."""
    recording = Recording("quick")
    info = recording.json("info")
    check(len(info["threads"]) == 1 and not info["trace"]["loss"]["cut_off"], info)
    check("no lock" in recording.json("locks")["empty_reason"], recording.json("locks"))


def reused():
    """Each life of a place is a lock of its own; those of one variable have its name."""
    recording = Recording("reused")
    rows = recording.json("locks")["locks"]
    lives = {}
    for row in rows:
        lives.setdefault((row["lock"] if row["lock"].isidentifier() else "", row["kind"]), []).append(row["acquisitions"])
    check(sorted(lives[("place", "mutex")]) == [3, 5], lives)
    check((lives[("both", "mutex")], lives[("both", "rwlock")]) == ([7], [11]), lives)
    check(sorted(lives[("plain", "mutex")]) == [2, 4], lives)
    check(sorted(lives[("", "mutex")]) == [13, 17], lives)
    check(lives[("c11", "mutex")] == [1, 1] and lives[("credits", "semaphore")] == [1, 1], lives)
    check(len(lives[("changed", "condition")]) == 2 and len(lives[("guard", "mutex")]) == 1, lives)
    events = recording.events()
    # place, both, both's rwlock, the heap's two; twice the condition, C11's mutex and the semaphore.
    check((events["lock_init"], events["lock_destroy"]) == (2 + 2 + 2 + 3 * 2, 2 + 2 + 1 + 3 * 2), events)
    check(events["sync_wait"] == events["sync_woken"], events)


def clock():
    """Times from the processor's counter and from the kernel: the same program, the same facts."""
    recording = Recording("mutex")
    facts = recording.json("info")["facts"]
    check(facts["clock.source"] == "processor" or facts["clock.source"].startswith("kernel: the "), facts)
    check((facts["clock.source"] == "processor") == ("clock.error_ns" in facts), facts)
    begin_ns = time.monotonic_ns()
    recording = Recording("mutex", options=["--clock", "kernel"])
    end_ns = time.monotonic_ns()
    facts = recording.json("info")["facts"]
    check(facts["clock.source"] == "kernel: as asked for" and "clock.error_ns" not in facts, facts)
    check(begin_ns < int(facts["start.monotonic_ns"]) < end_ns, facts)
    check(recording.locks()["contended"]["acquisitions"] == 400, recording.locks())


def forks():
    recording = Recording("forks")
    check(recording.locks()["mutex"]["acquisitions"] == 10, recording.locks())
    check(len(list(pathlib.Path(recording.folder.name).iterdir())) == 1, "children left files")


def daemon():
    """The program ends at once, and what it forked does the work: record says so, if it is true."""
    for options, outlives in [([], True), (["--children"], True), ([], False)]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            may_end = folder / "may_end"
            if not outlives:
                may_end.touch()
            command = [CONTRAFACT, "record", *options, "-o", folder / "t.cft", "--", PROGRAMS / "native_daemon", may_end]
            if not outlives:
                command.append("waits")
            with open(folder / "said", "w+") as said:  # the child keeps it open
                status = subprocess.run([str(word) for word in command], stdout=said, stderr=said, timeout=60).returncode
                said.seek(0)
                text = said.read()
            may_end.touch()
            check(status == 0, text)
            hints = "1 process that the program forked goes on after its end and is not recorded: --children records" in text
            check(hints == (outlives and not options), (options, outlives, text))


def children():
    recording = Recording("forks", options=["--children"])
    files = sorted(pathlib.Path(recording.folder.name).iterdir())
    check(len(files) == 4, files)  # the process, the fork, the one that executes, the spawned one
    for path in files:
        check(recording.locks(path)["mutex"]["acquisitions"] == 10, path)
    recording = Recording("forks", options=["--children", "--sets=always"])
    for path in sorted(pathlib.Path(recording.folder.name).iterdir()):
        facts = recording.json("info", path)["facts"]
        check((facts["sets.segments.complete"], facts["sets.segments.incomplete"]) == ("10", "0"), (path, facts))
    # Forked with a lock held, from translated code: the child ends without another section.
    Recording("sections", "forks", options=["--children", "--sets=always"])


def exec():
    recording = Recording("exec")
    locks = recording.locks()
    check(list(locks) == ["after"] and locks["after"]["acquisitions"] == 10, locks)
    check("discarded" not in recording.err, recording.err)
    with tempfile.TemporaryDirectory() as folder:
        run_for_a_while = f"sleep 0.2; exec {PROGRAMS / 'native_mutex'}"
        _, _, err = run([CONTRAFACT, "record", "-o", pathlib.Path(folder) / "t.cft", "--", "sh", "-c", run_for_a_while])
        check("became another one by exec; what it did before that (" in err, err)
        gone = pathlib.Path(folder) / "gone"
        gone.mkdir()
        status, _, err = run([CONTRAFACT, "record", "-o", gone / "t.cft", "--", "sh", "-c", f"rm -r {gone}; exit 7"])
        check(status == 7 and "was removed while the program ran" in err, (status, err))


def ends():
    for how in ["_exit", "quick_exit", "abort", "kill", "segv", "pthread_exit"]:
        recording = Recording("ends", how)
        lock = recording.locks()["mutex"]
        # The worker's first 100 ms at least: what a killed program loses is the last of it.
        check(lock["acquisitions"] > 20, f"{how}: {lock}")
        loss = recording.json("info")["trace"]["loss"]
        check(not loss["cut_off"] and loss["events_dropped"] == 0, f"{how}: {loss}")


def libraries():
    recording = Recording("libraries", LIBRARY)
    row = site(recording.sites(), "use_library_lock")
    check(row["acquisitions"] == 5 and "library.cc" in row["site"], row)
    facts = recording.json("info")["facts"]
    modules = [text for key, text in facts.items() if key.startswith("module.") and text.endswith(str(LIBRARY))]
    check(len(modules) == 1 and modules[0].split()[1] != "0", modules)  # when it went


def libraries_again():
    """A library that came back to its place: every command names its code, and none fails."""
    recording = Recording("libraries", LIBRARY, LIBRARY)
    facts = recording.json("info")["facts"]
    modules = [text.split() for key, text in facts.items() if key.startswith("module.") and text.endswith(str(LIBRARY))]
    check(len(modules) == 2 and modules[0][2:5] == modules[1][2:5], modules)
    row = site(recording.sites(), "use_library_lock")
    check(row["acquisitions"] == 10 and "library.cc" in row["site"], row)
    check(recording.locks()["library_lock"]["acquisitions"] == 10, recording.locks())


def refused():
    status, _, err = run([CONTRAFACT, "record", "-o", "/tmp/never.cft", "--", PROGRAMS / "native_static"])
    check(status != 0 and "statically linked" in err, err)
    check(not os.path.exists("/tmp/never.cft"), "a file was left")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "other"
        path.write_bytes((PROGRAMS / "native_mutex").read_bytes())
        path.chmod(0o755)
        damaged = bytearray(path.read_bytes())
        damaged[18] = 0x28  # another machine's
        path.write_bytes(damaged)
        status, _, err = run([CONTRAFACT, "record", "-o", pathlib.Path(folder) / "t.cft", "--", path])
        check(status != 0 and "no program for 64-bit x86" in err, err)
        path.write_bytes((PROGRAMS / "native_mutex").read_bytes())
        other = 65534 if os.geteuid() == 0 else None
        if other:  # a set-user-ID program of somebody else
            os.chown(path, other, other)
            path.chmod(0o4755)
            os.chmod(folder, 0o755)
            status, _, err = run([CONTRAFACT, "record", "-o", pathlib.Path(folder) / "t.cft", "--", path])
            check(status != 0 and "set-user-ID" in err, (status, err))
            os.chown(path, 0, 0)
        path.chmod(0o755)
        path.write_text("hello\n")
        status, _, err = run([CONTRAFACT, "record", "-o", pathlib.Path(folder) / "t.cft", "--", path])
        check(status == 126 and "neither an ELF program nor a script" in err, (status, err))
        status, _, err = run([CONTRAFACT, "record", "--memory", "999999G", "-o", pathlib.Path(folder) / "t.cft", "--",
                              PROGRAMS / "native_mutex"])
        check(status == 1 and "more than this machine's memory" in err and err.count("\n") == 1, (status, err))
        status, _, err = run([CONTRAFACT, "record", "--sets=abc", "-o", pathlib.Path(folder) / "t.cft", "--",
                              PROGRAMS / "native_mutex"])
        check(status == 1 and "'abc' is no window and period" in err, (status, err))


def scripts():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.sh"
        path.write_text(f"#!/bin/sh\n{PROGRAMS / 'native_mutex'}\nexit 2\n")
        path.chmod(0o755)
        trace = pathlib.Path(folder) / "t.cft"
        status, out, err = run([CONTRAFACT, "record", "-o", trace, "--", path])
        check(status == 2 and out == "400\n", (status, out, err))
        check("is a script: its interpreter '/bin/sh' is recorded" in err and "but no process that it starts" in err, err)
        # A wrapper that goes on as the program is no child.
        status, out, err = run([CONTRAFACT, "record", "-o", trace, "--", "env", "A=b", PROGRAMS / "native_mutex"])
        check(status == 3, (status, err))
        status, out, _ = run([CONTRAFACT, "locks", "--json", trace])
        check('"contended"' in out and '"quiet"' in out, out[:400])


def info():
    recording = Recording("mutex")
    facts = recording.json("info")["facts"]
    check(facts["agent"] == "native" and "cpu.switches" in facts, facts)
    check("425 locks taken" in recording.err.replace(",", ""), recording.err)


def kept_awake():
    """`record --warm` keeps idle cores awake, and says so where it has to stop: what it started, or that has started, has a group of its own."""
    autogroups = pathlib.Path("/proc/sys/kernel/sched_autogroup_enabled")
    if not autogroups.exists() or autogroups.read_text().strip() != "1":
        not_measured("the kernel does not group by sessions")
    with tempfile.TemporaryDirectory() as name:
        trace = pathlib.Path(name) / "run.cft"
        for program, stops in (["sleep", "2"], False), (["setsid", "--wait", "sleep", "2"], True), (["sh", "-c", "setsid sleep 2 & wait"], True):
            status, _, err = run([CONTRAFACT, "record", "--warm", "-o", trace, "--", *program])
            check(status == 0, (program, err))
            if "are not kept awake" in err:
                not_measured(err.strip())
            check(("idle cores were no longer kept awake once the program, or what it started, was in a group of its own" in err) == stops, (program, err))
            facts = run([CONTRAFACT, "export", trace, "--format", "text", "-o", "-"])[1]
            check("fact cores.awake_ns 500000000" in facts, facts[:2000])
            check(("fact cores.awake_until_ns " in facts) == stops, (program, facts[:2000]))
            notes = run([CONTRAFACT, "metrics", trace])[2]
            check(("idle cores were kept awake for the first " in notes) == stops, (program, notes))
