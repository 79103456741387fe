"""Delay of the replica, while there is one: reported by web, which asks both servers at each
scrape."""

from collections.abc import Iterator

from django.db import DatabaseError
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from apps.core.db import replica


class ReplicaCollector(Collector):
    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing: being registered must not ask the database."""
        yield from ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Without a replica there is no value, and there is no lag of one that nobody reaches."""
        is_up = GaugeMetricFamily("tillgate_replica_up", "Whether the replica follows the primary")
        lag = GaugeMetricFamily(
            "tillgate_replica_lag_seconds", "Seconds that the replica is behind the primary"
        )
        if replica.is_configured():
            try:
                position = replica.position()
            except DatabaseError:
                is_up.add_metric([], 0)
            else:
                is_up.add_metric([], position.is_standby)
                lag.add_metric([], position.lag_seconds)
        yield from (is_up, lag)
