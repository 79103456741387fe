"""Answers to scrapes: figures that processes count themselves, of all that share a folder or of
this one, and figures of the database, read once per scrape.

Every process but web answers on a port of its own, METRICS_PORT, which is closed by default.
"""

import os
from collections.abc import Iterator

from django.conf import settings
from django.db import connection
from prometheus_client import REGISTRY, CollectorRegistry, start_http_server
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector


class _OwnFigures(Collector):
    """Counters of this process."""

    def collect(self) -> Iterator[Metric]:
        yield from REGISTRY.collect()


class _ClosingCollector(Collector):
    """Asks the database in a thread that ends with the scrape, and so does its connection."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def describe(self) -> Iterator[Metric]:
        """Nothing: being registered must not ask the database."""
        yield from ()

    def collect(self) -> Iterator[Metric]:
        try:
            yield from self._collector.collect()
        finally:
            connection.close()


def process_registry() -> CollectorRegistry:
    """Counters of processes, without the database."""
    registry = CollectorRegistry()
    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client.multiprocess import MultiProcessCollector

        MultiProcessCollector(registry, folder)
    else:
        registry.register(_OwnFigures())
    return registry


def serve(registry: CollectorRegistry, port: int, address: str = "") -> None:
    """Answer scrapes in a thread of this process; no port, no thread."""
    if port:
        start_http_server(port, addr=address or settings.METRICS_ADDRESS, registry=registry)


def with_database_figures(*collectors: Collector) -> CollectorRegistry:
    """Counters of processes and figures of the database, for a process that serves its own port."""
    registry = process_registry()
    for collector in collectors:
        registry.register(_ClosingCollector(collector))
    return registry
