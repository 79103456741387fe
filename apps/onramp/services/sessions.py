"""Opening a card payment: one per intent at a time, opened at its network once, no matter who asks
how often.

The row is written before the network is asked and names the payment there; only a session that has
an address is anybody's.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from apps.core import clock
from apps.core.db import locks
from apps.core.errors import Failure, RefusalKind
from apps.onramp.models import FundingSession, SessionChange
from apps.onramp.providers.base import (
    CustomerPlace,
    NotOffered,
    OnrampCoin,
    OnrampOffer,
    OnrampOrder,
    OnrampProvider,
    Opened,
    ProviderError,
)
from apps.onramp.requests import CardRequest
from apps.onramp.services import progress
from apps.onramp.services.availability import UsableNetwork, availability, is_payable
from apps.onramp.services.networks import CardNetwork
from apps.onramp.services.pricing import (
    NotForThisAmount,
    PricedMethod,
    networks_to_ask,
    price_methods,
)
from apps.payments.documents.parts import hosted_url
from apps.payments.models import Payment
from apps.payments.services import hold
from apps.payments.services.change_status import locked_payment

# Held open at most so long past the intent's deadline.
HOLD_MAX = timedelta(hours=24)
FIRST_POLL = timedelta(seconds=20)


class AlreadyFunded(Failure):
    kind = RefusalKind.CONFLICT
    message = "Payment has already been funded by card"


class UnknownMethod(Failure):
    message = "Unknown payment method"


class NotOpened(Failure):
    kind = RefusalKind.UPSTREAM
    message = "Payment provider error"


def open_session(
    payment: Payment, card_request: CardRequest, find_place: Callable[[], CustomerPlace]
) -> FundingSession:
    """The session under way, else a new one. Not inside a transaction.

    Raises AlreadyFunded, NotOpened, UnknownMethod, or what `find_place` and price_methods raise.
    """
    # Who asks for the same intent at the same time waits, and then finds the session.
    with locks.hold(locks.LockKind.CARD_SESSION, payment.pk):
        at = clock.now(payment.store, payment.mode)
        pending = pending_session(payment, at)
        if pending is not None and pending.url:
            return pending
        usable = networks_to_ask(payment, card_request.provider or "")
        place = find_place()
        method, offer = _choose(payment, card_request, place)
        chosen = next(provider for provider in usable if provider.network.name == method.network)
        row = _reserve(payment, pending, chosen, method, offer, place, at)
        opened = _open(row, chosen.network, card_request.customer_email, payment)
        return _begin(payment, row, opened, at)


def card_networks(payment: Payment) -> list[str]:
    """The networks a customer may pay through now; none once a card has paid."""
    if not is_payable(payment) or hold.is_past_deadline(payment):
        return []
    if (
        payment.is_card_funded
        and FundingSession.objects.filter(
            payment=payment, status=FundingSession.Status.PAID
        ).exists()
    ):
        return []
    return [provider.network.name for provider in availability(payment).usable]


def pending_session(payment: Payment, at: datetime) -> FundingSession | None:
    """The session under way; one whose time is up is asked about and ended first. Raises
    AlreadyFunded when a card has paid."""
    session = _latest_of(payment)
    if session is not None and session.url and session.expires_at <= at:
        progress.expire(
            session.pk, at
        )  # which it survives while its network can't say what became of it
        payment.refresh_from_db(fields=["status", "state_reason", "held_open_until"])
        session = _latest_of(payment)
    return session


def _latest_of(payment: Payment) -> FundingSession | None:
    rows = FundingSession.objects.filter(payment=payment).select_related("asset__chain")
    if rows.filter(status=FundingSession.Status.PAID).exists():
        raise AlreadyFunded
    return rows.filter(status=FundingSession.Status.PENDING).first()


def _choose(
    payment: Payment, card_request: CardRequest, place: CustomerPlace
) -> tuple[PricedMethod, OnrampOffer]:
    if not card_request.payment_method_id:
        raise UnknownMethod
    priced = price_methods(payment, place, card_request.provider or "")
    method = next(
        (method for method in priced.methods if method.id == card_request.payment_method_id), None
    )
    if method is None:
        raise (
            NotForThisAmount
            if card_request.payment_method_id in priced.known_ids
            else UnknownMethod
        )
    chosen = next(
        (offer for offer in method.offers if offer.service_id == card_request.provider_service_id),
        method.best,
    )
    return method, chosen


def _reserve(
    payment: Payment,
    pending: FundingSession | None,
    provider: UsableNetwork,
    method: PricedMethod,
    offer: OnrampOffer,
    place: CustomerPlace,
    at: datetime,
) -> FundingSession:
    """The row, pending and without an address yet. One that an earlier call left so is filled
    anew."""
    adapter = provider.network.ready
    entry = provider.entry
    fields = {
        "provider": provider.network.name,
        "method_id": method.method.id,
        "method_name": method.method.name[:100],
        "service_id": offer.service_id,
        "provider_name": offer.service_name[:100],
        "amount_cents": offer.charge_cents,
        "currency": payment.settlement_currency,
        "asset": entry.asset,
        "destination_address": entry.address_id,
        "expected_atomic": offer.crypto_atomic,
        "shortfall_bps": 0 if payment.customer_pays_fee else settings.CARD_RATE_BPS,
        "country": place.country,
        "region": place.region,
        "created_at": at,
        "updated_at": at,
        "expires_at": min(
            at + timedelta(seconds=adapter.session_seconds), payment.expires_at + HOLD_MAX
        ),
        "next_poll_at": clock.real_now() + FIRST_POLL,
    }
    if pending is not None:
        FundingSession.objects.filter(pk=pending.pk, url="").update(**fields)
        pending.refresh_from_db()
        return pending
    session: FundingSession = FundingSession.objects.create(
        payment=payment, store_id=payment.store_id, mode=payment.mode, **fields
    )
    return session


def _open(row: FundingSession, network: CardNetwork, email: str | None, payment: Payment) -> Opened:
    """Ask the network. A session that nobody was sent to is taken back: no card can have paid
    it."""
    adapter: OnrampProvider = network.ready
    back = hosted_url(payment)
    order = OnrampOrder(
        id=row.pk,
        mode=row.mode,
        method_id=row.method_id,
        service_id=row.service_id,
        place=CustomerPlace(row.country, row.region),
        currency=row.currency,
        charge_cents=row.amount_cents,
        coin=OnrampCoin(row.asset_id, row.asset.chain_id, row.asset.atomic_decimals),
        address=row.destination_address,
        email=email,
        success_url=f"{back}?onramp=success",
        cancel_url=f"{back}?onramp=cancel",
    )
    try:
        return adapter.open(order)
    except NotOffered:
        FundingSession.objects.filter(pk=row.pk, url="").delete()
        raise NotForThisAmount from None
    except ProviderError:
        FundingSession.objects.filter(pk=row.pk, url="").delete()
        raise NotOpened from None


def _begin(payment: Payment, row: FundingSession, opened: Opened, at: datetime) -> FundingSession:
    """From here on the session is shown, and the intent waits for it."""
    with transaction.atomic():
        locked = locked_payment(payment.pk)
        FundingSession.objects.filter(pk=row.pk, url="").update(
            url=opened.url, provider_txid=opened.txid
        )
        SessionChange.objects.create(
            session=row, to_status=row.status, source=SessionChange.Source.CUSTOMER, created_at=at
        )
        hold.begin_card_funding(locked, progress.held_until(locked, row), row.asset_id)
    row.url = opened.url
    row.provider_txid = opened.txid
    return row
