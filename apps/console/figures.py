"""An operator's figures for Prometheus: queues and their age, decisions that wait for a person, and
balances of the hot wallets.

Asked of the database at each scrape of web, live mode only: test mode has clocks of its own and
nobody to wake.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.db.models import Case, Count, F, Min, Q, QuerySet, Sum, When
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from apps.access.pruning import REQUEST_LOG
from apps.assets.models import Asset
from apps.audit import points
from apps.chain.models import HotWallet, Obstacle, OutgoingTransaction, UnmatchedTransfer
from apps.chain.reasons import UNSIGNABLE
from apps.chain.sending import outflow
from apps.chain.states import IN_FLIGHT
from apps.core import clock, jobs
from apps.core.db import number_ranges, partitions
from apps.core.models import Mode, OutgoingMail
from apps.core.redis import buckets
from apps.core.rows import failing
from apps.ledger.models import Account
from apps.ledger.selectors import account_balance
from apps.payments.models import Payment, ReconciliationTask, Refund, Withdrawal
from apps.payouts.models import Payout
from apps.platforms.models import AccessRequest
from apps.reports.models import Report
from apps.stores.models import StaffRequest, Verification
from apps.swaps.models import Swap
from apps.webhooks.models import Endpoint
from apps.webhooks.pruning import MONTHS
from apps.webhooks.selectors import ours_to_deliver

log = structlog.get_logger(__name__)
LIVE = Mode.LIVE.value


class Figures(Collector):
    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Nothing: being registered must not ask the database."""
        yield from ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        now = clock.real_now()
        outages: tuple[type[Exception], ...] = (DatabaseError, *buckets.unreachable())
        for family in (
            _waiting,
            _for_a_person,
            _trouble,
            _row_failures,
            _hot_wallets,
            _obstacles,
            _outgoing,
            _audits,
            _jobs,
            _days,
        ):
            try:
                yield from family(now)
            except outages as error:
                log.warning(
                    "figures_unavailable", figures=family.__name__, error=type(error).__name__
                )


def _queues(now: datetime) -> dict[str, tuple[QuerySet[Any], str]]:
    """Work that is overdue for a worker, by the name of the queue: rows, and the column with their
    start of waiting."""
    out = OutgoingTransaction.Status
    return {
        "webhook_deliveries": (ours_to_deliver(LIVE, now), "next_attempt_at"),
        "mail": (
            OutgoingMail.objects.filter(
                status=OutgoingMail.Status.QUEUED, next_attempt_at__lte=now
            ),
            "next_attempt_at",
        ),
        "payouts": (
            Payout.objects.filter(mode=LIVE, status__in=["pending", "retrying"]),
            "created_at",
        ),
        "refunds": (Refund.objects.filter(payment__mode=LIVE, status="pending"), "created_at"),
        "swaps": (
            Swap.objects.filter(mode=LIVE, status__in=["pending", "submitted"]),
            "created_at",
        ),
        "reports": (Report.objects.filter(mode=LIVE, status="pending"), "created_at"),
        "outgoing_transactions": (
            OutgoingTransaction.objects.filter(
                mode=LIVE, status__in=[out.REQUESTED, out.SIGNED, out.SUBMITTED]
            ),
            "requested_at",
        ),
        "open_payments_past_their_time": (
            # Of the open ones by their deadlines, not of those that are pending: PostgreSQL
            # doesn't know how few of them are over.
            Payment.objects.alias(
                waits=Case(
                    When(mode=LIVE, status="pending", held_open_until=None, then=True),
                    default=False,
                )
            ).filter(
                waits=True,
                status__in=["pending", "processing"],
                expires_at__lte=now - timedelta(minutes=1),
            ),
            "expires_at",
        ),
    }


def _waiting(now: datetime) -> Iterator[GaugeMetricFamily]:
    count = GaugeMetricFamily(
        "tillgate_waiting", "Items that are due and not done yet", labels=["queue"]
    )
    oldest = GaugeMetricFamily(
        "tillgate_waiting_oldest_seconds",
        "Age of the oldest item in the queue, 0 if it is empty",
        labels=["queue"],
    )
    for name, (rows, column) in _queues(now).items():
        totals = rows.aggregate(count=Count("pk"), since=Min(column))
        count.add_metric([name], totals["count"])
        oldest.add_metric([name], (now - totals["since"]).total_seconds() if totals["since"] else 0)
    yield from (count, oldest)


