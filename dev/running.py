"""How the set-up runs other programs and speaks to the person. Standard library only."""

import os
import subprocess
import sys


class SetupStop(Exception):
    """The set-up can't go on; the message is the line for the person."""


def say(text: str) -> None:
    """A line for the person, on standard error: standard output belongs to the command. Whole,
    whoever else speaks."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def run(*command: str, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **(env or {})}, check=False
    )


def last_line(finished: "subprocess.CompletedProcess[str]") -> str:
    lines = [
        line
        for line in (finished.stderr + finished.stdout).splitlines()
        if line.strip() and "complete log" not in line
    ]
    return lines[-1].strip() if lines else f"exit {finished.returncode}"
