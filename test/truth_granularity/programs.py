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


def that_can_be_run(options, cases):
    """Without those of which something is missing; says what."""
    why = {"library": fetch(options.libraries) if any(case.get("library") for case in cases) else "",
           "native": "" if options.native else "no --native",
           "openmp": "" if openmp_runtime() else "LLVM's OpenMP runtime is not installed"}
    found = []
    for case in cases:
        missing = next((text for need, text in why.items() if case.get(need) and text), None)
        if missing:
            print(f"left out: {case['name']}: {missing}", flush=True)
        else:
            found.append(case)
    return found


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


def openmp_runtime():
    """LLVM's, or None."""
    folder = pathlib.Path("/usr/lib")
    return next((str(path) for pattern in ("*/libomp.so.5", "llvm-*/lib/libomp.so.5") for path in sorted(folder.glob(pattern))), None)


def command(options, case, setting, recorded=False):
    """OpenMP programs always run with LLVM's runtime, as they do when they are recorded: by itself another would be measured."""
    if case.get("native"):
        preload = [] if recorded or not case.get("openmp") else ["env", f"LD_PRELOAD={openmp_runtime()}"]
        return [*preload, f"{options.native}/truth_granularity_{case['name']}", str(setting)]
    path = f"{options.libraries}/classes:{options.libraries}/jars/*" if case.get("library") else str(options.classes)
    return [options.java, *case.get("jvm", []), "-cp", path, case["name"], str(setting)]
