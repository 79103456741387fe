"""Invariants of verified businesses and of platform fees that were raised."""

from apps.core.invariant import Invariant

FEES = (
    Invariant(
        "businesses_verified",
        "Every store may take live payments since it was opened, since its verification was"
        " approved, or since the audit log says so",
        "SELECT count(*) FROM stores_store WHERE kyc_confirmed_at IS NOT NULL",
        """
SELECT 'store ' || s.id, 'it is verified, and nothing says who did it'
FROM stores_store s WHERE s.kyc_confirmed_at IS NOT NULL AND s.kyc_confirmed_at <> s.created_at
    AND s.created_at > (SELECT min(at) FROM stores_auditentry)
    AND NOT EXISTS (SELECT FROM stores_verification v WHERE v.store_id = s.id
        AND v.status = 'approved' AND v.reviewed_at = s.kyc_confirmed_at)
    AND NOT EXISTS (SELECT FROM stores_auditentry l WHERE l.target_id = s.id::text
        AND (l.details ? 'kyc_confirmed_at'
            OR l.action = 'staff.changed' AND NOT l.details ? 'typed'))
""",
    ),
    Invariant(
        "raised_fees_wait",
        "A platform fee that was raised holds fifteen days after the audit log says so",
        "SELECT count(*) FROM stores_store WHERE platform_fee_from IS NOT NULL",
        """
WITH lines AS (
    SELECT l.target_id, l.at, nullif(l.details -> 'platform_fee_fraction' ->> 0, 'None') AS before,
        nullif(l.details -> 'platform_fee_fraction' ->> 1, 'None') AS after,
        row_number() OVER (PARTITION BY l.target_id ORDER BY l.id DESC) AS number
    FROM stores_auditentry l WHERE l.details ? 'platform_fee_fraction'
        AND l.action IN ('account.changed', 'store.changed', 'staff.changed')
)
SELECT 'store ' || s.id, 'its platform''s fee is raised on ' || s.platform_fee_from ||
    ', and the audit log has no such raise'
FROM stores_store s WHERE s.platform_fee_from IS NOT NULL AND NOT EXISTS (
    SELECT FROM lines l WHERE l.target_id IN (s.id::text, s.platform_id::text)
        AND abs(extract(epoch FROM s.platform_fee_from - l.at) - 15 * 86400) < 60)
UNION ALL SELECT 'store ' || s.id, 'its platform''s fee was raised, and holds at once'
FROM stores_store s JOIN lines l ON l.target_id = s.id::text AND l.number = 1
WHERE s.platform_id IS NOT NULL AND s.platform_fee_from IS NULL
    AND l.before ~ '^[0-9.]+$' AND l.after ~ '^[0-9.]+$' AND l.after::numeric > l.before::numeric
    AND l.at > now() - interval '15 days'
""",
    ),
)
