"""Records of a run since a point: those written by a transaction at or after its boundary, and
their related records.

PostgreSQL keeps with every row which transaction wrote it (`xmin`), also of one that was rewritten
with the triggers off. Each table is read once; the invariants then read no other rows.
"""

import re
from collections.abc import Mapping

from django.db import connection

from apps.core.db.sql import Arguments
from apps.core.invariant import Invariant, written_since
from apps.ledger import keys

_IDS = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _payments_of(table: str) -> str:
    return f"SELECT payment_id FROM {table} c WHERE {written_since('c')}"  # noqa: S608  # ours


def _id(text: str) -> str:
    """A text as the id that it may be, null when it is none."""
    return f"CASE WHEN {text} ~ '^{_IDS}$' THEN ({text})::uuid END"


def _records_of(table: str, column: str = "id") -> str:
    return f"SELECT {column} FROM {table} c WHERE {written_since('c')}"  # noqa: S608  # our own text


# A record is what a movement serves: a payment, a payout, a swap, a draw. A deposit that another
# payment of the store took ties the two together.
_TOUCHED = f"""
WITH RECURSIVE deposits AS MATERIALIZED (
    SELECT d.id, d.address_id FROM chain_deposit d WHERE {written_since("d")}
    UNION SELECT d.id, d.address_id FROM chain_block b JOIN chain_deposit d
        ON d.chain_id = b.chain_id AND d.block_number = b.number WHERE {written_since("b")}
), movements AS MATERIALIZED (
    SELECT c.id FROM ledger_movement c WHERE {written_since("c")}
    UNION SELECT c.movement_id FROM ledger_entry c WHERE {written_since("c")}
    UNION SELECT m.id FROM deposits d JOIN ledger_movement m ON m.key = {keys.DEPOSIT.sql("d.id")}
    UNION SELECT m.id FROM chain_outgoingtransaction c JOIN ledger_movement m
        ON m.key IN ({keys.SWEEP.sql("c.tx_hash")}, {keys.SWEEP.sql("c.tx_hash", "c.id")},
            {keys.SWEEP_GAS.sql("c.tx_hash")})
        WHERE c.purpose IN ('sweep', 'sweep_gas', 'sweep_batch') AND {written_since("c")}
), booked_deposits AS MATERIALIZED (
    SELECT d.id, d.address_id FROM (
        SELECT {_id(keys.subject_sql("m.key"))} AS id
        FROM movements JOIN ledger_movement m USING (id)
        WHERE m.kind IN ('deposit_confirmed', 'simulated_deposit_changed')
    ) booked JOIN chain_deposit d USING (id)
    UNION SELECT id, address_id FROM deposits
), outgoing AS MATERIALIZED (
    SELECT {_id("left(c.reference, 36)")} AS id FROM chain_outgoingtransaction c
        WHERE c.purpose IN ('refund', 'swap') AND {written_since("c")}
), changed AS (
    SELECT m.reference AS id FROM movements JOIN ledger_movement m USING (id)
    UNION {_records_of("payments_payment")}
    UNION {_payments_of("payments_paymentaddress")}
    UNION {_payments_of("payments_paymentevent")}
    UNION {_payments_of("payments_refund")}
    UNION {_payments_of("payments_latedeposit")}
    UNION {_payments_of("payments_transferreturn")}
    UNION {_payments_of("payments_heldrefund")}
    UNION {_payments_of("payments_refundlink")}
    UNION SELECT h.payment_id FROM chain_payer c JOIN payments_heldrefund h
        ON h.payer_address = c.address WHERE {written_since("c")}
    UNION SELECT r.payment_id FROM chain_payer c JOIN payments_refund r
        ON r.destination_address = c.address WHERE {written_since("c")}
    UNION SELECT a.payment_id FROM booked_deposits d
        JOIN payments_paymentaddress a ON a.address_id = d.address_id
    UNION SELECT {_id("c.object ->> 'payment_intent_id'")} FROM webhooks_event c
        WHERE {written_since("c")}
    UNION SELECT {_id("e.object ->> 'payment_intent_id'")}
        FROM webhooks_delivery c JOIN webhooks_event e ON e.id = c.event_id
        WHERE c.is_test AND {written_since("c")}
    UNION SELECT r.payment_id FROM outgoing c JOIN payments_refund r ON r.id = c.id
    UNION SELECT r.payment_id FROM outgoing c JOIN payments_transferreturn r ON r.id = c.id
    UNION SELECT s.id FROM outgoing c JOIN swaps_swap s ON s.id = c.id
    UNION {_records_of("payouts_payout")}
    UNION {_records_of("payouts_payouttransition", "payout_id")}
    UNION {_records_of("swaps_swap")}
    UNION {_records_of("swaps_swapstep", "swap_id")}
    UNION {_records_of("agents_settlement")}
), ties AS MATERIALIZED (
    SELECT a.payment_id AS id, l.payment_id AS other_id
    FROM payments_latedeposit l JOIN chain_deposit d ON d.id = l.deposit_id
    JOIN payments_paymentaddress a ON a.address_id = d.address_id WHERE a.payment_id <> l.payment_id
), records AS (
    SELECT id FROM changed WHERE id IS NOT NULL
    UNION SELECT CASE r.id WHEN t.id THEN t.other_id ELSE t.id END
        FROM records r JOIN ties t ON r.id IN (t.id, t.other_id)
), of_records AS MATERIALIZED (
    SELECT id FROM movements
    UNION SELECT m.id FROM records r JOIN ledger_movement m ON m.reference = r.id
), around AS (
    -- Beside each one that was written, so that their dates can be compared.
    SELECT n.id FROM movements t JOIN ledger_movement m ON m.id = t.id CROSS JOIN LATERAL (
        (SELECT id FROM ledger_movement WHERE mode = 'live' AND id < m.id ORDER BY id DESC LIMIT 1)
        UNION ALL
        (SELECT id FROM ledger_movement WHERE mode = 'live' AND id > m.id ORDER BY id LIMIT 1)
    ) n WHERE m.mode = 'live'
), newest_entries AS (
    SELECT n.id FROM ledger_account c CROSS JOIN LATERAL (
        SELECT id FROM ledger_entry WHERE account_id = c.id ORDER BY id DESC LIMIT 1
    ) n WHERE {written_since("c")}
)
SELECT ARRAY(SELECT id FROM records), ARRAY(SELECT id FROM of_records),
    ARRAY(SELECT id FROM around UNION SELECT id FROM of_records),
    ARRAY(SELECT id FROM newest_entries),
    ARRAY(SELECT a.address_id FROM records r JOIN payments_paymentaddress a ON a.payment_id = r.id
        UNION SELECT address_id FROM booked_deposits),
    ARRAY(SELECT h.sequence FROM records r JOIN payments_paymentevent h ON h.payment_id = r.id
        WHERE h.event_type = 'payment_intent.created')
"""  # noqa: S608  # our own text

