"""The embedded network's own card page: the outcome that was pressed, and on a local chain the
coins that follow a charge."""

from datetime import datetime

import structlog
from django.db import transaction

from apps.core import clock
from apps.core.errors import ProviderError
from apps.core.rows import Job
from apps.onramp.models import FundingSession, SessionChange
from apps.onramp.providers.base import EXPIRED, FAILED, PAID, PENDING, OnrampCoin, ProviderReport
from apps.onramp.providers.sandbox import CardSandbox
from apps.onramp.services import progress
from apps.onramp.services.networks import network_named

log = structlog.get_logger(__name__)
OUTCOMES = (PAID, FAILED, EXPIRED, PENDING)
JOB = Job("onramp.deliver", limit=20, in_transaction=False)


@transaction.atomic
def finish(session: FundingSession, outcome: str) -> None:
    """Reports the outcome that a network would send as a callback. A session that has ended stays
    as it is."""
    at: datetime = clock.now(session.payment.store, session.mode)
    verdict = progress.apply_report(
        session.pk,
        ProviderReport(outcome, order_id=str(session.pk)),
        SessionChange.Source.CARD_PAGE,
        at,
    )
    adapter = _adapter(session)
    if verdict == "applied" and outcome == PAID and adapter is not None and adapter.delivers:
        progress.ask_for_delivery(session)


def _adapter(session: FundingSession) -> CardSandbox | None:
    network = network_named(session.store, session.mode, session.provider)
    return (
        network.adapter
        if network is not None and isinstance(network.adapter, CardSandbox)
        else None
    )


def deliver_due() -> None:
    """Send the coins of charged cards on the local chain, each once: it is taken off the list
    before it is sent."""
    due = FundingSession.objects.filter(is_delivery_due=True).select_related("store", "asset")
    JOB.walk(due.order_by("paid_at"), _deliver)


def _deliver(session: FundingSession) -> None:
    adapter = _adapter(session)
    if adapter is None or not FundingSession.objects.filter(
        pk=session.pk, is_delivery_due=True
    ).update(is_delivery_due=False):
        return
    coin = OnrampCoin(session.asset_id, session.asset.chain_id, session.asset.atomic_decimals)
    try:
        delivery = adapter.deliver(
            coin,
            session.asset.contract_address,
            session.destination_address,
            session.expected_atomic,
        )
    except ProviderError as error:
        log.error("sandbox_not_delivered", session=str(session.pk), error=str(error))
        return
    FundingSession.objects.filter(pk=session.pk).update(delivery_tx_hash=delivery)
