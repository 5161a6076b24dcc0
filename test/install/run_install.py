#!/usr/bin/env python3
"""usage: run_install.py BUILD CASE

What `cmake --install` and `cpack` leave: stripped, with the debug files apart, movable, and of use to others. The case `copy` makes the
installed copy that the others use (BUILD/installed), where no path of the build leads.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARIES = ["bin/contrafact", "lib/contrafact/libcontrafact_jvm.so", "lib/contrafact/libcontrafact_native.so", "lib/contrafact/libcontrafact_native_sets.so", "lib/contrafact/libcontrafact_native_tbb.so", "lib/libcontrafact_accesses.so"]
SECONDS_MAX = 200


def run(*command, status=0, **options):
    """What it prints, errors too."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=SECONDS_MAX, check=False, **options)
    assert done.returncode == status, f"{command}: status {done.returncode}\n{done.stdout}"
    return done.stdout


def built(build, binary):
    return build / binary.replace("lib/contrafact/", "lib/")


def copy(build):
    """Installed, and moved afterwards: nothing may remember where it was to be."""
    installed = build / "installed"
    shutil.rmtree(installed, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=build) as folder:
        run("cmake", "--install", build, "--prefix", f"{folder}/first")
        os.rename(f"{folder}/first", installed)
    for binary in BINARIES:
        sections = run("readelf", "-SW", installed / binary)
        assert ".debug_info" not in sections and ".symtab" not in sections and ".gnu_debuglink" in sections, (binary, sections)
        # The library before oneTBB is small, and most of it is the C++ library that it brings.
        parts = 1 if "tbb" in binary else 2
        assert (installed / binary).stat().st_size < built(build, binary).stat().st_size / parts, binary
    assert ".debug_info" not in run("readelf", "-SW", installed / "lib/libcontrafact_deferred.a")
    left = [path for path in installed.rglob("*") if path.name.startswith(".") or path.suffix == ".debug"]
    assert left == [], left
    for path in installed.rglob("*"):
        if path.suffix in (".pc", ".cmake"):
            assert str(ROOT) not in path.read_text() and "/usr/local" not in path.read_text(), path


def debug(build):
    """Lines are found with the component debug, and without it not; beside the files, or by build id where the prefix is /usr."""
    main = re.search(r"^([0-9a-f]+) T main$", run("nm", build / "bin/contrafact"), re.M).group(1)
    with tempfile.TemporaryDirectory(dir=build) as folder:
        prefix = pathlib.Path(folder, "prefix")
        run("cmake", "--install", build, "--prefix", prefix, "--component", "runtime")
        assert run("addr2line", "-e", prefix / "bin/contrafact", main).startswith("??"), "the lines are not apart"
        run("cmake", "--install", build, "--prefix", prefix, "--component", "debug")
        assert "src/cli/main.cc:" in run("addr2line", "-e", prefix / "bin/contrafact", main)
        run("cmake", "--install", build, "--prefix", "/usr", "--component", "debug", env=dict(os.environ, DESTDIR=folder))
        for binary in BINARIES:
            first, rest = re.search(r"Build ID: (..)(\w+)", run("readelf", "-n", built(build, binary))).groups()
            assert ".debug_line" in run("readelf", "-SW", f"{folder}/usr/lib/debug/.build-id/{first}/{rest}.debug")


def check_use(contrafact, build):
    """Records a JVM program and a native one, and gives advice."""
    with tempfile.TemporaryDirectory() as folder:
        run(contrafact, "record", "--warm", "-o", f"{folder}/jvm.cft", "--", "java", "-jar", build / "java/api-server.jar", "--requests", 300)
        told = run(contrafact, "advise", f"{folder}/jvm.cft", "--budget", 20)
        assert re.search(r"^With the first .* it can answer ", told, re.M) and re.search(r"^1 .*\(\w+\.java:\d+\)", told, re.M), told
        run(contrafact, "record", "--sets", "-o", f"{folder}/native.cft", "--", build / "bin/truth_readers")
        told = run(contrafact, "ulc", f"{folder}/native.cft", "--seeds", 0)
        assert re.search(r"^\d+ pairs: ", told, re.M), told
        run(contrafact, "doctor", "--json")


def use(build):
    check_use(build / "installed/bin/contrafact", build)


def check_calls(program):
    assert run(program) == "400000 calls on 40 edges\n"


def deferred_cmake(build):
    """The program of docs/deferred.md, by the lines that stand there."""
    program = (ROOT / "examples/deferred/calls.cc").read_text()
    document = (ROOT / "docs/deferred.md").read_text()
    blocks = re.findall(r"```(\w+)\n(.*?)```", document, re.S)
    assert ("cpp", program[program.index("#include"):]) in blocks, "docs/deferred.md shows another program than examples/deferred/calls.cc"
    [lines] = [text for kind, text in blocks if kind == "cmake"]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "examples/deferred/calls.cc", folder)
        pathlib.Path(folder, "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(calls CXX)\n{lines}")
        run("cmake", "-G", "Ninja", "-S", folder, "-B", f"{folder}/b", f"-DCMAKE_PREFIX_PATH={build / 'installed'}")
        run("cmake", "--build", f"{folder}/b")
        check_calls(f"{folder}/b/calls")


def pkg_config_environment(build):
    return dict(os.environ, PKG_CONFIG_PATH=str(build / "installed/lib/pkgconfig"))


def deferred_pkg_config(build):
    [command] = re.findall(r"^    (c\+\+ .*contrafact-deferred.*)$", (ROOT / "docs/deferred.md").read_text(), re.M)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "examples/deferred/calls.cc", folder)
        run("bash", "-c", command, cwd=folder, env=pkg_config_environment(build))
        check_calls(f"{folder}/calls")


