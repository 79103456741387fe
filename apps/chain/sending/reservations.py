"""Reservations that the books must have before coins leave: read again by the signer, independent
of the row's own app.

The books are asked by SQL, by the keys under which apps.ledger.movements posts: chain and ledger
don't know each other's code.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import attempts
from apps.core.db.sql import Statement, array

_Purpose = OutgoingTransaction.Purpose
_UUID_LENGTH = 36
# What waits to be signed when test data is reset stays the store's, as it was approved; its
# accounts are an archive's (decision 740).
ACCOUNT_STORE = (
    "coalesce((SELECT s.archive_of_id FROM stores_store s WHERE s.id = a.store_id), a.store_id)"
)
# Of each way in which coins may be set aside for a row: what the store has under that key,
# and whether it is over. OFFSET 0 has each key looked up by itself: for a list of them PostgreSQL
# would read a table whole until it has counted how large that has become.
_BOOKED = Statement(f"""
SELECT asked.id, asked.sign * coalesce((
           SELECT sum(e.amount_atomic) FROM ledger_movement m
               JOIN ledger_entry e ON e.movement_id = m.id
           JOIN ledger_account a ON a.id = e.account_id
           WHERE m.key = asked.key AND m.mode = asked.mode AND a.kind = asked.account
               AND a.asset_id = asked.asset
             AND {ACCOUNT_STORE} IS NOT DISTINCT FROM nullif(asked.store, '')::uuid), 0),
       EXISTS (SELECT 1 FROM unnest(string_to_array(asked.ends, ' ')) AS ended (key),
               LATERAL (SELECT m.id FROM ledger_movement m WHERE m.key = ended.key
                   OFFSET 0) AS found),
       coalesce((SELECT sum(found.amount_atomic)
           FROM unnest(string_to_array(asked.others, ' ')) AS other (reference),
                 LATERAL (SELECT o.amount_atomic FROM chain_outgoingtransaction o
                          WHERE o.purpose = asked.purpose AND o.reference = other.reference
                              AND o.status <> 'failed' OFFSET 0) AS found), 0)
FROM unnest(%(ids)s::uuid[], %(stores)s::text[], %(modes)s::text[], %(assets)s::text[],
    %(purposes)s::text[], %(accounts)s::text[],
            %(signs)s::int[], %(keys)s::text[], %(ends)s::text[], %(others)s::text[])
    AS asked (id, store, mode, asset, purpose, account, sign, key, ends, others)
""")  # noqa: S608  # no input in it


@dataclass(frozen=True)
class Reservation:
    """The movement that sets coins aside, in which account of the store and on which side, and the
    movements that end it.

    `siblings` are references that live on the same reservation: the other attempts.
    """

    key: str
    account: str
    ends: Sequence[str]
    sign: int = 1
    siblings: Sequence[str] = ()


def _of_refund(reference: str) -> list[Reservation]:
    refund = attempts.subject_of(reference)
    return [
        Reservation(
            f"refund:{refund}",
            "reserved",
            [f"refund-confirmed:{refund}", f"refund-released:{refund}"],
            siblings=attempts.others(reference),
        )
    ]


def _of_payout(reference: str) -> list[Reservation]:
    """Amounts that the store has reserved for it, or that the off-ramp is owed."""
    payout = reference[:_UUID_LENGTH]
    attempt, _, again = reference[_UUID_LENGTH + 1 :].partition("-")
    earlier = [f"{payout}-{number}" for number in range(int(attempt))]
    if again:
        earlier += attempts.until(f"{payout}-{attempt}", int(again))
    ends = [f"payout-{ending}:{payout}" for ending in ("confirmed", "released", "settled")]
    handed_over = f"payout-handed-over:{payout}:{attempt}"
    return [
        Reservation(f"payout:{payout}", "reserved", [*ends, handed_over], siblings=earlier),
        Reservation(
            handed_over,
            "reserved",
            [*ends, f"payout-handed-back:{payout}:{attempt}"],
            sign=-1,
            siblings=earlier,
        ),
    ]


def _of_settlement(reference: str) -> list[Reservation]:
    draw = attempts.subject_of(reference)
    return [
        Reservation(
            f"x402:{draw}",
            "available",
            [f"x402-confirmed:{draw}", f"x402-reversed:{draw}"],
            sign=-1,
            siblings=attempts.others(reference),
        )
    ]


def _of_swap(reference: str) -> list[Reservation]:
    return [
        Reservation(
            f"swap:{reference}",
            "reserved",
            [f"swap-completed:{reference}", f"swap-released:{reference}"],
        )
    ]


def _of_approval(reference: str) -> list[Reservation]:
    """The exchange may take a swap's tokens while they are set aside; that it may no longer take
    them is said after the swap's end."""
    swap = reference[:_UUID_LENGTH]
    return _of_swap(swap) if reference == swap else [Reservation(f"swap:{swap}", "reserved", [])]