def _for_a_person(now: datetime) -> Iterator[GaugeMetricFamily]:
    gauge = GaugeMetricFamily("tillgate_review", "Items in review", labels=["what"])
    for name, rows in {
        "verification": Verification.objects.filter(status="pending"),
        "platform_access": AccessRequest.objects.filter(status="pending"),
        "payout": Payout.objects.filter(mode=LIVE, status="requires_review").exclude(
            approval__status="waiting"
        ),
        "staff_request": StaffRequest.objects.filter(
            state=StaffRequest.State.PENDING, expires_at__gt=now
        ),
        "withdrawal": Withdrawal.objects.filter(mode=LIVE, status=Withdrawal.Status.REQUESTED),
        "outgoing_transaction": OutgoingTransaction.objects.filter(
            mode=LIVE, status=OutgoingTransaction.Status.REVIEW
        ),
        "disputed_payment": Payment.objects.filter(
            mode=LIVE, pk__in=ReconciliationTask.objects.filter(is_disputed=True).values("pk")
        ),
    }.items():
        gauge.add_metric([name], rows.count())
    yield gauge


def _trouble(now: datetime) -> Iterator[GaugeMetricFamily]:
    gauge = GaugeMetricFamily("tillgate_trouble", "Problems that need an operator", labels=["what"])
    for name, rows in {
        "endpoint_in_error": Endpoint.objects.filter(mode=LIVE, status="error", deleted_at=None),
        "mail_given_up": OutgoingMail.objects.filter(
            status=OutgoingMail.Status.FAILED, created_at__gt=now - timedelta(days=1)
        ),
        "mail_dropped": OutgoingMail.objects.filter(
            status=OutgoingMail.Status.DROPPED, created_at__gt=now - timedelta(days=1)
        ),
        "unmatched_transfer": UnmatchedTransfer.objects.filter(
            detected_at__gt=now - timedelta(days=1)
        ),
        "unapproved_transaction": OutgoingTransaction.objects.filter(
            status=OutgoingTransaction.Status.REVIEW, reason_code__in=UNSIGNABLE
        ),
        "hot_wallet_halted": HotWallet.objects.filter(~Q(halted_at=None)),
    }.items():
        gauge.add_metric([name], rows.count())
    yield gauge


def _row_failures(now: datetime) -> Iterator[GaugeMetricFamily]:
    """Of both modes: what a row of test mode shows will happen to one of live mode."""
    paused = GaugeMetricFamily(
        "tillgate_rows_paused", "Rows that failed in a job and will be retried", labels=["name"]
    )
    dead = GaugeMetricFamily(
        "tillgate_rows_dead",
        "Rows that a job gave up on; staff can retry them",
        labels=["name"],
    )
    for job, is_dead, count in failing():
        (dead if is_dead else paused).add_metric([job], count)
    yield from (paused, dead)


def _days(now: datetime) -> Iterator[GaugeMetricFamily]:
    yield GaugeMetricFamily(
        "tillgate_request_log_days_ahead",
        "Days from now for which the request log has partitions",
        value=(partitions.covered_until(REQUEST_LOG, now) - now) / partitions.DAY,
    )
    yield GaugeMetricFamily(
        "tillgate_webhook_days_ahead",
        "Days from now for which events and deliveries have partitions",
        value=(partitions.covered_until(MONTHS, now) - now) / partitions.DAY,
    )
    rows = GaugeMetricFamily(
        "tillgate_history_rows_ahead",
        "Lines for which a history has partitions, after its newest",
        labels=["table"],
    )
    for table, count in number_ranges.rows_ahead().items():
        rows.add_metric([table], count)
    yield rows


