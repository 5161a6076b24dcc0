"""The programs of the overhead benchmark: nobody here wrote them. Each folder of bench/programs/ has a pom.xml with the
pinned versions that Maven fetches, a program.json that says how to run it, and a small driver where the program has no
main method of its own. Everything fetched and compiled lies in build/bench-programs/, never among the sources."""

import dataclasses
import hashlib
import json
import pathlib
import shutil
import subprocess
import zipfile

import figures

SOURCES = figures.ROOT / "bench" / "programs"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"


@dataclasses.dataclass
class Program:
    name: str
    what: str
    main: str
    arguments: list
    jvm: list = dataclasses.field(default_factory=list)
    source_files: int = 0     # unpack the fetched *-sources.jar, and name this many of its files in `files`
    output_folder: str = ""   # written by the program; its contents count as output

    @property
    def folder(self):
        return figures.ROOT / "build" / "bench-programs" / self.name

    def command(self):
        jars = sorted(str(jar) for jar in (self.folder / "lib").glob("*.jar") if not jar.name.endswith("-sources.jar"))
        classpath = ":".join([str(self.folder / "classes")] + jars)
        return [figures.java(), *self.jvm, "-cp", classpath, self.main, *self.arguments]

    def run(self, before=(), environment=None, limit_s=600):
        """One run, preceded by `before` (the recorder); and a digest of all that the program has put out."""
        written = self.folder / self.output_folder
        if self.output_folder:
            shutil.rmtree(written, ignore_errors=True)
        run = figures.run([*before, *self.command()], folder=self.folder, limit_s=limit_s,
                          environment=environment)
        digest = hashlib.sha256(run.output)
        if self.output_folder:
            for file in sorted(path for path in written.rglob("*") if path.is_file()):
                digest.update(str(file.relative_to(written)).encode() + file.read_bytes())
        return run, digest.hexdigest()

    def prepare(self):
        """Fetches and compiles; does nothing, quickly, when the program's folder here has not changed since."""
        inputs = sorted((SOURCES / self.name).iterdir()) + [SOURCES / "Timed.java"]
        state = hashlib.sha256(b"".join(file.read_bytes() for file in inputs)).hexdigest()
        stamp = self.folder / "prepared"
        if stamp.exists() and stamp.read_text() == state:
            return
        figures.say(f"fetching and compiling {self.name}")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self._fetch()
        self._compile()
        if self.source_files:
            self._unpack()
        stamp.write_text(state)

    def _fetch(self):
        fetch(SOURCES / self.name / "pom.xml", self.folder / "lib", self.name)

    def _compile(self):
        drivers = sorted((SOURCES / self.name).glob("*.java")) or [SOURCES / "Timed.java"]
        subprocess.run(["javac", "--release", "17", "-nowarn", "-proc:none", "-cp", f"{self.folder}/lib/*",
                        "-d", str(self.folder / "classes"), *map(str, drivers)], check=True)

    def _unpack(self):
        names = []
        for jar in sorted((self.folder / "lib").glob("*-sources.jar")):
            with zipfile.ZipFile(jar) as archive:
                inside = sorted(name for name in archive.namelist()
                                if name.endswith(".java") and not name.startswith("META-INF"))
                archive.extractall(self.folder / "source", inside)
                names += [str(pathlib.Path("source") / name) for name in inside]
        (self.folder / "files").write_text("\n".join(names[:self.source_files]) + "\n")


def fetch(pom, folder, what):
    """Puts the libraries that a pom.xml names, and those that they need, into a folder."""
    if not shutil.which("mvn"):
        figures.fail("mvn not found: `./dev setup bench` installs it")
    fetched = subprocess.run(["mvn", "-B", "-q", "-f", str(pom), f"{PLUGIN}:copy-dependencies", "-DincludeScope=runtime",
                              f"-DoutputDirectory={folder}"], capture_output=True, text=True)
    if fetched.returncode != 0:
        figures.fail(f"Maven could not fetch {what}:\n{fetched.stdout[-2000:]}{fetched.stderr[-2000:]}")


def catalogue():
    programs = []
    for description in sorted(SOURCES.glob("*/program.json")):
        programs.append(Program(name=description.parent.name, **json.loads(description.read_text())))
    return programs
