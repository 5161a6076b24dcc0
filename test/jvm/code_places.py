"""A program and a library in a jar of its own, started in three ways: places are the program's lines, with the library beside
them; what the library hands out by itself is not advised; --app says otherwise; and a combinator names the program's own line.
"""
import json
import pathlib
import subprocess
import zipfile

RUN_SECONDS_MAX = 120
SOURCES = pathlib.Path(__file__).parent / "java"


def line_of(source, text):
    lines = (SOURCES / source).read_text().split("\n")
    return next(number for number, line in enumerate(lines, 1) if text in line)


def jar(path, classes, manifest=""):
    with zipfile.ZipFile(path, "w") as out:
        if manifest:
            out.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\n{manifest}")
        for file in classes.rglob("*.class"):
            out.write(file, file.relative_to(classes.parent.parent))


def starts(java, build, folder):
    """The same program as a class folder with a library, as a jar that names the library, and by the main class of a jar."""
    classes, home = pathlib.Path(build, "java/jvm/places"), pathlib.Path(folder)
    (home / "lib").mkdir()
    (home / "classes/places").mkdir(parents=True)
    (home / "classes/places/shop").symlink_to(classes / "shop")
    jar(home / "lib/scheduler-core-1.2.jar", classes / "library")
    jar(home / "shop-3.0.jar", classes / "shop", "Main-Class: places.shop.Shop\nClass-Path: lib/scheduler-core-1.2.jar\n")
    yield "folder", [java, "-cp", f"{home}/classes:{home}/lib/scheduler-core-1.2.jar", "places.shop.Shop"]
    yield "jar", [java, "-jar", "shop-3.0.jar"]
    yield "main class", [java, "-cp", f"{home}/lib/scheduler-core-1.2.jar:{home}/shop-3.0.jar", "places.shop.Shop"]


def output_of(command, folder):
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=RUN_SECONDS_MAX)
    assert done.returncode == 0, done
    return done.stdout


def places_of(contrafact, trace, folder, *options):
    """(file, line, via, owner) of where tasks of pools were handed out."""
    document = json.loads(output_of([contrafact, "tasks", trace, "--json", *options], folder))
    spawns = [row["spawn"] for row in document["classes"] if row["spawn"] and row["pool"] != "-"]
    return {(at["file"], at["line"], at.get("via"), at.get("owner")) for at in spawns}


def check_places(build, java, folder):
    contrafact = f"{build}/bin/contrafact"
    via, own = line_of("Shop.java", "// via the library"), line_of("Shop.java", "// by itself")
    again = line_of("Scheduler.java", "pool.execute(() -> { })")
    for name, command in starts(java, build, folder):
        output_of([contrafact, "record", "-q", "-o", "run.cft", "--", *command], folder)
        places = places_of(contrafact, "run.cft", folder)
        for place in (("Shop.java", via, "scheduler-core", None), ("Shop.java", own, None, None),
                      ("Scheduler.java", again, None, "scheduler-core")):
            assert place in places, (name, place, places)
        libraries = places_of(contrafact, "run.cft", folder, "--app", "places.library")
        assert ("Scheduler.java", again, None, None) in libraries, (name, libraries)
        assert not any(file == "Shop.java" and not owner for file, _, _, owner in libraries), (name, libraries)
        advice = json.loads(output_of([contrafact, "advise", "run.cft", "--json", "--no-filter", "all", "--specs", "specs"], folder))
        advised = {row["where"]["file"] for row in advice["improvements"] if row["body"]}
        assert advised == {"Shop.java"}, (name, advised)
        reasons = {row["reason"] for row in advice["left_out"] if row["where"] and row["where"].get("owner")}
        assert "handed out by the code of scheduler-core, by no known line of the program" in reasons, (name, reasons)
        check_expressions(java, pathlib.Path(folder))
        check_time_limits(advice)


def check_time_limits(advice):
    """Where a task is called in place, nothing keeps the time limit under which it is waited for: that is said."""
    rows = [row for row in advice["improvements"] if row["what"] == "convert-to-inline"]
    for text, said in (("// by a timed get", "with a time-out"), ("// under a limit", "under the time limit set")):
        at = [row["warnings"] for row in rows if row["where"]["line"] == line_of("Shop.java", text)]
        assert at and all(any(said in str(warning) for warning in warnings) for warnings in at), (text, rows)


FUTURES = """import java.util.concurrent.*;
class Check {{ static Executor POOL; static CompletableFuture<?> of(Executor workers) {{ return {}; }} public static void main(String[] arguments) {{ }} }}
"""
COMPLETER = """class Check extends java.util.concurrent.CountedCompleter<Void> {{
  private static final long serialVersionUID = 1;
  @Override public void compute() {{ {} }} public static void main(String[] arguments) {{ }} }}
"""


def check_expressions(java, folder):
    """They name lines of the program, where a wait's innermost frame is FutureTask's, and compile."""
    texts = {combinator["expression"] for path in folder.glob("specs/*.json")
             for improvement in json.loads(path.read_text())["improvements"] for combinator in improvement.get("combinators", [])}
    of_futures = [text for text in texts if f"Shop.java from line {line_of('Shop.java', '// waits')} on" in text]
    of_variable = [text for text in texts if f"Shop.java from line {line_of('Shop.java', '// waits for the tax')} on" in text]
    of_forks = [text for text in texts if f"Shop.java from line {line_of('Shop.java', '// joins')} on" in text]
    assert of_futures and of_variable and of_forks and len(texts) == len(of_futures + of_variable + of_forks), texts
    for text, form in [(text, FUTURES) for text in of_futures + of_variable] + [(text, COMPLETER) for text in of_forks]:
        (folder / "Check.java").write_text(form.format(text))
        output_of([java, "Check.java"], folder)
    assert all("null; }, POOL)" in text for text in of_futures), of_futures
    assert all("null; }, workers)" in text for text in of_variable), of_variable
    assert all(text.startswith("setPendingCount(2); /* fork 2 times ") for text in of_forks), of_forks


CHECKS = (check_places,)
