#!/usr/bin/env python3
"""usage: record_frameworks.py BUILD --java PATH... [--program NAME]...

Records small programs of real frameworks, in versions that pom.xml pins and jars.sha256 holds to, and asserts what was recorded:
the tasks by kind, pool, body and fate; that each began after it was handed over; the waits; and that the program put out what it
does by itself. The jars are fetched into BUILD/frameworks, by Maven, unless they are there. Ends with 77 where they cannot be fetched. Nothing is asserted about times.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "jvm"), str(HERE.parent / "golden")]
import specs_apply  # noqa: E402
from recording import Recording  # noqa: E402

RUN_SECONDS_MAX = 120
FETCH_SECONDS_MAX = 300
NOT_MEASURED = 77
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
TIMEOUT, CANCELLED = 2, 4  # format::Outcome

ALL = "Work.lambda$executeAll$0"
SPIN = "Work.spin"
TOMCAT = "org.apache.tomcat.util.threads.ThreadPoolExecutor"
NIO, NETTY = "io.netty.channel.nio.NioEventLoop", "io.netty.util.concurrent.DefaultEventExecutor"
JETTY = "org.eclipse.jetty.util.thread.QueuedThreadPool"
JBOSS = "org.jboss.threads.EnhancedQueueExecutor"
JDK_POOL = "java.util.concurrent.ThreadPoolExecutor pool-1-thread-"
THIRD = "java.util.concurrent.ThreadPoolExecutor pool-3-thread-"
OWN_POOL = "frameworks.Own$Pool pool-4-thread-"
SINGLE = "java.util.concurrent.ThreadPoolExecutor pool-2-thread-"
SCHEDULED = "java.util.concurrent.ScheduledThreadPoolExecutor"
SEQUENTIAL = "com.google.common.util.concurrent.SequentialExecutor"
REACTOR = "reactor.core.scheduler.BoundedElasticScheduler$BoundedScheduledExecutorService"
KOTLIN, KOTLIN_IO = "kotlinx.coroutines.scheduling.CoroutineScheduler", "kotlinx.coroutines.internal.LimitedDispatcher"
KOTLIN_LOOP = "kotlinx.coroutines.BlockingEventLoop"
COROUTINE = ("IntrinsicsKt__IntrinsicsJvmKt$createCoroutineUnintercepted$$inlined$createCoroutineFromSuspendFunction$"
             "IntrinsicsKt__IntrinsicsJvmKt$4.invokeSuspend")
JDK_WORKERS = "java.util.concurrent.ThreadPoolExecutor"
SCALA, SCALA_BODY = "scala.concurrent.impl.ExecutionContextImpl$$anon$3", "Promise$Transformation.run"
SPRING = "org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor$1"
RX_BODY = "FlowableSubscribeOn$SubscribeOnSubscriber.run"
REACTOR_BODY = "FluxSubscribeOnCallable$CallableSubscribeOnSubscription.run"

# By program: tasks by (kind, pool, body, fate); waits for a task or future that is known, if they are the program's; what the
# trace names as not recorded; of which pools alone, if not of all. Other tasks of the same bodies or pools there are none, but for those of `IGNORED`.
EXPECTED = {
    "Tomcat": dict(tasks={("pooled", TOMCAT, ALL, "normal"): 40, ("pooled", TOMCAT, SPIN, "normal"): 40}, waits=40),
    "Netty": dict(tasks={("pooled", NIO, ALL, "normal"): 40, ("pooled", NIO, SPIN, "normal"): 43,
                         ("pooled", NIO, "Netty.lambda$main$0", "normal"): 4, ("pooled", NIO, "Netty.lambda$main$0", "exception"): 1,
                         ("pooled", NIO, SPIN, "dropped"): 1, ("pooled", NETTY, "Netty.lambda$main$1", "normal"): 1},
                  waits=48, cancelled=1, timeouts=1),
    "TomcatServer": dict(tasks={("pooled", TOMCAT, "SocketProcessorBase.run", "normal"): 40}, pools={TOMCAT}, sizes={TOMCAT: (10, 200)}),
    "Jetty": dict(tasks={("pooled", JETTY, ALL, "normal"): 40, ("pooled", JETTY, "Jetty.lambda$main$0", "normal"): 40,
                         ("stage", None, "Jetty.stage", "normal"): 40}, waits=40),
    "Jboss": dict(tasks={("pooled", JBOSS, ALL, "normal"): 40, ("pooled", JBOSS, SPIN, "normal"): 80}, waits=80),
    "Guava": dict(tasks={("pooled", JDK_POOL, SPIN, "normal"): 40, ("pooled", JDK_POOL, "Guava.fail", "normal"): 1,
                         ("pooled", JDK_POOL, "Guava.lambda$main$0", "normal"): 1, ("pooled", SEQUENTIAL, ALL, "normal"): 40,
                         ("stage", None, "Guava.stage", "normal"): 40}, waits=42),
    # The thread that collects the results disposes of a few that are just ending.
    "RxJava": dict(tasks={("pooled", SCHEDULED, RX_BODY, "normal"): 800}, waits=0, late=40),
    "Reactor": dict(tasks={("pooled", SCHEDULED, REACTOR_BODY, "normal"): 40, ("pooled", REACTOR, REACTOR_BODY, "normal"): 40}, waits=0),
    "Kotlin": dict(tasks={("pooled", KOTLIN, COROUTINE, "normal"): 40, ("pooled", KOTLIN_IO, COROUTINE, "normal"): 40,
                          ("pooled", KOTLIN_LOOP, COROUTINE, "normal"): 1}, waits=80),
    "Disruptor": dict(tasks={}, waits=0, unseen="LMAX Disruptor"),
    "Quartz": dict(tasks={}, waits=0, unseen="Quartz's SimpleThreadPool"),
    # Its event loops have tasks of its own besides.
    "VertX": dict(tasks={("pooled", JDK_WORKERS, "WorkerTask.run", "normal"): 40}, pools={JDK_WORKERS}),
    "Scala": dict(tasks={("pooled", SCALA, SCALA_BODY, "normal"): 80, ("pooled", JDK_POOL, SCALA_BODY, "normal"): 80},
                  pools={SCALA, JDK_POOL}),
    "Clojure": dict(tasks={("pooled", JDK_WORKERS, "AFn.call", "normal"): 40}, pools={JDK_WORKERS}),
    "Groovy": dict(tasks={("pooled", JDK_POOL, "Closure.call", "normal"): 40}, pools={JDK_POOL}),
    # Messages that an actor finds when it runs are one task.
    "Pekko": dict(tasks={}, pools=set()),
    "Spring": dict(tasks={("pooled", SPRING, "FutureUtils.lambda$toSupplier$0", "normal"): 40, ("pooled", SPRING, SPIN, "normal"): 40},
                   pools={SPRING}),
    "Boot": dict(tasks={("pooled", TOMCAT, "SocketProcessorBase.run", "normal"): 40, ("pooled", SPRING, "Boot$Orders.lambda$order$0", "normal"): 40},
                 pools={TOMCAT, SPRING}, sizes={TOMCAT: (10, 200)}),
    "Own": dict(tasks={("pooled", "frameworks.Own$Queue", ALL, "normal"): 40, ("pooled", "frameworks.Own$Queue", "Own.future", "normal"): 40,
                       ("pooled", "frameworks.Own$Queue", "Own.refused", "dropped"): 5, ("stage", None, "Own.stage", "normal"): 40,
                       ("stage", None, "Own.counted", "normal"): 40,
                       ("pooled", SINGLE, "Own.lambda$runAlso$1", "normal"): 1, ("pooled", SINGLE, "Own.shared", "normal"): 1,
                       ("pooled", JDK_POOL, "Own$HandsOn.lambda$execute$0", "normal"): 40,
                       # It hands on by a method of its own: seen when it did so first.
                       ("pooled", "frameworks.Own$HandsOnDeeper", ALL, "normal"): 1, ("pooled", JDK_POOL, ALL, "normal"): 39,
                       # The others are their threads' alone.
                       ("pooled", "frameworks.Own$ThreadPerTask", ALL, "dropped"): 1,
                       ("stage", None, "Own.lambda$submitFromPlace$0", "normal"): 40, ("pooled", THIRD, "Own.submitted", "normal"): 40,
                       ("pooled", OWN_POOL, ALL, "normal"): 40},
                waits=40, threads={ALL: 40}, elsewhere=True),
}
# Programs that are no Java: what runs them, and their source.
SCRIPTS = {"Clojure": ["clojure.main", str(HERE / "scripts" / "clojure.clj")],
           "Groovy": ["groovy.ui.GroovyMain", str(HERE / "scripts" / "groovy.groovy")]}
# The frameworks' own business.
IGNORED = ("DefaultPromise$1.run", "IoScheduler$CachedWorkerPool.run", "BoundedElasticScheduler$BoundedServices.eviction",
           "FutureKt.setupCancellation", "TaskQueue.run")
SIZES = {TOMCAT: (2, 4), NIO: (1, 1), NETTY: (1, 1), JETTY: (6, 6), JBOSS: (3, 3), SEQUENTIAL: (1, 1), KOTLIN_IO: (64, 64),
         KOTLIN_LOOP: (1, 1), "frameworks.Own$Queue": (0, 2**32 - 1)}


def is_fetched(folder, source):
    wanted = dict(reversed(line.split()) for line in (source / "jars.sha256").read_text().splitlines())
    return all((folder / name).exists() and hashlib.sha256((folder / name).read_bytes()).hexdigest() == sum_
               for name, sum_ in wanted.items())


def fetch(folder, source=HERE):
    """What the source's pom.xml names. "" or why not."""
    folder = pathlib.Path(folder).resolve()  # Maven would take it from the folder of its pom.xml
    if is_fetched(folder, source):
        return ""
    if not shutil.which("mvn"):
        return "mvn is not installed"
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run(["mvn", "-B", "-q", "-f", str(source / "pom.xml"), f"{PLUGIN}:copy-dependencies", "-DincludeScope=runtime",
                           f"-DoutputDirectory={folder}"], capture_output=True, text=True, timeout=FETCH_SECONDS_MAX)
    if done.returncode != 0:
        return f"Maven could not fetch the frameworks: {(done.stdout + done.stderr)[-400:]!r}"
    if not is_fetched(folder, source):
        sys.exit(f"fetched jars differ from {source / 'jars.sha256'}")
    return ""


