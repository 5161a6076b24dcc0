#!/usr/bin/env python3
"""usage: check_batches.py BATCHES_FILE

Fails when two sources of a batch give one name to two things of their own: what a source declares in an unnamed namespace, static,
or with #define is seen by the sources that follow it where several are compiled as one (contrafact_batches in
cmake/ContrafactTargets.cmake). Often the compiler refuses that, but an overload that fits a call better it takes without a word.

BATCHES_FILE has a line for each batch: the target, then the paths of its sources. It is written for each preset, whether that
compiles in batches or not.
"""

import collections
import pathlib
import re
import sys

# In this order: what looks like a comment within a string is none, and the other way round.
NOT_CODE = re.compile(r'R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
DEFINE = re.compile(r"\s*#\s*define\s+(\w+)")
UNDEF = re.compile(r"\s*#\s*undef\s+(\w+)")
NAMESPACE = re.compile(r"^(?:inline\s+)?namespace\b\s*([\w:]*)$")
TYPE = re.compile(r"^(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(?:alignas\s*\([^)]*\)\s*)?(\w+)")
ALIAS = re.compile(r"^(?:using|concept)\s+(\w+)\s*=")
FUNCTION = re.compile(r"(?<![\w:])(\w+)\s*\(")
VARIABLE = re.compile(r"(?<![\w:])(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$", re.S)  # the last word before its initialiser
NO_NAMES = {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "INSTANTIATE_TEST_SUITE_P", "TYPED_TEST_SUITE", "static_assert", "alignas", "decltype",
            "noexcept", "requires", "__attribute__", "operator", "sizeof", "asm", "__asm__"}


def without_brackets(text, opening, closing):
    """The text without what stands in brackets of a kind, however deep."""
    kept, depth = [], 0
    for at, letter in enumerate(text):
        if letter == opening:
            depth += 1
        elif letter == closing and depth and text[at - 1] != "-":
            depth -= 1
        elif not depth:
            kept.append(letter)
    return "".join(kept)


def declared(statement):
    """The names that a statement at the scope of a namespace declares."""
    text = re.sub(r"\[\[.*?\]\]|\boperator\b.*", "", statement, flags=re.S)
    text = re.sub(r"\b(?:alignas|decltype|requires|noexcept|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)", "", text)
    text = " ".join(without_brackets(text, "<", ">").split())
    text = re.sub(r"^(?:template )+", "", text)
    match = TYPE.match(text) or ALIAS.match(text)
    if match:
        return [match.group(1)]
    if text.startswith(("using ", "extern ", "friend ", "namespace ")) or " " not in text:
        return []
    match = FUNCTION.search(text.split("=", 1)[0])
    if match:
        return [] if match.group(1) in NO_NAMES else [match.group(1)]
    names = [VARIABLE.search(part) for part in without_brackets(text, "(", ")").split(",")]
    return [match.group(1) for match in names if match]


def names_of(source):
    """Of a source: the names that it keeps for itself, each with what makes it the same thing elsewhere, and all at the scope of a namespace."""
    text = NOT_CODE.sub(lambda match: '""' if match.group(0)[0] in "R\"'" else " ", source)
    directives = DIRECTIVE.findall(text)
    gone = {match.group(1) for match in map(UNDEF.match, directives) if match}
    own = {match.group(1): source for match in map(DEFINE.match, directives) if match and match.group(1) not in gone}
    every = set()
    text = DIRECTIVE.sub("", text)
    scopes = []  # of each open brace: "named", "unnamed" or "other"
    statement = ""
    for token in re.findall(r"[{};]|[^{};]+", text):
        if "other" not in scopes:
            if token not in ("{", "}", ";"):
                statement += token
                continue
            text, statement = statement.strip(), ""
            match = NAMESPACE.match(text)
            if token != "}" and not match:
                names = declared(text)
                every.update(names)
                if "unnamed" in scopes or text.startswith("static "):
                    own.update({name: text if ALIAS.match(text) else source for name in names})
            if token == "{":
                scopes.append(("named" if match.group(1) else "unnamed") if match else "other")
                continue
        if token == "{":
            scopes.append("other")
        elif token == "}" and scopes:
            scopes.pop()
    return own, every


def headers_of(source, text):
    """The headers of its folder that a source includes itself."""
    folder = pathlib.Path(source).parent
    found = (folder / pathlib.Path(name).name for name in re.findall(rf'^#include "{folder.name}/([^"/]+)"', text, re.M))
    return {header for header in found if header.exists()}


def collisions(batches):
    for target, *sources in batches:
        of_name, own_of, headers = collections.defaultdict(list), {}, {}
        for source in sources:
            text = pathlib.Path(source).read_text()
            headers[source] = headers_of(source, text)
            own_of[source] = names_of(text)[0]
            for name, thing in own_of[source].items():
                of_name[name].append((source, thing))
        for name, owners in sorted(of_name.items()):
            where = [source for source, _ in owners]
            if len({thing for _, thing in owners}) > 1:
                yield f"{target}: '{name}' is each one's own in {' and '.join(where)}, which are compiled as one"
        for header in sorted(set().union(*headers.values())):
            every = names_of(header.read_text())[1]
            for source in sources:
                for name in sorted(every & own_of[source].keys()) if header not in headers[source] else []:
                    yield f"{target}: '{name}' is {source}'s own, and {header}'s, which is compiled with it"


def main():
    batches = [line.split() for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
    found = list(collisions(batches))
    for line in found:
        print(line, file=sys.stderr)
    print(f"{len(batches)} batches: {len(found)} names that two have")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
