"""The native programs of the benchmark, as Debian ships them, each with a bounded load that ends by itself. Servers have
their configuration and data in a folder of their own and listen on the loopback only. What a run gives back is what the program
has put out or the server answered: the same each time."""

import contextlib
import dataclasses
import hashlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import threading
import time

import figures
import services

RUN_LIMIT_S = 90
ENTRIES = 2000        # of the directory
SEARCHES = 2000       # of each of four clients, each for one entry
PARTS = [letters.encode() for letters in ("abc", "bca", "hgf", "aaa")] * 25  # of descriptions: each looks at all entries
QUERIES = 1000        # in each iteration
ITERATIONS = 5


@dataclasses.dataclass
class Run:
    """One finished run. `work_s`: a command's whole life, a server's session; `cpu_s`: of the process and its children."""
    status: int
    digest: str
    work_s: float
    cpu_s: float
    errors: str = ""


def words(path, megabytes):
    """Text that compresses to about a third, the same each time."""
    source = random.Random(1)
    vocabulary = ["".join(source.choices("etaoinshrdlu", k=source.randint(2, 9))) for _ in range(5000)]
    with open(path, "w", encoding="ascii") as out:
        while out.tell() < megabytes << 20:
            out.write(" ".join(source.choices(vocabulary, k=2000)) + "\n")


