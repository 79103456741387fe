"""Each deposit address is the one that the account's extended public key gives at its index: at
another index nobody could take out what lies there."""

from collections.abc import Iterator

from django.conf import settings
from django.db import connection

from apps.chain.addresses import is_derived
from apps.chain.own.wallets import derived_own
from apps.core.invariant import written_since

NAME = "addresses_derived"
SAYS = (
    "Every deposit address is the one that the extended public key gives at its index, and every"
    " address of a merchant’s own wallet the one that the wallet does"
)
BATCH = 5000
_WRITTEN = f"""
SELECT a.address, a.mode, a.index FROM chain_address a
WHERE a.purpose IN ('deposit', 'own') AND a.mode = ANY (%(modes)s::text[])
    AND (%(boundary)s::text IS NULL OR {written_since("a")})
    AND a.address > %(after)s ORDER BY a.address LIMIT %(limit)s
"""  # noqa: S608  # our own text
_MISSING = """
SELECT w.address_id, w.payment_id FROM payments_paymentaddress w
WHERE NOT EXISTS (SELECT FROM chain_address a WHERE a.address = w.address_id)
"""


def compare(boundary_xid: int | None) -> tuple[int, list[tuple[str, str]]]:
    """Compares derived figures, all or those written since a boundary: their number, and the
    differences."""
    breaches = list(_missing())
    counted, after = 0, ""
    while rows := _written(boundary_xid, after):
        counted += len(rows)
        after = rows[-1][0]
        own = derived_own(rows)
        for address, mode, index in rows:
            if address not in own and not is_derived(address, mode, index):
                breaches.append((f"address {address}", f"the key at {index} gives another one"))
    return counted, breaches


def _missing() -> Iterator[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(_MISSING)
        for address, payment_id in cursor.fetchall():
            yield f"address {address}", f"payment {payment_id} gave it out, and it is gone"


def _written(boundary_xid: int | None, after: str) -> list[tuple[str, str, int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            _WRITTEN,
            {
                "modes": sorted(settings.DEPOSIT_XPUBS),
                "boundary": None if boundary_xid is None else str(boundary_xid),
                "after": after,
                "limit": BATCH,
            },
        )
        return list(cursor.fetchall())
