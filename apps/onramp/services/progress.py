"""Progress of card payments: callbacks, polls, the card page and the clock are weighed, and move a
session once.

A card that was charged is not a paid intent: the intent waits for the coins, and only the chain
settles it.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from apps.core import clock, jobs
from apps.core.errors import ProviderError
from apps.core.machine import Change
from apps.core.rows import Job
from apps.onramp.models import FundingSession, SessionChange
from apps.onramp.providers.base import EXPIRED, PAID, PENDING, ProviderReport
from apps.onramp.services.networks import network_named
from apps.onramp.states import MACHINE, Reported
from apps.payments.models import Payment
from apps.payments.services import hold
from apps.payments.services.settle import settle_payment

log = structlog.get_logger(__name__)
HOLD_MAX = timedelta(hours=24)
POLL_LEAST = timedelta(seconds=20)
POLL_MOST = timedelta(minutes=10)
# A network that can't be asked whether it charged the card is given so long after the session's
# end.
PATIENCE = timedelta(hours=24)
# A session that was never opened (its process died) is forgotten after so long.
FORGOTTEN_AFTER = timedelta(hours=1)
JOB = Job("onramp.follow", in_transaction=False)
_Source = SessionChange.Source
_Status = FundingSession.Status


def held_until(payment: Payment, session: FundingSession) -> datetime:
    """Until when a session under way holds its intent open. In test mode no coins follow a paid
    card, so only the session counts."""
    latest = payment.expires_at + HOLD_MAX
    return latest if session.mode == "live" else min(session.expires_at, latest)


def apply_report(session_id: uuid.UUID, report: ProviderReport, source: str, at: datetime) -> str:
    """Move a session where a report says it is: `applied`, `no_change` or `refused` when the report
    is about something else."""
    with transaction.atomic():
        session = (
            FundingSession.objects.select_for_update(of=("self",))
            .select_related("payment__store")
            .get(pk=session_id)
        )
        wrong = _mismatch(session, report)
        if wrong:
            log.error("funding_report_refused", session=str(session.pk), source=source, wrong=wrong)
            return "refused"
        _note_txid(session, report)
        if session.status != _Status.PENDING or report.status == PENDING:
            return "no_change"
        _move(session, report.status, source, at)
        return "applied"


def _mismatch(session: FundingSession, report: ProviderReport) -> str:
    """Part of a report that contradicts this session. A network that says nothing about a thing is
    not held to it."""
    if report.order_id and report.order_id != str(session.pk):
        return "order"
    if report.txid and session.provider_txid and report.txid != session.provider_txid:
        return "txid"
    if report.currency is not None and report.currency != session.currency:
        return "currency"
    if report.amount_cents is not None and report.amount_cents != session.amount_cents:
        return "amount"
    return (
        "address"
        if report.address is not None and report.address != session.destination_address
        else ""
    )


def _note_txid(session: FundingSession, report: ProviderReport) -> None:
    if report.txid and session.provider_txid is None:
        used = FundingSession.objects.filter(
            mode=session.mode, provider=session.provider, provider_txid=report.txid
        )
        if not used.exists():
            FundingSession.objects.filter(pk=session.pk).update(provider_txid=report.txid)


def _move(session: FundingSession, status: str, source: str, at: datetime) -> None:
    payment = session.payment
    paid = {"paid_at": at} if status == PAID else {}
    if not MACHINE.change_status(session, Reported(status, source), at=at, updated_at=at, **paid):
        return
    if status != PAID:
        hold.hold_open(payment.pk, None)
        return
    until = payment.expires_at + HOLD_MAX if session.mode == "live" else None
    hold.hold_open(payment.pk, until, shortfall_bps=session.shortfall_bps)
    settle_payment(payment.pk)  # the coins may have come before the word


@MACHINE.recorder
def _record(changes: Sequence[Change[FundingSession, Reported]]) -> None:
    for change in changes:
        SessionChange.objects.create(
            session=change.row,
            from_status=change.before,
            to_status=change.step.status,
            source=change.step.source,
            created_at=change.at,
        )


def expire(session_id: uuid.UUID, at: datetime) -> None:
    """Its time is up: asked a last time, then over. One whose network can't be asked waits for an
    answer a while longer."""
    session = (
        FundingSession.objects.select_related("store")
        .filter(pk=session_id, status=_Status.PENDING)
        .first()
    )
    if session is None or session.expires_at > at:
        return
    try:
        poll(session, at)
    except ProviderError:
        if session.expires_at + PATIENCE > at:
            return
    apply_report(session_id, ProviderReport(EXPIRED), _Source.CLOCK, at)


def poll(session: FundingSession, at: datetime) -> None:
    """Ask the network; raises ProviderError. Not inside a transaction."""
    network = network_named(session.store, session.mode, session.provider)
    if network is None or network.adapter is None:
        return
    report = network.adapter.status(session.pk, session.provider_txid)
    if report is not None:
        apply_report(session.pk, report, _Source.POLL, at)


def follow() -> None:
    """The sweep: poll what is under way, end what is over, forget what was never opened."""
    real = clock.real_now()
    forgotten = FundingSession.objects.filter(
        status=_Status.PENDING, url="", next_poll_at__lt=real - FORGOTTEN_AFTER
    )
    forgotten.filter(changes=None).delete()
    due = FundingSession.objects.filter(status=_Status.PENDING, next_poll_at__lte=real).exclude(
        url=""
    )
    JOB.walk(due.select_related("store").order_by("next_poll_at"), _follow)


def _follow(session: FundingSession) -> None:
    at = clock.now(session.store, session.mode)
    wait = min(max((at - session.created_at) / 4, POLL_LEAST), POLL_MOST)
    FundingSession.objects.filter(pk=session.pk).update(next_poll_at=clock.real_now() + wait)
    if session.expires_at <= at:
        expire(session.pk, at)
        return
    try:
        poll(session, at)
    except ProviderError as error:
        log.warning("funding_not_polled", session=str(session.pk), error=str(error))


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """End of the store's next test session."""
    rows = FundingSession.objects.filter(
        store_id=store_id, mode="test", status=_Status.PENDING
    ).exclude(url="")
    if after is not None:
        rows = rows.filter(expires_at__gt=after)
    return rows.order_by("expires_at").values_list("expires_at", flat=True).first()


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    rows = FundingSession.objects.filter(
        store_id=store_id, mode="test", status=_Status.PENDING, expires_at__lte=now
    ).exclude(url="")
    for session_id in list(rows.values_list("pk", flat=True)):
        expire(session_id, now)


def ask_for_delivery(session: FundingSession) -> None:
    """Have the embedded network send its coins, where it has a chain of its own to do so."""
    FundingSession.objects.filter(pk=session.pk).update(is_delivery_due=True)
    jobs.enqueue("onramp.deliver")
