"""Seals over what was locked when payments were made: each is a hash of the one before it and of
the payments since then.

A job seals what has been committed; making a payment never waits for it. Each names the newest seal
of the audit log, so that neither of the two chains can be cut shorter without the other.
"""

import time
from datetime import datetime

import structlog
from django.db import connection, transaction

from apps.core.db import locks
from apps.payments.models import PaymentSeal
from apps.payments.states import CREATED_EVENT
from apps.stores.auditing import seals as audit_seals

log = structlog.get_logger(__name__)
FIRST = audit_seals.FIRST
PAYMENTS_MAX = 100
SEALS_MAX = 200
WAIT_SECONDS = 5.0
PAUSE_SECONDS = 0.1
_MOMENT = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US')"
_PAYMENT = f"""
jsonb_build_array(p.id, coalesce(own.archive_of_id, p.store_id), p.mode,
    {_MOMENT.format("p.created_at")},
    p.reference, p.settlement_amount_cents,
p.settlement_currency, {_MOMENT.format("coalesce(p.first_expires_at, p.expires_at)")},
    p.customer_pays_fee, p.fee_fraction,
    coalesce(platform.archive_of_id, p.platform_id), p.platform_fee_fraction,
p.agent_credential_id, p.order_id, p.idempotency_caller, p.idempotency_key,
    (SELECT jsonb_agg(jsonb_build_array(a.asset_id, a.address_id,
a.required_atomic, a.base_atomic, a.fee_atomic, a.exchange_rate, a.rate_source,
    a.required_confirmations) ORDER BY a.position)
FROM payments_paymentaddress a WHERE a.payment_id = p.id))::text"""  # noqa: S608  # our own text
# The hash of a seal `s` after the history line `s.after`: to be put into a statement.
SEAL_SQL = f"""
encode(sha256(convert_to(concat_ws(E'\\n', s.number, {_MOMENT.format("s.sealed_at")}, s.upto,
    s.count, s.audit_seal, s.previous,
(SELECT string_agg({_PAYMENT}, E'\\n' ORDER BY h.sequence) FROM payments_paymentevent h
    JOIN payments_payment p ON p.id = h.payment_id
    LEFT JOIN stores_store own ON own.id = p.store_id
    LEFT JOIN stores_store platform ON platform.id = p.platform_id
WHERE h.sequence > s.after AND h.sequence <= s.upto
    AND h.event_type = '{CREATED_EVENT}')), 'UTF8')), 'hex')"""  # noqa: S608  # our own text
_HORIZON = (
    "SELECT coalesce((SELECT max(sequence) FROM payments_paymentevent), 0),"
    " pg_current_xact_id()::text"
)
_IS_SETTLED = "SELECT pg_snapshot_xmin(pg_current_snapshot()) > %s::xid8"
_NEXT = f"""
SELECT coalesce(max(sequence), 0), count(*) FROM (
    SELECT sequence FROM payments_paymentevent WHERE sequence > %s AND sequence <= %s
        AND event_type = '{CREATED_EVENT}'
    ORDER BY sequence LIMIT {PAYMENTS_MAX}
) made"""  # noqa: S608  # our own text
_ADD = f"""
INSERT INTO payments_paymentseal (number, sealed_at, upto, count, audit_seal, previous, seal)
SELECT s.number, s.sealed_at, s.upto, s.count, s.audit_seal, s.previous, {SEAL_SQL}
FROM (SELECT %s::bigint AS number, %s::timestamptz AS sealed_at, %s::bigint AS after,
    %s::bigint AS upto, %s::bigint AS count,
             %s::text AS audit_seal, %s::text AS previous) s
RETURNING seal"""  # noqa: S608  # our own text


def seal_payments(at: datetime) -> int:
    """Seal every payment that has no seal; how many seals that took. Two at once are one after the
    other."""
    horizon = _horizon()
    count = 0
    while horizon is not None and count < SEALS_MAX and _seal_once(horizon, at):
        count += 1
    return count


def newest() -> PaymentSeal | None:
    """The seal that represents all before it."""
    return PaymentSeal.objects.order_by("-number").first()


def _horizon() -> int | None:
    """A line of history before which nothing more can be committed; None while somebody takes long
    over it.

    Lines are numbered before they are committed. Anyone who had drawn a lower number when this one
    was read had a transaction id by then, so all is there once every transaction up to our own has
    ended.
    """
    with connection.cursor() as cursor:
        cursor.execute(_HORIZON)
        sequence, own = cursor.fetchone()
        if connection.in_atomic_block:  # inside a caller's transaction, what that one sees
            return int(sequence)
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            cursor.execute(_IS_SETTLED, [own])
            if cursor.fetchone()[0]:
                return int(sequence)
            if time.monotonic() >= deadline:
                log.info("payments_unsealed", reason="a transaction takes long")
                return None
            time.sleep(PAUSE_SECONDS)


def _seal_once(horizon: int, at: datetime) -> bool:
    with transaction.atomic(), connection.cursor() as cursor:
        locks.hold_in_transaction(locks.LockKind.PAYMENT_SEALS, "")
        last = newest()
        of_audit = audit_seals.newest()
        after = last.upto if last else 0
        audit_seal = str(of_audit or "")
        cursor.execute(_NEXT, [after, horizon])
        upto, count = cursor.fetchone()
        if not count and audit_seal == (last.audit_seal if last else ""):
            return False
        number, previous = (last.number + 1, last.seal) if last else (1, FIRST)
        cursor.execute(_ADD, [number, at, after, max(upto, after), count, audit_seal, previous])
        (seal,) = cursor.fetchone()
    log.info("payments_sealed", number=number, seal=seal, payments=count)
    return True
