"""A payment with everything that its detail view shows, read by one statement instead of eight."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.chain.models import Deposit
from apps.core.db.prepared_reads import Columns
from apps.core.db.sql import Statement
from apps.core.errors import NotFound
from apps.core.models import Viewer
from apps.ledger.selectors import SPLITS, Split
from apps.payments.address_rows import ADDRESS_CELLS, address_of
from apps.payments.models import Payment, PaymentEvent
from apps.payments.selectors import LATE_CELLS, LateMark, Received, arranged, id_of, unpriced
from apps.stores.models import Store, Verification

_PAYMENT = Columns(Payment, "p")
_DEPOSIT = Columns(Deposit, "d")
_EVENT = Columns(PaymentEvent, "h")
_BUSINESS = Columns(Verification, "v")
_SNAPSHOT = Statement(f"""
SELECT {_PAYMENT.text},
(SELECT json_agg(json_build_array({ADDRESS_CELLS})
    ORDER BY a.position)
 FROM payments_paymentaddress a JOIN assets_asset k ON k.id = a.asset_id
     JOIN assets_chain c ON c.id = k.chain_id
 WHERE a.payment_id = p.id),
(SELECT json_agg({_DEPOSIT.json} ORDER BY d.detected_at, d.log_index, d.id) FROM chain_deposit d
 WHERE d.id IN (SELECT c.id FROM payments_paymentaddress a
         JOIN chain_deposit c ON c.address_id = a.address_id WHERE a.payment_id = p.id
     UNION SELECT l.deposit_id FROM payments_latedeposit l WHERE l.payment_id = p.id)),
(SELECT json_agg(json_build_array(l.deposit_id, {LATE_CELLS}))
    FROM payments_latedeposit l WHERE l.payment_id = p.id),
(SELECT json_agg({_EVENT.json} ORDER BY h.sequence) FROM payments_paymentevent h
    WHERE h.payment_id = p.id),
(SELECT json_agg(json_build_array(s.asset_id, s.gross_atomic, s.service_fee_atomic,
    s.platform_fee_atomic, s.refunded_atomic, s.booked_at))
 FROM ({SPLITS} WHERE m.reference = p.id GROUP BY m.reference, e.asset_id) s),
(SELECT {_BUSINESS.json} FROM stores_verification v WHERE v.store_id = p.store_id
    AND v.status = '{Verification.Status.APPROVED}'
 ORDER BY v.created_at DESC LIMIT 1),
(SELECT r.earlier_id FROM payments_renewal r WHERE r.later_id = p.id),
(SELECT r.later_id FROM payments_renewal r WHERE r.earlier_id = p.id),
(SELECT json_agg(json_build_array(h.asset_id, k.coin_symbol, k.chain_id, k.atomic_decimals,
    h.payer_address, h.amount_atomic::text, h.status, h.why, h.created_at)
    ORDER BY h.created_at, h.id)
 FROM payments_heldrefund h JOIN assets_asset k ON k.id = h.asset_id
 WHERE h.payment_id = p.id AND h.status IN ('checking', 'waiting'))
FROM payments_payment p WHERE p.id = %(id)s::uuid AND p.store_id = %(store_id)s
    AND p.mode = %(mode)s
""")  # noqa: S608  # only names of columns are put in


@dataclass(frozen=True)
class HeldShare:
    """A sender's share of an ended intent that hasn't been returned: the sender is being checked,
    or an address is missing."""

    asset_id: str
    coin_symbol: str
    network: str
    atomic_decimals: int
    payer_address: str
    amount_atomic: int
    status: str
    why: str
    held_at: datetime


@dataclass(frozen=True)
class PaymentSnapshot:
    """An intent; what arrived at each address; what else was accepted for it; its history, oldest
    first; how it was divided, by asset; who is paid."""

    payment: Payment
    received: list[Received]
    others: list[Deposit]
    history: list[PaymentEvent]
    splits: dict[str, Split]
    business: Verification | None  # what was last found to be true of it
    renewal_of: UUID | None  # the expired intent whose place it took
    renewed_as: UUID | None  # the intent that took its place
    held: list[HeldShare]  # oldest first


def find_snapshot(viewer: Viewer, store: Store, id: str) -> PaymentSnapshot:
    """The viewer's intent with this id or reference; `store` is the viewer's. Raises NotFound."""
    key = id_of(viewer, id)
    rows = _SNAPSHOT.rows(id=key, store_id=viewer.store_id, mode=viewer.mode) if key else []
    if not rows:
        raise NotFound
    payment = _PAYMENT.row(rows[0][: len(_PAYMENT)])
    payment.store = store
    return _snapshot(payment, rows[0][len(_PAYMENT) :])


def snapshot_of(payment: Payment) -> PaymentSnapshot:
    """Facts of an intent that is at hand."""
    ((*row,),) = _SNAPSHOT.rows(id=payment.pk, store_id=payment.store_id, mode=payment.mode)
    return _snapshot(payment, row[len(_PAYMENT) :])


def _snapshot(payment: Payment, parts: Iterable[Any]) -> PaymentSnapshot:
    addresses, deposits, late, history, splits, business, renewal_of, renewed_as, held = parts
    arrived = [_DEPOSIT.row_from_json(cells) for cells in deposits or []]
    rows = [address_of(payment, *cells) for cells in addresses or []]
    received = arranged(rows, arrived, late_marks(late))
    return PaymentSnapshot(
        payment,
        received,
        unpriced(arrived, received),
        [_EVENT.row_from_json(cells) for cells in history or []],
        {asset_id: split for asset_id, split in map(_split, splits or []) if split.is_any},
        None if business is None else _BUSINESS.row_from_json(business),
        renewal_of,
        renewed_as,
        [_held_share(*cells) for cells in held or []],
    )


def _held_share(
    asset_id: str,
    symbol: str,
    network: str,
    decimals: int,
    payer: str,
    amount: str,
    status: str,
    why: str,
    held_at: str,
) -> HeldShare:
    moment = datetime.fromisoformat(held_at)
    share = (asset_id, symbol, network, decimals, payer, int(amount), status, why, moment)
    return HeldShare(*share)


def late_marks(cells: list[Any] | None) -> dict[object, LateMark]:
    """Of rows (deposit, accepted, late, counted), as JSON has them."""
    return {
        UUID(id): LateMark(None if at is None else datetime.fromisoformat(at), *flags)
        for id, at, *flags in cells or []
    }


def _split(values: list[Any]) -> tuple[str, Split]:
    asset_id, gross, service_fee, platform_fee, refunded, booked_at = values
    return asset_id, Split(
        gross,
        service_fee,
        platform_fee,
        refunded,
        None if booked_at is None else datetime.fromisoformat(booked_at),
    )