def _of_withdrawal(reference: str) -> list[Reservation]:
    """Earnings of the service itself."""
    withdrawal = attempts.subject_of(reference)
    ends = [f"withdrawal-confirmed:{withdrawal}", f"withdrawal-released:{withdrawal}"]
    siblings = attempts.others(reference)
    return [Reservation(f"withdrawal:{withdrawal}", "withdrawal_clearing", ends, siblings=siblings)]


# None: nothing of a store's leaves. What these may do is decided by chain.limits, and in live mode
# no test payment is ever signed.
OF: dict[str, Callable[[str], list[Reservation]] | None] = {
    _Purpose.REFUND: _of_refund,
    _Purpose.PAYOUT: _of_payout,
    _Purpose.SETTLEMENT: _of_settlement,
    _Purpose.SWAP: _of_swap,
    _Purpose.APPROVAL: _of_approval,
    _Purpose.WITHDRAWAL: _of_withdrawal,
    _Purpose.TEST_PAYMENT: None,
    _Purpose.SWEEP: None,
    _Purpose.SWEEP_GAS: None,
    _Purpose.SWEEP_BATCH: None,
    _Purpose.JOIN: None,
    _Purpose.X402: None,
    _Purpose.COLD: None,
}


def refusals(rows: Sequence[OutgoingTransaction]) -> dict[uuid.UUID, Reason]:
    """Those that would send more than the books have set aside for them."""
    pairs = [(row, reservation) for row in rows for reservation in _reservations(row)]
    backed = {
        row.pk
        for row in rows
        if row.purpose in OF and OF[row.purpose] is None and _is_of_its_mode(row)
    }
    if pairs:
        amounts = {row.pk: row.amount_atomic for row in rows}
        for pk, booked, is_over, other_claims in _BOOKED.rows(**_columns(pairs)):
            if not is_over and booked - other_claims >= amounts[pk]:
                backed.add(pk)
    return {row.pk: Reason.NOT_RESERVED for row in rows if row.pk not in backed}


def _is_of_its_mode(row: OutgoingTransaction) -> bool:
    return row.purpose != _Purpose.TEST_PAYMENT or row.mode == "test"


def _reservations(row: OutgoingTransaction) -> list[Reservation]:
    find = OF.get(row.purpose)
    try:
        return (
            find(row.reference)
            if find is not None and (row.store_id is None) == (row.purpose == _Purpose.WITHDRAWAL)
            else []
        )
    except ValueError:  # a reference that no app of ours has made
        return []


def _columns(pairs: Sequence[tuple[OutgoingTransaction, Reservation]]) -> dict[str, str]:
    return {
        "ids": array(row.pk for row, _ in pairs),
        "stores": array(row.store_id or "" for row, _ in pairs),
        "modes": array(row.mode for row, _ in pairs),
        "assets": array(row.asset_id for row, _ in pairs),
        "purposes": array(row.purpose for row, _ in pairs),
        "accounts": array(reservation.account for _, reservation in pairs),
        "signs": array(reservation.sign for _, reservation in pairs),
        "keys": array(reservation.key for _, reservation in pairs),
        "ends": array(" ".join(reservation.ends) for _, reservation in pairs),
        "others": array(" ".join(reservation.siblings) for _, reservation in pairs),
    }
