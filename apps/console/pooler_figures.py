"""Clients that wait for a connection of PgBouncer, and their longest wait: from its console, which
answers also when no connection is free.

Measured by the watcher, which reaches PostgreSQL past the pooler.
"""

from collections.abc import Iterator
from contextlib import closing

import psycopg
from django.conf import settings
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from psycopg.rows import DictRow, dict_row

ANSWER_SECONDS = 3
MICROSECONDS = 1_000_000
# The console is a database of this name.
CONSOLE = "pgbouncer"


class PoolerCollector(Collector):
    def describe(self) -> Iterator[Metric]:
        """Nothing: being registered must not ask the pooler."""
        yield from ()

    def collect(self) -> Iterator[Metric]:
        """Without a console there is no value, and of one that doesn't answer only that."""
        is_up = GaugeMetricFamily("tillgate_pooler_up", "Whether the pooler's console answers")
        pools: list[DictRow] = []
        totals: list[DictRow] = []
        if settings.DATABASE_POOLER_CONSOLE_URL:
            try:
                pools, totals = _ask("SHOW POOLS", "SHOW STATS")
            except psycopg.Error:
                is_up.add_metric([], 0)
            else:
                is_up.add_metric([], 1)
        yield is_up
        yield from _of_pools(pools)
        yield from _of_databases(totals)


def _ask(*commands: str) -> list[list[DictRow]]:
    """Rows of each answer, without the console's own."""
    with closing(
        psycopg.connect(
            settings.DATABASE_POOLER_CONSOLE_URL,
            autocommit=True,
            connect_timeout=ANSWER_SECONDS,
            row_factory=dict_row,
        )
    ) as console:
        answers = [console.execute(command.encode()).fetchall() for command in commands]
    return [[row for row in rows if row["database"] != CONSOLE] for rows in answers]


def _of_pools(pools: list[DictRow]) -> Iterator[Metric]:
    labels = ["database", "user"]
    clients = GaugeMetricFamily(
        "tillgate_pooler_clients",
        "Connections to the pooler, by whether they have one of PostgreSQL or wait for one",
        labels=[*labels, "state"],
    )
    servers = GaugeMetricFamily(
        "tillgate_pooler_servers",
        "Connections of the pooler to PostgreSQL",
        labels=[*labels, "state"],
    )
    wait = GaugeMetricFamily(
        "tillgate_pooler_wait_seconds",
        "How long the first of those that wait has waited",
        labels=labels,
    )
    for row in pools:
        pool = [row["database"], row["user"]]
        for state in ("active", "waiting"):
            clients.add_metric([*pool, state], row[f"cl_{state}"])
        servers.add_metric([*pool, "active"], row["sv_active"])
        servers.add_metric([*pool, "idle"], row["sv_idle"] + row["sv_used"])
        wait.add_metric(pool, row["maxwait"] + row["maxwait_us"] / MICROSECONDS)
    yield from (clients, servers, wait)


def _of_databases(totals: list[DictRow]) -> Iterator[Metric]:
    transactions = CounterMetricFamily(
        "tillgate_pooler_transactions", "Transactions that went through", labels=["database"]
    )
    waited = CounterMetricFamily(
        "tillgate_pooler_waited_seconds",
        "How long clients have waited for a connection, together",
        labels=["database"],
    )
    for row in totals:
        transactions.add_metric([row["database"]], row["total_xact_count"])
        waited.add_metric([row["database"]], row["total_wait_time"] / MICROSECONDS)
    yield from (transactions, waited)
