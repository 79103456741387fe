"""A process beside the services of a folder: it ends what was left there when nobody uses the
folder any more, however they ended. Standard library only.

It waits for the lock that every user of the folder shares, which the kernel takes from those that
are killed (decision 632).
"""

import contextlib
import fcntl
import os
import shutil
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from dev import processes, short_paths

NAME = "keeper"
USERS = ".users"
TEMPLATES = Path(__file__).resolve().parent.parent / "var" / "templates"
PROGRAM_SECONDS = 3.0
# PostgreSQL's programs have the folder of their data in their command line.
_OF_POSTGRES = ("postgres", "initdb", "pg_ctl")


def start(folder: Path) -> None:
    """Starts the folder's keeper, while the caller shares its lock."""
    if not processes.published(folder, NAME):
        program = str(Path(__file__).resolve())
        short = str(short_paths.folder_of(folder))
        processes.spawn(folder, NAME, [sys.executable, "-I", "-S", program, str(folder), short])


def is_one(command: bytes) -> bool:
    """By the arguments of its process, each with a zero after it."""
    return f"{Path(__file__).resolve()}\0".encode() in command


def end_rest(folder: Path, short: Path) -> None:
    """Ends everything that was started for a folder that nobody uses: programs first, then the
    services that they need. `short` is its folder for sockets."""
    groups = [
        record.name[1 : -len(processes.GROUP)] for record in folder.glob(f".*{processes.GROUP}")
    ]
    processes.end_groups(folder, groups, PROGRAM_SECONDS)
    for record in folder.glob(f".*{processes.SERVICE}"):
        name = record.name[1 : -len(processes.SERVICE)]
        if name != NAME:
            processes.stop(folder, name)
    data = folder / "postgres"
    end_postgres([folder, data.resolve(), short])
    _end_template()
    if data.is_symlink():  # of tests, in memory
        in_memory = data.resolve()
        for place in (in_memory, in_memory.with_suffix(".new")):
            shutil.rmtree(place, ignore_errors=True)
        data.unlink()
    (folder / "demo.json").unlink(missing_ok=True)
    short_paths.remove_short(short)


def _end_template() -> None:
    """The server that applied the migrations, when nobody makes a template any more."""
    if TEMPLATES.exists():
        with (TEMPLATES / ".lock").open("a+") as lock, contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            end_postgres([TEMPLATES])


def end_postgres(places: list[Path]) -> None:
    """A server writes what it holds and drops its clients; what makes one is of no more use."""
    for number, seconds in ((signal.SIGINT, processes.STOP_SECONDS), (signal.SIGQUIT, 1.0)):
        running = _postgres_of(places)
        for pid in running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while running and time.monotonic() < deadline and _postgres_of(places):
            time.sleep(0.02)


def _postgres_of(places: list[Path]) -> list[int]:
    begins = tuple(os.fsencode(place) + b"/" for place in places)
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "comm").read_text().strip() in _OF_POSTGRES:
                arguments = (entry / "cmdline").read_bytes().split(b"\0")
                if any((text + b"/").startswith(begins) for text in arguments):
                    pids.append(int(entry.name))
    return pids


def main(folder: Path, short: Path) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with (folder / USERS).open("a+") as users:
        fcntl.flock(users, fcntl.LOCK_EX)
        end_rest(folder, short)
        processes.forget(folder, NAME)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
