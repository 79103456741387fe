"""What `manage.py demo` needs before Django reads its settings: a free port, its own folder, the
services, their addresses.

One demo per folder; `--fresh` throws away what an earlier one kept.
"""

import argparse
import atexit
import fcntl
import os
import shutil
import signal
import socket
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TextIO

from dev import embedded, running, template_database

PORT = 8000
_held: list[TextIO] = []
_interrupted = threading.Event()


def take_interrupts() -> None:
    """A Ctrl-C before the demo's own handlers stand ends what is being done, and is remembered.

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


def prepare(arguments: list[str]) -> None:
    """Exit with one line when the demo can't start; else everything it needs is up and in the
    environment."""
    if {"-h", "--help"} & set(arguments):
        return
    parser = argparse.ArgumentParser(prog="manage.py demo", add_help=False)
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--fresh", action="store_true")
    options, _ = parser.parse_known_args(arguments)
    if os.environ.get("TILLGATE_ENV") == "production":
        sys.exit("the demo does not start with TILLGATE_ENV=production")
    take_interrupts()
    path = embedded.var_folder(embedded.DEMO)
    path.mkdir(parents=True, exist_ok=True)
    _only_one(path)
    _check_port(options.port)
    if options.fresh:
        _wipe(path)
    os.environ["TILLGATE_ENV"] = "demo"
    os.environ["PUBLIC_URL"] = f"http://localhost:{options.port}"
    os.environ.setdefault("WEBHOOK_ALLOW_HOSTS", "127.0.0.1,localhost")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    try:
        embedded.ensure(mode=embedded.DEMO, say=running.say)
    except RuntimeError as error:
        sys.exit(str(error))


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


def _check_port(port: int) -> None:
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as probe:
            probe.settimeout(1)
            try:
                probe.connect((host, port))
            except (OSError, OverflowError):
                continue
        sys.exit(f"port {port} is taken: stop what listens there, or choose another with --port")


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
