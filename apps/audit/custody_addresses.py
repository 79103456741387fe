"""The balance that each deposit address should have at a block, by its deposits and sweeps: it
shows where coins are that the books don't have."""

from apps.assets.models import Asset
from apps.core.db.sql import Statement, array

_EXPECTED = Statement("""
SELECT a.address,
    coalesce((SELECT sum(amount_atomic) FROM chain_deposit d
        WHERE d.address_id = a.address AND d.asset_id = %(asset)s AND NOT d.is_simulated
            AND d.status <> 'failed' AND d.block_number <= %(block)s), 0)
    + coalesce((SELECT sum(o.amount_atomic) FROM chain_outgoingtransaction o
        WHERE o.chain_id = %(chain)s AND o.to_address = a.address AND o.asset_id = %(asset)s
            AND o.purpose = 'sweep_gas' AND o.status = 'confirmed'
            AND o.block_number <= %(block)s), 0)
    - coalesce((SELECT sum(
            CASE WHEN o.asset_id = %(asset)s AND o.status = 'confirmed'
                THEN o.amount_atomic ELSE 0 END
            + CASE WHEN %(pays_fees)s THEN o.network_fee_atomic ELSE 0 END)
        FROM chain_outgoingtransaction o
        WHERE o.chain_id = %(chain)s AND o.from_address = a.address AND o.purpose = 'sweep'
            AND o.status IN ('confirmed', 'failed') AND o.block_number <= %(block)s), 0)
FROM unnest(%(addresses)s::text[]) AS a(address)
JOIN chain_address c ON c.address = a.address AND c.purpose = 'deposit'
""")


def expected(asset: Asset, addresses: list[str], block: int) -> dict[str, int]:
    """In atomic units; of addresses that aren't for deposits nothing."""
    rows = _EXPECTED.rows(
        asset=asset.pk,
        chain=asset.chain_id,
        block=block,
        pays_fees=asset.pays_fees,
        addresses=array(addresses),
    )
    return {address: int(amount) for address, amount in rows}
