"""Invariants of the audit log: every line as it was sealed, every seal following the one before, no
line slipped in later."""

from apps.core.invariant import Invariant
from apps.stores.auditing.seals import FIRST, SEAL_SQL

# A line is written at its moment and committed soon after: one much older than the seal before its
# own was not there then.
_LATE = "interval '15 minutes'"

AUDIT_LOG = (
    Invariant(
        "audit_log_sealed",
        "Every audit log entry is unchanged since it was sealed, and the seals form a chain",
        "SELECT count(*) FROM stores_auditentry",
        f"""
WITH chain AS (SELECT *, lag(number, 1, 0::bigint) OVER w AS before, lag(seal, 1, '{FIRST}')
    OVER w AS before_seal,
    lag(sealed_at) OVER w AS before_at FROM stores_auditseal WINDOW w AS (ORDER BY number)),
sealed AS (SELECT number, before_at, unnest(entry_ids) AS id FROM chain)
SELECT 'seal ' || s.number, 'its lines are not those that were sealed' FROM chain s
    WHERE s.seal <> {SEAL_SQL}
UNION ALL SELECT 'seal ' || number, 'it doesn''t follow the seal before it' FROM chain
    WHERE number <> before + 1 OR previous <> before_seal
UNION ALL SELECT 'line ' || id, 'it is sealed ' || count(*) || ' times' FROM sealed GROUP BY id
    HAVING count(*) > 1
UNION ALL SELECT 'line ' || e.id, 'it is older than the seal before its own' FROM sealed
    JOIN stores_auditentry e USING (id)
WHERE e.at < before_at - {_LATE}
UNION ALL SELECT 'line ' || id, 'it has no seal' FROM (
    SELECT id FROM stores_auditentry WHERE at < now() - interval '1 day' EXCEPT SELECT id
        FROM sealed) unsealed
""",  # noqa: S608  # our own text
    ),
)
