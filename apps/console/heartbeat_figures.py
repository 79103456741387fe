"""Since when the parts of the background work are silent: reported by the process that reaches the
database, and so also when beat, Redis or the workers are what is away."""

from collections.abc import Iterator

from django.db import DatabaseError
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from apps.core.process import heartbeats


class HeartbeatCollector(Collector):
    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing: being registered must not ask the database."""
        yield from ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        ages = GaugeMetricFamily(
            "tillgate_heartbeat_age_seconds",
            "Seconds since this part of the background work last showed that it runs",
            labels=["part"],
        )
        try:
            for part, seconds in heartbeats.ages_seconds().items():
                ages.add_metric([part], seconds)
        except DatabaseError:
            return
        yield ages
