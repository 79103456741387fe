"""Places where a test may kill the process, to prove that nothing is lost or done twice. Inert
outside the test environment."""

import os
import signal

from django.conf import settings


def failpoint(name: str) -> None:
    """Die here, without any clearing up, when TILLGATE_FAILPOINT names this place."""
    if settings.TILLGATE_ENV == "test" and os.environ.get("TILLGATE_FAILPOINT") == name:
        os.kill(os.getpid(), signal.SIGKILL)
