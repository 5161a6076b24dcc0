#!/usr/bin/env python3
"""Runs a program plain and recorded, and holds the two runs against each other: status, output, files, and no hang.

usage: run_harm.py --list                  a line "CASE LABEL" for each case
       run_harm.py CONTRAFACT CASE

A case is a command in a folder of its own, run plain and then recorded in each of its ways. What was recorded can be read, and a
program that ended of its own accord is not reported as damage.
"""

import contextlib
import pathlib
import sys
import tempfile

import judges
import kills
import waits
from harm_case import CASES, FURTHER_WAYS, SET_WINDOWS, WAYS, case, judge_case

VICTIMS = ["malloc", "calloc", "threads", "dlopen", "printf", "fopen", "locks", "conditions"]
ENDS = ["_exit", "_Exit", "quick_exit", "execve", "execv", "execl", "execle", "fexecve", "kill", "abort"]


def declare_handlers():
    own = ("progress", "file")
    for victim in VICTIMS:
        case(f"handlers.{victim}", ["harm_handlers", "all", victim], ignored=own)
        case(f"handlers.{victim}.of_threads", ["harm_handlers", "all", victim, "threads"], ["plain recording", "sets"], ignored=own)
    case("handlers.jumps", ["harm_handlers", "jumps"])
    case("handlers.every_function", [], needs="nm",
         run=lambda contrafact, _: judges.never_called(contrafact, "harm_handlers", lambda names: names & judges.ASYNC_SIGNAL_SAFE))
    for end in ENDS:
        clean = end not in ("kill", "abort")
        # At the third signal, and so on: each shell run is one program after the other.
        for victim in ["malloc", "threads"]:
            case(f"handlers.{end}.{victim}", ["sh", "-c", f"for at in 1 2 3 4 5; do %programs/harm_handlers {end} {victim} $at; "
                 "echo $?; done"], ["children"], ignored=own)
            case(f"handlers.{end}.{victim}.repeated", ["harm_handlers", end, victim, "3"], ["plain recording"], repeats=25,
                 clean=clean, ignored=own, label="slow")
        for victim in ["dlopen", "locks"]:
            if end == "quick_exit" and victim == "dlopen":
                continue  # the C library itself has a lock for its functions of the end, which loading takes, too
            case(f"handlers.{end}.{victim}", ["harm_handlers", end, victim, "3"], ["plain recording", "sets"], clean=clean,
                 ignored=own)


def declare_descriptors():
    sections = {"listing": 101_000, "lowest": 0, "overwrite_all": 1_000_000, "close_each": 600_000, "close_from": 600_000,
                "close_all": 600_000, "close_all_bare": 300_000, "overwrite_in_a_loop": 0, "close_standard": 300_000}
    for name, count in sections.items():
        case(f"descriptors.{name}", ["harm_descriptors", name], sections=count)
    for name in ["four", "three"]:
        case(f"descriptors.{name}", ["harm_descriptors", name], ["plain recording"], sections=600_000)
    case("descriptors.shell", ["bash", "-c", "exec 3>q; echo hello >&3; echo again >&3; exec 3>&-; exit 3"])
    case("descriptors.shell_many", ["bash", "-c", "for n in 3 4 5 6 7 8 9 10 20 63 100 251 252 253 254; do eval \"exec $n>q$n; "
         "echo $n >&$n\"; done; true | true; exit 4"])
    # Whoever checks a descriptor before writing to it does so 20 ms before.
    slowly = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fstat", "-e", "inject=fstat:delay_exit=20000"]
    case("descriptors.overwrite_when_checked", ["harm_descriptors", "overwrite_slowly"], around=slowly, only_recorded=True,
         needs="strace")
    for name in ["list", "overwrite"]:
        case(f"descriptors.jvm.{name}", [name, "%libraries/libharm_duplicate.so"], ["plain recording"], tasks=30_000, label="jvm",
             needs="javac", java="Descriptors")
    case("descriptors.limit_by_shell", ["sh", "-c", "ulimit -n 7; exec %programs/harm_descriptors lowest"], ["plain recording"])


