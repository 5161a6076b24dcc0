"""The programs of cases.json: what runs them, and what those of them need that use libraries."""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def all_cases(names):
    cases = json.loads((HERE / "cases.json").read_text())
    unknown = set(names or []) - {case["name"] for case in cases}
    if unknown:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}")
    return [case for case in cases if not names or case["name"] in names]


def those_with_libraries(folder, cases):
    """The cases that can be run: those with libraries only if these are in the folder, or could be fetched into it."""
    why = fetch(folder) if any(case.get("library") for case in cases) else ""
    if why:
        print(f"left out: {', '.join(case['name'] for case in cases if case.get('library'))}: {why}", flush=True)
    return [case for case in cases if not (why and case.get("library"))]


def fetch(folder):
    """Fetches the libraries and compiles the programs that use them. "" or why not."""
    if not folder:
        return "no --libraries"
    sys.path.append(str(HERE.parent / "frameworks"))
    import record_frameworks
    why = record_frameworks.fetch(folder / "jars", HERE / "libraries")
    if not why:
        record_frameworks.compile_java(f"{folder}/jars/*", folder / "classes", (HERE / "libraries").glob("*.java"))
    return why


def command(options, case, setting):
    path = f"{options.libraries}/classes:{options.libraries}/jars/*" if case.get("library") else str(options.classes)
    return [options.java, *case.get("jvm", []), "-cp", path, case["name"], str(setting)]