def compile_java(classpath, folder, sources):
    subprocess.run(["javac", "--release", "17", "-g", "-parameters", "-nowarn", "-proc:none", "-cp", classpath, "-d", str(folder),
                    *sorted(str(path) for path in sources)], check=True)


def boot_jar(path, lib, classes):
    """As Spring Boot's Maven plug-in packs it: the program's classes and all libraries' jars in one, and what loads them."""
    loader = next(lib.glob("spring-boot-loader-*.jar"))
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: org.springframework.boot.loader.launch.JarLauncher\n"
                     "Start-Class: frameworks.Boot\nSpring-Boot-Classes: BOOT-INF/classes/\nSpring-Boot-Lib: BOOT-INF/lib/\n")
        for entry in ("BOOT-INF/", "BOOT-INF/classes/", "BOOT-INF/lib/"):
            out.writestr(entry, "")
        with zipfile.ZipFile(loader) as packed:
            for name in packed.namelist():
                if name.endswith(".class") or name.startswith("META-INF/services/") and not name.endswith("/"):
                    out.writestr(name, packed.read(name))
        for file in sorted(classes.rglob("*.class")):
            out.write(file, f"BOOT-INF/classes/{file.relative_to(classes)}")
        for file in sorted(lib.glob("*.jar")):
            if file != loader:
                out.write(file, f"BOOT-INF/lib/{file.name}")


