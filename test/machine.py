"""The machine that figures are of, in words."""
import pathlib
import platform
import re
import subprocess


def words():
    info = pathlib.Path("/proc/cpuinfo").read_text()

    def value(key):
        return re.search(f"^{key}\\s*: (.*)$", info, re.MULTILINE).group(1)

    flags = value("flags").split()
    level = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
    cores = len(re.findall("^processor", info, re.MULTILINE))
    return (f"{value('model name')} (family {value('cpu family')}, model {value('model')}), {cores} cores, {level}, "
            f"Linux {platform.release()}")


def java_words(java):
    return subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[1]
