"""Programs that serve: started on a port of the loopback that was free, and ended whatever happens; and the sessions that
clients have with them. A session gives back what the server answered, the same for every run."""

import atexit
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

START_LIMIT_S = 30
STOP_LIMIT_S = 60
ANSWER_LIMIT_S = 60
_groups = set()  # process groups to be killed at the end, whatever happens


@atexit.register
def _end_all():
    for group in list(_groups):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def end_with_this_process():
    """A signal that ends this process ends what it started, too."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda caught, _: sys.exit(128 + caught))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Ended(Exception):
    """A server that ended by itself, did not come up, or did not end."""


class Service:
    """A process, with all that it starts in a group of its own. As a context: killed at the end if it was not stopped."""

    def __init__(self, command, folder=None):
        self._errors = (pathlib.Path(folder) / "service-errors").open("w+b") if folder else subprocess.DEVNULL
        self._begin = time.monotonic()
        self.process = subprocess.Popen([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=self._errors, stderr=self._errors, start_new_session=True)
        _groups.add(self.process.pid)
        self.wall_s = self.cpu_s = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        _groups.discard(self.process.pid)
        if self.process.returncode is None:
            self.process.wait()
        if self._errors != subprocess.DEVNULL:
            self._errors.close()

    def errors(self):
        if self._errors == subprocess.DEVNULL:
            return ""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-800:]

    def wait_until(self, ready, what, limit_s=START_LIMIT_S, pause_s=0.02):
        deadline = time.monotonic() + limit_s
        while not ready():
            if self._reap(os.WNOHANG):
                raise Ended(f"ended with status {self.process.returncode} before {what}: {self.errors()}")
            if time.monotonic() > deadline:
                raise Ended(f"not {what} within {limit_s} s: {self.errors()}")
            time.sleep(pause_s)

    def wait_for_port(self, port):
        def answers():
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return True
            except OSError:
                return False
        self.wait_until(answers, f"listening on port {port}")

    def _reap(self, flags):
        if self.process.returncode is not None:
            return True
        pid, state, usage = os.wait4(self.process.pid, flags)
        if pid == 0:
            return False
        self.wall_s = time.monotonic() - self._begin
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.process.returncode = os.waitstatus_to_exitcode(state)
        return True

    def stop(self, number=signal.SIGTERM, wake=None):
        """Asks it to end (the recorder passes the signal on) and returns the exit status. `wake` is called until it has ended."""
        if not self._reap(os.WNOHANG):
            os.kill(self.process.pid, number)
        deadline = time.monotonic() + STOP_LIMIT_S
        while not self._reap(os.WNOHANG):
            if time.monotonic() > deadline:
                raise Ended(f"did not end within {STOP_LIMIT_S} s of signal {number}: {self.errors()}")
            if wake:
                wake()
            time.sleep(0.01)
        return self.process.returncode


# ---- Sessions of clients

def clients(count, session):
    """session(number, connect) of each of `count` threads at once; their answers in order. The first error is raised."""
    answers, errors = [b""] * count, []

    def one(number):
        try:
            answers[number] = session(number)
        except Exception as error:  # told to the caller, in the caller's thread
            errors.append(error)

    threads = [threading.Thread(target=one, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return b"".join(answers)


def connect(port):
    connection = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_LIMIT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def pipelined(port, batches):
    """Each batch of (request, lines of its answer) is sent at once; all that was answered."""
    with connect(port) as connection:
        out = []
        for request, lines in batches:
            connection.sendall(request)
            while lines > 0:
                answer = connection.recv(1 << 16)
                if not answer:
                    raise Ended(f"the server on port {port} hung up")
                lines -= answer.count(b"\n")
                out.append(answer)
        return b"".join(out)


def memcached_session(port, rounds=40, depth=25):
    """Four clients, each with keys of its own: sets and gets, `depth` of each at a time."""
    def batches(number):
        for turn in range(rounds):
            value = b"%d" % (turn * number) * 20
            yield b"".join(b"set k%d-%d 0 0 %d\r\n%s\r\nget k%d-%d\r\n" % (number, i, len(value), value, number, i)
                           for i in range(depth)), 4 * depth
    return clients(4, lambda number: pipelined(port, batches(number)))


def redis_session(port, rounds=40, depth=25):
    """Four clients, each with keys of its own: counters and lists, `depth` times three requests at a time."""
    def batches(number):
        request = b"".join(b"INCRBY counter%d %d\r\nLPUSH list%d x%d\r\nLLEN list%d\r\n" % (number, i, number, i, number)
                           for i in range(depth))
        return ((request, 3 * depth) for _ in range(rounds))
    return clients(4, lambda number: pipelined(port, batches(number)))


# ---- LDAP, as much of it as a search needs (RFC 4511): BER with tag, length, value

def _ber(tag, *parts):
    value = b"".join(parts)
    size = len(value)
    length = bytes([size]) if size < 128 else bytes([0x82, size >> 8, size & 255])
    return bytes([tag]) + length + value


def ldap_search(message, base, attribute, value, part=False):
    """Of the whole tree below `base`, all attributes: where the attribute is the value, or holds it."""
    wanted = _ber(0xA4, _ber(4, attribute), _ber(0x30, _ber(0x81, value))) if part else _ber(0xA3, _ber(4, attribute), _ber(4, value))
    return _ber(0x30, _ber(2, message.to_bytes(3, "big")), _ber(
        0x63, _ber(4, base), _ber(10, b"\2"), _ber(10, b"\0"), _ber(2, b"\0"), _ber(2, b"\0"), _ber(1, b"\0"), wanted, _ber(0x30)))


def _ldap_message(data, at):
    """(number, kind, end) of the message at that place, if it is all there."""
    if len(data) < at + 8:
        return None
    size, begin = data[at + 1], at + 2
    if size >= 128:
        begin += size - 128
        size = int.from_bytes(data[at + 2:begin], "big")
    if len(data) < begin + size:
        return None
    number_end = begin + 2 + data[begin + 1]
    return int.from_bytes(data[begin + 2:number_end], "big"), data[number_end], begin + size


def ldap_session(port, searches, depth=1):
    """Sends the searches, `depth` at a time; the answers by search, in the order of the searches."""
    search_done = 0x65
    answers = {}
    with connect(port) as connection:
        for first in range(0, len(searches), depth):
            batch = searches[first:first + depth]
            connection.sendall(b"".join(batch))
            data, at, left = b"", 0, len(batch)
            while left > 0:
                more = connection.recv(1 << 16)
                if not more:
                    raise Ended(f"the server on port {port} hung up")
                data += more
                while message := _ldap_message(data, at):
                    number, kind, end = message
                    answers.setdefault(number, []).append(data[at:end])
                    left -= kind == search_done
                    at = end
    return b"".join(b"".join(answers[number]) for number in sorted(answers))
