"""The agent's own options and its refusals, mostly without `contrafact record` around it: function events by include, exclude
and configuration file; contexts of stages that the JDK makes and of classes that were unloaded; several JVMs of one recorded program, which do not harm each
other's traces; a full disk; a trace without the command; and each way to call it wrongly gives one clear line, ends or leaves alone the program as `strict`
says, and harms nothing.
"""
import collections
import pathlib
import re
import subprocess

from recording import RecordedFile

RUN_SECONDS_MAX = 120
OUTPUT = "failed 5\n"
VERIFY = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"]


def agent_arguments(build, output, options=""):
    return [f"-agentpath:{build}/lib/libcontrafact_jvm.so=output={output},strict=1,cpu_switches=0{options}"] + VERIFY


def run_traced(build, java, options):
    command = [java, *options, "-cp", f"{build}/java/jvm", "traced.Traced"]
    return subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)


def method_events(build, java, folder, options):
    """Names of the methods that were entered; names and outcomes of those that were left; and the file."""
    output = f"{folder}/run.cft"
    done = run_traced(build, java, agent_arguments(build, output, options))
    assert (done.returncode, done.stdout, done.stderr) == (0, OUTPUT, ""), done
    file = RecordedFile(f"{build}/bin/cft_dump", output)
    assert not list(file.faults()), list(file.faults())
    assert not file.all_events("cpu_out"), "cpu_switches=0 records switches all the same"
    name = lambda o: ".".join(file.methods[o[0]][:2])
    enters = collections.Counter(name(o) for _, _, o in file.all_events("method_enter"))
    exits = collections.Counter((name(o), o[1]) for _, _, o in file.all_events("method_exit"))
    return enters, exits, file


def check_function_events(build, java, folder):
    enters, exits, file = method_events(build, java, folder, ",include=traced.*,exclude=*.main")
    expected = {"traced.Traced.work": 4, "traced.Traced.failing": 10, "traced.Traced.<init>": 1, "traced.Traced.leaf": 1,
                "traced.Traced.lambda$main$0": 1}
    assert dict(enters) == expected, enters
    assert exits[("traced.Traced.failing", "1")] == 5 and exits[("traced.Traced.failing", "0")] == 5, exits
    assert exits[("traced.Traced.work", "0")] == 4, exits
    assert all(int(row[3]) > 0 and row[2] == "Traced.java" for row in file.methods.values() if row[0] == "traced.Traced")
    config = pathlib.Path(folder, "trace.conf")
    config.write_text("# two methods\ninclude traced.Traced.work\ninclude traced.Traced.l*\nexclude *lambda*\n")
    enters, _, _ = method_events(build, java, folder, f",config={config}")
    assert dict(enters) == {"traced.Traced.work": 4, "traced.Traced.leaf": 1}, enters
    enters, _, _ = method_events(build, java, folder, "")
    assert not enters, enters


def check_everything_traced(build, java, folder):
    """Every class of the JDK that loads, but for those that the probes stand on."""
    enters, _, _ = method_events(build, java, folder, ",include=*")
    assert sum(enters.values()) > 1000, len(enters)


def check_refusals(build, java, folder):
    arguments = agent_arguments(build, f"{folder}/run.cft")
    bad = pathlib.Path(folder, "bad.conf")
    bad.write_text("include a.*\ninclude\n")
    cases = [
        ([a.replace("strict=1", "stirct=1") for a in arguments], "stirct=1"),
        (agent_arguments(build, f"{folder}/none/run.cft"), "none/run.cft"),
        (agent_arguments(build, f"{folder}/run.cft", f",config={folder}/none.conf"), "none.conf"),
        (agent_arguments(build, f"{folder}/run.cft", f",config={bad}"), "line 2"),
    ]
    for options, text in cases:
        done = run_traced(build, java, options)
        lines = [line for line in done.stderr.split("\n") if line.startswith("contrafact: ")]
        assert done.returncode == 1 and len(lines) == 1 and text in lines[0], (options, done)
        assert OUTPUT not in done.stdout, done


