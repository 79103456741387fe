"""The web server: granian, whose workers are forks of a process that has loaded all that they run.

They share its memory while they only read it, and one that ended is replaced without loading
anything (decision 963). `python -m config.web` takes granian's options and the application.
"""

import os
import sys

from config import memory, shared_figures


def serve() -> None:
    """Loads what every worker needs, and serves until it is stopped. Where processes can't be
    forked each worker loads it again."""
    from django.urls import get_resolver

    get_resolver().url_patterns  # noqa: B018  # all routes and what they load
    memory.freeze_loaded()
    from granian.cli import entrypoint

    entrypoint()


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.update(shared_figures.shared_by(os.getpid()))  # with its workers
    import django
    from django.core.exceptions import ImproperlyConfigured

    try:
        django.setup()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    serve()


if __name__ == "__main__":
    main()
