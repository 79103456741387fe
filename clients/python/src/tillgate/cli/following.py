"""Follow a feed of the API: what is new since the last look, oldest first, each once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import click

import tillgate

OVERLAP_SECONDS = 30.0  # what took longer to be written stands before what was already read
WAIT_MAX_SECONDS = 30.0
PER_PAGE = 100
PAGES_MAX = 50
Row = dict[str, Any]


class Follower:
    """`moment` says when a record was made, in seconds."""

    def __init__(
        self,
        client: tillgate.Client,
        path: str,
        moment: Callable[[Row], float],
        query: dict[str, Any] | None = None,
    ) -> None:
        self._client = client
        self._path = path
        self._moment = moment
        self._query = query or {}
        self._seen: dict[str, float] = {}
        self._newest: float | None = None

    def begin(self) -> None:
        """Take the records that there are as not new."""
        first = self._page(None, 1)["data"]
        if first:
            self._newest = self._moment(first[0])
            for one in self._since(self._newest - OVERLAP_SECONDS):
                self._seen[one["id"]] = self._moment(one)

    def new(self) -> list[Row]:
        known = self._newest
        horizon = float("-inf") if known is None else known - OVERLAP_SECONDS
        found = [one for one in self._since(horizon) if one["id"] not in self._seen]
        for one in found:
            self._seen[one["id"]] = self._moment(one)
        if found:
            self._newest = max(self._moment(found[0]), known or float("-inf"))
            limit = self._newest - 2 * OVERLAP_SECONDS
            self._seen = {id: at for id, at in self._seen.items() if at >= min(limit, horizon)}
        return found[::-1]

    def follow(self, interval: float) -> Iterator[Row]:
        """For ever. What passes is waited for; what doesn't is raised."""
        wait = interval
        while True:
            try:
                found = self.new()
                wait = interval
            except (
                tillgate.ConnectionFailed,
                tillgate.Unavailable,
                tillgate.RateLimitError,
            ) as error:
                wait = min(max(2 * wait, 2.0), WAIT_MAX_SECONDS)
                click.echo(f"Waiting: {error}", err=True)
                found = []
            yield from found
            time.sleep(wait)

    def _since(self, horizon: float) -> list[Row]:
        found: list[Row] = []
        for _ in range(PAGES_MAX):
            page = self._page(found[-1]["id"] if found else None, PER_PAGE)
            found += page["data"]
            if not page["has_more"] or self._moment(found[-1]) < horizon:
                break
        return [one for one in found if self._moment(one) >= horizon]

    def _page(self, before: str | None, size: int) -> Row:
        more = {} if before is None else {"before": before}
        query = {**self._query, "per_page": size, **more}
        page: Row = self._client.request("GET", self._path, query=query)
        return page