def build_boot(build, folder):
    lib = pathlib.Path(build) / "frameworks" / "boot-lib"
    compile_java(f"{lib}/*", folder / "boot", [HERE / "boot" / "Boot.java", HERE / "java" / "frameworks" / "Work.java"])
    boot_jar(folder / "boot.jar", lib, folder / "boot")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    return done.returncode, done.stdout


def body_of(task):
    return (task["body"] or "").split(" (")[0]


def pool_of(task):
    """Executors of one thread each are one pool, named by their threads, too, where they share their work: whether they do depends on
    the run (src/model/pool_groups.h)."""
    pool = task.get("pool")
    return next((name for name in (SCHEDULED, REACTOR) if pool and pool.startswith(name + " ")), pool)


def task_faults(recording, expected):
    wanted, pools = expected["tasks"], expected.get("pools")
    pooled = [t for t in recording.model.tasks if t["kind"] in ("pooled", "stage") and not body_of(t).startswith(IGNORED)
              and (pools is None or t.get("pool") in pools)]
    found = collections.Counter((t["kind"], pool_of(t), body_of(t), t["fate"]) for t in pooled)
    for what in sorted(set(found) | set(wanted), key=str):
        if found[what] != wanted.get(what, 0):
            yield f"{what}: {found[what]} instead of {wanted.get(what, 0)}"
    threads = collections.Counter(body_of(t) for t in recording.model.tasks if t["kind"] == "thread")
    for body, number in expected.get("threads", {}).items():
        if threads[body] != number:
            yield f"{threads[body]} threads of {body} instead of {number}"
    cancelled = [o[0] for _, _, o in recording.file.all_events("task_complete") if int(o[1]) == CANCELLED]
    ended = {o[0] for _, _, o in recording.file.all_events("task_end")}
    late = [t for t in cancelled if t in ended]
    if len(late) > expected.get("late", 0) or len(cancelled) - len(late) != expected.get("cancelled", 0) and pools is None:
        yield f"tasks {cancelled} count as cancelled, {late} of them at their ends"
    timeouts = sum(1 for _, _, o in recording.file.all_events("wait_end") if int(o[1]) == TIMEOUT)
    if timeouts != expected.get("timeouts", timeouts):
        yield f"{timeouts} waits ended by their timeout instead of {expected['timeouts']}"


