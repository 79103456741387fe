"""Seals over the audit log: each is a hash of the one before it and of the lines it covers, so that
a later change shows.

A job seals what has been committed; no act ever waits for it. The hash is stated in
docs/operators.md, for anyone who keeps seals elsewhere.
"""

from datetime import datetime, timedelta

import structlog
from django.db import connection, transaction

from apps.core.db import locks
from apps.stores.models import AuditSeal

log = structlog.get_logger(__name__)
FIRST = "0" * 64  # what the first seal follows
LINES_MAX = 1000
SEALS_MAX = 100
# No transaction takes this long: what is before a seal as old as this, and has none, was not
# there then.
LOOKED_BACK = timedelta(days=1)
_MOMENT = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US')"
_LINE = f"""
jsonb_build_array(e.id, {_MOMENT.format("e.at")}, e.store_id, e.mode, e.actor_kind, e.actor_id,
e.actor_name, e.address, e.request_id, e.action, e.target_type, e.target_id, e.target_name,
e.reason, e.details)::text"""
# The hash of a seal `s`, whose lines are asked for: to be put into a statement.
SEAL_SQL = f"""
encode(sha256(convert_to(concat_ws(E'\\n', s.number, {_MOMENT.format("s.sealed_at")}, s.previous,
(SELECT string_agg({_LINE}, E'\\n' ORDER BY e.id)
FROM stores_auditentry e WHERE e.id = ANY (s.entry_ids))), 'UTF8')),
    'hex')"""  # noqa: S608  # our own text
_UNSEALED = """
WITH old AS (
    SELECT number, (SELECT max(id) FROM unnest(entry_ids) id) AS last_id FROM stores_auditseal
        WHERE sealed_at < %s
    ORDER BY number DESC LIMIT 1
), sealed AS (
    SELECT unnest(entry_ids) AS id FROM stores_auditseal
        WHERE number >= coalesce((SELECT number FROM old), 0)
)
SELECT id FROM stores_auditentry WHERE id > coalesce((SELECT last_id FROM old), 0)
EXCEPT SELECT id FROM sealed ORDER BY id LIMIT %s"""
_ADD = f"""
INSERT INTO stores_auditseal (number, sealed_at, entry_ids, previous, seal)
SELECT s.number, s.sealed_at, s.entry_ids, s.previous, {SEAL_SQL}
FROM (SELECT %s::bigint AS number, %s::timestamptz AS sealed_at, %s::bigint[] AS entry_ids,
    %s::text AS previous) s
RETURNING seal"""  # noqa: S608  # our own text


def seal_lines(at: datetime) -> int:
    """Seal every committed line that has no seal; how many seals that took. Two at once are one
    after the other."""
    count = 0
    while count < SEALS_MAX and _seal_once(at):
        count += 1
    return count


def newest() -> AuditSeal | None:
    """The seal that represents all before it."""
    return AuditSeal.objects.order_by("-number").first()


def _seal_once(at: datetime) -> bool:
    with transaction.atomic(), connection.cursor() as cursor:
        locks.hold_in_transaction(locks.LockKind.AUDIT_SEALS, "")
        cursor.execute(_UNSEALED, [at - LOOKED_BACK, LINES_MAX])
        ids = [row[0] for row in cursor.fetchall()]
        if not ids:
            return False
        last = newest()
        number = last.number + 1 if last else 1
        cursor.execute(_ADD, [number, at, ids, last.seal if last else FIRST])
        (seal,) = cursor.fetchone()
    log.info("audit_log_sealed", number=number, seal=seal, lines=len(ids))
    return True
