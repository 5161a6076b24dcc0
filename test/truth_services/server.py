"""A service on a core of its own: started, asked, looked at and ended; how busy that core was, and with what."""
import contextlib
import os
import pathlib
import resource
import sys
import time
import urllib.request

import programs

sys.path[:0] = [str(programs.HERE.parent.parent / "bench"), str(programs.HERE.parent)]
import services

TICKS = os.sysconf("SC_CLK_TCK")
SETTLING_REQUESTS_MAX = 50
# What keeps the JVM and the C library from using AVX-512.
WITHOUT_AVX512 = {"JAVA_TOOL_OPTIONS": "-XX:UseAVX=2",
                  "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ"}
SECONDS_MAX = 3000  # after which a service ends by itself


@contextlib.contextmanager
def running(options, case, variant, recorder=()):
    """The service, with the port that it listens on as `port`. Killed at the end, if it was not stopped."""
    port = services.free_port()
    without = [f"{name}={value}" for name, value in WITHOUT_AVX512.items()] if options.no_avx512 else []
    words = ["env", *without, *recorder, *programs.command(options, case, variant, port, SECONDS_MAX)]
    with contextlib.ExitStack() as stack:
        if options.beside:
            stack.enter_context(services.Service(["taskset", "-c", str(options.server_core), "sh", "-c", "while :; do :; done"]))
        service = stack.enter_context(services.Service(["taskset", "-c", str(options.server_core), *words], folder=options.folder))
        service.wait_for_port(port)
        service.port = port
        yield service


def ask(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        return answer.read()


def settle(port, path):
    """Waits until the server has served what clients had asked for that went away: until three requests in a row take less than twice as
    long as the shortest so far. Not for ever: a server that never settles is measured as it is."""
    took_s = []
    for _ in range(SETTLING_REQUESTS_MAX):
        begin = time.monotonic()
        ask(port, path)
        took_s.append(time.monotonic() - begin)
        if len(took_s) >= 3 and max(took_s[-3:]) < 2 * min(took_s):
            return


def used_s(service):
    """What the service, its recorder and its children have computed: all of the session that it began."""
    total = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rsplit(")", 1)[1].split()
            if int(fields[3]) == service.process.pid:
                total += int(fields[11]) + int(fields[12])
    return total / TICKS


def core_busy_s(core):
    line = next(line for line in pathlib.Path("/proc/stat").read_text().splitlines() if line.startswith(f"cpu{core} "))
    user, nice, system, _, _, irq, soft_irq, steal = map(int, line.split()[1:9])
    return (user + nice + system + irq + soft_irq + steal) / TICKS


class Watched:
    """What shares of their cores a service and a client had meanwhile, and which others had, with what a virtual machine's host took
    away. The client has ended when this does, and is the only child that does."""

    def __init__(self, service, server_core, client_core):
        self.service, self.server_core, self.client_core = service, server_core, client_core

    def _look(self):
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (time.monotonic(), used_s(self.service), core_busy_s(self.server_core), children.ru_utime + children.ru_stime,
                core_busy_s(self.client_core))

    def __enter__(self):
        self.before = self._look()
        return self

    def __exit__(self, *_):
        wall_s, server_s, server_core_s, client_s, client_core_s = (now - then for now, then in zip(self._look(), self.before))
        self.server, self.client = server_s / wall_s, client_s / wall_s
        self.foreign = max(0.0, server_core_s - server_s, client_core_s - client_s) / wall_s
