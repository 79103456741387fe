"""Need of a second person for a payout or a list: one person's payouts of a day add up to the
rule's amount.

A person's keys, agents, apps and schedules are that person. What can't be valued waits. The
database holds the rule too.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Sum

from apps.access.access import AGENT, OAUTH, SESSION, Access
from apps.assets.models import Asset
from apps.assets.selectors import valued
from apps.core import clock
from apps.core.db import locks
from apps.core.models import Viewer
from apps.core.money import Amount, CoinPrice, Fiat
from apps.core.text.wording import Worded
from apps.payouts.models import Payout, PayoutApproval, Schedule
from apps.payouts.services import approval_rules
from apps.stores import person_mail
from apps.stores.auditing import audit
from apps.stores.notices.kinds import PAYOUT_APPROVAL
from apps.stores.notices.notifications import NewNotification, record

LIFETIME = timedelta(days=7)
ALONE_WITHIN = timedelta(days=1)
EMAILS_WITHIN = timedelta(hours=1)
EMAILS_MAX = 10  # requests of an hour that emails are written about; the others are on the page
WAITING = PayoutApproval.Status.WAITING


@dataclass(frozen=True)
class Maker:
    """The person who requests a payout, or who made the credential that does. A list that has been
    approved brings its approval."""

    user_id: uuid.UUID | None
    name: str
    approval: PayoutApproval | None = None


@dataclass(frozen=True)
class AmountsToApprove:
    """Amounts of each asset to approve, and their description for the email."""

    amounts: Sequence[Amount[Asset]]
    text: str


def maker_of(access: Access) -> Maker:
    if access.kind == SESSION and access.user is not None:
        return Maker(access.maker_id, access.user.name or access.user.email)
    kind = {AGENT: "Agent", OAUTH: "App"}.get(access.kind, "API key")
    acting = f" of {access.platform.name}" if access.platform is not None else ""
    return Maker(access.maker_id, f"{kind} {access.label}{acting}")


def take_turn(store_id: uuid.UUID, mode: str) -> None:
    """Wait until no other payout of the store is judged, and keep others waiting until the
    transaction ends."""
    locks.hold_in_transaction(locks.LockKind.PAYOUT_APPROVALS, f"{store_id}:{mode}")


def judge(
    viewer: Viewer, above: Fiat | None, maker: Maker, wish: AmountsToApprove, at: datetime
) -> tuple[Fiat | None, PayoutApproval | None]:
    """The worth under the rule, and the approval that it waits for if it needs one. Inside the
    caller's transaction.

    `above` is the worth from which on it does; None: nothing waits.
    """
    if maker.approval is not None or above is None:
        return None, maker.approval
    take_turn(viewer.store_id, viewer.mode)
    worth = worth_of({amount.asset.pk: amount.atomic for amount in wish.amounts}, above.currency)
    before = worth_of(moved_alone(viewer, maker, at), above.currency)
    if worth is not None and before is not None and worth + before <= above:
        return worth, None
    return worth, _ask(viewer, above, maker, wish, worth, at)


def covering(schedule: Schedule, asset_id: str, address: str | None) -> PayoutApproval | None:
    """The approval of an earlier payout of the schedule to where it pays now: later ones need no
    other."""
    paid = Payout.objects.filter(
        schedule=schedule,
        asset=asset_id,
        destination=schedule.destination_id,
        destination_address=address,
    )
    payout = (
        paid.filter(approval__status=PayoutApproval.Status.APPROVED)
        .select_related("approval")
        .order_by("-created_at")
        .first()
    )
    return payout.approval if payout is not None else None


def moved_alone(viewer: Viewer, maker: Maker, at: datetime) -> dict[str, int]:
    """Sums of the maker's payouts of the last day without a second person, by asset; returned ones
    don't count."""
    rows = Payout.objects.visible_to(viewer).filter(
        maker=maker.user_id, approval=None, created_at__gt=at - ALONE_WITHIN
    )
    sums = (
        rows.exclude(funds=Payout.Funds.RETURNED)
        .order_by()
        .values_list("asset")
        .annotate(sum=Sum("amount_atomic"))
    )
    return {asset_id: int(amount) for asset_id, amount in sums}


def worth_of(atomic: Mapping[str, int], currency: str) -> Fiat | None:
    """Of atomic units by asset; None when one of the assets has no rate."""
    total = Fiat(0, currency)
    for asset, rate in valued(atomic, currency, clock.real_now()):
        if rate is None:
            return None
        total += CoinPrice(asset, rate, currency).worth(Amount(asset, atomic[asset.pk]))
    return total


def in_words(amounts: Iterable[Amount[Asset]]) -> str:
    return ", ".join(f"{amount.coins} {amount.asset.coin_symbol}" for amount in amounts)


def _ask(
    viewer: Viewer,
    above: Fiat,
    maker: Maker,
    wish: AmountsToApprove,
    worth: Fiat | None,
    at: datetime,
) -> PayoutApproval:
    approval: PayoutApproval = PayoutApproval.objects.create(
        store_id=viewer.store_id,
        mode=viewer.mode,
        created_at=at,
        maker_id=maker.user_id,
        made_by=maker.name[:300],
        currency=above.currency,
        worth_cents=None if worth is None else worth.cents,
        above_cents=above.cents,
        expires_at=at + LIFETIME,
    )
    audit.record(
        "payout_approval.requested",
        store=approval.store_id,
        mode=approval.mode,
        target=approval,
        name=approval.made_by,
        details={
            "worth_cents": approval.worth_cents,
            "currency": approval.currency,
            "above_cents": approval.above_cents,
            "expires_at": approval.expires_at,
        },
    )
    record(_news(approval, wish))
    recent = PayoutApproval.objects.visible_to(viewer).filter(created_at__gt=at - EMAILS_WITHIN)
    if recent.count() <= EMAILS_MAX:
        _tell_approvers(approval, wish)
    return approval


def _news(approval: PayoutApproval, wish: AmountsToApprove) -> NewNotification:
    return NewNotification(
        approval.store_id,
        approval.mode,
        PAYOUT_APPROVAL,
        approval.pk,
        "Payout needs approval",
        f"/dashboard/approvals/{approval.pk}",
        str(Worded("{what}, requested by {person}", what=wish.text, person=approval.made_by)),
    )


def _tell_approvers(approval: PayoutApproval, wish: AmountsToApprove) -> None:
    """A link to the page: nothing is approved by opening it."""
    for member in approval_rules.approvers(approval.store_id).exclude(user=approval.maker_id):
        context = {
            "store": member.store.name,
            "what": wish.text,
            "worth": None
            if approval.worth_cents is None
            else Fiat(approval.worth_cents, approval.currency),
            "made_by": approval.made_by,
            "is_test": not approval.is_live,
            "until": approval.expires_at,
            "path": f"/dashboard/approvals/{approval.pk}",
        }
        person_mail.send(
            member.user,
            key=f"payout_approval:{approval.pk}:{member.user_id}",
            template="payout_approval",
            context=context,
        )
