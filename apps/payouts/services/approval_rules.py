"""Above which worth a store's payouts need a second person. A stricter rule counts at once; a
looser one has a waiting period in live mode.

Each mode has a rule of its own, so that it can be tried before real money waits.
"""

import uuid
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from apps.access import operations, waiting_period
from apps.access.access import Access
from apps.core import clock
from apps.core.errors import Failure
from apps.core.models import Viewer
from apps.core.money import Fiat
from apps.core.text.regions import in_english
from apps.core.text.wording import Worded
from apps.payouts.models import ApprovalRule
from apps.stores import roles
from apps.stores.auditing import audit
from apps.stores.models import Member, Role, Store

PEOPLE_MIN = 2
MOVERS = [role for role in Role.values if roles.may(role, roles.MOVE_MONEY)]


class TooFewPeople(Failure):
    field = "above"
    message = (
        "Only one person here may move money, and nobody approves their own payouts. Invite an"
        " owner or admin first, or make a member one"
    )


def above_of(rule: ApprovalRule | None, at: datetime) -> Fiat | None:
    """The worth above which a payout needs a second person now; None: none does."""
    cents = None if rule is None else _above_cents(rule, at)
    return None if rule is None or cents is None else Fiat(cents, rule.currency)


def _above_cents(rule: ApprovalRule, at: datetime) -> int | None:
    return (
        rule.next_above_cents
        if rule.next_from is not None and rule.next_from <= at
        else rule.above_cents
    )


def rule_of(viewer: Viewer) -> ApprovalRule | None:
    return rules_visible_to(viewer).first()


def rules_visible_to(viewer: Viewer) -> "QuerySet[ApprovalRule]":
    """Rules visible to the caller, one at most."""
    rows: QuerySet[ApprovalRule] = ApprovalRule.objects.visible_to(viewer)
    return rows


def rules_on(store_id: uuid.UUID) -> bool:
    """True if payouts of either mode need a second person, now or until a change in its waiting
    period."""
    rows = list(ApprovalRule.objects.filter(store_id=store_id))
    return any(above_of(row, clock.real_now()) is not None for row in rows)


def approvers(store_id: uuid.UUID) -> "QuerySet[Member]":
    """Members who may approve payouts that they didn't request themselves."""
    return Member.objects.filter(
        store_id=store_id, role__in=MOVERS, user__is_active=True
    ).select_related("user", "store")


def leaves_too_few(member: Member) -> bool:
    """True if payouts could be approved by nobody, or by one person alone, if this member might
    move money no more."""
    if member.role not in MOVERS or not rules_on(member.store_id):
        return False
    return approvers(member.store_id).exclude(pk=member.pk).count() < PEOPLE_MIN


def change_rule(access: Access, above_cents: int | None) -> ApprovalRule:
    """From now on, or in live mode from the end of the waiting period if the new one asks for
    less. None turns it off.

    A rule keeps the currency that was the store's when it was turned on. Raises TooFewPeople, or
    what operations.check does.
    """
    operations.check(access, operations.APPROVAL_CHANGE)
    with transaction.atomic():
        store = Store.objects.select_for_update(no_key=True).get(pk=access.store_id)
        if above_cents is not None and approvers(store.pk).count() < PEOPLE_MIN:
            raise TooFewPeople
        at = clock.now(store, access.mode)
        rule = rule_of(access) or ApprovalRule(
            store=store, mode=access.mode, created_at=at, changed_at=at
        )
        present = _above_cents(rule, at)
        is_looser = present is not None and (above_cents is None or above_cents > present)
        until = (
            waiting_period.usable_from(access, operations.APPROVAL_CHANGE, access.mode)
            if is_looser
            else None
        )
        if until is None:
            rule.currency = store.settlement_currency if present is None else rule.currency
            rule.above_cents = above_cents
            rule.next_above_cents = None
            rule.next_from = None
            rule.changed_at = at
        else:
            rule.above_cents = present
            rule.next_above_cents = above_cents
            rule.next_from = until
        rule.save()
        _note(rule, "store.payout_approval_changed", [present, above_cents])
        waiting_period.tell(
            access,
            operations.APPROVAL_CHANGE,
            rule.pk,
            Worded(
                "{rule}. Before: {before}",
                rule=told(rule, above_cents),
                before=told(rule, present),
            ),
            until,
        )
    return rule


def told(rule: ApprovalRule, above_cents: int | None) -> Worded:
    """A rule in words."""
    if above_cents is None:
        return Worded("No payout needs a second approval")
    amount = in_english(Fiat(above_cents, rule.currency))
    return Worded("Payouts above {amount} need a second approval", amount=amount)


def stop_change(id: uuid.UUID, until: datetime) -> bool:
    """By an owner's link: the rule stays as it is. False when it has changed already, or was never
    to."""
    with transaction.atomic():
        rule = ApprovalRule.objects.select_for_update().filter(pk=id, next_from=until).first()
        if rule is None or until <= clock.real_now():
            return False
        _note(rule, "store.payout_approval_kept", [rule.next_above_cents, rule.above_cents])
        rule.next_above_cents = None
        rule.next_from = None
        rule.save(update_fields=["next_above_cents", "next_from"])
    return True


def _note(rule: ApprovalRule, action: str, change: list[int | None]) -> None:
    details = {"above_cents": change, "currency": rule.currency}
    audit.record(
        action,
        store=rule.store_id,
        mode=rule.mode,
        target=rule,
        name=told(rule, change[1]),
        details=details,
    )
