"""Missing parts of the demo's service, and their signs of progress."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable

from django.conf import settings

from apps.chain.selectors import heads, lag_seconds
from apps.console.health import CHAIN_LAG_SECONDS_MAX
from dev import waiting

WHOLE = "/readyz"
WEB = "/readyz/web"
WEB_SERVER = "the web server"
LOOK_SECONDS = 0.1
# Processes that load beside each other on a busy machine say nothing for long.
STILL_SECONDS = 180.0
_LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def missing(port: int, path: str = WHOLE) -> str:
    """Parts that /readyz names as missing: the database, Redis, the watcher of a chain; empty when
    all are there."""
    try:
        with _LOCAL.open(f"http://127.0.0.1:{port}{path}", timeout=5):
            return ""
    except urllib.error.HTTPError as error:
        parts = json.loads(error.read(4000) or b"{}")
        return ", ".join(name for name, part in parts.items() if not part["ready"]) or WEB_SERVER
    except (OSError, ValueError):
        return WEB_SERVER


class Readiness:
    """Progress is that something else is missing, that a chain which is behind has been read
    further, and that the web server works while it starts."""

    stillness = "nothing has changed"

    def __init__(self, port: int, path: str, web: Callable[[], int | None]) -> None:
        self.missing = WEB_SERVER
        self._port = port
        self._path = path
        self._web = waiting.ProcessActivity(web)
        self._chains = waiting.ChangingReading(lambda: (self.missing, _behind()), "")

    def is_whole(self) -> bool:
        self.missing = missing(self._port, self._path)
        return not self.missing

    def has_moved(self) -> bool:
        has_worked = self._web.has_moved() and self.missing == WEB_SERVER
        return self._chains.has_moved() or has_worked


def seconds_until_page(port: int, is_stopping: Callable[[], bool]) -> float:
    """Until a page answers, or everything stops. Anyone who waits for the service gives up, not
    this."""
    began = time.monotonic()
    while not is_stopping() and missing(port, WEB):
        time.sleep(LOOK_SECONDS)
    return time.monotonic() - began


def wait_for(
    path: str,
    port: int,
    web: Callable[[], int | None],
    is_stopping: Callable[[], bool],
    still_seconds: float = STILL_SECONDS,
) -> None:
    """Until nothing is missing there, or everything stops. Raises NothingMoves, which says what
    is."""
    service = Readiness(port, path, web)
    waiting.until(
        lambda: is_stopping() or service.is_whole(),
        lambda: service.missing,
        service,
        still_seconds=still_seconds,
        pause=LOOK_SECONDS,
    )


def _behind() -> dict[str, int]:
    """Read positions of chains that aren't caught up."""
    read = {chain: head.number for chain, head in heads().items()}
    lags = {chain: lag_seconds(chain) for chain, urls in settings.CHAIN_URLS.items() if urls}
    return {
        chain: read.get(chain, -1)
        for chain, lag in lags.items()
        if lag is None or lag > CHAIN_LAG_SECONDS_MAX
    }
