"""Runs the commands that the truth tests of this folder are made of."""
import subprocess


class Failure(SystemExit):
    """A command that did not succeed. Whoever does not catch it ends with its text."""


def run(command, seconds_max):
    """What the command prints."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=seconds_max)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[:400]}")
    return done.stdout
