"""The first page of the staff site: decisions that wait and their age, the machine's health, and
the records by group.

Each queue is one statement that stops at a hundred rows, served by an index of what waits: the page
costs the same every day.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.template.defaultfilters import pluralize
from django.urls import reverse

from apps.assets.models import AcceptedAsset, Asset, Chain
from apps.chain.models import (
    Head,
    HotWallet,
    Obstacle,
    OutgoingTransaction,
    SendingHold,
    UnexplainedBalance,
    UnknownTransaction,
    UnmatchedTransfer,
)
from apps.chain.selectors import READ_LATE, SENT_LATE
from apps.chain.sending import cold_storage, holds, outflow
from apps.core import clock, ids, jobs
from apps.core.models import Mode, OutgoingMail, RowFailure
from apps.core.redis import buckets
from apps.core.templatetags.tillgate import coins_short
from apps.ledger.selectors import service_balances
from apps.payments.models import Withdrawal
from apps.payouts.models import Destination, Payout
from apps.platforms.models import AccessRequest
from apps.staff.decisions.forms import WithdrawalForm
from apps.staff.decisions.store_forms import FORMS
from apps.staff.plumbing.paging import TIMES
from apps.stores.models import AuditEntry, AuditSeal, StaffRequest, Verification, WorkerOrder
from apps.webhooks.models import Endpoint

SHOWN_MAX = 99
SEALED_WITHIN = timedelta(minutes=5)
GOOD = "good"
WAIT = "wait"
BAD = "bad"
NEAR_PERCENT = 80  # of a limit: from there on somebody should look


@dataclass(frozen=True)
class Waiting:
    """A queue. `since` is how long its oldest has waited."""

    name: str
    count: int
    since: datetime | None
    url: str
    is_money: bool = False

    @property
    def shown(self) -> str:
        return str(self.count) if self.count <= SHOWN_MAX else f"{SHOWN_MAX}+"


@dataclass(frozen=True)
class HealthFact:
    """Health of one part of the machine: a color, words, and a time: the page writes `5 minutes
    ago` right after the words."""

    name: str
    tone: str
    words: str
    at: datetime | None = None
    url: str = ""


class WaitingRows(NamedTuple):
    """Rows that wait since `column`, and their list: the name of the page and the query."""

    name: str
    rows: "QuerySet[Any]"
    column: str
    page: str
    query: str = ""
    is_money: bool = True


def queues(now: datetime, outflows: Sequence[outflow.Outflow] = ()) -> list[Waiting]:
    """Decisions that wait for a person, the most costly first; empty ones too."""
    rows = (*_money_queues(now), *_coin_queues(), *_other_queues(now))
    return [*_near_limits(outflows), *map(_measured, rows)]


def _money_queues(now: datetime) -> Iterator[WaitingRows]:
    payouts = Payout.objects.filter(status="requires_review").filter(
        Q(approval=None) | ~Q(approval__status="waiting")
    )
    page = ("created_at", "payouts_payout", "?status__exact=requires_review&days=all")
    yield WaitingRows("Payouts in review", payouts, *page)
    requests = StaffRequest.objects.filter(state=StaffRequest.State.PENDING, expires_at__gt=now)
    page = ("asked_at", "stores_staffrequest", "?state__exact=pending")
    yield WaitingRows("Requests that need a second approval", requests, *page)
    orders = WorkerOrder.objects.filter(ended_at=None, stopped_at=None)
    page = ("asked_at", "stores_workerorder", "?ended_at__isempty=1&stopped_at__isempty=1")
    yield WaitingRows("Corrections and returns that a worker books", orders, *page)
    withdrawals = Withdrawal.objects.filter(status=Withdrawal.Status.REQUESTED)
    page = ("requested_at", "payments_withdrawal", "?status__exact=requested")
    yield WaitingRows("Withdrawals to approve", withdrawals, *page)
    outgoing = OutgoingTransaction.objects.filter(status=OutgoingTransaction.Status.REVIEW)
    is_back = Q(purpose__in=["refund", "swap", "approval"])
    page = ("requested_at", "chain_outgoingtransaction", "?status__exact=review&days=all")
    yield WaitingRows("Refunds and swaps in review", outgoing.filter(is_back), *page)
    yield WaitingRows("Other transactions in review", outgoing.exclude(is_back), *page)
    wallets = HotWallet.objects.exclude(halted_at=None)
    yield WaitingRows("Stopped wallets", wallets, "halted_at", "chain_hotwallet")
    obstacles = Obstacle.objects.filter(ended_at=None).exclude(kind=Obstacle.Kind.GAS)
    page = ("found_at", "chain_obstacle", "?ended_at__isempty=1")
    yield WaitingRows("Tokens that don’t move", obstacles, *page, is_money=False)
    unknown = UnknownTransaction.objects.filter(settled_at=None)
    page = ("found_at", "chain_unknowntransaction", "?settled_at__isempty=1")
    yield WaitingRows("Unexplained transactions", unknown, *page)


def _coin_queues() -> Iterator[WaitingRows]:
    unmatched = UnmatchedTransfer.objects.filter(resolved_at=None)
    page = ("detected_at", "chain_unmatchedtransfer", "?resolved_at__isempty=1")
    yield WaitingRows("Unmatched transfers", unmatched, *page)
    unexplained = UnexplainedBalance.objects.filter(settled_at=None)
    page = ("found_at", "chain_unexplainedbalance", "?settled_at__isempty=1")
    yield WaitingRows("Unexplained balances", unexplained, *page)
    stopped = AcceptedAsset.objects.exclude(suspended_at=None).filter(reviewed_at=None)
    query = "?suspended_at__isempty=0&reviewed_at__isempty=1"
    page = ("suspended_at", "assets_acceptedasset", query)
    yield WaitingRows("Assets stopped for review", stopped, *page)


def _other_queues(now: datetime) -> Iterator[WaitingRows]:
    businesses = Verification.objects.filter(status="pending")
    page = ("submitted_at", "stores_verification", "?status__exact=pending")
    yield WaitingRows("Businesses to verify", businesses, *page, is_money=False)
    unverified = Q(verified_at=None, rejected_at=None, removed_at=None)
    banks = Destination.objects.filter(unverified, kind="bank")
    page = ("created_at", "payouts_destination", "?kind__exact=bank&review=pending")
    yield WaitingRows("Bank accounts to verify", banks, *page, is_money=False)
    access = AccessRequest.objects.filter(status="pending")
    page = ("created_at", "platforms_accessrequest", "?status__exact=pending")
    yield WaitingRows("Platform access requests", access, *page, is_money=False)
    jobs_dead = RowFailure.objects.filter(set_aside_reason="").exclude(dead_at=None)
    page = ("dead_at", "core_rowfailure", "?dead_at__isempty=0")
    yield WaitingRows("Jobs that gave up", jobs_dead, *page, is_money=False)
    endpoints = Endpoint.objects.filter(status="error", deleted_at=None)
    page = ("updated_at", "webhooks_endpoint", "?status__exact=error")
    yield WaitingRows("Failing webhook endpoints", endpoints, *page, is_money=False)
    emails = OutgoingMail.objects.filter(
        status=OutgoingMail.Status.FAILED, created_at__gt=now - timedelta(days=7)
    )
    page = ("created_at", "core_outgoingmail", "?status__exact=failed")
    yield WaitingRows("Failed email", emails, *page, is_money=False)


def _near_limits(outflows: Sequence[outflow.Outflow]) -> Iterator[Waiting]:
    """Coins of which so much was signed in a day that somebody should raise or look into the
    limit; from above it the alarm is on."""
    page = _list("chain_outgoingtransaction", "?days=1")
    for outgoing in outflows:
        if outgoing.alarm_atomic and _is_near(outgoing):
            share = outgoing.day_atomic * 100 // outgoing.alarm_atomic
            name = f"Signing limit of {_name(outgoing.asset)} used to {share}%"
            yield Waiting(name, 1, None, page, True)


def _is_near(outgoing: outflow.Outflow) -> bool:
    alarm = outgoing.alarm_atomic
    return alarm is not None and outgoing.day_atomic * 100 >= alarm * NEAR_PERCENT


def _list(name: str, query: str = "") -> str:
    return reverse(f"admin:{name}_changelist") + query


def _measured(queue: WaitingRows) -> Waiting:
    """No more than a hundred are looked at, the oldest first."""
    column = queue.column
    oldest = list(queue.rows.order_by(column).values_list("pk", column)[: SHOWN_MAX + 1])
    since = min((_began(pk, own, column) for pk, own in oldest), default=None)
    url = _list(queue.page, queue.query)
    return Waiting(queue.name, len(oldest), since, url, queue.is_money)


def _began(pk: Any, own: datetime, column: str) -> datetime:
    """By the machine's clock, which tells how long it has waited: an ID has it, and a test clock
    may have moved the time of a row."""
    at = ids.time_of(pk) if column in TIMES and isinstance(pk, UUID) else None
    return own if at is None else at


def health(
    now: datetime, outflows: Sequence[outflow.Outflow], open_holds: Sequence[SendingHold]
) -> list[HealthFact]:
    """Chains, what signs and sends, what is queued, and the books."""
    return [
        *_chains(now),
        *_sending(now, open_holds),
        *_signed(outflows),
        _queued(),
        _seal(now),
        *_floats(),
    ]


def _chains(now: datetime) -> Iterator[HealthFact]:
    heads = {head.chain_id: head for head in Head.objects.all()}
    for chain in Chain.objects.filter(
        pk__in=[name for name, urls in settings.CHAIN_URLS.items() if urls]
    ).order_by("mode", "name"):
        head = heads.get(chain.pk)
        if head is None:
            yield HealthFact(f"{chain.name} watcher", WAIT, "No blocks read yet")
            continue
        is_late = head.synced_at < now - READ_LATE
        yield HealthFact(
            f"{chain.name} watcher",
            BAD if is_late else GOOD,
            f"Block {head.number:,},",
            head.synced_at,
        )


def _sending(now: datetime, open_holds: Sequence[SendingHold]) -> Iterator[HealthFact]:
    """The signer is known by its work: what waits for it and for nothing else is old when it is
    down."""
    waiting = OutgoingTransaction.objects.filter(
        status=OutgoingTransaction.Status.REQUESTED, waits_for=""
    )
    since = waiting.order_by("requested_at").values_list("requested_at", flat=True).first()
    if since is None:
        yield HealthFact("Signer", GOOD, "No transactions to sign")
    else:
        yield HealthFact(
            "Signer",
            BAD if since < now - SENT_LATE else GOOD,
            "Oldest unsigned transaction requested",
            since,
        )
    page = reverse("admin:sending")
    words = (
        "On hold: " + ", ".join(holds.name_of(hold) for hold in open_holds[:3]) + ","
        if open_holds
        else "Not on hold"
    )
    yield HealthFact(
        "Sending",
        BAD if open_holds else GOOD,
        words,
        open_holds[0].placed_at if open_holds else None,
        page,
    )


def _signed(outflows: Sequence[outflow.Outflow]) -> Iterator[HealthFact]:
    """Outflow of a day, beside the alarm's threshold."""
    page = reverse("admin:chain_outgoingtransaction_changelist") + "?days=1"
    for outgoing in outflows:
        if outgoing.alarm_atomic is None:
            continue
        spent = _coins(outgoing.day_atomic, outgoing.asset)
        alarm = _coins(outgoing.alarm_atomic, outgoing.asset)
        is_above = outgoing.day_atomic > outgoing.alarm_atomic
        is_near = _is_near(outgoing)
        tone = BAD if is_above else WAIT if is_near else GOOD
        yield HealthFact(
            f"Signing limit, {_name(outgoing.asset)}",
            tone,
            f"{spent} of {alarm} {outgoing.asset.coin_symbol} signed in 24 hours",
            url=page,
        )


