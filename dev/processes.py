"""Services that outlive the process which started them: how they are started, published for others,
and stopped."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dev import waiting

STOP_SECONDS = 4.0
# How the records of a service end, and of a program with all that it starts.
SERVICE = ".process"
GROUP = ".group"


_NOT_YOURS = (
    "{} can't be written to, as when another user has started it here: set TILLGATE_VAR to a folder"
    " of yours, or change the owner"
)


class StartFailed(RuntimeError):
    """An embedded service did not come up; the message names it and its log."""


def make_own(path: Path) -> None:
    """The folder, if this user may write to it and to the locks that lie there. Raises
    StartFailed."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartFailed(_NOT_YOURS.format(error.filename)) from None
    for entry in (path, *path.glob(".*")):
        if entry.exists() and not os.access(entry, os.W_OK):
            raise StartFailed(_NOT_YOURS.format(entry))


def _record(path: Path, name: str, kind: str = SERVICE) -> Path:
    return path / f".{name.removesuffix('_URL').lower()}{kind}"


def published(path: Path, name: str, kind: str = SERVICE) -> dict[str, Any]:
    """Published facts of a running service: its process and address; empty without one."""
    try:
        record: dict[str, Any] = json.loads(_record(path, name, kind).read_text())
    except (OSError, ValueError):
        return {}
    return record if _started_at(record["pid"]) == record["started_at"] else {}


def _started_at(pid: int) -> str | None:
    """The start time of a process, which tells it from a later one with the same number."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def spawn(path: Path, name: str, command: list[str], url: str = "") -> "subprocess.Popen[bytes]":
    with log_of(path, name).open("ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=path,
        )
    publish(path, name, process.pid, url=url)
    return process


def publish(path: Path, name: str, pid: int, kind: str = SERVICE, url: str = "") -> None:
    record = {"pid": pid, "started_at": _started_at(pid), "url": url}
    _record(path, name, kind).write_text(json.dumps(record))


def forget(path: Path, name: str, kind: str = SERVICE) -> None:
    _record(path, name, kind).unlink(missing_ok=True)


def end_groups(path: Path, names: list[str], seconds: float) -> None:
    """Programs that were left, each with all that it has started: asked first, then made to."""
    deadline = time.monotonic() + seconds
    for number in (signal.SIGTERM, signal.SIGKILL):
        for name in names:
            if record := published(path, name, GROUP):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(record["pid"], number)
        while time.monotonic() < deadline and any(published(path, name, GROUP) for name in names):
            time.sleep(0.02)
    for name in names:
        forget(path, name, GROUP)


def log_of(path: Path, name: str) -> Path:
    return path / f"{name.removesuffix('_URL').lower()}.log"


def wait_until(
    is_ready: Callable[[], bool],
    process: "subprocess.Popen[bytes]",
    title: str,
    log: Path,
    still_seconds: float = waiting.STILL_SECONDS,
) -> None:
    """Wait as long as it is at work. Raises StartFailed when it ended, or nothing moves."""

    def is_there() -> bool:
        if is_ready():
            return True
        status = process.poll()
        if status is not None:
            raise StartFailed(f"{title} ended with status {status}; its log is {log}")
        return False

    work = waiting.ProcessActivity(lambda: process.pid, log)
    try:
        waiting.until(is_there, title, work, still_seconds=still_seconds)
    except waiting.NothingMoves as still:
        raise StartFailed(str(still)) from None


def stop(path: Path, name: str) -> None:
    """End a service of this folder in its own way (both write their data on SIGTERM), by force
    after four seconds."""
    record = published(path, name)
    if record:
        deadline = time.monotonic() + STOP_SECONDS
        os.kill(record["pid"], signal.SIGTERM)
        while published(path, name):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(record["pid"], os.WNOHANG)
            if time.monotonic() > deadline:
                os.kill(record["pid"], signal.SIGKILL)
                break
            time.sleep(0.02)
    _record(path, name).unlink(missing_ok=True)
