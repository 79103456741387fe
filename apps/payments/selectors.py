"""Reads of payments. A view begins with `visible_to`; lists and figures are made in few queries
however many rows there are."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

from django.db import models
from django.db.models import Value
from django.db.models.functions import Left, Lower

from apps.assets.models import Asset, Chain
from apps.assets.selectors import with_chains
from apps.chain.models import Deposit, Head
from apps.chain.networks.families import address_in, hash_of, stored
from apps.chain.selectors import confirmations, heads
from apps.core.db import tenancy
from apps.core.db.prepared_reads import Query, Rows
from apps.core.db.sql import BlankParameter, Statement, array
from apps.core.messages.fields import is_uuid
from apps.core.models import Viewer
from apps.core.searching import NEWEST_MAX, SearchTerm, found_by_any, newest
from apps.payments import states
from apps.payments.models import (
    CheckoutView,
    Payment,
    PaymentAddress,
    PaymentEmail,
    PaymentEvent,
    Refund,
    Renewal,
)
from apps.payments.models.emails import EMAIL_LENGTH
from apps.payments.models.payments import REFERENCE_LENGTH
from apps.stores.models import Store

_REFERENCE = re.compile(f"[A-Za-z0-9]{{{REFERENCE_LENGTH}}}", re.ASCII)


@dataclass(frozen=True)
class LateMark:
    """Facts about a deposit that is kept apart (LateDeposit). One that `is_returned` has been
    refunded, or is on its way back."""

    accepted_at: datetime | None = None
    is_late: bool = True
    is_counted: bool = False
    is_returned: bool = False


@dataclass(frozen=True)
class Received:
    """An address of an intent with what arrived there. Late deposits, those of the whole intent by
    id, are kept apart until the merchant has accepted them; failed ones count for nothing.

    `unexpected` are of other assets. `taken` are of this asset, came elsewhere, and were accepted
    for this intent.
    """

    address: PaymentAddress
    deposits: list[Deposit]
    late: Mapping[object, LateMark] = field(default_factory=dict)
    unexpected: Sequence[Deposit] = ()
    taken: Sequence[Deposit] = ()

    @property
    def is_own(self) -> bool:
        """Tell whether its coins are in the merchant's own wallet."""
        return self.address.own_wallet_id is not None

    @property
    def late_ids(self) -> frozenset[object]:
        return frozenset(self.late)

    @property
    def on_time(self) -> list[Deposit]:
        """Deposits that count by the rules of the intent alone."""
        return [deposit for deposit in self.deposits if deposit.pk not in self.late]

    @property
    def accepted(self) -> list[Deposit]:
        """Deposits that the merchant accepted beyond those rules, wherever they came."""
        return [
            deposit
            for deposit in (*self.deposits, *self.taken)
            if deposit.pk in self.late and self.late[deposit.pk].accepted_at is not None
        ]

    @property
    def counted(self) -> list[Deposit]:
        return [
            *self.on_time,
            *(deposit for deposit in self.accepted if self.late[deposit.pk].is_counted),
        ]

    @property
    def confirmed_atomic(self) -> int:
        return _confirmed_atomic(self.counted)

    @property
    def unconfirmed_atomic(self) -> int:
        return sum(
            deposit.amount_atomic
            for deposit in self.counted
            if deposit.status == Deposit.Status.CONFIRMING
        )

    @property
    def received_atomic(self) -> int:
        return self.confirmed_atomic + self.unconfirmed_atomic

    def of_price_atomic(self, received_atomic: int) -> int:
        """So much of what was received pays the price: not what came on top for the network's
        fee."""
        more_atomic = max(0, received_atomic - self.address.required_atomic)
        return received_atomic - min(more_atomic, self.address.surcharge_atomic)

    @property
    def display_step_atomic(self) -> int:
        """The smallest amount of its coin that a page shows."""
        asset = self.address.asset
        step: int = 10 ** max(0, asset.atomic_decimals - asset.display_decimals)
        return step

    @property
    def accepted_atomic(self) -> int:
        return _confirmed_atomic(self.accepted)

    @property
    def on_time_atomic(self) -> int:
        """Confirmed amount by the rules of the intent alone."""
        return _confirmed_atomic(self.on_time)


def _confirmed_atomic(deposits: Iterable[Deposit]) -> int:
    return sum(
        deposit.amount_atomic for deposit in deposits if deposit.status == Deposit.Status.CONFIRMED
    )


_ADDRESSES = Rows(PaymentAddress, "WHERE payment_id = %(payment_id)s ORDER BY position")
# What came to the addresses, and what came elsewhere and was accepted for the intent.
_AT_ADDRESSES = """WHERE id IN (
    SELECT id FROM chain_deposit WHERE address_id = ANY (%(addresses)s::text[])
    UNION SELECT deposit_id FROM payments_latedeposit WHERE payment_id = %(payment_id)s)"""
