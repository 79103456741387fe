"""Value of an entry when it was booked, in SQL and in Python alike.

A net is worth its gross less the fees, each half-even to the cent: the figure of the payment's own
page, and the three add up. In the books' currency, the store's, it is worth the same where it was
priced in it, else what the newest first rate of a day up to its own says.
"""

from decimal import Decimal

from apps.core import money

CURRENCY = (
    "CROSS JOIN LATERAL (SELECT coalesce(p.settlement_currency, %(store_currency)s) AS code)"
    " currency"
)
# The rate that an entry is valued at, where `condition` holds.
RATES = """
LEFT JOIN payments_paymentaddress k ON k.payment_id = p.id AND k.asset_id = e.asset_id
    AND {condition}
LEFT JOIN LATERAL (
    SELECT one.rate, one.source, one.as_of FROM assets_dailyrate one
    WHERE k.id IS NULL AND one.asset_id = e.asset_id AND one.currency = currency.code
        AND one.day <= (m.at AT TIME ZONE 'UTC')::date
    ORDER BY one.day DESC LIMIT 1
) d ON {condition}
"""


RATE = "coalesce(k.exchange_rate, d.rate)"
# In the books' currency, with its source.
BOOK_RATES = """
LEFT JOIN LATERAL (
    SELECT one.rate, one.source FROM assets_dailyrate one
    WHERE currency.code <> %(store_currency)s AND one.asset_id = e.asset_id
        AND one.currency = %(store_currency)s AND one.day <= (m.at AT TIME ZONE 'UTC')::date
    ORDER BY one.day DESC LIMIT 1
) b ON {condition}
"""
BOOK_RATE = f"CASE WHEN currency.code = %(store_currency)s THEN {RATE} ELSE b.rate END"


def half_even(amount: str, rate: str = RATE) -> str:
    """Cents of an amount at the entry's rate as money.cents_for_atomic rounds them, exactly: no
    numeric is divided."""
    exact = f"(abs({amount}) * ({rate}) * ('1e' || (2 - s.atomic_decimals))::numeric)"
    even = f"mod(floor({exact}), 2) = 0 AND {exact} - floor({exact}) = 0.5"
    return f"(sign({amount}) * CASE WHEN {even} THEN floor({exact}) ELSE round({exact}) END)"


# What was taken before a net was booked, each fee rounded by itself; it is after the rates.
FEES = f"""
LEFT JOIN LATERAL (
    SELECT coalesce(sum(f.amount_atomic), 0) AS atomic,
        coalesce(sum({half_even("f.amount_atomic")}), 0) AS cents
    FROM ledger_entry f
    WHERE e.role = 'net' AND f.movement_id = m.id AND f.asset_id = e.asset_id
        AND f.role IN ('service_fee', 'platform_fee')
) fee ON {{condition}}
"""  # noqa: S608  # only names of columns are put in
# The same with what they are worth in the books' currency.
BOOK_FEES = FEES.replace(
    " AS cents\n",
    f""" AS cents,
        coalesce(sum({half_even("f.amount_atomic", BOOK_RATE)}), 0) AS book_cents
""",
)
# What the store bore with an entry, of accounts that aren't its own: the shares that were taken
# before a net, and the part of a network fee that is left when the service has paid its own.
COSTS = """
LEFT JOIN LATERAL (
    SELECT coalesce(sum(f.amount_atomic) FILTER (WHERE f.role = 'service_fee'), 0) AS service,
        coalesce(sum(f.amount_atomic) FILTER (WHERE f.role = 'platform_fee'), 0) AS platform,
        coalesce(sum(f.amount_atomic) FILTER (WHERE f.role = 'network_fee'), 0) AS network
    FROM ledger_entry f JOIN ledger_account o ON o.id = f.account_id
        AND o.store_id IS DISTINCT FROM a.store_id
    WHERE f.movement_id = m.id AND f.asset_id = e.asset_id
        AND (e.role = 'net' AND f.role IN ('service_fee', 'platform_fee')
            OR (e.role = 'network_fee' OR m.kind = 'payout_confirmed') AND f.role = 'network_fee')
) cost ON e.role IN ('net', 'network_fee') OR m.kind = 'payout_confirmed'
"""
BOOK_CENTS = f"({half_even('(e.amount_atomic + fee.atomic)', BOOK_RATE)} - fee.book_cents)"
# What `worth_cents` says, added up by the database.
CENTS = f"({half_even('(e.amount_atomic + fee.atomic)')} - fee.cents)"


def worth_cents(
    amount_atomic: int, rate: Decimal, atomic_decimals: int, fee_atomic: int, fee_cents: int
) -> int:
    """Value of an entry in cents: a net is its gross less the fees, each half-even to the cent, so
    that the three add up."""
    return money.cents_for_atomic(amount_atomic + fee_atomic, rate, atomic_decimals) - fee_cents