def edge_faults(recording, elsewhere):
    """Each pooled task that ran was handed over before, if `elsewhere` by another thread; each stage has an end."""
    place = {}
    for kind in ("task_create", "task_spawn", "task_start"):
        for thread, time, operands in recording.file.all_events(kind):
            place.setdefault((kind, operands[0]), (thread, time))
    for task in recording.file.pooled:
        if ("task_start", task) not in place:
            continue
        spawn, start = place["task_spawn", task], place["task_start", task]
        if spawn[1] > start[1]:
            yield f"task {task} starts before it is handed over"
        if spawn[0] == start[0] and elsewhere:
            yield f"task {task} starts on the thread that hands it over"
    for model in recording.model.stages():
        if body_of(model).endswith(".stage") and model["end_ns"] is None:
            yield f"stage {model['task']} has no end"


def pool_faults(recording, sizes):
    used = {t.get("pool") for t in recording.model.pooled()}
    if len([p for p in recording.model.pools if p["name"] == OWN_POOL]) > 1:
        yield "more than one row of one pool"
    for pool in recording.model.pools:
        size = sizes.get(pool["name"])
        if pool["name"] in used and size and (pool["core_size"], pool["max_size"]) != size:
            yield f"pool {pool['name']}: {pool['core_size']} to {pool['max_size']} instead of {size}"


def own_waits(recording):
    """Waits of the programs for a task or future that is known, other than for a thread."""
    kinds = {task["task"]: task["kind"] for task in recording.model.tasks}
    return sum(1 for event in recording.model.waits() if kinds.get(event[3], "thread") != "thread" and any(
        frame[0].startswith("frameworks.") for frame in recording.model.stack(event[4])))


def unseen_faults(recording, wanted, advice):
    named = recording.file.facts.get("scheduler.unseen.0")
    if named != wanted:
        yield f"not recorded: {named} instead of {wanted}"
    if wanted and wanted not in advice:
        yield f"the advice does not name {wanted}: {advice!r}"