def _queued() -> HealthFact:
    """Beat and workers: what piles up in Redis isn't taken."""
    try:
        waiting = sum(int(buckets.client().llen(queue)) for queue in jobs.QUEUES)
    except buckets.unreachable():
        return HealthFact("Workers", BAD, "Redis can’t be reached")
    tone = GOOD if waiting < 1_000 else WAIT
    return HealthFact(
        "Workers", tone, f"{waiting:,} job{pluralize(waiting)} queued", url=reverse("admin:jobs")
    )


def _seal(now: datetime) -> HealthFact:
    """The audit log is sealed by a periodic job: a seal that grows old says that beat doesn't
    run."""
    sealed = AuditSeal.objects.order_by("-number").values_list("sealed_at", flat=True).first()
    # What is written now is sealed within two runs.
    written = (
        AuditEntry.objects.filter(at__lt=now - SEALED_WITHIN)
        .order_by("-id")
        .values_list("at", flat=True)
        .first()
    )
    if sealed is None and written is None:
        return HealthFact("Scheduler", GOOD, "Nothing in the audit log to seal yet", None)
    if sealed is None:
        return HealthFact("Scheduler", BAD, "Audit log never sealed; latest entry", written)
    return HealthFact(
        "Scheduler",
        BAD if written is not None and sealed < written else GOOD,
        "Audit log last sealed",
        sealed,
    )


