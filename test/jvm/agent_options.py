"""The agent's own options and its refusals, without `contrafact record` around it: function events by include, exclude and
configuration file; and each way to call it wrongly gives one clear line, ends or leaves alone the program as `strict` says,
and harms nothing.
"""
import collections
import pathlib
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