def declare_stacks():
    case("stacks.depths", ["harm_stacks", "depths"], [*WAYS, *SET_WINDOWS], ignored=("depths", "file"), judge=judges.too_deep)
    case("stacks.depths_with_accesses", ["harm_stacks", "depths"], ["accesses"], ignored=("depths", "file"),
         judge=judges.too_deep_with_accesses)
    for name in ["small_threads", "alternate_stack", "coroutine_stack"]:
        case(f"stacks.{name}", ["harm_stacks", name])
    case("stacks.large_calls", ["harm_stacks", "large_calls_with_room", "../before/depths"], before=["harm_stacks", "depths"],
         judge=judges.plain_fits)
    case("stacks.every_function", [], needs="nm", run=lambda contrafact, _: judges.never_called(contrafact, "harm_stacks", set))
    case("stacks.many_threads", ["harm_stacks", "many_threads"], sections=50_000)
    for end in ENDS:
        clean = end not in ("kill", "abort")
        case(f"stacks.end_depth.{end}", ["harm_stacks", "end_on_painted_stack", end], [*WAYS, "children with sets"],
             clean=clean, ignored=("stack",), judge=judges.end_too_deep)
        for where in ["end_in_small_thread", "end_on_alternate_stack"]:
            case(f"stacks.{where}.{end}", ["harm_stacks", where, end], ["plain recording", "sets"], clean=clean)


MANY = 400_000


def declare_sandboxes():
    # In strict mode, as without time stamps, no thread can know the time: what comes then is not recorded. Nobody hears of
    # a restriction by the program's own system call instruction: recording goes on, but for sets, which need the kernel, and
    # in strict mode, where time stamps are forbidden (docs/native.md).
    sections = {"early_prctl": MANY, "early_syscall": MANY, "early_bare": MANY, "late_prctl": 2 * MANY + 200_000,
                "late_syscall": 2 * MANY + 200_000, "late_bare": 2 * MANY + 200_000, "strict": 1000,
                "synchronised": MANY, "synchronised_bare": MANY, "with_threads": 150_000, "exec_after": MANY,
                "errors_instead": MANY, "no_time_stamps": 1000, "unshare_user": MANY, "unshare_mounts": MANY,
                "unshare_thread": MANY, "unshare_and_fork": 1000, "enter_namespaces": MANY, "become_nobody": MANY,
                "not_dumpable": MANY, "little_memory": MANY, "little_data": MANY, "no_files": MANY, "small_files": 3 * MANY,
                "no_processes": MANY}
    for name, count in sections.items():
        ways = ["plain recording", "children"] if name.endswith("_bare") else tuple(WAYS)
        case(f"sandbox.{name}", ["harm_sandbox", name], ways, sections=count)
    for by in ["prctl", "syscall", "bare"]:
        ways = ["plain recording", "children"] if by == "bare" else tuple(WAYS)
        case(f"sandbox.exec_static_after_{by}", ["harm_sandbox", f"exec_static_after_{by}"], ways)
    case("sandbox.vfork_after", ["harm_sandbox", "vfork_after"], ["plain recording", "sets"], sections=100,
         judge_trace=judges.is_alone)
    for name in ["vfork_child_restricts_prctl", "vfork_child_restricts_syscall", "failing_restrictions"]:
        case(f"sandbox.{name}", ["harm_sandbox", name], [*WAYS, "children with sets"], sections=MANY + 1000,
             judge_trace=judges.is_unrestricted)
    case("sandbox.failing_strict", ["harm_sandbox", "failing_strict"], sections=MANY + 1000)
    case("sandbox.library_child_after", ["harm_sandbox", "library_child_after"], sections=2000, sections_max=2010)
    case("sandbox.change_root", ["harm_sandbox", "change_root"], sections=MANY)
    case("sandbox.strict_and_exit", ["harm_sandbox", "strict_and_exit"], clean=False)
    case("sandbox.memory_by_shell", ["sh", "-c", "ulimit -v 60000; exec %programs/harm_sandbox locks"], recorded=False)
    case("sandbox.files_by_shell", ["sh", "-c", "ulimit -f 1; exec %programs/harm_sandbox locks"])


FATAL = ["aborts", "sigkill", "sigterm", "sigint", "sighup", "sigquit", "sigill", "sigfpe", "sigbus", "sigsys", "sigtrap",
         "sigalrm", "sigusr1", "sigxcpu", "sigrtmin", "segfaults", "killed_by_other", "broken_pipe", "without_core"]