_DEPOSITS = Rows(Deposit, f"{_AT_ADDRESSES} ORDER BY detected_at, log_index, id")
_LOCKED_DEPOSITS = Rows(Deposit, f"{_AT_ADDRESSES} ORDER BY id FOR NO KEY UPDATE")
# The cells of a LateMark, of the row `l`.
LATE_CELLS = """l.accepted_at, l.is_late, l.is_counted, EXISTS (
    SELECT FROM payments_refund b JOIN chain_deposit e ON e.id = l.deposit_id
    WHERE b.payment_id = l.payment_id AND b.asset_id = e.asset_id AND b.is_from_held
        AND b.status <> 'failed' AND b.created_at >= l.created_at)"""
_LATE = Statement(
    f"SELECT l.deposit_id, {LATE_CELLS} FROM payments_latedeposit l"  # noqa: S608  # only our names
    " WHERE l.payment_id = %(payment_id)s"
)


def addresses_of(payment: Payment) -> list[PaymentAddress]:
    """The intent's addresses in order, each with its asset and chain."""
    rows = _ADDRESSES.read(payment_id=payment.pk)
    assets = with_chains({row.asset_id for row in rows})
    for row in rows:
        row.asset = assets[row.asset_id]
        row.payment = payment
    return rows


def received_by(payment: Payment, *, is_locking: bool = False) -> list[Received]:
    """Deposits at each address of an intent, oldest first.

    Who is going to book it locks it, so that no reorg takes away what is being booked.
    """
    rows = addresses_of(payment)
    deposits = (_LOCKED_DEPOSITS if is_locking else _DEPOSITS).read(
        addresses=array(row.address_id for row in rows), payment_id=payment.pk
    )
    deposits.sort(key=lambda deposit: (deposit.detected_at, deposit.log_index, deposit.pk))
    late = _LATE.rows(payment_id=payment.pk) if deposits else []
    return arranged(rows, deposits, {pk: LateMark(*mark) for pk, *mark in late})


def arranged(
    rows: Iterable[PaymentAddress],
    deposits: Iterable[Deposit],
    late: Mapping[object, LateMark],
    assets_read: dict[str, Asset] | None = None,
) -> list[Received]:
    """Each address with its deposits, and with those of its asset that were accepted elsewhere.
    `assets_read` is kept by who asks for many payments: each asset is read once."""
    by_address: dict[str, list[Deposit]] = {}
    for deposit in deposits:
        by_address.setdefault(deposit.address_id, []).append(deposit)
    rows = list(rows)
    assets = {row.address_id: row.asset_id for row in rows}
    foreign = [
        deposit
        for at_address in by_address.values()
        for deposit in at_address
        if deposit.asset_id != assets.get(deposit.address_id)
    ]
    _name_assets(foreign, {} if assets_read is None else assets_read)
    return [_received(row, by_address.get(row.address_id, []), foreign, late) for row in rows]


def _name_assets(foreign: list[Deposit], assets: dict[str, Asset]) -> None:
    """Nobody else has read the assets of what came in another coin."""
    missing = {deposit.asset_id for deposit in foreign} - assets.keys()
    if missing:
        assets.update(with_chains(missing))
    for deposit in foreign:
        deposit.asset = assets[deposit.asset_id]


def _received(
    row: PaymentAddress,
    deposits: list[Deposit],
    foreign: list[Deposit],
    late: Mapping[object, LateMark],
) -> Received:
    return Received(
        row,
        [deposit for deposit in deposits if deposit.asset_id == row.asset_id],
        late,
        [deposit for deposit in deposits if deposit.asset_id != row.asset_id],
        [deposit for deposit in foreign if deposit.asset_id == row.asset_id and deposit.pk in late],
    )


def display_step(received: Iterable[Received]) -> Fraction:
    """One step of each received coin, as a fraction of the amount due."""
    return sum(
        (
            Fraction(intake.display_step_atomic, intake.address.required_atomic)
            for intake in received
            if intake.received_atomic
        ),
        Fraction(0),
    )


def unpriced(deposits: Iterable[Deposit], received: Iterable[Received]) -> list[Deposit]:
    """Those that came elsewhere, in a coin that the intent doesn't take: nobody knows their worth
    to it."""
    priced_ids = {
        deposit.pk
        for intake in received
        for deposit in (*intake.deposits, *intake.unexpected, *intake.taken)
    }
    return [deposit for deposit in deposits if deposit.pk not in priced_ids]


def confirmations_of(deposit: Deposit, heads: dict[str, Head]) -> int:
    """Confirmations of a deposit, simulated or real."""
    if deposit.is_simulated:
        return deposit.simulated_confirmations
    head = heads.get(deposit.chain_id)
    return confirmations(deposit, head.number) if head is not None else 0


