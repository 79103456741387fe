"""Figures that web and the watcher tell from the database: how far each chain was read, and what
was lost."""

from collections.abc import Iterator

from django.db import DatabaseError
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from apps.chain.models import Deposit, Head, OutgoingTransaction
from apps.chain.selectors import lag_seconds
from apps.chain.states import IN_FLIGHT, MINED


class ChainCollector(Collector):
    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing: being registered must not ask the database."""
        yield from ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        height = GaugeMetricFamily(
            "tillgate_chain_head", "Newest block that was read", labels=["chain"]
        )
        lag = GaugeMetricFamily(
            "tillgate_chain_lag_seconds",
            "Seconds since the watcher last stood at the tip",
            labels=["chain"],
        )
        lost = GaugeMetricFamily(
            "tillgate_chain_deposits_lost",
            "Credited deposits that a reorg took away",
            labels=["chain"],
        )
        undone = GaugeMetricFamily(
            "tillgate_chain_transactions_undone",
            "Of ours, undone and not yet mined again",
            labels=["chain"],
        )
        missing = GaugeMetricFamily(
            "tillgate_chain_receipts_missing",
            "Of ours, with a nonce that is used and no receipt at any node",
            labels=["chain"],
        )
        try:
            for head in Head.objects.all():
                height.add_metric([head.chain_id], head.number)
                lag.add_metric([head.chain_id], lag_seconds(head.chain_id) or 0)
                lost.add_metric(
                    [head.chain_id],
                    Deposit.objects.filter(chain_id=head.chain_id, is_lost=True).count(),
                )
                open_again = OutgoingTransaction.objects.filter(
                    chain_id=head.chain_id, undone_count__gt=0
                ).exclude(status__in=MINED)
                undone.add_metric([head.chain_id], open_again.count())
                unknown = OutgoingTransaction.objects.filter(
                    chain_id=head.chain_id, status__in=IN_FLIGHT, unknown_since__isnull=False
                )
                missing.add_metric([head.chain_id], unknown.count())
        except DatabaseError:
            return
        yield from (height, lag, lost, undone, missing)