def declare_quiet():
    case("quiet.counts", ["harm_quiet", "counts"], ignored=("file",))
    for end in ENDS:
        clean = end not in ("kill", "abort")
        more = dict(ignored=("file",), judge=judges.further_counts, clean=clean)
        case(f"quiet.counts.{end}", ["harm_quiet", "ends", end], **more)
        case(f"quiet.counts.{end}.of_child", ["harm_quiet", "ends", end, "child"], ["plain recording", "children"], **more)
    case("quiet.system_calls", ["harm_quiet", "marked"], ["plain recording"], ignored=("file", "traced"),
         around=["strace", "-f", "-qq", "-o", "traced"], judge=judges.further_system_calls, needs="strace")
    case("quiet.forks", ["harm_quiet", "forks"], [*WAYS, *FURTHER_WAYS])
    case("quiet.unknown_thread", ["harm_quiet", "unknown_thread"], sections=1)
    keys = dict(environment={"LD_PRELOAD": "%libraries/libharm_keys.so"})
    case("quiet.counts_of_many_keys", ["harm_quiet", "counts"], ignored=("file",), **keys)
    case("quiet.unknown_thread_of_many_keys", ["harm_quiet", "unknown_thread"], sections=1, **keys)
    case("quiet.exports", [], needs="nm", run=lambda contrafact, _: judges.exported(contrafact))
    case("quiet.descriptors", ["harm_quiet", "libraries"], ignored=("traced",), around=["strace", "-f", "-qq", "-o", "traced"],
         judge=judges.further_descriptors, needs="strace", sections=1200)


def declare_unloads():
    for name in ["in_turns", "without_build_id"]:
        case(f"unloads.{name}", ["harm_unloads", name], ["plain recording", "sets"], sections=96_000)


def declare_becomes():
    for name in ["with_empty_environment", "with_null_environment", "with_cleared_environment", "with_many_entries",
                 "with_many_arguments", "at_the_limit"]:
        case(f"becomes.{name}", ["harm_becomes", name], ["plain recording", "sets"])
    for name in ["by_bare_call", "by_syscall", "by_path"]:
        case(f"becomes.{name}", ["harm_becomes", name])
    case("becomes.many_children", ["sh", "-c", "for n in 1 2 3 4 5 6; do for m in 1 2 3 4 5; do %programs/harm_becomes child & done; "
                                   "wait; done; exit 9"], ["plain recording", "children"])
    for name in ["bare_child", "library_child", "forked_child"]:
        case(f"becomes.{name}", ["harm_becomes", name], sections=2000, sections_max=2010)
    case("becomes.both_at_once", ["harm_becomes", "both_at_once"], sections=300_000, sections_max=300_010)
    copies = ("mkdir root && cp --parents $(ldd %programs/harm_ends | grep -o '/[^ ]*' | grep -v contrafact) root && "
              "cp %programs/harm_ends root && ")
    allowed = ["chroot", "/", "true"]
    case("becomes.in_other_root", ["sh", "-c", copies + "exec chroot root /harm_ends destructors"], possible=allowed)
    case("becomes.child_in_other_root", ["sh", "-c", copies + "chroot root /harm_ends destructors; echo $?"], possible=allowed)
    case("becomes.with_four_files", ["sh", "-c", "ulimit -n 4; exec %programs/harm_ends returns"])


def declare_waits():
    ways = [*WAYS, *FURTHER_WAYS]
    for family in waits.FAMILIES:
        case(f"waits.{family}", ["harm_waits", family], ways,
             judge_trace=lambda contrafact, trace, record, family=family: waits.complaints(contrafact, trace, record, family))
    case("waits.anywhere", ["harm_waits", "anywhere"], ways, sections=200_400, sections_max=200_400)
    case("waits.in_calls", ["harm_waits", "in_calls"], ways, sections=90_000, sections_max=90_000)


def declare_ends():
    for name in FATAL:
        case(f"ends.{name}", ["harm_ends", name], ["plain recording", "sets"], clean=False)
    for name in ["returns", "exits", "exits_at_once", "exits_quickly", "exits_quickly_beside_walk", "exits_beside_walk",
                 "closes_beside_walk", "exits_barely", "exits_by_syscall", "main_ends_first",
                 "last_thread_ends", "thread_exits_barely", "ends_while_others_lock", "ends_inside_section", "destructors",
                 "executes_dynamic", "executes_static", "executes_script", "executes_itself", "executes_itself_often",
                 "executes_in_thread", "parent_ends_first", "becomes_daemon", "forks_twice", "vfork_and_exec", "vfork_and_fail",
                 "spawns", "spawns_in_threads", "runs_shells", "clones", "clones_memory", "forks_barely", "forks_by_library",
                 "forks_while_others_lock", "forks_in_thread", "forks_while_cancelled",
                 "ignores_children", "stopped_and_continued", "traced"]:
        case(f"ends.{name}", ["harm_ends", name])
    case("ends.fails_to_execute", ["harm_ends", "fails_to_execute"], sections=2000)
    for name in ["ends_in_handler", "ends_in_alarm", "ended_by_watchdog"]:
        case(f"ends.{name}", ["harm_ends", name], ["plain recording"], repeats=25)
        case(f"ends.{name}.sets", ["harm_ends", name], ["sets", "children"], repeats=8)