def known_heads() -> dict[str, Head]:
    return heads()


def simulated_waiting(payment: Payment) -> str:
    """The reference of a simulated deposit that waits for its confirmations, empty without one."""
    waiting = Deposit.objects.filter(
        address_id__in=payment.addresses.values("address_id"),
        is_simulated=True,
        status="confirming",
    )
    return (
        waiting.order_by("detected_at").values_list("simulated_reference", flat=True).first() or ""
    )


def by_reference(reference: str) -> Payment | None:
    """The intent behind a public checkout link."""
    rows = Payment.objects.filter(reference=reference).select_related("store")
    return tenancy.opened("the public link of a payment", rows.first)


def renewed_as(payment: Payment) -> Payment | None:
    """The intent that took the place of an expired one."""
    renewal = Renewal.objects.filter(earlier=payment).select_related("later__store").first()
    return renewal.later if renewal is not None else None


@dataclass(frozen=True)
class Renewals:
    """The intent that an intent took the place of, and the one that took its own, each with
    when."""

    before: Renewal | None = None
    after: Renewal | None = None


def _any_payment() -> BlankParameter:
    return BlankParameter("payment_id", models.UUIDField())


_VIEWS = Query(lambda: CheckoutView.objects.filter(pk=_any_payment()))


def first_viewed_at(payment: Payment) -> datetime | None:
    """When somebody looked at the checkout first, by the store's time."""
    view = _VIEWS.first(payment_id=payment.pk)
    return None if view is None else view.viewed_at


_RENEWALS = Query(
    lambda: Renewal.objects.filter(
        models.Q(earlier=_any_payment()) | models.Q(later=_any_payment())
    )[:2],
    "earlier",
    "later",
)


def renewals_of(payment: Payment) -> Renewals:
    rows = _RENEWALS.read(payment_id=payment.pk)
    links = {renewal.later_id == payment.pk: renewal for renewal in rows}
    return Renewals(links.get(True), links.get(False))


def payments_visible_to(viewer: Viewer) -> "models.QuerySet[Payment]":
    """Newest first."""
    return Payment.objects.visible_to(viewer).select_related("store").order_by("-created_at", "-id")


def had_payments_by(viewer: Viewer, moment: datetime) -> bool:
    """Tells whether a payment was created before a moment."""
    return Payment.objects.visible_to(viewer).filter(created_at__lt=moment).exists()


def id_of(viewer: Viewer, named: str) -> str | None:
    """The id of a payment that is named by its id or, in either case, by its reference; None for
    what is neither."""
    if is_uuid(named):
        return named
    if not _REFERENCE.fullmatch(named):
        return None
    rows = Payment.objects.visible_to(viewer).filter(reference=named.upper())
    id = rows.values_list("pk", flat=True).first()
    return None if id is None else str(id)


_OF_STORE = Rows(
    Payment, "WHERE id = %(id)s::uuid AND store_id = %(store_id)s::uuid AND mode = %(mode)s"
)


def payment_visible_to(viewer: Viewer, store: Store, id: str) -> Payment | None:
    """The one with this id or reference, which may be none. `store` is the viewer's."""
    key = id_of(viewer, id)
    rows = _OF_STORE.read(id=key, store_id=viewer.store_id, mode=viewer.mode) if key else []
    for payment in rows:
        payment.store = store
    return rows[0] if rows else None


def search(rows: "models.QuerySet[Payment]", text: str) -> "models.QuerySet[Payment]":
    """Payments whose order id or title begins with the text, or whose id, reference, amount,
    deposit address, payer or transaction it is; of the newest, those whose reference or title holds
    it as well."""
    if not text:
        return rows
    if not is_storable(text):
        return rows.none()
    named = address_in(text) or hash_of(text)
    if named:
        return found_by_any(rows, *paid_at(named))
    lookups = [models.Q(reference=text.upper())]
    if is_uuid(text):
        lookups.append(models.Q(pk=text))
    lookups += [models.Q(settlement_amount_cents=cents) for cents in SearchTerm.of(text).amounts]
    parts = models.Q(order_id__istartswith=text) | models.Q(title__icontains=text)
    return found_by_any(
        rows,
        *lookups,
        begins=(SearchTerm.of(text), ("order_id", "title")),
        in_newest=models.Q(reference__contains=text.upper()) | parts,
    )


def named_email(viewer: Viewer, email: str) -> "models.QuerySet[PaymentEmail, Any]":
    """The ids of the viewer's payments whose own metadata names this address as the customer's,
    whatever its case, newest first."""
    folded = Left(Lower(Value(email)), EMAIL_LENGTH)
    rows = PaymentEmail.objects.visible_to(viewer).filter(email=folded)
    return rows.order_by("-created_at").values("payment_id")


