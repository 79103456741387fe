"""Reads of payments. A view begins with `visible_to`; lists and figures are made in few queries
however many rows there are."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import cache
from typing import Any

from django.db import models
from django.db.models import Value
from django.db.models.functions import Left, Lower

from apps.assets.models import Chain
from apps.assets.selectors import with_chains
from apps.chain.models import Deposit, Head
from apps.chain.selectors import confirmations, heads
from apps.core import list_pages
from apps.core.db import tenancy
from apps.core.db.prepared_reads import Columns, Rows
from apps.core.db.sql import Statement, array
from apps.core.messages.fields import is_uuid, parse_date
from apps.core.models import Viewer
from apps.core.money import cents_from_text
from apps.core.searching import NEWEST_MAX, Term, found_by_any, newest
from apps.payments.models import Payment, PaymentAddress, PaymentEmail, Refund, Renewal
from apps.payments.models.emails import EMAIL_LENGTH
from apps.payments.models.payments import PART_LENGTH, PART_PLACES, REFERENCE_LENGTH
from apps.stores.models import Store

_WILDCARD = re.compile(r"[\\%_]")
_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?", re.ASCII)
_ADDRESS = re.compile(r"0x[0-9a-f]{40}", re.ASCII)
_HASH = re.compile(r"0x[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True)
class Received:
    """An address of an intent with what arrived there. Late deposits are kept apart; failed ones
    count for nothing. `strays` are of other assets, and nobody's."""

    address: PaymentAddress
    deposits: list[Deposit]
    late_ids: frozenset[object]
    strays: Sequence[Deposit] = ()

    @property
    def counted(self) -> list[Deposit]:
        return [deposit for deposit in self.deposits if deposit.pk not in self.late_ids]

    @property
    def confirmed_atomic(self) -> int:
        return sum(
            deposit.amount_atomic
            for deposit in self.counted
            if deposit.status == Deposit.Status.CONFIRMED
        )

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


