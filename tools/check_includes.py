#!/usr/bin/env python3
"""Fails when a file of one folder includes a header of a folder that it must not know, or one that is too dear for it.

The arrows are those of ARCHITECTURE.md: each folder lists the folders that it may include directly or indirectly. Headers that cost
each file seconds of compiling are included by a few sources, which are named here, and by tests.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# folder -> folders that it may include, besides itself. `include/contrafact` (plain C) may be included by all.
ALLOWED = {
    "base": [],
    "format": ["base"],
    "table": ["base"],
    "classfile": ["base"],
    "deferred": ["base"],
    "recorder": ["base", "format", "deferred"],
    "online": ["base", "deferred"],
    "agent_jvm": ["base", "format", "deferred", "recorder", "online", "classfile"],
    "translate": ["base"],
    "instrumented": [],
    "agent_native": ["base", "format", "deferred", "recorder", "translate"],
    "model": ["base", "format"],
    "symbols": ["base", "format", "model"],
    "graph": ["base", "format", "model"],
    "analysis": ["base", "format", "model", "graph", "table"],
    "whatif": ["base", "format", "model", "graph", "table"],
    "improve": ["base", "format", "model", "graph", "table", "analysis", "whatif"],
    "advise": ["base", "format", "model", "graph", "table", "analysis", "whatif", "improve"],
    "replay": ["base", "format", "model", "graph", "table", "whatif"],
    "blueprint": ["base", "table"],
    "contexts": ["base", "table"],
    "report": ["base", "table"],
    "export": ["base", "table", "format", "model"],
}

# beginning of a header's name -> the files that may include it, besides tests
HEAVY = {
    "CLI/": ["src/cli/options.cc"],  # others declare options through cli/options.h
    "nlohmann/json.hpp": [  # others put documents together with table/json.h
        "src/blueprint/profile.cc",
        "src/contexts/profile.cc",
        "src/improve/spec.cc",
        "src/improve/spec_frames.h",
        "src/improve/spec_parts.h",
        "src/report/page.cc",
        "src/table/json.cc",
    ],
}

SYSTEM_INCLUDE = re.compile(r"^\s*#\s*include\s+<([^>]+)>")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/[^"]+"')


def violations():
    for folder in sorted(p for p in (ROOT / "src").iterdir() if p.is_dir()):
        if folder.name == "cli":  # knows everything
            continue
        if folder.name not in ALLOWED:
            yield f"src/{folder.name}: a folder without a row in tools/check_includes.py"
            continue
        for path in sorted(folder.rglob("*")):
            if path.suffix not in (".cc", ".h"):
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match or match.group(1) in (folder.name, "contrafact"):
                    continue
                if match.group(1) not in ALLOWED[folder.name]:
                    yield f"{path.relative_to(ROOT)}:{number}: src/{folder.name} must not include '{match.group(1)}/'"


def heavy_includes():
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".cc", ".h") or path.name.endswith("_test.cc"):
            continue
        name = str(path.relative_to(ROOT))
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = SYSTEM_INCLUDE.match(line)
            for header, allowed in HEAVY.items():
                if match and match.group(1).startswith(header) and name not in allowed:
                    yield f"{name}:{number}: <{match.group(1)}> takes seconds to compile; only {', '.join(allowed)} may include it"


def main():
    found = [*violations(), *heavy_includes()]
    for line in found:
        print(line, file=sys.stderr)
    print(f"includes: {len(found)} against the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
