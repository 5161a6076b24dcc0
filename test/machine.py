"""The machine that figures are of, in general words: what a reader needs to judge them, and nothing that names it."""
import os
import pathlib
import platform
import re


def words():
    info = pathlib.Path("/proc/cpuinfo").read_text()

    def value(key):
        found = re.search(f"^{key}\\s*: (.*)$", info, re.MULTILINE)
        return found.group(1) if found else "unknown"

    flags = value("flags").split()
    level = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
    virtual = ", virtual machine" if "hypervisor" in flags else ""
    kernel = platform.release().split("-")[0]
    return (f"{os.cpu_count()} cores ({value('model name')}, family {value('cpu family')}, model {value('model')}, {level}{virtual}), "
            f"Linux {kernel}")
