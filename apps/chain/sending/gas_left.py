"""The coin of fees that sweeps leave at deposit addresses: kept when one is booked, and collected
once that is worth its gas."""

from datetime import datetime

from apps.assets.models import Chain
from apps.core.db.sql import Statement
from apps.core.models import RowTurn

AT_ONCE = 200
_DONE = "~"  # comes after every address

# Of an address: what was paid in and what was sent ahead, less what its sweeps have taken.
_NOTE = Statement("""
INSERT INTO chain_gasleft (address_id, chain_id, amount_atomic)
SELECT a.address, %(chain)s::varchar, greatest(0,
    coalesce((SELECT sum(d.amount_atomic) FROM chain_deposit d JOIN assets_asset t
        ON t.id = d.asset_id AND t.pays_fees
        WHERE d.address_id = a.address AND d.chain_id = %(chain)s::varchar AND NOT d.is_simulated
          AND NOT d.is_lost AND d.status = 'confirmed' AND d.handled_status = 'confirmed'), 0)
    + coalesce((SELECT sum(o.amount_atomic) FROM chain_outgoingtransaction o
        WHERE o.chain_id = %(chain)s::varchar AND o.to_address = a.address
          AND o.purpose = 'sweep_gas' AND o.status = 'confirmed'), 0)
    - coalesce((SELECT sum(o.network_fee_atomic + CASE WHEN t.pays_fees
            AND o.status <> 'failed' THEN o.amount_atomic ELSE 0 END)
        FROM chain_outgoingtransaction o JOIN assets_asset t ON t.id = o.asset_id
        WHERE o.chain_id = %(chain)s::varchar AND o.from_address = a.address
          AND o.purpose = 'sweep'), 0))
FROM chain_address a WHERE a.address = %(address)s::varchar
ON CONFLICT (address_id, chain_id) DO UPDATE SET amount_atomic = excluded.amount_atomic
RETURNING amount_atomic
""")
# What was swept before this was kept, in the order of addresses.
_SWEPT = Statement("""
SELECT DISTINCT from_address FROM chain_outgoingtransaction
WHERE chain_id = %(chain)s::varchar AND purpose = 'sweep' AND from_address > %(after)s::varchar
ORDER BY from_address LIMIT %(limit)s
""")
# The fullest first, of those that have nothing else to bring: a token that is still there needs it.
_WORTH = Statement("""
SELECT g.address_id, g.amount_atomic FROM chain_gasleft g
JOIN chain_address a ON a.address = g.address_id AND a.mode = %(mode)s
WHERE g.chain_id = %(chain)s::varchar AND g.amount_atomic >= %(least)s::numeric
  AND (a.native_chain_id IS NULL OR a.watch_balance_until IS NULL
      OR a.watch_balance_until <= %(at)s)
  AND NOT EXISTS (SELECT 1 FROM chain_deposit d WHERE d.address_id = g.address_id
      AND d.chain_id = g.chain_id AND d.is_unswept AND NOT d.is_simulated AND NOT d.is_lost)
  AND NOT EXISTS (SELECT 1 FROM chain_outgoingtransaction o WHERE o.chain_id = g.chain_id
      AND o.from_address = g.address_id AND o.purpose = 'sweep'
      AND o.status IN ('requested', 'signed', 'submitted', 'review'))
  AND NOT EXISTS (SELECT 1 FROM chain_outgoingtransaction o WHERE o.chain_id = g.chain_id
      AND o.to_address = g.address_id AND o.purpose = 'sweep_gas'
      AND o.status IN ('requested', 'signed', 'submitted', 'review'))
ORDER BY g.amount_atomic DESC LIMIT %(limit)s
""")


def note(chain_id: str, address: str) -> None:
    """Inside the transaction that books one of its sweeps, or gas for it."""
    _NOTE.rows(chain=chain_id, address=address)


def learn(chain: Chain) -> None:
    """A few of the addresses that were swept before this was kept, until there are no more."""
    turn, _ = RowTurn.objects.get_or_create(
        job=f"chain.gas_left:{chain.pk}", defaults={"row_id": ""}
    )
    if turn.row_id == _DONE:
        return
    addresses = [
        address for (address,) in _SWEPT.rows(chain=chain.pk, after=turn.row_id, limit=AT_ONCE)
    ]
    for address in addresses:
        note(chain.pk, address)
    turn.row_id = addresses[-1] if len(addresses) == AT_ONCE else _DONE
    turn.save(update_fields=["row_id"])


def worth(chain: Chain, least_atomic: int, at: datetime, limit: int) -> list[tuple[str, int]]:
    """The addresses where at least so much is left, the most first."""
    rows = _WORTH.rows(chain=chain.pk, mode=chain.mode, least=least_atomic, at=at, limit=limit)
    return [(address, int(amount)) for address, amount in rows]
