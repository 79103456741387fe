"""Invariants of the coins that a store accepts: the audit log and deposits say it."""

from apps.core.invariant import Invariant

ACCEPTED = (
    Invariant(
        "accepted_assets_logged",
        "Every store accepts what it was paid in and hasn't turned off since, and a coin is stopped"
        " for review exactly while a deposit of it is lost that nobody has reviewed",
        "SELECT count(*) FROM assets_acceptedasset",
        """
WITH lines AS (
    SELECT DISTINCT ON (store_id, mode, target_id) store_id, mode, target_id AS asset_id, action
    FROM stores_auditentry WHERE action IN ('asset.accepted', 'asset.no_longer_accepted')
    ORDER BY store_id, mode, target_id, id DESC
), taken AS (
    SELECT a.store_id, a.mode, a.asset_id FROM ledger_account a
    WHERE a.kind IN ('held', 'own_pending') AND EXISTS (
        SELECT FROM payments_payment p JOIN payments_paymentaddress w ON w.payment_id = p.id
        WHERE p.store_id = a.store_id AND p.mode = a.mode AND w.asset_id = a.asset_id)
        AND a.store_id = stores_origin(a.store_id)
), said AS (
    SELECT coalesce(t.store_id, l.store_id) AS store_id, coalesce(t.mode, l.mode) AS mode,
        coalesce(t.asset_id, l.asset_id) AS asset_id,
        coalesce(l.action = 'asset.accepted', true) AS is_accepted
    FROM taken t FULL JOIN lines l
        ON (l.store_id, l.mode, l.asset_id) = (t.store_id, t.mode, t.asset_id)
), lost AS (
    SELECT p.store_id, p.mode, d.asset_id, d.id, d.failed_at FROM chain_deposit d
    JOIN payments_paymentaddress w ON w.address_id = d.address_id
    JOIN payments_payment p ON p.id = w.payment_id WHERE d.is_lost
)
SELECT 'store ' || s.store_id || ' ' || s.mode || ' ' || s.asset_id, CASE WHEN s.is_accepted
    THEN 'it was accepted, and nobody has turned it off'
    ELSE 'it is accepted, and the audit log says that it was turned off' END
FROM said s LEFT JOIN assets_acceptedasset a
    ON (a.store_id, a.mode, a.asset_id) = (s.store_id, s.mode, s.asset_id)
WHERE (a.id IS NOT NULL) <> s.is_accepted
UNION ALL SELECT 'accepted asset ' || a.id, 'its deposit ' || l.id ||
    ' is lost, and nobody has ended a review'
FROM lost l JOIN assets_acceptedasset a
    ON (a.store_id, a.mode, a.asset_id) = (l.store_id, l.mode, l.asset_id)
WHERE a.suspended_at IS NULL
    AND l.failed_at < clock_timestamp() - make_interval(secs => %(stale_seconds)s)
    AND NOT EXISTS (SELECT FROM stores_auditentry e
    WHERE e.action = 'asset.review_ended' AND e.target_id = a.id::text)
    AND NOT EXISTS (SELECT FROM lines n WHERE (n.store_id, n.mode, n.asset_id)
        = (a.store_id, a.mode, a.asset_id))
UNION ALL SELECT 'accepted asset ' || a.id, 'it is stopped, and no deposit of it was lost'
FROM assets_acceptedasset a WHERE a.suspended_at IS NOT NULL AND a.lost_deposit_ids = '{}'
    AND NOT EXISTS (SELECT FROM lost l
        WHERE (l.store_id, l.mode, l.asset_id) = (a.store_id, a.mode, a.asset_id))
""",
    ),
)
