"""The coins, fees and net amounts of many payments, for a page of a list or a part of a file. One
statement reads them, however many payments there are, and one more each coin that came in place of
another."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.assets.models import Asset
from apps.chain.models import Deposit
from apps.core import money
from apps.core.db.prepared_reads import Columns
from apps.core.db.sql import Statement, array
from apps.ledger.selectors import SPLITS, Split
from apps.payments.address_rows import ADDRESS_CELLS, address_of
from apps.payments.documents.financials import financials
from apps.payments.documents.progress import Progress, progress_of, worth
from apps.payments.models import Payment, PaymentAddress
from apps.payments.selectors import Received, arranged
from apps.payments.snapshot import late_marks

_DEPOSIT = Columns(Deposit, "d")
_PROCEEDS = Statement(f"""
SELECT p.id,
(SELECT json_agg(json_build_array({ADDRESS_CELLS})
    ORDER BY a.position)
 FROM payments_paymentaddress a JOIN assets_asset k ON k.id = a.asset_id
     JOIN assets_chain c ON c.id = k.chain_id
 WHERE a.payment_id = p.id AND (
     EXISTS (SELECT FROM chain_deposit d WHERE d.address_id = a.address_id)
     OR EXISTS (SELECT FROM payments_latedeposit l WHERE l.payment_id = p.id))),
(SELECT json_agg({_DEPOSIT.json} ORDER BY d.detected_at, d.log_index, d.id) FROM chain_deposit d
 WHERE d.id IN (SELECT c.id FROM payments_paymentaddress a
         JOIN chain_deposit c ON c.address_id = a.address_id WHERE a.payment_id = p.id
     UNION SELECT l.deposit_id FROM payments_latedeposit l WHERE l.payment_id = p.id)),
(SELECT json_agg(json_build_array(l.deposit_id, l.accepted_at, l.is_late, l.is_counted))
    FROM payments_latedeposit l WHERE l.payment_id = p.id),
(SELECT json_agg(json_build_array(s.asset_id, s.gross_atomic, s.service_fee_atomic,
    s.platform_fee_atomic, s.refunded_atomic, s.booked_at))
 FROM ({SPLITS} WHERE m.reference = p.id GROUP BY m.reference, e.asset_id) s)
FROM payments_payment p WHERE p.id = ANY (%(ids)s::uuid[])
""")  # noqa: S608  # only names of columns are put in


@dataclass(frozen=True)
class CoinReceived:
    """Coins of one kind that came, confirmed or not."""

    asset: Asset
    amount_atomic: int


@dataclass(frozen=True)
class Proceeds:
    """The coins, those worth most first; the sums are in cents of the payment's currency, None
    before anything came.

    Fee and net are None until they are booked. The net is what is left after refunds: below zero
    when all went back, for fees don't.
    """

    coins: list[CoinReceived] = field(default_factory=list)
    gross_cents: int | None = None
    fee_cents: int | None = None
    net_cents: int | None = None
    refunded_cents: int | None = None


NOTHING = Proceeds()


def proceeds_of(payments: Iterable[Payment]) -> dict[UUID, Proceeds]:
    """By payment; who asks has found them by `visible_to`."""
    by_id = {payment.pk: payment for payment in payments}
    if not by_id:
        return {}
    assets: dict[str, Asset] = {}
    return {
        id: _proceeds(by_id[id], assets, *parts) for id, *parts in _PROCEEDS.rows(ids=array(by_id))
    }


def progress_by_payment(payments: Iterable[Payment]) -> dict[UUID, Progress]:
    """How much of each has come; who asks has found them by `visible_to`."""
    by_id = {payment.pk: payment for payment in payments}
    return {id: progress_of(by_id[id], came) for id, came in received_by_payment(by_id.values())}


def received_by_payment(payments: Iterable[Payment]) -> Iterator[tuple[UUID, list[Received]]]:
    """Deposits at the addresses of each, without those where nothing came; the caller has found
    them by `visible_to`."""
    by_id = {payment.pk: payment for payment in payments}
    if not by_id:
        return
    assets: dict[str, Asset] = {}
    for id, addresses, deposits, late, _ in _PROCEEDS.rows(ids=array(by_id)):
        yield id, _received(by_id[id], assets, addresses, deposits, late)


def asset_ids_by_payment(payments: Iterable[Payment]) -> Mapping[UUID, list[str]]:
    """The assets in which each can be paid, in their order; who asks has found them by
    `visible_to`."""
    rows = PaymentAddress.objects.filter(payment_id__in=[payment.pk for payment in payments])
    found: dict[UUID, list[str]] = defaultdict(list)
    for id, asset_id in rows.order_by("position").values_list("payment_id", "asset_id"):
        found[id].append(asset_id)
    return found


def _received(
    payment: Payment, assets: dict[str, Asset], addresses: Any, deposits: Any, late: Any
) -> list[Received]:
    rows = [address_of(payment, *cells) for cells in addresses or []]
    return arranged(rows, map(_DEPOSIT.row_from_json, deposits or []), late_marks(late), assets)


def _proceeds(
    payment: Payment,
    assets: dict[str, Asset],
    addresses: Any,
    deposits: Any,
    late: Any,
    splits: Any,
) -> Proceeds:
    if not addresses:
        return NOTHING
    received = [
        intake
        for intake in _received(payment, assets, addresses, deposits, late)
        if intake.received_atomic
    ]
    booked = {cells[0]: _split(*cells[1:]) for cells in splits or []}
    figures = financials(payment, received, booked)
    if figures is None:
        return NOTHING
    texts = (figures.gross_amount, figures.fee_amount, figures.net_amount, figures.refunded_amount)
    gross, fee, net, refunded = map(money.cents_from_text, texts)
    is_booked = any(split.booked_at for split in booked.values())
    coins = [
        CoinReceived(intake.address.asset, intake.received_atomic)
        for intake in sorted(received, key=_value, reverse=True)
    ]
    return Proceeds(
        coins, gross, fee if is_booked else None, net - refunded if is_booked else None, refunded
    )


def _split(
    gross: int, service_fee: int, platform_fee: int, refunded: int, booked_at: str | None
) -> Split:
    at = None if booked_at is None else datetime.fromisoformat(booked_at)
    return Split(gross, service_fee, platform_fee, refunded, at)


def _value(intake: Received) -> int:
    return worth(intake, intake.received_atomic)