_ADDRESSES = Rows(PaymentAddress, "WHERE payment_id = %(payment_id)s ORDER BY position")
_AT_ADDRESSES = "WHERE address_id = ANY (%(addresses)s::text[])"
_DEPOSITS = Rows(Deposit, f"{_AT_ADDRESSES} ORDER BY detected_at, log_index, id")
_LOCKED_DEPOSITS = Rows(Deposit, f"{_AT_ADDRESSES} ORDER BY id FOR NO KEY UPDATE")
_LATE_IDS = Statement(
    "SELECT deposit_id FROM payments_latedeposit WHERE payment_id = %(payment_id)s"
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
    """What arrived at each address of an intent, oldest first.

    Who is going to book it locks it, so that no reorg takes away what is being booked.
    """
    rows = addresses_of(payment)
    deposits = (_LOCKED_DEPOSITS if is_locking else _DEPOSITS).read(
        addresses=array(row.address_id for row in rows)
    )
    deposits.sort(key=lambda deposit: (deposit.detected_at, deposit.log_index, deposit.pk))
    late = _LATE_IDS.rows(payment_id=payment.pk) if deposits else []
    return arranged(rows, deposits, frozenset(pk for (pk,) in late))


def arranged(
    rows: Iterable[PaymentAddress], deposits: Iterable[Deposit], late: frozenset[object]
) -> list[Received]:
    """Each address with its deposits."""
    by_address: dict[str, list[Deposit]] = {}
    for deposit in deposits:
        by_address.setdefault(deposit.address_id, []).append(deposit)
    return [_received(row, by_address.get(row.address_id, []), late) for row in rows]


def _received(row: PaymentAddress, deposits: list[Deposit], late: frozenset[object]) -> Received:
    credited = [deposit for deposit in deposits if deposit.status != "unmatched"]
    return Received(
        row,
        [deposit for deposit in credited if deposit.asset_id == row.asset_id],
        late,
        [deposit for deposit in credited if deposit.asset_id != row.asset_id],
    )


def confirmations_of(deposit: Deposit, heads: dict[str, Head]) -> int:
    """How many confirmations a deposit has, simulated or real."""
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


def renewals_of(payment: Payment) -> Renewals:
    rows = Renewal.objects.filter(
        models.Q(earlier=payment) | models.Q(later=payment)
    ).select_related("earlier", "later")
    links = {renewal.later_id == payment.pk: renewal for renewal in rows[:2]}
    return Renewals(links.get(True), links.get(False))


def payments_visible_to(viewer: Viewer) -> "models.QuerySet[Payment]":
    """Newest first."""
    return Payment.objects.visible_to(viewer).select_related("store").order_by("-created_at", "-id")


_OF_STORE = Rows(
    Payment, "WHERE id = %(id)s::uuid AND store_id = %(store_id)s::uuid AND mode = %(mode)s"
)


def payment_visible_to(viewer: Viewer, store: Store, id: str) -> Payment | None:
    """The one with this id, which may be none. `store` is the viewer's."""
    rows = _OF_STORE.read(id=id, store_id=viewer.store_id, mode=viewer.mode) if is_uuid(id) else []
    for payment in rows:
        payment.store = store
    return rows[0] if rows else None


@dataclass(frozen=True)
class PaymentCriteria:
    """What a list is asked for. Unrecognized statuses and unreadable dates are ignored; `reference`
    is a case-insensitive part; days are those of `zone`, inclusive."""

    status: str | None = None
    reference: str | None = None
    order_id: str | None = None
    first_day: str | None = None
    last_day: str | None = None
    zone: tzinfo = UTC

    def values(self) -> dict[str, str | datetime] | None:
        """What restricts it, by name; None when nothing can be found."""
        if not all(_is_storable(text) for text in (self.reference, self.order_id) if text):
            return None
        values: dict[str, str | datetime] = {}
        if self.status in Payment.Status.values:
            values["status"] = self.status
        if self.reference:
            reference = self.reference.upper()
            if len(reference) > REFERENCE_LENGTH:
                return None
            values[_kind_of(reference)] = reference
        if self.order_id:
            values["order_id"] = self.order_id
        if (day := parse_date(self.first_day)) is not None:
            values["since"] = datetime.combine(day, time(), self.zone)
        if (day := parse_date(self.last_day)) is not None and day.toordinal() < day.max.toordinal():
            values["before"] = datetime.combine(day + timedelta(days=1), time(), self.zone)
        return values


def _kind_of(reference: str) -> str:
    """The condition that finds what is asked for as a reference, by how much of one it is."""
    if len(reference) == REFERENCE_LENGTH:
        return "reference"
    return "reference_part" if len(reference) >= PART_LENGTH else "reference_letters"


_ROW = Columns(Payment, "p")
_LIKE = "'%' || %({})s::text || '%'"
# Those whose reference holds the part, of those that hold all of its threes: by the index of them.
# Those of the store are read once, whose number and page both come from that: by their keys alone,
# for PostgreSQL would look for them among all payments of a store.
_NAMED = f"""
WITH named AS MATERIALIZED (
    SELECT payment_id FROM payments_paymentreference
    WHERE ARRAY[{", ".join(f"SUBSTRING(reference, {n}, {PART_LENGTH})" for n in PART_PLACES)}]
            @> %(threes)s::text[]
        AND reference LIKE {_LIKE.format("reference_part")}
), named_ones AS MATERIALIZED (
    SELECT id, created_at FROM (
        SELECT * FROM payments_payment WHERE id = ANY (ARRAY(SELECT payment_id FROM named)) OFFSET 0
    ) found WHERE {{own}}
)
"""  # noqa: S608  # our own text
# What has an index of its own. Without any of it a range of time, if of all time, says which index
# to read, also to a plan for stores of any size.
_SELECTIVE = frozenset({"status", "order_id", "reference", "reference_part"})
_ALL_TIME = {"since": "-infinity", "before": "infinity"}
_CONDITIONS = {
    "status": "status = %(status)s",
    "reference": "reference = %(reference)s",
    "reference_letters": f"reference LIKE {_LIKE.format('reference_letters')}",
    "order_id": "order_id = %(order_id)s",
    "since": "created_at >= %(since)s",
    "before": "created_at < %(before)s",
}


@cache
def _page_statement(names: tuple[str, ...], counted_max: int) -> Statement:
    """Of a list that is restricted so: how many there are, counted to one more than the cap, beside
    each of those on the page, or alone.

    Both are found by an index alone (decision 396). The oldest are counted first: their pages don't
    change any more. Limits that aren't known let PostgreSQL read in the order of an index: beneath
    the policies it expects too few rows, and would sort them all.
    """
    conditions = [_CONDITIONS[name] for name in names if name in _CONDITIONS]
    own = " AND ".join(["store_id = %(store_id)s", "mode = %(mode)s", *conditions])
    head, rows = "", f"payments_payment WHERE {own}"
    if "reference_part" in names:
        head, rows = _NAMED.format(own=own), "named_ones"
    return Statement(f"""{head}
SELECT n.total, {_ROW.text} FROM (SELECT count(*) AS total FROM (
    SELECT FROM {rows} ORDER BY created_at
    LIMIT (SELECT {counted_max + 1})) counted) n
LEFT JOIN (SELECT * FROM payments_payment WHERE id = ANY (ARRAY(
    SELECT id FROM {rows} ORDER BY created_at DESC, id DESC
    LIMIT (SELECT %(size)s::bigint) OFFSET (SELECT %(first)s::bigint)))) p ON true
ORDER BY p.created_at DESC, p.id DESC
""")  # noqa: S608  # only names of columns and conditions of ours are put in


def page_of_payments(
    viewer: Viewer, store: Store, criteria: PaymentCriteria, first: int, size: int
) -> tuple[list[Payment], int]:
    """The viewer's payments from this place on, newest first, and how many there are, counted to
    the cap. `store` is the viewer's."""
    values = criteria.values()
    if values is None:
        return [], 0
    if not _SELECTIVE & values.keys():
        values = {**_ALL_TIME, **values}
    statement = _page_statement(tuple(values), list_pages.COUNTED_MAX)
    rows = statement.rows(
        store_id=viewer.store_id,
        mode=viewer.mode,
        first=first,
        size=size,
        **_looked_for(values),
    )
    payments = [_ROW.row(row[1:]) for row in rows if row[1] is not None]
    for payment in payments:
        payment.store = store
    return payments, rows[0][0]


def _looked_for(values: dict[str, str | datetime]) -> Mapping[str, object]:
    """What the statement takes: a part of a reference literally, with its threes of letters."""
    arguments: dict[str, object] = dict(values)
    for name in ("reference_part", "reference_letters"):
        if name in values:
            arguments[name] = _WILDCARD.sub(r"\\\g<0>", str(values[name]))
    if "reference_part" in values:
        part = str(values["reference_part"])
        threes = (part[n : n + PART_LENGTH] for n in range(len(part) - PART_LENGTH + 1))
        arguments["threes"] = array(dict.fromkeys(threes))
    return arguments


def search(rows: "models.QuerySet[Payment]", text: str) -> "models.QuerySet[Payment]":
    """Payments whose order id or title begins with the text, or whose id, reference, amount,
    deposit address, payer or transaction it is; of the newest, those whose reference or title holds
    it as well."""
    if not text:
        return rows
    if not _is_storable(text):
        return rows.none()
    folded = text.lower()
    if _ADDRESS.fullmatch(folded) or _HASH.fullmatch(folded):
        return found_by_any(rows, *paid_at(folded))
    lookups = [models.Q(reference=text.upper())]
    if is_uuid(text):
        lookups.append(models.Q(pk=text))
    amount = text.replace(",", "")
    if _AMOUNT.fullmatch(amount):
        lookups.append(models.Q(settlement_amount_cents=cents_from_text(amount)))
    parts = models.Q(order_id__istartswith=text) | models.Q(title__icontains=text)
    return found_by_any(
        rows,
        *lookups,
        begins=(Term.of(text), ("order_id", "title")),
        in_newest=models.Q(reference__contains=text.upper()) | parts,
    )


def named_email(viewer: Viewer, email: str) -> "models.QuerySet[PaymentEmail, Any]":
    """The ids of the viewer's payments whose own metadata names this address as the customer's,
    whatever its case, newest first."""
    folded = Left(Lower(Value(email)), EMAIL_LENGTH)
    rows = PaymentEmail.objects.visible_to(viewer).filter(email=folded)
    return rows.order_by("-created_at").values("payment_id")


def paid_at(folded: str) -> list[models.Q]:
    """Look-ups of the payments with this deposit address, with a deposit from this address, or with
    one of this transaction; each by indexes alone. Of an address that pays many, as an exchange's
    does, the newest NEWEST_MAX deposits count."""
    addresses = PaymentAddress.objects.values("payment_id")
    if not _ADDRESS.fullmatch(folded):
        deposits = Deposit.objects.filter(chain__in=Chain.objects.all(), tx_hash=folded)
        return [models.Q(pk__in=addresses.filter(address_id__in=deposits.values("address_id")))]
    sent = Deposit.objects.filter(from_address=folded).order_by("-detected_at")[:NEWEST_MAX]
    return [
        models.Q(pk__in=addresses.filter(address_id=folded)),
        models.Q(pk__in=addresses.filter(address_id__in=sent.values("address_id"))),
    ]


def paid_in(
    rows: "models.QuerySet[Payment]", asset_ids: Iterable[str]
) -> "models.QuerySet[Payment]":
    """Of the newest of these rows, those at which something of one of these assets arrived: found
    by indexes on what belongs to each payment (decision 427)."""
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


def _is_storable(text: str) -> bool:
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


def refunds_of(viewer: Viewer, payment: Payment) -> "models.QuerySet[Refund]":
    """Of one payment, newest first."""
    rows: models.QuerySet[Refund] = Refund.objects.visible_to(viewer).filter(payment=payment)
    return rows.select_related("asset__chain").order_by("-created_at", "-part")


def search_refunds(rows: "models.QuerySet[Refund]", text: str) -> "models.QuerySet[Refund]":
    """Refunds whose id or transaction it is, or whose payment's reference; of the newest, those
    whose address or payment's order or title says it as well."""
    if not text:
        return rows
    folded = text.lower()
    lookups = [
        models.Q(tx_hash=folded),
        models.Q(payment__in=Payment.objects.filter(reference=text.upper()).values("pk")),
    ]
    if is_uuid(text):
        lookups += [models.Q(pk=text), models.Q(payment=text)]
    parts = models.Q(payment__title__icontains=text) | models.Q(payment__order_id=text)
    return found_by_any(rows, *lookups, in_newest=parts | models.Q(destination_address=folded))