def check_stages_of_the_jdk(build, java, folder):
    """Stages of the JDK's own have the frame that makes them for their context; those of the program have all of its callers."""
    output = f"{folder}/run.cft"
    command = [java, *agent_arguments(build, output), "-cp", f"{build}/java/jvm", "traced.JdkStages"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    assert (done.returncode, done.stdout, done.stderr) == (0, "sum 606\n", ""), done
    file = RecordedFile(f"{build}/bin/cft_dump", output)
    assert not list(file.faults()), list(file.faults())
    callers = collections.defaultdict(set)  # class of the code -> the methods of the program on the stacks
    outside = collections.Counter()         # frames outside java.util.concurrent, of the JDK's own stages
    for _, _, (_, context, body) in file.all_events("task_create"):
        stack, code = file.stack(context), file.methods.get(body, [""])[0]
        callers[code] |= {method for class_name, method, _ in stack if class_name == "traced.JdkStages"}
        if code.startswith("jdk.internal."):
            outside[sum(1 for class_name, _, _ in stack if not class_name.startswith("java.util.concurrent."))] += 1
    assert callers["traced.JdkStages"] == {"main", "one", "other", "stage"}, callers
    assert set(outside) == {1} and outside[1] > 30, outside


def check_unloaded_classes(build, java, folder):
    """Twins that lie at the same addresses, one after the other, are told apart."""
    output = f"{folder}/run.cft"
    command = [java, *agent_arguments(build, output, ",compare_contexts=1"), "-cp", f"{build}/java/jvm", "traced.Unloading"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    assert (done.returncode, done.stdout, done.stderr) == (0, "unloaded\n", ""), done
    file = RecordedFile(f"{build}/bin/cft_dump", output)
    assert file.facts["context.different"] == "0", file.facts
    methods = collections.Counter(m for _, _, o in file.all_events("block_begin") for _, m, _ in file.stack(o[1]))
    assert methods["firstParks"] == methods["otherParks"] == 180, methods


def check_costs(build, java, folder):
    """What recording takes by kind of event is a fact, within what a clock's reading and a look at the stack take."""
    output = f"{folder}/run.cft"
    command = [java, *agent_arguments(build, output), "-cp", f"{build}/java/jvm", "traced.Forks"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    assert (done.returncode, done.stdout, done.stderr) == (0, "leaves 32768\n", ""), done
    facts = RecordedFile(f"{build}/bin/cft_dump", output).facts
    costs = {key.removeprefix("recording.ns."): int(value) for key, value in facts.items() if key.startswith("recording.ns.")}
    assert set(costs) == {"task_spawn", "task_start", "task_end", "task_complete", "wait_begin", "wait_end"}, costs
    assert all(0 <= cost < 5000 for cost in costs.values()) and costs["task_spawn"] > 0, costs


def check_full_disk(build, java, folder):
    """The file cannot grow: the program goes on, one line says so, and what was written before is readable."""
    trace = f"{folder}/full.cft"
    program = [java, "-cp", f"{build}/java/programs", "programs.ManyThreads"]
    plain = subprocess.run(program, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    record = " ".join([f"{build}/bin/contrafact", "record", "-o", trace, "--", *program])
    done = subprocess.run(["bash", "-c", f"ulimit -f 64; exec {record}"], capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    assert (done.returncode, done.stdout) == (0, plain.stdout), done
    file = RecordedFile(f"{build}/bin/cft_dump", trace)
    said = done.stderr.count("recording stopped, the program went on: cannot write")
    assert said == 2 and "the recorder could not write them" in done.stderr, done.stderr  # the agent; record
    assert file.trailer and not file.losses and int(file.trailer[2]) > 0, (file.losses, file.trailer)
    assert pathlib.Path(trace).stat().st_size <= 64 * 1024 and file.all_events("task_spawn"), trace


def check_no_command(build, java, folder):
    """Neither the JVM's options nor the program's arguments are in the file."""
    trace = f"{folder}/private.cft"
    program = [java, "-Dkey=concealed", "-cp", f"{build}/java/jvm", "traced.Traced", "concealed"]
    for options, is_there in (["--no-command"], False), ([], True):
        command = [f"{build}/bin/contrafact", "record", *options, "-o", trace, "--", *program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
        assert (done.returncode, done.stdout) == (0, OUTPUT), done
        shown = [f"{build}/bin/contrafact", "export", trace, "--format", "text", "-o", "-"]
        text = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
        assert ("concealed" in text) == is_there and (b"concealed" in pathlib.Path(trace).read_bytes()) <= is_there, text[:2000]


def check_warm(build, java, folder):
    """The virtual machine compiles sooner, which the trace says."""
    trace = f"{folder}/warm.cft"
    program = [java, "-XX:+PrintFlagsFinal", "-cp", f"{build}/java/jvm", "traced.Traced"]
    for options, calls in ([], "15000"), (["--warm"], "1500"):
        done = subprocess.run([f"{build}/bin/contrafact", "record", *options, "-o", trace, "--", *program], capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
        assert done.returncode == 0, done.stderr
        flag = next(line.split() for line in done.stdout.splitlines() if " Tier4CompileThreshold " in line)
        assert flag[3] == calls, flag
        text = subprocess.run([f"{build}/bin/contrafact", "export", trace, "--format", "text", "-o", "-"], capture_output=True, text=True, check=True).stdout
        assert ("fact jvm.warm yes" in text.splitlines()) == bool(options), options


def check_no_longer_awake(build, java, folder):
    """A start script puts the JVM into a session of its own, where the kernel groups by sessions: from then on no core is kept awake, which
    the JVM's trace says."""
    autogroups = pathlib.Path("/proc/sys/kernel/sched_autogroup_enabled")
    if not autogroups.exists() or autogroups.read_text().strip() != "1":
        return print("left out: the kernel does not group by sessions")
    trace = f"{folder}/session.cft"
    script = f"setsid sh -c 'sleep 2; exec {java} -cp {build}/java/jvm traced.Traced' & wait"
    done = subprocess.run([f"{build}/bin/contrafact", "record", "--warm", "-o", trace, "--", "sh", "-c", script], capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    assert (done.returncode, done.stdout) == (0, OUTPUT), done
    if "idle cores are not kept awake" in done.stderr:
        return print("left out:", done.stderr)
    assert "idle cores were no longer kept awake once the program, or what it started, was in a group" in done.stderr, done.stderr
    facts = RecordedFile(f"{build}/bin/cft_dump", trace).facts
    assert facts["cores.awake_ns"] == "500000000" and int(facts["cores.awake_until_ns"]) < int(facts["start.monotonic_ns"]), facts


def check_several_jvms(build, java, folder):
    """A script that starts three JVMs, two of them at once: each has a file of its own, and one line names the further ones."""
    start = f"{java} -cp {build}/java/jvm traced.Traced"
    command = [f"{build}/bin/contrafact", "record", "-o", "several.cft", "--", "sh", "-c", f"{start} & {start}; wait; {start}"]
    for abandoned in ("several.cft.recording", "several.cft.recording.1"):  # as a killed recording leaves them
        pathlib.Path(folder, abandoned).write_text("old")
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=RUN_SECONDS_MAX)
    assert (done.returncode, done.stdout) == (0, 3 * OUTPUT), done
    notes = [line for line in done.stderr.split("\n") if "more JVMs, recorded in files of their own" in line]
    further = re.findall(r"several\.\d+\.cft", notes[0]) if len(notes) == 1 else []
    names = {path.name for path in pathlib.Path(folder).glob("several*")}
    assert len(set(further)) == 2 and names == {"several.cft", *further}, (names, done)
    processes = set()
    for name in names:
        file = RecordedFile(f"{build}/bin/cft_dump", f"{folder}/{name}")
        assert not list(file.faults()), (name, list(file.faults()))
        assert sum(1 for _ in file.all_events("thread_begin")) > 0, name
        processes.add(file.facts["pid"])
    assert len(processes) == 3, processes


CHECKS = (check_function_events, check_refusals, check_everything_traced, check_stages_of_the_jdk, check_unloaded_classes,
          check_costs, check_full_disk, check_no_command, check_warm, check_no_longer_awake, check_several_jvms)
