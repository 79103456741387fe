"""Questions of the sweeper to the records: where coins are left, and which are worth a sweep."""

from apps.core.rows import PAUSED_SQL

# What is left at the addresses of an asset: of those where it may be worth a sweep, or of those
# where less was left. A deposit may be worth one until what is left at its address was found to be
# less, which is kept then. Transactions are asked for address by address: each of the three
# questions is answered by a partial index.
LEFT = """
SELECT a.address, a.native_chain_id, a.watch_balance_until, d.amount - coalesce(o.amount, 0)
    AS amount, EXISTS (SELECT 1 FROM chain_outgoingtransaction t WHERE t.chain_id = %(chain)s
        AND t.from_address = a.address AND t.purpose = 'sweep'
        AND t.status IN ('requested', 'signed', 'submitted', 'review'))
    OR EXISTS (SELECT 1 FROM chain_outgoingtransaction t WHERE t.chain_id = %(chain)s
        AND t.to_address = a.address AND t.purpose = 'sweep_gas'
        AND t.status IN ('requested', 'signed', 'submitted', 'review')) AS is_under_way
FROM (SELECT DISTINCT address_id FROM chain_deposit
    WHERE chain_id = %(chain)s AND asset_id = %(asset)s AND NOT is_simulated AND NOT is_lost
      AND status = 'confirmed' AND handled_status = 'confirmed' {which}) held
JOIN chain_address a ON a.address = held.address_id AND a.mode = %(mode)s
    AND a.purpose = 'deposit'
CROSS JOIN LATERAL (SELECT sum(amount_atomic) AS amount FROM chain_deposit
    WHERE address_id = a.address AND chain_id = %(chain)s AND asset_id = %(asset)s
      AND NOT is_simulated AND NOT is_lost AND status = 'confirmed'
      AND handled_status = 'confirmed') d
CROSS JOIN LATERAL (SELECT sum(CASE WHEN status <> 'failed' AND asset_id = %(asset)s
        THEN amount_atomic ELSE 0 END
                             + CASE WHEN %(pays_fees)s THEN network_fee_atomic ELSE 0 END) AS amount
    FROM chain_outgoingtransaction
    WHERE chain_id = %(chain)s AND from_address = a.address AND purpose = 'sweep') o
"""
UNSWEPT = LEFT.format(which="AND is_unswept")
# Those with the most, by what was left when they were set aside: no less than is left now, but
# where something has come since, which is unswept.
SET_ASIDE_WITH = """
SELECT address_id FROM chain_deposit WHERE chain_id = %(chain)s AND asset_id = %(asset)s
    AND NOT is_unswept AND left_atomic > 0 ORDER BY left_atomic DESC LIMIT %(fullest)s
"""
FULLEST = LEFT.format(which=f"AND address_id IN ({SET_ASIDE_WITH})")
# Those where something has waited since before a moment.
SET_ASIDE_BEFORE = """
SELECT address_id FROM chain_deposit WHERE chain_id = %(chain)s AND asset_id = %(asset)s
    AND NOT is_unswept AND left_atomic > 0 AND detected_at <= %(before)s
ORDER BY left_atomic DESC LIMIT %(fullest)s
"""
AGED = LEFT.format(which=f"AND address_id IN ({SET_ASIDE_BEFORE})")
CANDIDATES = f"""
SELECT address, amount FROM ({{addresses}}) rest
WHERE amount >= %(least)s AND NOT is_under_way AND address NOT IN ({PAUSED_SQL})
  AND (%(is_wanted)s OR native_chain_id IS NULL OR watch_balance_until IS NULL
      OR watch_balance_until <= %(at)s)
ORDER BY amount DESC LIMIT %(limit)s
"""  # noqa: S608  # our own text
# Those whose sweep costs too much of them.
WAITING = f"""
SELECT count(*), coalesce(sum(amount), 0) FROM ({UNSWEPT}) rest
WHERE amount >= %(least)s AND amount < %(most)s AND NOT is_under_way
"""  # noqa: S608  # our own text
SET_ASIDE = f"""
UPDATE chain_deposit SET is_unswept = false, left_atomic = found.amount FROM (
    SELECT d.id, rest.amount FROM ({UNSWEPT}) rest
    JOIN chain_deposit d ON d.address_id = rest.address
    WHERE rest.amount < %(least)s AND NOT rest.is_under_way AND d.chain_id = %(chain)s
      AND d.asset_id = %(asset)s AND d.is_unswept AND NOT d.is_simulated AND NOT d.is_lost
      AND d.status = 'confirmed' AND d.handled_status = 'confirmed' LIMIT %(limit)s) found
WHERE chain_deposit.id = found.id
"""  # noqa: S608  # our own text
# And of which nobody knows what was left: they were set aside before that was kept.
LOOK_AGAIN = """
UPDATE chain_deposit SET is_unswept = true
WHERE chain_id = %(chain)s AND asset_id = %(asset)s AND NOT is_unswept
    AND (left_atomic IS NULL OR (left_atomic > 0 AND left_atomic >= %(least)s))
"""
# What was brought from an address since it was set aside isn't left there any more.
CORRECT = f"""
UPDATE chain_deposit d SET left_atomic = greatest(rest.amount, 0) FROM ({FULLEST}) rest
WHERE d.address_id = rest.address AND d.chain_id = %(chain)s AND d.asset_id = %(asset)s
    AND NOT d.is_unswept AND d.left_atomic > greatest(rest.amount, 0) AND NOT rest.is_under_way
"""  # noqa: S608  # our own text
