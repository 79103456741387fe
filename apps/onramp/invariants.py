"""Invariants of card payments: their history says what they are, and no coins go back to a provider
by themselves."""

from apps.core.invariant import Invariant

CARDS = (
    Invariant(
        "card_sessions_followed",
        "Every card payment that somebody was sent to is known to its intent, and its history ends"
        " where it stands",
        "SELECT count(*) FROM onramp_fundingsession WHERE url <> ''",
        """
SELECT 'session ' || s.id,
    'its intent does not know that it is card-funded, or is of another store or mode'
FROM onramp_fundingsession s JOIN payments_payment p ON p.id = s.payment_id
WHERE s.url <> '' AND (NOT p.is_card_funded OR p.store_id <> s.store_id OR p.mode <> s.mode)
UNION ALL SELECT 'session ' || s.id, 'it is ' || s.status || ', its history ends ' || coalesce(
    (SELECT c.to_status FROM onramp_sessionchange c WHERE c.session_id = s.id ORDER BY c.id DESC
        LIMIT 1), 'nowhere')
FROM onramp_fundingsession s WHERE s.url <> '' AND s.status IS DISTINCT FROM
    (SELECT c.to_status FROM onramp_sessionchange c WHERE c.session_id = s.id ORDER BY c.id DESC
        LIMIT 1)
UNION ALL SELECT 'session ' || s.id, 'its coins go to ' || s.destination_address ||
    ', which is no address of its payment'
FROM onramp_fundingsession s WHERE s.url <> '' AND NOT EXISTS (
    SELECT FROM payments_paymentaddress a WHERE a.payment_id = s.payment_id
        AND a.asset_id = s.asset_id AND lower(a.address_id) = lower(s.destination_address))
UNION ALL SELECT 'session ' || id, 'it is paid without a time, or has a time without being paid'
FROM onramp_fundingsession WHERE (status = 'paid') <> (paid_at IS NOT NULL)
""",
    ),
    Invariant(
        "card_payments_known",
        "Only an intent with a card payment is called card-funded or allows for a card's shortfall",
        "SELECT count(*) FROM payments_payment",
        """
SELECT 'payment ' || p.id, 'it is said to be paid by card, and has no card payment'
FROM payments_payment p WHERE (p.is_card_funded OR p.card_shortfall_bps > 0)
    AND NOT EXISTS (SELECT 1 FROM onramp_fundingsession s WHERE s.payment_id = p.id)
""",
        is_incremental=True,
    ),
    Invariant(
        "card_coins_stay",
        "No automatic refund was made of an intent after somebody had started to pay it by card",
        "SELECT count(*) FROM payments_payment WHERE is_card_funded",
        """
SELECT 'refund ' || r.id, 'it was sent by itself, and the coins came from a card provider'
FROM payments_refund r JOIN payments_payment p ON p.id = r.payment_id AND p.is_card_funded
WHERE r.reason LIKE 'failed\\_%%'
""",
    ),
)