_OF_RECORD = "id = ANY (%(records)s::uuid[])"
_OF_PAYMENT = "payment_id = ANY (%(records)s::uuid[])"
_SELECT = "SELECT * FROM {table} WHERE {condition}"
_ROWS = {
    "ledger_movement": "id = ANY (%(movements)s::bigint[])",
    "ledger_entry": "movement_id = ANY (%(movements)s::bigint[])",
    "payments_payment": _OF_RECORD,
    "payments_paymentaddress": _OF_PAYMENT,
    "payments_paymentevent": _OF_PAYMENT,
    "payments_refund": _OF_PAYMENT,
    "payments_latedeposit": _OF_PAYMENT,
    "payments_transferreturn": _OF_PAYMENT,
    "payments_heldrefund": _OF_PAYMENT,
    "payments_refundlink": _OF_PAYMENT,
    "chain_deposit": "address_id = ANY (%(addresses)s::text[])",
    "payouts_payout": _OF_RECORD,
    "payouts_payouttransition": "payout_id = ANY (%(records)s::uuid[])",
    "swaps_swap": _OF_RECORD,
    "swaps_swapstep": "swap_id = ANY (%(records)s::uuid[])",
    "agents_settlement": _OF_RECORD,
    "webhooks_event": (
        f"{written_since('webhooks_event')}"
        " OR object ->> 'payment_intent_id' = ANY (%(records)s::uuid[]::text[])"
    ),
}
WHOLE: Arguments = {"is_whole": True, "boundary": None, "creations": None}


def touched_since(boundary_xid: int) -> Arguments:
    """Parameters of a run since that boundary, beside the shared ones."""
    with connection.cursor() as cursor:
        cursor.execute(_TOUCHED, {"boundary": str(boundary_xid)})
        records, movements, dated, newest_entries, addresses, creations = cursor.fetchone()
    return {
        "is_whole": False,
        "boundary": str(boundary_xid),
        "records": records,
        "movements": movements,
        "dated_movements": dated,
        "newest_entries": newest_entries,
        "addresses": addresses,
        "creations": creations,
    }


def narrowing(invariant: Invariant) -> str:
    """Common table expressions that hide each table of the invariant's query behind its touched
    rows."""
    if not invariant.is_incremental:
        return ""
    rows = {
        table: _SELECT.format(table=table, condition=condition)
        for table, condition in _ROWS.items()
    }
    return _hiding({**rows, **invariant.narrowed}, invariant.counted + invariant.breaches)


def _hiding(rows: Mapping[str, str], query: str) -> str:
    expressions = [
        f"{table} AS ({rows})"
        for table, rows in rows.items()
        if rows and re.search(rf"\b{table}\b", query)
    ]
    return f"WITH {', '.join(expressions)} " if expressions else ""
