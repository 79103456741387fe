"""Signs of life of the background work: each part writes its last run by the database's clock, and
readers get the age.

`jobs` is written by a periodic job, so it stops when beat, Redis or the workers are away.
"""

import time
from enum import StrEnum, unique

from django.db import connection

# Between two beats of a part that runs.
BEAT_SECONDS = 5.0
_BEAT = """
INSERT INTO core_heartbeat (part, at) VALUES (%s, clock_timestamp())
ON CONFLICT (part) DO UPDATE SET at = EXCLUDED.at
"""
_AGES = "SELECT part, extract(epoch FROM clock_timestamp() - at)::float8 FROM core_heartbeat"


@unique
class HeartbeatPart(StrEnum):
    JOBS = "jobs"  # beat, Redis and a worker, together
    WATCHER = "watcher"
    SIGNER = "signer"


def beat(part: HeartbeatPart) -> None:
    """This part runs now."""
    with connection.cursor() as cursor:
        cursor.execute(_BEAT, [part])


class Pulse:
    """The beats of a part that runs in a loop: one now and then, however often it comes round."""

    def __init__(self, part: HeartbeatPart) -> None:
        self._part = part
        self._next = 0.0

    def beat(self) -> None:
        if time.monotonic() >= self._next:
            beat(self._part)
            self._next = time.monotonic() + BEAT_SECONDS


def ages_seconds() -> dict[str, float]:
    """Age of each part's last run, in seconds; a part that never ran is missing."""
    with connection.cursor() as cursor:
        cursor.execute(_AGES)
        return {part: max(0.0, seconds) for part, seconds in cursor.fetchall()}
