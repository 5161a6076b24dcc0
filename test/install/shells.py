#!/usr/bin/env python3
"""usage: shells.py BUILD bash|zsh|fish|man

The completions and manual pages of the installed copy (run_install.py), as the shells and `man` take them. Status 77: not installed.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS_MAX = 60
# What is typed -> what it may become. One that is the only one is completed, with the blank that follows it left out here.
TYPED = {
    "contrafact rec": {"contrafact record"},
    "contrafact record --clo": {"contrafact record --clock"},
    "contrafact record --clock k": {"contrafact record --clock kernel"},
    "contrafact help ta": {"contrafact help tasks", "contrafact help tables"},
    "contrafact help tab": {"contrafact help tables"},
    "contrafact advise ru": {"contrafact advise run.cft"},
    "contrafact advise --specs sp": {"contrafact advise --specs specs/"},
    "contrafact record -o x.cft -- progra": {"contrafact record -o x.cft -- program-to-run"},
    "contrafact record -- program-to-run ru": {"contrafact record -- program-to-run run.cft"},
}


def run(command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=SECONDS_MAX, check=False, **options)
    assert done.returncode == 0, f"{command}: status {done.returncode}\n{done.stdout}"
    return done.stdout


def in_bash(script, typed, folder):
    *before, last = typed.split(" ")
    text = (f'source {script}; COMP_WORDS=({" ".join(before)} "{last}"); COMP_CWORD={len(before)}; _contrafact; '
            'printf "%s\\n" "${COMPREPLY[@]}"')
    found = run(["bash", "-c", text], cwd=folder).split()
    # A folder's slash is added by the shell itself.
    return {" ".join(before + [word + "/" * pathlib.Path(folder, word).is_dir()]) for word in found}


def in_fish(script, typed, folder):
    found = run(["fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'"], cwd=folder, env=dict(os.environ, HOME=folder))
    return {" ".join(typed.split(" ")[:-1] + [line.split("\t")[0]]) for line in found.splitlines()}


class Zsh:
    """One at a terminal of its own; a key writes down the line that is being edited."""

    def __init__(self, script, folder):
        self.line = pathlib.Path(folder, "line")
        pathlib.Path(folder, ".zshrc").write_text(
            f"fpath=({script.parent} $fpath); autoload -Uz compinit; compinit -u -D\n"
            "setopt NO_BEEP; zstyle ':completion:*' list-prompt ''; LISTMAX=1000\n"
            f"dump() {{ print -r -- \"$BUFFER\" > {self.line}.part; mv {self.line}.part {self.line}; BUFFER= }}\n"
            "zle -N dump; bindkey '^X' dump; PROMPT='ready> '\n")
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-i"], dict(os.environ, ZDOTDIR=folder, TERM="vt100"))
        self.read_until(lambda text: "ready> " in text)

    def read_until(self, done):
        text, end = "", time.monotonic() + SECONDS_MAX
        while not done(text):
            assert time.monotonic() < end, text
            if select.select([self.terminal], [], [], 0.1)[0]:
                text += os.read(self.terminal, 65536).decode(errors="replace")
        return text

    def completed(self, typed):
        self.line.unlink(missing_ok=True)
        os.write(self.terminal, typed.encode() + b"\t\x18")
        self.read_until(lambda _: self.line.exists())
        return self.line.read_text().strip()

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.child, 0)


def check_typed(completions_of, folder):
    for typed, wanted in TYPED.items():
        assert completions_of(typed) == wanted, (typed, completions_of(typed))


def lay_out(folder):
    """A trace, a folder and a program."""
    pathlib.Path(folder, "run.cft").write_text("")
    pathlib.Path(folder, "specs").mkdir()
    program = pathlib.Path(folder, "program-to-run")
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def bash(share):
    with tempfile.TemporaryDirectory() as folder:
        lay_out(folder)
        script = share / "bash-completion/completions/contrafact"
        check_typed(lambda typed: in_bash(script, typed, folder), folder)
        # The shell takes this for three words.
        assert in_bash(script, "contrafact record --clock = k", folder) == {"contrafact record --clock = kernel"}


def fish(share):
    with tempfile.TemporaryDirectory() as folder:
        lay_out(folder)
        script = share / "fish/vendor_completions.d/contrafact.fish"
        check_typed(lambda typed: in_fish(script, typed, folder), folder)


def zsh(share):
    with tempfile.TemporaryDirectory() as folder:
        lay_out(folder)
        shell = Zsh(share / "zsh/vendor-completions/_contrafact", folder)
        for typed, wanted in TYPED.items():
            if len(wanted) == 1:
                assert {shell.completed(typed).rstrip("=")} == wanted, (typed, shell.completed(typed))
        shell.end()


def man(share):
    """Every command has a page, every option of its help is there, and the formatter has nothing to warn of."""
    contrafact = share.parent / "bin/contrafact"
    names = run([contrafact, "help", "--format", "names"]).split()
    pages = {path.name for path in (share / "man/man1").iterdir()}
    assert pages == {"contrafact.1"} | {f"contrafact-{name}.1" for name in names}, pages
    for name in names:
        page = share / f"man/man1/contrafact-{name}.1"
        shown = run(["man", "--warnings=w", "-l", page], env=dict(os.environ, MANWIDTH="400", LC_ALL="C.UTF-8", MANROFFOPT="-c", PAGER="cat"))
        assert "warning" not in shown, shown
        shown = re.sub(r".\x08", "", shown)
        options = re.findall(r"^ {2,6}((?:-\w, )?--[a-z-]+)", run([contrafact, "help", name]), re.M)
        assert len(options) >= 3, options
        for option in options:
            assert re.search(rf"^ +{option}\b", shown, re.M), (name, option, shown)


if __name__ == "__main__":
    if not shutil.which(sys.argv[2]):
        print(f"not measured: {sys.argv[2]} is not installed")
        sys.exit(77)
    {"bash": bash, "zsh": zsh, "fish": fish, "man": man}[sys.argv[2]](pathlib.Path(sys.argv[1]).resolve() / "installed/share")