def video(path, frames, width=640, height=360):
    """Raw frames: noise that moves, so that there is motion to be found."""
    frame_bytes = width * height * 3 // 2
    noise = random.Random(2).randbytes(frame_bytes // 4 + frames * 37)
    smooth = bytes(byte for one in noise for byte in (one, one, one, one))
    with open(path, "wb") as out:
        for number in range(frames):
            out.write(smooth[number * 148:number * 148 + frame_bytes])


def checked(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=RUN_LIMIT_S, **options)
    if done.returncode != 0:
        raise services.Ended(f"{command[0]}: exit status {done.returncode}: {done.stderr.decode(errors='replace')[-600:]}")
    return done.stdout


# ---- Commands

class Command:
    """A program that reads files, writes to its output, and ends."""

    mostly_waits = False
    replays_can_miss = True

    def __init__(self, name, package, what, arguments, prepare=None):
        self.name, self.package, self.what = name, package, what
        self.binary = arguments[0]
        self._arguments, self._prepare = arguments, prepare

    def prepare(self, folder):
        self.folder = folder
        if self._prepare:
            self._prepare(folder)

    def close(self):
        pass

    def run(self, before):
        done = figures.run([*before, *self._arguments], folder=self.folder, limit_s=RUN_LIMIT_S)
        return Run(done.status, hashlib.sha256(done.output).hexdigest(), done.wall_s, done.cpu_s, done.errors)


def text_of(megabytes):
    return lambda folder: words(folder / "text", megabytes)


def prepare_repository(folder):
    words(folder / "text", 16)
    text = (folder / "text").read_bytes()
    repository = folder / "repository"
    repository.mkdir()
    for number in range(120):
        (repository / f"file{number}").write_bytes(text[number * 100_000:number * 100_000 + 200_000])
    git = ["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        checked([*git, *command])
    objects = checked([*git, "rev-list", "--objects", "--all"])
    (folder / "objects").write_bytes(objects)


# ---- Servers

class Server:
    """A program that serves. `start(folder, before)` is a context that gives a started `Service`, `session(folder, service)`
    has the answers. Each run has a fresh copy of the folder that was prepared."""

    mostly_waits = False  # its time says nothing, and much of it passes
    replays_can_miss = True  # else it ends when a thread does that only waits for a signal, and so does each replay
    stop_signal = signal.SIGTERM

    def prepare(self, folder):
        self.template = folder / "template"
        self.template.mkdir()
        self.fill(self.template)
        self.copy = folder / "run"

    def fill(self, folder):
        pass

    def close(self):
        pass

    def run(self, before):
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.template, self.copy, symlinks=True)
        self.port = services.free_port()
        with services.Service([*before, *self.command(self.copy)], self.copy) as service:
            self.ready(service)
            begin = time.monotonic()
            answers = self.session(self.copy, service)
            work_s = time.monotonic() - begin
            status = self.stop(service)
            return Run(status, hashlib.sha256(answers).hexdigest(), work_s, service.cpu_s, service.errors())

    def ready(self, service):
        service.wait_for_port(self.port)

    def stop(self, service):
        return service.stop(self.stop_signal)


def user_options():
    """For servers that refuse to run as root unless told to."""
    return ["-u", "root"] if os.geteuid() == 0 else []


class Memcached(Server):
    name, package, binary = "memcached", "memcached", "memcached"
    replays_can_miss = False
    what = "memcached with 4 threads: 4 clients, each 3,000 times 20 pipelined sets and gets"

    def command(self, folder):
        return ["memcached", *user_options(), "-l", "127.0.0.1", "-p", self.port, "-U", "0", "-t", "4"]

    def session(self, folder, service):
        return services.memcached_session(self.port, rounds=3000, depth=10)

    def stop(self, service):
        """It sees the signal only when its main thread wakes up, once a second: a client that comes wakes it. Else the recorded
        time is a whole second, of which it idles half."""
        def wake():
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        return service.stop(self.stop_signal, wake)


class Redis(Server):
    name, package, binary = "redis", "redis-server", "redis-server"
    what = "Redis: 4 clients, each 3,000 times 75 pipelined counters and list operations; one thread does nearly all"

    def command(self, folder):
        return ["redis-server", "--bind", "127.0.0.1", "--port", self.port, "--save", "", "--appendonly", "no",
                "--dir", folder]

    def session(self, folder, service):
        return services.redis_session(self.port, rounds=3000, depth=25)


class Slapd(Server):
    name, package, binary = "slapd", "slapd", "slapd"
    what = (f"OpenLDAP's slapd with 4 threads: {ENTRIES:,} entries; 4 clients, each {SEARCHES} searches by name and {len(PARTS)} through all "
            "entries")
    CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/pid
sizelimit unlimited
threads 4
database mdb
suffix "dc=example,dc=com"
directory {folder}/data
maxsize 67108864
index objectClass,cn eq
"""

    def fill(self, folder):
        (folder / "data").mkdir()
        (folder / "slapd.conf").write_text(self.CONFIGURATION.format(folder=folder))
        source = random.Random(3)
        entries = ["dn: dc=example,dc=com\nobjectClass: dcObject\nobjectClass: organization\no: example\ndc: example\n"]
        for number in range(ENTRIES):
            entries.append(
                f"dn: cn=person{number},dc=example,dc=com\nobjectClass: inetOrgPerson\ncn: person{number}\nsn: name{number % 97}\n"
                f"mail: person{number}@example.com\ndescription: {''.join(source.choices('abcdefgh', k=60))}\n")
        (folder / "entries.ldif").write_text("\n".join(entries))
        checked(["/usr/sbin/slapadd", "-q", "-f", folder / "slapd.conf", "-l", folder / "entries.ldif"])

    def command(self, folder):
        (folder / "slapd.conf").write_text(self.CONFIGURATION.format(folder=folder))
        return ["/usr/sbin/slapd", "-d", "0", "-h", f"ldap://127.0.0.1:{self.port}", "-f", folder / "slapd.conf"]

    def session(self, folder, service):
        def searches(client):
            base = b"dc=example,dc=com"
            names = [b"person%d" % ((client * 500 + number) % ENTRIES) for number in range(SEARCHES)]
            wanted = [(b"cn", name, False) for name in names] + [(b"description", part, True) for part in PARTS]
            return [services.ldap_search(message, base, *one) for message, one in enumerate(wanted, 1)]
        return services.clients(4, lambda client: services.ldap_session(self.port, searches(client)))


class MariaDb(Server):
    name, package, binary = "mariadb", "mariadb-server", "mariadbd"
    what = f"MariaDB: {ITERATIONS} iterations of {QUERIES:,} queries, a third of them writes, of 4 clients"

    def fill(self, folder):
        user = ["--user=root"] if os.geteuid() == 0 else []
        checked(["mariadb-install-db", "--no-defaults", f"--datadir={folder / 'data'}", "--auth-root-authentication-method=normal",
                 "--skip-test-db", "--innodb-log-file-size=8M", *user])
        for client in range(4):
            (folder / f"queries{client}").write_text("".join(self._queries(client)))

    @staticmethod
    def _queries(client):
        yield f"create database d{client}; use d{client}; create table t(a int primary key, b int, c varchar(40), key(b)) engine=innodb;\n"
        yield ("insert into t with recursive n(x) as (select 0 union all select x + 1 from n where x < 4999) "
               "select x, x * 7919 % 10007, concat('row ', x) from n;\n").replace("insert", "set max_recursive_iterations = 10000; insert")
        for turn in range(ITERATIONS):
            for i in range(QUERIES // 4):
                key = (i * 37 + turn) % 5000
                yield (f"select a, b, c from t where a = {key};\n", f"update t set b = b + 1 where a = {key};\n",
                       f"select count(*), sum(b) from t where b between {key} and {key + 8000};\n")[i % 3]

    def command(self, folder):
        user = ["--user=root"] if os.geteuid() == 0 else []
        return ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={folder / 'data'}", f"--socket={folder / 'socket'}",
                f"--port={self.port}", "--bind-address=127.0.0.1", f"--pid-file={folder / 'pid'}", "--innodb-log-file-size=8M",
                "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=2", "--skip-name-resolve", f"--tmpdir={folder}", *user]

    def session(self, folder, service):
        def one(number):
            with open(folder / f"queries{number}", "rb") as queries:
                return checked(["mariadb", "--no-defaults", "-uroot", f"--socket={folder / 'socket'}", "--batch", "-N"], stdin=queries)
        return services.clients(4, one)


class Transmission(Server):
    """A daemon asks for data, and gives some, only after ten seconds of its life. Small enough for one queue of requests
    (512 blocks of 16 KiB): one that overflows waits for the next decision, ten seconds later."""

    name, package, binary = "transmission", "transmission-daemon, transmission-cli", "transmission-daemon"
    mostly_waits = True
    replays_can_miss = False
    MEGABYTES = 7
    what = f"Transmission: a daemon, the recorded one, fetches a file of {MEGABYTES} MiB from another; it mostly waits"
    SETTINGS = """{{"bind-address-ipv4": "127.0.0.1", "bind-address-ipv6": "::1", "peer-port": {port}, "rpc-enabled": false,
"dht-enabled": false, "lpd-enabled": false, "pex-enabled": false, "utp-enabled": false, "port-forwarding-enabled": false,
"encryption": 0, "download-dir": "{folder}/files", "incomplete-dir-enabled": false, "watch-dir-enabled": false,
"speed-limit-up-enabled": false, "speed-limit-down-enabled": false, "blocklist-enabled": false, "rename-partial-files": true,
"ratio-limit-enabled": false, "start-added-torrents": true, "umask": 18}}"""

    def fill(self, folder):
        (folder / "payload").write_bytes(random.Random(4).randbytes(self.MEGABYTES << 20))
        checked(["transmission-create", "-s", "256", "-o", folder / "payload.torrent", folder / "payload"])
        torrent = (folder / "payload.torrent").read_bytes()
        begin = torrent.index(b"4:info") + len(b"4:info")
        self.info_hash = hashlib.sha1(torrent[begin:begin + bencoded_length(torrent, begin)]).digest()

    def _daemon(self, folder, port):
        for part in ("files", "torrents"):
            (folder / part).mkdir(parents=True)
        shutil.copy(self.template / "payload.torrent", folder / "torrents")
        (folder / "settings.json").write_text(self.SETTINGS.format(port=port, folder=folder))
        return ["transmission-daemon", "-f", "-g", folder, "-e", folder / "log"]

    def command(self, folder):
        return self._daemon(folder / "fetching", self.port)

    def session(self, folder, service):
        port, home = services.free_port(), folder / "giving"
        command = self._daemon(home, port)
        os.link(folder / "payload", home / "files" / "payload")
        whole = folder / "fetching" / "files" / "payload"
        with services.Service(command, home) as giver:
            giver.wait_for_port(port)
            with introduced(self.info_hash, self.port, port):
                service.wait_until(whole.exists, "done with the transfer", limit_s=60, pause_s=0.005)
        return whole.read_bytes()


def bencoded_length(data, begin):
    """Bytes of the value that begins there."""
    at = begin
    if data[at:at + 1] in (b"d", b"l"):
        at += 1
        while data[at:at + 1] != b"e":
            at += bencoded_length(data, at)
        return at + 1 - begin
    if data[at:at + 1] == b"i":
        return data.index(b"e", at) + 1 - begin
    colon = data.index(b":", at)
    return colon + 1 + int(data[at:colon]) - begin


@contextlib.contextmanager
def introduced(info_hash, first_port, second_port):
    """BitTorrent clients take no peers on the loopback from trackers. So each of the two is called by this process,
    with the other's handshake, and what one sends is passed on to the other."""
    ends = []
    stop = threading.Event()

    def call(port, own):
        deadline = time.monotonic() + services.START_LIMIT_S
        while not stop.is_set():  # until it knows the torrent, it hangs up
            end = services.connect(port)
            answer = b""
            with contextlib.suppress(ConnectionError):
                end.sendall(own)
                while len(answer) < 68 and (more := end.recv(68 - len(answer))):
                    answer += more
            if len(answer) == 68:
                ends.append(end)
                return end, answer
            end.close()
            if time.monotonic() > deadline:
                raise services.Ended(f"the daemon on port {port} takes no peer")
            time.sleep(0.05)
        raise services.Ended("stopped")

    def pass_on(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 18):
                target.sendall(data)

    try:
        own = b"\x13BitTorrent protocol" + bytes([0, 0, 0, 0, 0, 0x10, 0, 0x04]) + info_hash + b"-TR3000-introducing0"
        first, handshake = call(first_port, own)
        second, _ = call(second_port, handshake)
        for pair in ((first, second), (second, first)):
            threading.Thread(target=pass_on, args=pair, daemon=True).start()
        yield
    finally:
        stop.set()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


# ---- All of them

def catalogue():
    return [
        Command("pbzip2", "pbzip2", "pbzip2 with 8 threads, of a text of 40 MiB", ["pbzip2", "-p8", "-k", "-c", "text"], text_of(40)),
        Slapd(), MariaDb(), Transmission(),
        Command("x264", "x264", "x264 with 4 threads: 300 frames of 640x360",
                ["x264", "--quiet", "--no-progress", "--threads", "4", "--demuxer", "raw", "--input-res", "640x360", "--fps", "25", "--preset",
                 "veryfast", "--muxer", "raw", "-o", "-", "video"], lambda folder: video(folder / "video", 300)),
        Memcached(), Redis(),
        Command("xz", "xz-utils", "xz with 4 threads, of a text of 16 MiB",
                ["xz", "-T4", "-2", "--block-size=1MiB", "-c", "text"], text_of(16)),
        Command("git", "git", "git pack-objects with 4 threads: deltas of 120 files of 200 kB",
                ["sh", "-c", "exec git -C repository pack-objects -q --no-reuse-delta --window=20 --threads=4 --stdout < objects"],
                prepare_repository),
        Command("zstd", "zstd", "zstd with 4 threads at level 12, of a text of 24 MiB in jobs of 1 MiB",
                ["zstd", "-T4", "-12", "-B1MiB", "-q", "-c", "text"], text_of(24)),
    ]