def faults(build, java, folder, name, expected):
    classpath = f"{folder}/classes:{build}/frameworks/lib/*"
    trace = tempfile.mktemp(prefix=name, suffix=".cft", dir=folder)
    command = [java, "-cp", classpath, *SCRIPTS.get(name, [f"frameworks.{name}"])]
    if name == "Boot":
        command = [java, "-jar", f"{folder}/boot.jar"]
    plain = run(command)
    recorded = run([f"{build}/bin/contrafact", "record", "-q", "-o", trace, "--", *command])
    if plain != recorded or plain[0] != 0:
        yield f"{plain} became {recorded}"
        return
    recording = Recording(build, trace)
    yield from recording.file.faults()
    yield from task_faults(recording, expected)
    yield from edge_faults(recording, expected.get("elsewhere"))
    yield from pool_faults(recording, expected.get("sizes", SIZES))
    if own_waits(recording) != expected.get("waits", own_waits(recording)):
        yield f"{own_waits(recording)} waits instead of {expected['waits']}"
    if "probe.missing" in recording.file.facts:
        yield f"probes without a place: {recording.file.facts['probe.missing']}"
    if recording.file.facts["probe.refused"] != "0":
        yield f"not instrumented: {recording.file.facts.get('probe.refused.0')}"
    _, advice = run([f"{build}/bin/contrafact", "advise", "-q", trace])
    yield from unseen_faults(recording, expected.get("unseen"), advice)
    yield from place_faults(build, trace, name)
    with tempfile.TemporaryDirectory(dir=folder) as specs:
        yield from specs_apply.refused(f"{build}/bin/contrafact", trace, pathlib.Path(specs))[1]


# By program: the library beside its places. A task that a library hands on by itself has none of the program's.
VIA = {"Reactor": "Reactor", "RxJava": "RxJava", "Guava": "Guava", "Netty": "Netty", "Kotlin": "Kotlin", "VertX": "Vert.x", "Scala": "Scala",
       "Clojure": "Clojure", "Pekko": "Pekko", "Spring": "Spring", "Boot": "Spring"}
TASK_CHANGES = ("convert-to-inline", "inline-at-wait", "hoist-branch", "convert-to-combinator")
# Lines that hand out tasks by what was made at run time: a proxy.
PLACES = {"Spring": {48, 57}, "Boot": {30}}


def place_faults(build, trace, name):
    """Where its tasks are spawned: lines of the program, by the library's name where it stands between."""
    code, shown = run([f"{build}/bin/contrafact", "tasks", "-q", "--json", trace])
    spawns = [row["spawn"] for row in json.loads(shown)["classes"] if row["spawn"]] if code == 0 else []
    source = pathlib.Path(SCRIPTS[name][-1]).name if name in SCRIPTS else f"{name}.java"
    own = [spawn for spawn in spawns if spawn.get("file", "") in (source, "Work.java")]
    if (EXPECTED[name]["tasks"] or name in VIA) and not own:
        yield f"no task is spawned at a line of the program: {spawns}"
    lines = {spawn.get("line") for spawn in own}
    if not PLACES.get(name, set()) <= lines:
        yield f"spawned at lines {lines}, not at {PLACES[name]}"
    if name in VIA and not any(VIA[name].lower() in str(spawn).lower() for spawn in spawns):
        yield f"no place names {VIA[name]}: {spawns}"
    code, shown = run([f"{build}/bin/contrafact", "advise", "-q", "--json", trace])
    for row in json.loads(shown)["improvements"] if code == 0 else []:
        if row["what"] in TASK_CHANGES and row["where"].get("file", "") not in (source, "Work.java"):
            yield f"{row['what']} is advised at a line that is not the program's: {row['where']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--java", nargs="+", required=True)
    parser.add_argument("--program", action="append", choices=EXPECTED)
    arguments = parser.parse_args()
    lib = pathlib.Path(arguments.build) / "frameworks" / "lib"
    wanted = arguments.program or list(EXPECTED)
    why = fetch(lib) or ("Boot" in wanted and fetch(lib.parent / "boot-lib", HERE / "boot"))
    if why:
        print(f"not measured: {why}")
        sys.exit(NOT_MEASURED)
    failed = 0
    programs = [(java, name) for java in arguments.java for name in wanted]
    with tempfile.TemporaryDirectory(prefix="contrafact-frameworks-") as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        compile_java(f"{lib}/*", f"{folder}/classes", (HERE / "java" / "frameworks").glob("*.java"))
        if "Boot" in wanted:
            build_boot(arguments.build, pathlib.Path(folder))
        work = lambda item: list(faults(arguments.build, item[0], folder, item[1], EXPECTED[item[1]]))
        for (java, name), found in zip(programs, pool.map(work, programs)):
            failed += bool(found)
            for fault in found:
                print(f"{name} ({java}): {fault}", flush=True)
    print(f"{len(programs)} recordings, {failed} failed")
    sys.exit(1 if failed or not programs else 0)


if __name__ == "__main__":
    main()