def declare_strange():
    case("strange.own_blocks", ["harm_strange", "own_blocks"], sections=3000, tasks=4, judge_trace=judges.names_bodies)
    case("strange.coroutines_return_nowhere", ["harm_strange", "coroutines_return_nowhere"], sections=700)
    for name in ["threads_free_requests", "threads_free_requests_alone"]:
        case(f"strange.{name}", ["harm_strange", name], sections=4000, tasks=4000)
    for before in [{}, {"LD_PRELOAD": "libm.so.6"}]:
        name = "strange.walks_past_environment" + (".preloaded" if before else "")
        case(name, ["harm_strange", "walks_past_environment"], sections=1000, environment=before)
        case(f"{name}.after_exec", ["sh", "-c", "exec %programs/harm_strange walks_past_environment"], sections=1000, environment=before)
    case("strange.own_file_at_two", ["harm_strange", "own_file_at_two"])


def declare_pointers():
    case("pointers.bad", ["harm_pointers", "bad"], [*WAYS, *FURTHER_WAYS], sections=5000)


def declare_starts():
    """By a shell or another program, or with something closed or set at the start."""
    ends = "%programs/harm_ends"
    shells = {
        "sh": f"{ends} returns; echo $?; {ends} aborts 2>&1; echo $?; exit 3",
        "pipeline": f"{ends} executes_script | cat | (cat; {ends} returns); echo $?",
        "xargs": f"printf '%s\\n' returns exits destructors | xargs -n 1 {ends}; echo $?",
        "timeout": f"timeout 20 {ends} destructors; echo $?; timeout -s KILL 20 {ends} sigkill; echo $?",
        "nohup": f"nohup {ends} destructors",
        "nice": f"nice -n 19 {ends} destructors; nice -n 19 %programs/harm_sandbox locks",
        "standard_closed": f"{ends} returns <&- >&- 2>&-",
        "input_closed": f"{ends} destructors <&-",
        "static_in_a_child": "%programs/harm_static; echo $?",
        "background": f"{ends} returns & wait $!; echo $?",
        "subshells": f"(({ends} returns); {ends} exits); (exec {ends} exits_at_once); echo $(({ends} destructors) | wc -l)",
        "trap": "trap 'echo trapped; exit 5' TERM; kill $$; sleep 5",
    }
    for name, text in shells.items():
        case(f"starts.{name}", ["sh", "-c", text])
    # The environment of a child that is recorded too names the agent.
    alone = ["plain recording", "sets"]
    case("starts.environment", ["harm_ends", "prints_environment"], alone)
    case("starts.environment_after_exec", ["harm_ends", "executes_for_environment"], alone)
    case("starts.environment_of_static", ["harm_ends", "executes_static_for_environment"])
    case("starts.environment_of_static_script", ["sh", "-c", "echo '#!%programs/harm_static shows_environment' >script; chmod +x script; "
                                                 "PATH=.:$PATH; exec env -u PWD -u OLDPWD script"])
    case("starts.environment_of_static_shell", ["sh", "-c", "PATH=%programs:$PATH; exec env -u PWD -u OLDPWD harm_static shows_environment"],
         environment={"LD_PRELOAD": "libm.so.6"})
    case("starts.empty_environment", ["sh", "-c", f"env -i {ends} prints_environment"], alone)
    # A shell that brings its own functions for the environment.
    case("starts.bash_environment", ["bash", "-c", "env | grep -cE 'LD_PRELOAD|CONTRAFACT_'; echo \"[$LD_PRELOAD]\"; exit 6"], alone)
    case("starts.preloaded", ["sh", "-c", f"LD_PRELOAD=libm.so.6 {ends} prints_environment | grep preloaded"], alone)
    case("starts.preloaded_before", ["harm_ends", "prints_environment"], alone, environment={"LD_PRELOAD": "libm.so.6"})
    # Started in its turn, plain or recorded, by something that sets a scene.
    scenes = {
        "input_closed": 'exec "$@" <&-',
        "standard_closed": 'exec "$@" >seen <&- 2>&-',
        "further_descriptors": 'exec "$@" 3>three 7>seven',
        "signals_ignored": "trap '' PIPE CHLD TERM INT HUP USR1; exec \"$@\"",
        "as_it_is": 'exec "$@"',
        "nice": 'exec nice -n 19 "$@"',
        "own_session": 'exec setsid -w "$@"',
        "tiny_stack": 'ulimit -s 128; exec "$@"',
        "no_core": 'ulimit -c 0; exec "$@"',
        "umask": 'umask 077; exec "$@"',
    }
    for name, text in scenes.items():
        case(f"starts.inherits.{name}", ["harm_ends", "prints_inheritance"], around=["sh", "-c", text, "sh"])
    for name, text in {"few_files": "ulimit -n 12", "little_memory": "ulimit -v 200000"}.items():
        case(f"starts.inherits.{name}", ["harm_ends", "destructors"], around=["sh", "-c", f'{text}; exec "$@"', "sh"],
             recorded=False)
    signalled = '"$@" & while [ ! -e ready ]; do sleep 0.01; done; exec 2>/dev/null; kill -TERM $!; wait $!; echo $?'
    case("starts.signal", ["harm_ends", "waits_for_signal"], alone, around=["sh", "-c", signalled, "sh"], clean=False)
    case("starts.signal_handled", ["harm_ends", "handles_signal"], alone, around=["sh", "-c", signalled, "sh"])
    script = ("echo '#!/bin/sh\n[ -z \"$JAVA\" ] || java -version\nexec %programs/harm_ends returns' >office; chmod +x office; "
              'exec "$@"')
    case("starts.java_in_a_script", ["./office"], alone, around=["sh", "-c", script, "sh"])
    tracer = ["strace", "-f", "-qq", "-o", "/dev/null"]
    case("starts.traces", tracer + ["harm_ends", "forks_in_thread"], needs="strace")
    case("starts.traced", ["harm_ends", "forks_in_thread"], around=tracer, needs="strace")
    case("starts.bash", ["bash", "-c", f"{ends} returns & wait; cat <({ends} destructors) <({ends} executes_dynamic); "
                         f"exec -a other {ends} exits"])


