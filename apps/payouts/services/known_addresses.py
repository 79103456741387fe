"""A store's knowledge of an address: whether it was paid or saved before, and which known address
only looks like it. One statement."""

from dataclasses import dataclass
from datetime import datetime

from apps.access import operations, waiting_period
from apps.access.access import Access
from apps.chain.networks.families import ends_of, read_any, stored
from apps.core import clock
from apps.core.db.sql import Statement
from apps.core.errors import Failure
from apps.core.models import Viewer

# Of the addresses that begin alike, so that one index finds them among all payouts of the store.
_ALIKE = Statement("""
SELECT address, bool_or(is_paid OR is_usable), bool_or(is_paid OR is_old), min(waits_until) FROM (
    SELECT d.address, false AS is_paid,
           d.removed_at IS NULL AND coalesce(d.usable_from <= %(real_now)s, true) AS is_usable,
           d.removed_at IS NULL AND d.cools_until <= %(at)s AS is_old,
           CASE WHEN d.removed_at IS NULL THEN d.usable_from END AS waits_until
    FROM payouts_destination d WHERE d.store_id = %(store_id)s AND d.mode = %(mode)s
        AND d.kind = 'wallet' AND d.address >= %(first)s AND d.address < %(after)s
    UNION ALL
    SELECT p.destination_address, p.status = 'confirmed', false, false, NULL
    FROM payouts_payout p WHERE p.store_id = %(store_id)s AND p.mode = %(mode)s
        AND p.destination_address >= %(first)s AND p.destination_address < %(after)s
) AS alike GROUP BY address ORDER BY address
""")


class NotSaved(Failure):
    field = "destination_address"
    message = "Save this address as a wallet first: new wallets have a waiting period"


@dataclass(frozen=True)
class KnownAddress:
    """`is_usable`: it was paid, or a saved wallet that may be used has it; `usable_from` is when
    the saved wallets that have it may be, None where there are none. `is_new`: nothing has ever
    reached it, and no wallet saved longer ago than the waiting period has it.

    `lookalike` is a known address that begins and ends like this one and is another: what somebody
    may have put in its place.
    """

    is_usable: bool
    is_new: bool
    lookalike: str | None
    usable_from: datetime | None = None


def known_address(viewer: Viewer, address: str, at: datetime) -> KnownAddress:
    own = stored(address)
    ends = ends_of(own)
    rows = _ALIKE.rows(
        store_id=viewer.store_id,
        mode=viewer.mode,
        first=ends[0],
        after=f"{ends[0]}~",
        at=at,
        real_now=clock.real_now(),
    )
    alike = {known: flags for known, *flags in rows if ends_of(known) == ends}
    is_usable, is_old, usable_from = alike.pop(own, (False, False, None))
    return KnownAddress(is_usable, not is_old, next(iter(alike), None), usable_from)


def lookalike_of(viewer: Viewer, address: str) -> str | None:
    """The look-alike of what somebody has typed; None for what is no address."""
    if read_any(address) is None:
        return None
    return known_address(viewer, address, clock.real_now()).lookalike


def check_known(access: Access, known: KnownAddress) -> None:
    """A raw address that a person, or a credential that a person has just made, names in live mode
    has been paid, or saved and is past its waiting period. Raises NotSaved,
    waiting_period.StillNew, or StillWaiting for a saved wallet's."""
    if known.is_usable:
        return
    until = access.new_until
    if until is not None:
        raise waiting_period.StillNew(until)
    if waiting_period.usable_from(access, operations.DESTINATION_ADD, access.mode) is not None:
        if known.usable_from is not None:
            raise waiting_period.StillWaiting(
                "This wallet", known.usable_from, field=NotSaved.field
            )
        raise NotSaved
