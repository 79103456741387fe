"""THE table of the web server's threads: whose requests run in which, and how many at once in one
process.

What waits for others (a chain, a worker, a slow reader) has threads of its own and never takes
those of everybody else. So has whatever brings files: they are read and opened one at a time.
"""

import re
from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True)
class Lane:
    """`paths` is matched from the start of a path; the last lane takes whatever is left. At most
    `waiting_max` requests wait for a thread, and one more is turned away at once."""

    name: str
    threads: int
    paths: str
    waiting_max: int = 10_000


# By what they say they bring: a path that takes no file may be sent one nevertheless.
UPLOADS = Lane("uploads", 1, r"(?!)", waiting_max=4)
_FILES = "multipart/"


LANES = (
    UPLOADS,
    # Anyone who watches over the processes hears that this one lives even while a database hangs.
    Lane("alive", 1, r"/healthz$"),
    Lane("ready", 1, r"/(?:readyz(?:/web|/chains)?|metrics)$"),
    # One more than may wait: it tells the next caller that the outcome isn't known yet.
    Lane(
        "settlements",
        settings.X402_WAITING_MAX + 1,
        r"/api/v2/x402/settle$|/(?:pay/)?[A-Z0-9]{16}/(?:x402|signature)$",
    ),
    Lane(
        "documents",
        2,
        r"/api/v2/payments/[^/]+/invoice$"
        r"|/invoice/[^/]+/(?:invoice|receipt|credit-notes/[^/]+)\.pdf$"
        r"|/dashboard/(?:payments|invoices)/[^/]+/(?:invoice|file)$",
    ),
    Lane("test clocks", 2, r"/api/v2/test_clock/advance$"),
    # "I already paid" asks the chains, whose nodes may hang; strangers may ask it.
    Lane("look-ups", 2, r"/(?:pay/)?[A-Z0-9]{16}/sent$"),
    # Pages that wait for news ask again and again; for what they wait holding.py has a thread.
    Lane("news", 2, r"/(?:pay/)?[A-Z0-9]{16}/pulse$"),
    Lane("downloads", 2, r"/files/|/dashboard/(?:.+\.csv|reports/[^/]+/file)$"),
    Lane("requests", settings.WEB_THREADS, r""),
)
UPLOADS_LANE = LANES.index(UPLOADS)
_LANE = re.compile("|".join(f"({lane.paths})" for lane in LANES))


def brings_files(content_type: str) -> bool:
    """True if Django would read the body as a form with files."""
    return content_type.strip().lower().startswith(_FILES)


def lane_of(path: str, content_type: str = "") -> int:
    """The number of the lane in which a request for the path runs."""
    if brings_files(content_type):
        return UPLOADS_LANE
    match = _LANE.match(path)
    return (match.lastindex if match and match.lastindex else len(LANES)) - 1
