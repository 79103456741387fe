"""Needs of `manage.py demo` before Django reads its settings: a free port, its own folder, the
services, their addresses.

One demo per folder; `--fresh` throws away what an earlier one kept.
"""

import argparse
import atexit
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from types import FrameType
from typing import TextIO

from dev import embedded, keeper, processes, running, short_paths, template_database, waiting

PORT = 8000
PORT_MAX = 65_535
HISTORY_DAYS_MAX = 29  # with today they are the month that Home begins with
# Is there while the data of a first start aren't whole.
HALF_MADE = ".half-made"
_held: list[TextIO] = []
_interrupted = threading.Event()


def take_interrupts() -> None:
    """A Ctrl-C before the demo's own handlers are set ends what is being done, and is remembered.

    Python drops an exception that is raised in a callback, of which imports have many: the demo
    would go on.
    """
    signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = _say_what_was_dropped


def _say_what_was_dropped(dropped: "sys.UnraisableHookArgs") -> None:
    """As Python does, but for the Ctrl-C that is remembered."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _interrupted.set()
    raise KeyboardInterrupt


def is_interrupted() -> bool:
    return _interrupted.is_set()


def read(arguments: list[str]) -> argparse.Namespace:
    """Arguments of the demo, read before anything is installed or started. Exits with one line for
    what it doesn't know."""
    parser = argparse.ArgumentParser(prog="manage.py demo", usage="manage.py demo [options]")
    add_arguments(parser)
    # Of every command of Django's.
    for flag in ("--settings", "--pythonpath", "-v", "--verbosity"):
        parser.add_argument(flag, help=argparse.SUPPRESS)
    for flag in ("--traceback", "--no-color", "--force-color", "--skip-checks", "--version"):
        parser.add_argument(flag, action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The demo's own."""
    parser.add_argument("--port", type=_port, default=PORT, help="of the pages and the API")
    parser.add_argument("--fresh", action="store_true", help="delete the data of earlier demos")
    # Read before anything starts (dev/shell.py).
    parser.add_argument("--database", metavar="URL", help="a PostgreSQL of yours, and no other")
    parser.add_argument("--redis", metavar="URL", help="a Redis of yours, and no other")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print var/demo.json on one line when the demo is ready",
    )
    parser.add_argument(
        "--days",
        type=_days,
        default=HISTORY_DAYS_MAX,
        metavar="DAYS",
        help="of sales that a new store has behind it: a month, or fewer for a sooner start",
    )


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= PORT_MAX:
        raise argparse.ArgumentTypeError(f"{text} is no port: 1 to {PORT_MAX}")
    return int(text)


def _days(text: str) -> int:
    if not text.isdecimal() or int(text) > HISTORY_DAYS_MAX:
        raise argparse.ArgumentTypeError(f"{text} days can't be made: 0 to {HISTORY_DAYS_MAX}")
    return int(text)


def prepare(arguments: list[str]) -> None:
    """Exit with one line when the demo can't start; else everything it needs is up and in the
    environment."""
    options = read(arguments)
    if os.environ.get("TILLGATE_ENV") == "production":
        sys.exit("the demo does not start with TILLGATE_ENV=production")
    take_interrupts()
    path = embedded.var_folder(embedded.DEMO)
    try:
        processes.make_own(path)
    except processes.StartFailed as error:
        sys.exit(str(error))
    _only_one(path)
    _end_rest(path)
    check_port(options.port)
    if (path / HALF_MADE).exists() and not options.fresh:
        running.say("the demo's data were half made, so they are made again")
    if options.fresh or (path / HALF_MADE).exists():
        _wipe(path)
    if not (path / "postgres").exists() and "DATABASE_URL" not in os.environ:
        (path / HALF_MADE).touch()
    os.environ["TILLGATE_ENV"] = "demo"
    os.environ["PUBLIC_URL"] = f"http://localhost:{options.port}"
    os.environ.setdefault("WEBHOOK_ALLOW_HOSTS", "127.0.0.1,localhost")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    try:
        embedded.ensure(mode=embedded.DEMO, say=running.say)
        # What its processes leave there goes with it.
        os.environ["TMPDIR"] = tempfile.tempdir = str(short_paths.make(path, "tmp"))
    except KeyboardInterrupt:
        raise
    except Exception as error:
        line = reason(path, error)
        sys.exit(line if isinstance(error, RuntimeError) else f"the demo can't start: {line}")


def reason(path: Path, error: Exception) -> str:
    """A line for the person; what only a developer reads is in a file."""
    if isinstance(error, (RuntimeError, waiting.NothingMoves)):
        return str(error)
    trouble = path / "trouble.log"
    with contextlib.suppress(OSError):  # on a full disk
        trouble.write_text("".join(traceback.format_exception(error)))
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text} (more in {trouble})"


def is_made(path: Path) -> None:
    """The data of a first start are whole."""
    (path / HALF_MADE).unlink(missing_ok=True)


def _end_rest(path: Path) -> None:
    """Ends the rest of an earlier demo that was killed with its keeper."""
    with (path / keeper.USERS).open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)  # a keeper at work is waited for
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            keeper.end_rest(path, short_paths.folder_of(path))


def _only_one(path: Path) -> None:
    handle = (path / ".demo").open("a+")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(
            f"a demo is already running from {path}: stop it first, or set TILLGATE_VAR to another"
            " folder"
        )
    _held.append(handle)
    # Left by a demo that could not clear up after itself.
    (path / "demo.json").unlink(missing_ok=True)
    atexit.register((path / "demo.json").unlink, missing_ok=True)


def leave_to_parent() -> None:
    """In a fork: the demo's folder is the parent's to hold."""
    for handle in _held:
        handle.close()
    _held.clear()


def check_port(port: int) -> None:
    """Exit with one line when it is somebody else's, or only root's."""
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as probe:
            probe.settimeout(1)
            try:
                probe.connect((host, port))
            except OSError:
                continue
        sys.exit(f"port {port} is taken: stop what listens there, or choose another with --port")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            sys.exit(f"port {port} can't be used ({error.strerror}): choose another with --port")


def _wipe(path: Path) -> None:
    with (path / ".users").open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"another command is using {path}: wait for it, then try --fresh again")
        for entry in path.iterdir():
            # Tests, and what is made once for all, are not the demo's.
            if (
                entry in (path / ".users", path / ".demo", template_database.TEMPLATES)
                or entry.name.partition("-")[0] == embedded.TEST
            ):
                continue
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
