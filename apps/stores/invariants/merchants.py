"""Invariants of the counts of platforms' merchants."""

from apps.core.invariant import Invariant

MERCHANTS = (
    Invariant(
        "merchants_counted",
        "Every merchant is counted for its platform as what it is, and the platform's counts are"
        " the sums of its merchants",
        "SELECT count(*) FROM stores_countedmerchant WHERE platform_id IS NOT NULL",
        """
WITH merchant AS (
    SELECT s.id, s.platform_id, s.kyc_confirmed_at IS NOT NULL AS is_activated,
        EXISTS (SELECT FROM stores_verification v
            WHERE v.store_id = s.id AND v.status = 'approved') AS is_verified,
        s.kyc_confirmed_at IS NULL AND EXISTS (SELECT FROM stores_verification v
            WHERE v.store_id = s.id AND v.status = 'pending') AS is_pending
    FROM stores_store s WHERE s.platform_id IS NOT NULL AND s.deleted_at IS NULL
), counted AS (
    SELECT platform_id, count(*) AS accounts, count(*) FILTER (WHERE is_activated) AS activated,
        count(*) FILTER (WHERE is_verified) AS verified,
        count(*) FILTER (WHERE is_pending) AS pending
    FROM stores_countedmerchant WHERE platform_id IS NOT NULL GROUP BY 1
), kept AS (
    SELECT store_id, sum(accounts) AS accounts, sum(activated) AS activated,
        sum(verified) AS verified, sum(pending) AS pending
    FROM stores_merchantcount GROUP BY 1
)
SELECT 'store ' || coalesce(m.id, c.store_id), 'it isn''t counted as what it is'
FROM merchant m
FULL JOIN (SELECT * FROM stores_countedmerchant WHERE platform_id IS NOT NULL) c
    ON c.store_id = m.id
WHERE (m.platform_id, m.is_activated, m.is_verified, m.is_pending)
    IS DISTINCT FROM (c.platform_id, c.is_activated, c.is_verified, c.is_pending)
UNION ALL
SELECT 'store ' || coalesce(k.store_id, c.platform_id), 'its merchants aren''t as many as it has'
FROM kept k FULL JOIN counted c ON c.platform_id = k.store_id
WHERE (coalesce(k.accounts, 0), coalesce(k.activated, 0), coalesce(k.verified, 0),
        coalesce(k.pending, 0))
    <> (coalesce(c.accounts, 0), coalesce(c.activated, 0), coalesce(c.verified, 0),
        coalesce(c.pending, 0))
""",
    ),
)