def _hot_wallets(now: datetime) -> Iterator[GaugeMetricFamily]:
    """As the books have it: `verify_ledger --chain` compares that with the chains."""
    balances = GaugeMetricFamily(
        "tillgate_hot_wallet_booked",
        "Ledger balance of a hot wallet, in whole coins",
        labels=["mode", "asset"],
    )
    accounts = Account.objects.filter(store=None, kind="custody_hot").annotate(
        decimals=F("asset__atomic_decimals")
    )
    for mode, asset_id, decimals in accounts.values_list("mode", "asset_id", "decimals"):
        balances.add_metric(
            [mode, asset_id], -account_balance(None, mode, asset_id, "custody_hot") / 10**decimals
        )
    in_flight = GaugeMetricFamily(
        "tillgate_hot_wallet_in_flight",
        "Transactions of a hot wallet that are signed and not confirmed yet",
        labels=["wallet"],
    )
    short = GaugeMetricFamily(
        "tillgate_hot_wallet_short",
        "1 while a hot wallet lacks coins for what waits, or gas",
        labels=["wallet"],
    )
    rows = OutgoingTransaction.objects.filter(status__in=IN_FLIGHT).values_list(
        "chain", "from_address"
    )
    counts = {(chain, address): count for chain, address, count in rows.annotate(Count("pk"))}
    for wallet in HotWallet.objects.order_by("chain", "number"):
        in_flight.add_metric([wallet.pk], counts.get((wallet.chain_id, wallet.address), 0))
        short.add_metric([wallet.pk], int(bool(wallet.short_since or wallet.without_gas_since)))
    floors = GaugeMetricFamily(
        "tillgate_gas_floor",
        "SIGNER_GAS_FLOORS: below it a hot wallet should be given coins for gas",
        labels=["asset"],
    )
    for line in settings.SIGNER_GAS_FLOORS:
        asset_id, _, coins = line.partition("=")
        floors.add_metric([asset_id], float(coins))
    yield from (balances, in_flight, short, floors)


def _obstacles(now: datetime) -> Iterator[GaugeMetricFamily]:
    count = GaugeMetricFamily(
        "tillgate_coins_stopped",
        "What keeps coins from moving: a token, a wallet or deposit addresses that it refuses, gas",
        labels=["asset", "kind"],
    )
    amount = GaugeMetricFamily(
        "tillgate_sweeps_waiting",
        "Coins on deposit addresses whose sweeps wait, in whole coins",
        labels=["asset", "kind"],
    )
    rows = Obstacle.objects.filter(ended_at=None, asset__chain__mode=LIVE)
    by_asset = {
        (asset_id, kind): (rows_of_it, atomic)
        for asset_id, kind, rows_of_it, atomic in rows.values_list("asset", "kind").annotate(
            Count("pk"), Sum("amount_atomic")
        )
    }
    for asset in Asset.objects.filter(chain__mode=LIVE):
        for kind in Obstacle.Kind.values:
            rows_of_it, atomic = by_asset.get((asset.pk, kind), (0, 0))
            count.add_metric([asset.pk, kind], rows_of_it)
            amount.add_metric([asset.pk, kind], float(atomic) / 10**asset.atomic_decimals)
    yield from (count, amount)


def _outgoing(now: datetime) -> Iterator[GaugeMetricFamily]:
    """Promised amounts, and amounts still to be swept; the outflow of a day beside the alarm's
    threshold."""
    promised = GaugeMetricFamily(
        "tillgate_outgoing_promised",
        "Coins requested but not sent yet, in whole coins",
        labels=["asset"],
    )
    fetched = GaugeMetricFamily(
        "tillgate_deposits_booked",
        "Ledger balance of deposit addresses, in whole coins",
        labels=["asset"],
    )
    signed = GaugeMetricFamily(
        "tillgate_outgoing_day",
        "Coins signed in the last 24 hours, in whole coins",
        labels=["asset"],
    )
    alarm = GaugeMetricFamily(
        "tillgate_outgoing_alarm", "Alarm threshold for coins signed in 24 hours", labels=["asset"]
    )
    for outgoing in outflow.by_asset(LIVE, now):
        scale = 10**outgoing.asset.atomic_decimals
        promised.add_metric([outgoing.asset.pk], outgoing.promised_atomic / scale)
        signed.add_metric([outgoing.asset.pk], outgoing.day_atomic / scale)
        fetched.add_metric(
            [outgoing.asset.pk],
            -account_balance(None, LIVE, outgoing.asset.pk, "custody_deposits") / scale,
        )
        if outgoing.alarm_atomic is not None:
            alarm.add_metric([outgoing.asset.pk], outgoing.alarm_atomic / scale)
    yield from (promised, fetched, signed, alarm)


def _audits(now: datetime) -> Iterator[GaugeMetricFamily]:
    age = GaugeMetricFamily(
        "tillgate_verified_age_seconds",
        "Time since verify_ledger last found nothing: in any run, and in one of everything",
        labels=["extent"],
    )
    for extent, at in points.newest_times().items():
        age.add_metric([extent], (now - at).total_seconds())
    yield age


def _jobs(now: datetime) -> Iterator[GaugeMetricFamily]:
    queued = GaugeMetricFamily(
        "tillgate_jobs_queued", "Jobs in Redis that no worker has picked up yet", labels=["queue"]
    )
    for queue in jobs.QUEUES:
        queued.add_metric([queue], float(buckets.client().llen(queue)))
    yield queued
