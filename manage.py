#!/usr/bin/env python3
"""Every command starts here: first a Python with the requirements, then the services, then Django."""

import gc
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
# These need no database, and must not start one.
WITHOUT_SERVICES = {"help", "version", "--help", "--version", "check", "compilemessages", "makemessages", "startapp", "collectstatic"}
# Objects that are freed in cycles before the collector looks for them: starting makes hundreds of thousands that stay.
COLLECTED_AFTER = 20_000


def main() -> None:
    gc.set_threshold(COLLECTED_AFTER, 20, 20)
    sys.path.insert(0, str(ROOT))
    from config import bootstrap

    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    bootstrap.hand_over(command)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if command == "test":
        from config import checks

        sys.exit(checks.main(sys.argv[2:]))
    if command == "demo":
        from config import demo_environment

        demo_environment.prepare(sys.argv[2:])
    elif command not in WITHOUT_SERVICES:
        from config import embedded

        try:
            embedded.ensure()
        except RuntimeError as error:
            sys.exit(str(error))
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        from config import environment  # noqa: F401  # refuses what nothing may start with
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
