"""Invariants of payment links: a stock is never oversold, and pieces given back were never paid
for."""

from apps.core.invariant import Invariant

LINKS = (
    Invariant(
        "stock_never_oversold",
        "No payment link has more payments that are open or completed than its stock",
        "SELECT count(*) FROM links_paymentlink WHERE stock IS NOT NULL",
        """
SELECT 'payment link ' || l.id, count(*) || ' payments are open or completed, its stock is ' ||
    l.stock
FROM links_paymentlink l JOIN links_linkpayment x ON x.link_id = l.id
    JOIN payments_payment p ON p.id = x.payment_id
WHERE l.stock IS NOT NULL AND (p.status IN ('pending', 'processing') OR p.completed_at IS NOT NULL)
GROUP BY l.id, l.stock HAVING count(*) > l.stock
UNION ALL SELECT 'link payment ' || x.id, 'its piece was given back, and it is ' || p.status
FROM links_linkpayment x JOIN payments_payment p ON p.id = x.payment_id
WHERE x.released_at IS NOT NULL
    AND (p.status IN ('pending', 'processing') OR p.completed_at IS NOT NULL)
""",
    ),
    Invariant(
        "link_payments_fit",
        "Every payment made at a link is kept with it, and is of the link's store and mode",
        "SELECT count(*) FROM links_linkpayment",
        """
SELECT 'link payment ' || x.id, 'payment ' || p.id || ' is of another store or mode than link ' ||
    l.id
FROM links_linkpayment x JOIN links_paymentlink l ON l.id = x.link_id
    JOIN payments_payment p ON p.id = x.payment_id
WHERE (p.store_id, p.mode) IS DISTINCT FROM (l.store_id, l.mode)
UNION ALL SELECT 'payment ' || (e.object ->> 'payment_intent_id'),
    'it was made at a link, which knows nothing of it'
FROM webhooks_event e JOIN links_paymentlink l
    ON l.id::text = e.object #>> '{metadata,payment_link_id}' AND l.store_id = e.store_id
    JOIN payments_payment p ON p.id::text = e.object ->> 'payment_intent_id'
WHERE e.type = 'payment_intent.created' AND e.account_id IS NULL
    AND p.created_with = 'hosted_page' AND NOT EXISTS (
    SELECT FROM links_linkpayment x
    WHERE x.payment_id::text = e.object ->> 'payment_intent_id' AND x.link_id = l.id)
""",
    ),
)