def declare_kills():
    def declare(name, label, run):
        case(f"kills.{name}", [], run=run, label=label, needs="javac" if name.startswith("jvm") else "")

    for beside, place in [(contextlib.nullcontext, "quiet"), (kills.busy, "busy")]:
        for way, options in [("plain", []), ("sets", ["--sets=always"])]:
            declare(f"{way}.{place}", "native", lambda *where, o=options, b=beside: kills.native(*where, o, 6, b))
            declare(f"{way}.{place}.repeated", "slow", lambda *where, o=options, b=beside: kills.native(*where, o, 60, b))
        declare(f"jvm.{place}", "jvm", lambda *where, b=beside: kills.jvm(*where, 4, b))
        declare(f"jvm.{place}.repeated", "slow", lambda *where, b=beside: kills.jvm(*where, 20, b))
    # More than the machine can do: many others, a program that writes faster than `record` reads, one with a core for itself.
    for way, options in [("plain", []), ("sets", ["--sets=always"])]:
        for beside, place in [(kills.crowded, "crowded"), (kills.real_time, "beside_real_time")]:
            declare(f"{way}.{place}.repeated", "slow", lambda *where, o=options, b=beside: kills.native(*where, o, 20, b))
            declare(f"recorder.{way}.{place}.repeated", "slow", lambda *where, o=options, b=beside: kills.recorder(*where, o, 3, b))
        for beside, place in [(contextlib.nullcontext, "quiet"), (kills.crowded, "crowded"), (kills.real_time, "beside_real_time")]:
            declare(f"fast.{way}.{place}.repeated", "slow", lambda *where, o=options, b=beside: kills.fast(*where, o, 10, b))
    for name in kills.FIRST_LINES:
        declare(f"jvm.first_line.{name}", "jvm", lambda *where, n=name: kills.jvm_first_line(*where, n, 5))
    for way, options in [("plain", []), ("sets", ["--sets=always"])]:
        declare(f"recorder.{way}", "native", lambda *where, o=options: kills.recorder(*where, o, 3))
        declare(f"recorder_stopped.{way}", "native", lambda *where, o=options: kills.stopped_recorder(*where, o, 2))


declare_handlers()
declare_descriptors()
declare_stacks()
declare_sandboxes()
declare_quiet()
declare_unloads()
declare_becomes()
declare_waits()
declare_ends()
declare_pointers()
declare_strange()
declare_starts()
declare_kills()


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(f"{name} {chosen.label}" for name, chosen in CASES.items()))
        return
    name = sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        wrong = judge_case(pathlib.Path(sys.argv[1]).resolve(), name, pathlib.Path(folder))
    if wrong:
        sys.exit(f"FAILED {name}:\n  " + "\n  ".join(wrong))
    print(f"harm {name}: ok")


if __name__ == "__main__":
    main()
