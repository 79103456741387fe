"""Staff stop signing: of one asset, of one chain, or of everything. One places a hold, two lift it.

The signer asks before each run, and again under the wallet's lock. What was signed before is out,
or goes out.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from apps.assets.models import Asset, Chain
from apps.chain.models import SendingHold
from apps.core import jobs
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.models import StaffRequest, User
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind


class HoldRefused(Failure):
    """The text says why."""


class AlreadyHeld(HoldRefused):
    message = "Sending is on hold there already"


@dataclass(frozen=True)
class ChainHolds:
    """Holds on signing on a chain."""

    is_everything: bool
    asset_ids: frozenset[str]


def held_on(chain: Chain) -> ChainHolds:
    """Reads all holds in one statement."""
    of_it = Q(chain=chain) | Q(asset__chain=chain) | Q(chain=None, asset=None)
    asset_ids = SendingHold.objects.filter(of_it, lifted_at=None).values_list("asset_id", flat=True)
    names = list(asset_ids)
    return ChainHolds(None in names, frozenset(name for name in names if name is not None))


def open_holds() -> "list[SendingHold]":
    """There are at most as many as chains and assets."""
    rows = SendingHold.objects.filter(lifted_at=None).select_related("chain", "asset", "placed_by")
    return list(rows.order_by("placed_at"))


def place(
    chain: Chain | None, asset: Asset | None, reason: str, staff: User, at: datetime
) -> SendingHold:
    """At once; neither a chain nor an asset is everything. Raises StaffForbidden or HoldRefused."""
    staff_roles.check(staff, staff_roles.SENDING_HOLD)
    if not reason.strip():
        raise HoldRefused("Give a reason")
    row = SendingHold(
        chain=chain, asset=asset, reason=reason.strip()[:500], placed_by=staff, placed_at=at
    )
    with transaction.atomic(), refused_by("sending_hold_once", AlreadyHeld):
        row.save(force_insert=True)
        audit.record("sending.held", target=row, name=name_of(row), reason=row.reason)
    return row


def request_lift(hold: SendingHold, reason: str, staff: User, at: datetime) -> StaffRequest:
    """Nothing is sent yet. Raises StaffForbidden, HoldRefused or what four_eyes.ask raises."""
    lines = [("Sending", "On hold", "Resumed"), ("Reason for the hold", hold.reason, "")]
    wish = Proposal(
        str(hold.pk), f"Resume sending: {name_of(hold)}", {"hold": str(hold.pk)}, lines, reason
    )
    return four_eyes.ask(LIFT, wish, staff, at)


def name_of(hold: SendingHold) -> str:
    """Name of the held thing, for people."""
    if hold.asset is not None:
        return hold.asset.full_name
    return hold.chain.name if hold.chain is not None else "everything"


def _open(facts: Facts) -> SendingHold:
    rows = SendingHold.objects.select_for_update(of=("self",)).select_related(
        "asset__chain", "chain"
    )
    row: SendingHold | None = rows.filter(pk=facts["hold"], lifted_at=None).first()
    if row is None:
        raise HoldRefused("This hold was lifted already")
    return row


def _before(facts: Facts) -> Facts:
    row = _open(facts)
    return {"chain": row.chain_id, "asset": row.asset_id, "reason": row.reason}


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> None:
    row = _open(facts)
    SendingHold.objects.filter(pk=row.pk).update(lifted_at=at, lift_reason=request.reason)
    audit.record("sending.resumed", target=row, name=name_of(row), reason=request.reason)
    jobs.enqueue("chain.send")


LIFT = RequestKind(
    "sending", "Resumption of sending", staff_roles.SENDING_RESUME, _before, _carry_out
)
