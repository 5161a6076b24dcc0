"""Servers that nobody here wrote, as Debian packages them: how each is filled and started, what it is asked, and the client that saturates it, which is
somebody else's, too. The paced client of the open loads (paced.cc) is ours, as no open loop speaks these protocols but HTTP: Tomcat's is Vegeta."""
import contextlib
import csv
import io
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import clients

SEED = 20261130
REQUESTS = 4096  # that the paced client sends in turn
KEYS = 10_000
START_LIMIT_S = 60


class Server:
    """One server with one set of options. `saturate` returns {"requests_per_s"} and what else its client says."""
    programs = ()  # that must be installed
    protocol = ""
    warm_up_s = 0  # besides what is asked to measure: of a JVM, until it has compiled what it runs
    per_s = 5_000.0  # a first guess for clients that count requests, not seconds; what was measured last afterwards

    def missing(self):
        return next((f"{name} is not installed" for name in self.programs if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")), "")

    def prepare(self, folder):
        """What lies on disk, made once."""

    def command(self, folder, port):
        raise NotImplementedError

    def fill(self, port):
        """What it must be told after each start."""

    def requests(self, draws):
        raise NotImplementedError

    def write_requests(self, folder, port):
        path = folder / f"{self.protocol}.requests"
        draws = random.Random(SEED)
        path.write_text("".join(f"{self.requests(draws)}\n" for _ in range(REQUESTS)))
        return path

    def saturate(self, folder, port, core, connections, seconds):
        raise NotImplementedError


def tell(port, text, ends):
    """Sends it all at once and waits for the end of the answers."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(text)
        got = b""
        while not got.endswith(ends):
            received = connection.recv(65536)
            if not received:
                raise clients.Failure(f"the server ended the connection: {got[-200:]!r}")
            got = got[-1000:] + received


class Memcached(Server):
    programs = ("memcached", "memcaslap")
    protocol = "memcached"

    def __init__(self, threads):
        self.threads = threads

    def command(self, folder, port):
        return ["memcached", "-u", "root", "-l", "127.0.0.1", "-p", port, "-U", 0, "-t", self.threads, "-m", 256]

    def fill(self, port):
        sets = b"".join(b"set %016d 0 0 100 noreply\r\n%0100d\r\n" % (key, 7) for key in range(KEYS))
        tell(port, sets + b"get none\r\n", b"END\r\n")

    def requests(self, draws):
        return f"get {draws.randrange(KEYS):016d}"

    def saturate(self, folder, port, core, connections, seconds):
        # keys of 16 bytes, values of 100; gets alone, behind the client's own filling
        (folder / "memaslap").write_text("key\n16 16 1\nvalue\n100 100 1\ncmd\n0 0.0\n1 1.0\n")
        words = ["memcaslap", "-s", f"127.0.0.1:{port}", "-T", 1, "-c", connections, "-t", f"{seconds}s", "-F", folder / "memaslap"]
        text = clients.run(words, core, seconds)
        # its own TPS has the filling in the requests, and not in the time
        gets, misses, took_s = re.search(r"cmd_get: (\d+)", text), re.search(r"get_misses: (\d+)", text), re.search(r"Run time: ([\d.]+)s", text)
        if not (gets and misses and took_s) or misses[1] != "0":
            raise clients.Failure(f"memcaslap: {text.strip()[-400:]}")
        return {"requests_per_s": int(gets[1]) / float(took_s[1])}


class Redis(Server):
    programs = ("redis-server", "redis-benchmark")
    protocol = "redis"

    def __init__(self, words=(), request=("GET", "key:__rand_int__")):
        self.words, self.request = words, request

    def command(self, folder, port):
        return ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder, *self.words]

    def fill(self, port):
        def bulk(*words):
            return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        sets = [bulk(b"SET", b"key:%012d" % key, b"v" * 100) for key in range(KEYS)]
        scores = [bulk(b"ZADD", b"board", b"%d" % (key * 7 % 1000), b"member:%d" % key) for key in range(1000)]
        tell(port, b"".join(sets + scores) + bulk(b"ECHO", b"filled"), b"filled\r\n")

    def requests(self, draws):
        return " ".join(word.replace("__rand_int__", f"{draws.randrange(KEYS):012d}") for word in self.request)

    def saturate(self, folder, port, core, connections, seconds):
        count = max(1000, int(self.per_s * seconds))
        words = ["redis-benchmark", "-p", port, "-c", connections, "-n", count, "-r", KEYS, "--csv", *self.request]
        rows = list(csv.DictReader(io.StringIO(clients.run(words, core, 20 * seconds))))
        if not rows or "rps" not in rows[0]:
            raise clients.Failure(f"redis-benchmark: {rows}")
        self.per_s = float(rows[0]["rps"])
        return {"requests_per_s": self.per_s, "p50_ms": float(rows[0]["p50_latency_ms"]), "p99_ms": float(rows[0]["p99_latency_ms"])}


class MariaDb(Server):
    programs = ("mariadbd", "mariadb-install-db", "mariadb", "sysbench")
    protocol = "mysql"
    ROWS = 10_000

    def __init__(self, words=()):
        self.words = words

    def prepare(self, folder):
        data = folder / "mariadb"
        if data.exists():
            return
        made = subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root", "--skip-test-db",
                               "--auth-root-authentication-method=normal"], capture_output=True, text=True, timeout=120)
        if made.returncode != 0:
            raise clients.Failure(f"mariadb-install-db: {(made.stderr or made.stdout)[-400:]}")
        port = clients_port()
        with subprocess.Popen([str(word) for word in self.command(folder, port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                wait_for_port(port)
                subprocess.run(["mariadb", "-h", "127.0.0.1", "-P", str(port), "-u", "root", "-e", "create database sbtest"], check=True, timeout=60)
                subprocess.run([*self.sysbench(port), "prepare"], check=True, capture_output=True, timeout=120)
            finally:
                server.terminate()

    def sysbench(self, port, *more):
        return ["sysbench", "--mysql-host=127.0.0.1", f"--mysql-port={port}", "--mysql-user=root", "--mysql-db=sbtest", "--tables=1",
                f"--table-size={self.ROWS}", "--rand-type=uniform", "--db-ps-mode=disable", "--percentile=99", *more, "oltp_point_select"]

    def command(self, folder, port):
        data = folder / "mariadb"
        return ["mariadbd", "--no-defaults", f"--datadir={data}", "--user=root", f"--port={port}", "--bind-address=127.0.0.1", f"--socket={data}/socket",
                "--skip-grant-tables", "--skip-networking=0", "--innodb-buffer-pool-size=128M", *self.words]

    def requests(self, draws):
        return f"SELECT c FROM sbtest1 WHERE id={draws.randrange(self.ROWS) + 1}"

    def saturate(self, folder, port, core, connections, seconds):
        text = clients.run([*self.sysbench(port, f"--threads={connections}", f"--time={seconds}"), "run"], core, seconds)
        rate = re.search(r"transactions: .*\(([\d.]+) per sec", text)
        if not rate:
            raise clients.Failure(f"sysbench: {text.strip()[-400:]}")
        return {"requests_per_s": float(rate[1])}


class Slapd(Server):
    """It is asked for an attribute without an index, so that it looks at all entries: else ldapsearch computes more than it."""
    programs = ("slapd", "slapadd", "ldapsearch")
    protocol = "ldap"
    ENTRIES = 200
    BASE = "dc=example,dc=com"

    def prepare(self, folder):
        database = folder / "slapd"
        if database.exists():
            return
        database.mkdir()
        schemas = "".join(f"include /etc/ldap/schema/{name}.schema\n" for name in ("core", "cosine", "inetorgperson"))
        (folder / "slapd.conf").write_text(f"{schemas}modulepath /usr/lib/ldap\nmoduleload back_mdb\nloglevel none\ndatabase mdb\nmaxsize 268435456\n"
                                           f"suffix \"{self.BASE}\"\ndirectory {database}\nindex objectClass eq\nindex uid eq\n")
        people = "".join(f"dn: uid=user{i},{self.BASE}\nobjectClass: inetOrgPerson\nuid: user{i}\ncn: User {i}\nsn: name{i}\nmail: user{i}@example.com\n\n"
                         for i in range(self.ENTRIES))
        (folder / "people.ldif").write_text(f"dn: {self.BASE}\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n\n{people}")
        added = subprocess.run(["/usr/sbin/slapadd", "-q", "-f", folder / "slapd.conf", "-l", folder / "people.ldif"], capture_output=True, text=True, timeout=120)
        if added.returncode != 0:
            raise clients.Failure(f"slapadd: {added.stderr[-400:]}")

    def command(self, folder, port):
        return ["/usr/sbin/slapd", "-d", 0, "-f", folder / "slapd.conf", "-h", f"ldap://127.0.0.1:{port}"]

    def requests(self, draws):
        return f"{self.BASE}\tsn\tname{draws.randrange(self.ENTRIES)}"

    def saturate(self, folder, port, core, connections, seconds):
        """So many ldapsearch at once, each of which asks for one entry after the other on its own connection."""
        each = max(200, int(self.per_s * seconds / connections))
        draws = random.Random(SEED)
        (folder / "names").write_text("".join(f"name{draws.randrange(self.ENTRIES)}\n" for _ in range(each)))
        words = ["taskset", "-c", str(core), "ldapsearch", "-x", "-LLL", "-H", f"ldap://127.0.0.1:{port}", "-b", self.BASE, "-f", str(folder / "names"),
                 "(sn=%s)", "1.1"]
        begin = time.monotonic()
        running = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(connections)]
        for one in running:
            errors = one.communicate(timeout=20 * seconds + clients.BEYOND_S)[1]
            if one.returncode != 0:
                raise clients.Failure(f"ldapsearch: {errors.decode(errors='replace')[-400:]}")
        self.per_s = each * connections / (time.monotonic() - begin)
        return {"requests_per_s": self.per_s}


class Tomcat(Server):
    """Tomcat with its own example application, as it is: of that the servlets which make no session, for no client here keeps one, and a page. Its
    settings are those that Debian gives to a user's own instance, so 200 threads and a log of requests, but for the port and connections that last."""
    programs = ("java", "wrk")
    protocol = "http"
    warm_up_s = 15
    HOME, EXAMPLES = pathlib.Path("/usr/share/tomcat10"), pathlib.Path("/usr/share/tomcat10-examples/examples")
    PATHS = ("servlets/servlet/HelloWorldExample", "servlets/servlet/RequestInfoExample", "servlets/servlet/RequestHeaderExample",
             "servlets/servlet/RequestParamExample?firstname=Ada&lastname=Lovelace", "servlets/index.html")
    CONNECTOR = '<Connector port="8080"'

    def missing(self):
        needed = {"tomcat10-common": self.HOME / "bin" / "bootstrap.jar", "tomcat10-user": self.HOME / "skel" / "conf", "tomcat10-examples": self.EXAMPLES}
        return super().missing() or next((f"{package} is not installed" for package, path in needed.items() if not path.exists()), "")

    def prepare(self, folder):
        base = folder / "tomcat"
        if base.exists():
            return
        shutil.copytree(self.HOME / "skel" / "conf", base / "conf")
        for name in ("conf/Catalina/localhost", "logs", "temp", "webapps", "work"):
            (base / name).mkdir(parents=True)
        (base / "conf" / "Catalina" / "localhost" / "examples.xml").write_text(f'<Context docBase="{self.EXAMPLES}"/>\n')

    def command(self, folder, port):
        base, settings = folder / "tomcat", (self.HOME / "skel" / "conf" / "server.xml").read_text()
        if settings.count(self.CONNECTOR) == 0:
            raise clients.Failure(f"Tomcat's server.xml has no {self.CONNECTOR}")
        (base / "conf" / "server.xml").write_text(settings.replace(
            self.CONNECTOR, f'<Connector port="{port}" address="127.0.0.1" maxKeepAliveRequests="-1"'))
        return ["java", f"-Dcatalina.home={self.HOME}", f"-Dcatalina.base={base}", f"-Djava.io.tmpdir={base}/temp",
                "-cp", f"{self.HOME}/bin/bootstrap.jar:{self.HOME}/bin/tomcat-juli.jar", "org.apache.catalina.startup.Bootstrap", "start"]

    def fill(self, port):
        """Its port listens before its application is there."""
        deadline = time.monotonic() + START_LIMIT_S
        for path in self.PATHS:
            while True:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/examples/{path}", timeout=START_LIMIT_S).close()
                    break
                except OSError as error:
                    if time.monotonic() > deadline:
                        raise clients.Failure(f"Tomcat does not answer /examples/{path}: {error}") from error
                    time.sleep(0.1)

    def requests(self, draws):
        return f"/examples/{draws.choice(self.PATHS)}"

    def write_requests(self, folder, port):
        draws = random.Random(SEED)
        clients.write_requests(folder, port, [self.requests(draws) for _ in range(REQUESTS)])
        return folder / "requests.txt"

    def saturate(self, folder, port, core, connections, seconds):
        self.write_requests(folder, port)
        return clients.closed_loop(folder, port, core, connections, seconds)


def clients_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port):
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise clients.Failure(f"nothing listens on port {port}")


SERVERS = {
    "memcached": Memcached(1),
    "memcached-4": Memcached(4),
    "redis": Redis(request=("ZRANGEBYSCORE", "board", "-inf", "+inf", "LIMIT", "900", "1")),
    "redis-get": Redis(),  # redis-benchmark computes more for it than the server does
    "redis-io-threads": Redis(("--io-threads", "2", "--io-threads-do-reads", "yes")),
    "mariadb": MariaDb(),
    "mariadb-pool": MariaDb(("--thread-handling=pool-of-threads",)),
    "slapd": Slapd(),
    "tomcat": Tomcat(),
}
# What limits each on one core, however many threads it has.
LIMITED_BY = {name: "cores" for name in SERVERS}