def headers(build):
    """None needs one that is not installed."""
    include = build / "installed/include"
    flags = run("pkg-config", "--cflags", "contrafact-deferred", env=pkg_config_environment(build)).split()
    c_headers, all_headers = sorted((include / "contrafact").rglob("*.h")), sorted(include.rglob("*.h"))
    assert len(c_headers) >= 3 and len(all_headers) > 20, all_headers
    for language, standard, found in [("c", "-std=c11", c_headers), ("c++", "-std=c++20", all_headers)]:
        run("c++", "-fsyntax-only", "-Wall", "-Werror", *flags, standard, "-x", language, "/dev/stdin",
            input="".join(f'#include "{header}"\n' for header in found))


def plugin(build):
    """The plug-in of docs/analyses.md, built against the copy and run by it."""
    with tempfile.TemporaryDirectory() as folder:
        flags = run("pkg-config", "--cflags", "contrafact", env=pkg_config_environment(build)).split()
        run("cc", "-std=c11", "-shared", "-fPIC", *flags, "-o", f"{folder}/thrown.so",
            build / "installed/share/doc/contrafact/examples/analysis/thrown.c")
        run(build / "installed/bin/contrafact", "profile", "--include", "known.*", "--analysis", f"{folder}/thrown.so",
            "-o", f"{folder}/thrown.csv", "--", "java", "-cp", build / "java/known", "known.Known")
        assert "known.Known,third," in pathlib.Path(folder, "thrown.csv").read_text().replace('"', "")


def packages(build, folder):
    """Of the runtime and of development, freshly made; the debug files would take longest to compress."""
    run("cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", folder, "-D", "CPACK_COMPONENTS_ALL=runtime;development")
    runtime, development = sorted(pathlib.Path(folder).glob("*.deb"), key=lambda path: "-dev_" in path.name)
    return runtime, development


def shared_libraries(binary):
    """Of each that it is linked with directly the packages that have a file of its name, as dpkg knows them on this machine."""
    names = re.findall(r"\(NEEDED\) +Shared library: \[(.*)\]", run("readelf", "-d", binary))
    names = [name for name in names if not name.startswith("ld-linux")]  # with the C library
    return {name: set(re.findall(r"^([^:]+):", run("dpkg-query", "-S", f"*/{name}"), re.M)) for name in names}


def deb(build):
    """Unpacked into a folder it runs. Where a system can be laid over this one, dpkg installs it there, and it runs there too."""
    with tempfile.TemporaryDirectory(dir=build) as folder:
        runtime, development = packages(build, folder)
        run("dpkg-deb", "-x", runtime, f"{folder}/root")
        contrafact = pathlib.Path(folder, "root/usr/bin/contrafact")
        check_use(contrafact, build)
        told = re.split(r", ", run("dpkg-deb", "-f", runtime, "Depends").strip())
        named = {re.match(r"[^ ]+", one).group() for one in told}
        linked = shared_libraries(contrafact)
        assert len(linked) > 4 and all(packages & named for packages in linked.values()), (linked, named)
        assert any(name.startswith("libzydis") for name in named), named  # loaded by record --sets
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
            print("dpkg -i is left out: only root may mount a file system over this one")
            return
        os.mkdir(f"{folder}/overlay")
        print(run("unshare", "--mount", sys.executable, __file__, build, "deb-in-overlay", f"{folder}/overlay", runtime, development))


def overlay(folder):
    """Lays a system that may be written over this one, at FOLDER/root. REQUIRES: a mount namespace of its own."""
    run("mount", "-t", "tmpfs", "none", folder)
    for name in ("above", "work", "root"):
        os.mkdir(f"{folder}/{name}")
    run("mount", "-t", "overlay", "none", f"-olowerdir=/,upperdir={folder}/above,workdir={folder}/work", f"{folder}/root")
    return f"{folder}/root"


def deb_in_overlay(build, folder, runtime, development):
    """Run in a mount namespace of its own, which ends with it: nothing of this is seen outside."""
    try:
        root = overlay(folder)
    except AssertionError as refused:
        print(f"dpkg -i is left out: nothing can be mounted over this system: {refused}")
        return
    for path in ("/proc", "/dev", build, os.path.dirname(runtime)):
        os.makedirs(f"{root}{path}", exist_ok=True)
        run("mount", "--rbind", path, f"{root}{path}")
    os.chroot(root)
    os.chdir("/")
    run("dpkg", "-i", runtime, development)
    assert run("dpkg-query", "-W", "-f", "${db:Status-Status}", "contrafact-dev") == "installed"
    check_use(pathlib.Path("/usr/bin/contrafact"), build)
    run("bash", "-c", "c++ -std=c++20 -o /tmp/calls /usr/share/doc/contrafact/examples/deferred/calls.cc "
        "$(pkg-config --cflags --libs contrafact-deferred)")
    check_calls("/tmp/calls")
    run("dpkg", "-r", "contrafact-dev", "contrafact")
    assert not os.path.exists("/usr/bin/contrafact")
    print("installed by dpkg, used, and removed")


CASES = {"copy": copy, "debug": debug, "use": use, "deferred-cmake": deferred_cmake, "deferred-pkg-config": deferred_pkg_config,
         "headers": headers, "plugin": plugin, "deb": deb, "deb-in-overlay": deb_in_overlay}

if __name__ == "__main__":
    CASES[sys.argv[2]](pathlib.Path(sys.argv[1]).resolve(), *sys.argv[3:])