def paid_at(named: str) -> list[models.Q]:
    """Look-ups of the payments with this deposit address, with a deposit from this address, or with
    one of this transaction; each by indexes alone. Of an address that pays many, as an exchange's
    does, the newest NEWEST_MAX deposits count."""
    addresses = PaymentAddress.objects.values("payment_id")
    if not address_in(named):
        deposits = Deposit.objects.filter(chain__in=Chain.objects.all(), tx_hash=named)
        return [models.Q(pk__in=addresses.filter(address_id__in=deposits.values("address_id")))]
    sent = Deposit.objects.filter(from_address=named).order_by("-detected_at")[:NEWEST_MAX]
    return [
        models.Q(pk__in=addresses.filter(address_id=named)),
        models.Q(pk__in=addresses.filter(address_id__in=sent.values("address_id"))),
    ]


def paid_in(
    rows: "models.QuerySet[Payment]", asset_ids: Iterable[str]
) -> "models.QuerySet[Payment]":
    """Of the newest of these rows, those at which something of one of these assets arrived: found
    by indexes on what belongs to each payment."""
    deposits = Deposit.objects.filter(
        address_id=models.OuterRef("address_id"), asset_id=models.OuterRef("asset_id")
    ).exclude(status="unmatched")
    addresses = PaymentAddress.objects.filter(
        models.Exists(deposits), payment_id=models.OuterRef("pk"), asset_id__in=list(asset_ids)
    )
    return newest(rows).filter(models.Exists(addresses))


def priced_between(
    rows: "models.QuerySet[Payment]", least_cents: int | None, most_cents: int | None
) -> "models.QuerySet[Payment]":
    """Inclusive, in cents of whatever currency each has."""
    if least_cents is not None:
        rows = rows.filter(settlement_amount_cents__gte=least_cents)
    return rows if most_cents is None else rows.filter(settlement_amount_cents__lte=most_cents)


def is_storable(text: str) -> bool:
    return "\x00" not in text and text.isprintable()


def of_deposits(
    deposit_ids: Iterable[object] | None, limit: int, paused: "models.QuerySet[Any]"
) -> list[object]:
    """The ids of the intents whose deposits have something new: those of `deposit_ids`, else of
    every unhandled deposit."""
    deposits = Deposit.objects.exclude(status=models.F("handled_status")).exclude(
        status="unmatched"
    )
    deposits = deposits.exclude(
        address_id__in=PaymentAddress.objects.filter(payment_id__in=paused).values("address_id")
    )
    if deposit_ids is not None:
        deposits = deposits.filter(pk__in=list(deposit_ids))
    addresses = deposits.order_by("detected_at").values_list("address_id", flat=True)[: limit * 4]
    payment_ids = (
        PaymentAddress.objects.filter(address_id__in=list(addresses))
        .values_list("payment_id", flat=True)
        .distinct()
    )
    return list(payment_ids[:limit])


def refunds_visible_to(viewer: Viewer) -> "models.QuerySet[Refund]":
    """Newest first, each with its payment and the rate that was locked for the coin
    (`locked_rate`)."""
    locked = PaymentAddress.objects.filter(
        payment=models.OuterRef("payment"), asset=models.OuterRef("asset")
    )
    every: models.QuerySet[Refund] = Refund.objects.visible_to(viewer).select_related(
        "asset__chain", "payment"
    )
    rows = every.annotate(locked_rate=models.Subquery(locked.values("exchange_rate")[:1]))
    return rows.order_by("-created_at", "-id")


def is_shortfall_accepted(payment: Payment) -> bool:
    """The merchant took what had come for less than was due."""
    rows = PaymentEvent.objects.filter(payment=payment, event_type=states.SHORTFALL_ACCEPTED)
    return rows.exists()


def refunds_of(viewer: Viewer, payment: Payment) -> "models.QuerySet[Refund]":
    """Of one payment, newest first."""
    rows: models.QuerySet[Refund] = Refund.objects.visible_to(viewer).filter(payment=payment)
    return rows.select_related("asset__chain").order_by("-created_at", "-part")


def search_refunds(rows: "models.QuerySet[Refund]", text: str) -> "models.QuerySet[Refund]":
    """Refunds whose id or transaction it is, or whose payment's reference; of the newest, those
    whose address or payment's order or title says it as well."""
    if not text:
        return rows
    lookups = [
        models.Q(tx_hash=stored(text)),
        models.Q(payment__in=Payment.objects.filter(reference=text.upper()).values("pk")),
    ]
    if is_uuid(text):
        lookups += [models.Q(pk=text), models.Q(payment=text)]
    parts = models.Q(payment__title__icontains=text) | models.Q(payment__order_id=text)
    return found_by_any(
        rows, *lookups, in_newest=parts | models.Q(destination_address=stored(text))
    )