def _floats() -> Iterator[HealthFact]:
    """Balances of the hot wallets by the books, beside the float that stays in them."""
    floats = {
        asset: -amount
        for mode, asset, kind, amount in service_balances()
        if kind == "custody_hot" and mode == Mode.LIVE
    }
    assets = Asset.objects.filter(pk__in=floats).select_related("chain").order_by("position", "pk")
    for asset in assets:
        amount = floats[asset.pk]
        floor = _floor(asset)
        words = f"{_coins(amount, asset)} {asset.coin_symbol}"
        if floor:
            words += f" of {_coins(floor, asset)} to keep"
        yield HealthFact(
            f"Hot wallet, {_name(asset)}",
            BAD if amount < 0 else WAIT if amount < floor else GOOD,
            words,
        )


def _coins(amount_atomic: int, asset: Asset) -> str:
    """In six significant digits: a page that is looked over is no ledger."""
    return coins_short(amount_atomic, asset.atomic_decimals)


def _name(asset: Asset) -> str:
    return asset.full_name


def _floor(asset: Asset) -> int:
    """Float that cold storage leaves in the hot wallet; none without that setting."""
    return cold_storage.float_of(asset).kept_atomic if asset.pk in cold_storage.assets() else 0


def _actions() -> list[tuple[str, str]]:
    """Titles of the forms that staff can ask with."""
    withdrawal = (WithdrawalForm.title, reverse("admin:payments_withdrawal_ask"))
    requests = [
        (form.title, reverse("admin:stores_staffrequest_ask", args=[kind]))
        for kind, form in FORMS.items()
    ]
    return [*requests[:1], withdrawal, *requests[1:]]


def context() -> dict[str, object]:
    now = clock.real_now()
    outflows = outflow.by_asset(Mode.LIVE, now)
    all_queues = queues(now, outflows)
    open_holds = holds.open_holds()
    return {
        "queues": [queue for queue in all_queues if queue.count],
        "empty_queues": [queue for queue in all_queues if not queue.count],
        "facts": health(now, outflows, open_holds),
        "is_on_hold": bool(open_holds),
        "actions": _actions(),
        "now": now,
    }
