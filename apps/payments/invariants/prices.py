"""Invariants of what was locked when a payment was made: price, rate, fees and what is asked for in
each asset."""

from apps.core.invariant import Invariant, written_since
from apps.payments.seals import FIRST, SEAL_SQL
from apps.payments.states import CREATED_EVENT

_SEALED = ("payments_payment", "payments_paymentaddress", "payments_paymentevent")
# The seals of the payments that were touched since a point, and those made since then.
_TOUCHED = f"""
SELECT seal FROM (
    SELECT creation, min(number) OVER (
        ORDER BY upto DESC, creation NULLS FIRST ROWS UNBOUNDED PRECEDING) AS seal
    FROM (SELECT upto, number, NULL::bigint AS creation FROM payments_paymentseal
          UNION ALL SELECT n, NULL, n FROM unnest(%(creations)s::bigint[]) n) lines
) found WHERE creation IS NOT NULL AND seal IS NOT NULL
UNION SELECT number FROM payments_paymentseal n
    WHERE {written_since("n")}
"""  # noqa: S608  # our own text

PRICES = (
    Invariant(
        "prices_locked",
        "The amount due at each address of a payment is its price at the locked rate and "
        "fees, rounded up to what can be entered",
        "SELECT count(*) FROM payments_paymentaddress",
        """
WITH scaled AS (
    SELECT a.*, p.customer_pays_fee,
        p.settlement_amount_cents * ('1e' || 18 + s.display_decimals)::numeric AS cents,
           100 * trunc(a.exchange_rate * 1e18) AS rate,
               ('1e' || s.atomic_decimals - s.display_decimals)::numeric AS step,
           trunc((1 - p.fee_fraction - coalesce(p.platform_fee_fraction, 0)) * 1e8) AS left_over
    FROM payments_paymentaddress a JOIN payments_payment p ON p.id = a.payment_id
        JOIN assets_asset s ON s.id = a.asset_id
), priced AS (
    SELECT *, div(cents + rate - 1, nullif(rate, 0)) * step AS base FROM scaled
), asked AS (
    SELECT *, CASE WHEN customer_pays_fee
        THEN div(base * 1e8 + left_over * step - 1, nullif(left_over * step, 0)) * step ELSE base
            END AS total FROM priced
)
SELECT 'payment ' || k.payment_id, 'it asks for ' || k.required_atomic || ' ' || k.asset_id ||
    ', its price is '
       || coalesce(k.total::text, 'nothing')
FROM asked k LEFT JOIN agents_paymentoffer f ON f.payment_id = k.payment_id
    AND f.asset_id = k.asset_id
WHERE k.required_atomic IS DISTINCT
    FROM coalesce(CASE WHEN k.base_atomic IS NULL THEN f.amount_atomic END, k.total)
   OR (k.base_atomic IS NOT NULL AND (NOT k.customer_pays_fee OR k.base_atomic <> k.base))
   OR k.base_atomic + k.fee_atomic <> k.required_atomic
       OR (k.base_atomic IS NULL) <> (k.fee_atomic IS NULL)
   OR (k.customer_pays_fee AND k.base_atomic IS NULL AND f.id IS NULL)
UNION ALL SELECT 'payment ' || p.id, 'nothing is asked for' FROM payments_payment p
WHERE NOT EXISTS (SELECT 1 FROM payments_paymentaddress a WHERE a.payment_id = p.id)
""",
        is_incremental=True,
    ),
    Invariant(
        "payments_sealed",
        "Every payment is unchanged since it was sealed, the seals form a chain, and the "
        "audit log has the seals they refer to",
        "SELECT coalesce(sum(count), 0) FROM payments_paymentseal",
        f"""
WITH chain AS (
    SELECT *, lag(number, 1, 0::bigint) OVER w AS before, lag(seal, 1, '{FIRST}')
        OVER w AS before_seal,
           lag(upto, 1, 0::bigint) OVER w AS after
    FROM payments_paymentseal WINDOW w AS (ORDER BY number)
)
SELECT 'payment seal ' || s.number, 'its ' || s.count ||
    ' payments are not as they were sealed: ' || coalesce((
    SELECT string_agg(p.reference, ', ' ORDER BY h.sequence) FROM payments_paymentevent h
        JOIN payments_payment p ON p.id = h.payment_id
    WHERE h.sequence > s.after AND h.sequence <= s.upto
        AND h.event_type = '{CREATED_EVENT}'), 'they are gone')
FROM chain s WHERE (%(is_whole)s OR s.number IN ({_TOUCHED})) AND s.seal <> {SEAL_SQL}
UNION ALL SELECT 'payment seal ' || number, 'it doesn''t follow the seal before it' FROM chain
WHERE number <> before + 1 OR previous <> before_seal OR upto < after
UNION ALL
    SELECT 'payment seal ' || s.number, 'the audit log no longer has the seal ' || s.audit_seal
    FROM chain s
WHERE s.audit_seal <> '' AND NOT EXISTS (
    SELECT 1 FROM stores_auditseal a WHERE a.number = split_part(s.audit_seal, ':', 1)::bigint
    AND a.seal = split_part(s.audit_seal, ':', 2))
UNION ALL SELECT 'payment ' || h.payment_id, 'it has no seal' FROM payments_paymentevent h
WHERE h.event_type = '{CREATED_EVENT}' AND h.created_at < now() - interval '1 day'
  AND h.sequence > (SELECT coalesce(max(upto), 0) FROM payments_paymentseal)
""",  # noqa: S608  # our own text
        is_incremental=True,
        narrowed=dict.fromkeys(_SEALED, ""),
    ),
)
