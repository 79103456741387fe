"""The rule itself: who turns it on, loosens it, and when that counts."""

from datetime import timedelta

import pytest
import time_machine

from apps.access.operations import RoleForbids, WrongCredential
from apps.core import clock
from apps.payouts.models import ApprovalRule
from apps.payouts.services import approval_rules
from apps.payouts.services.approval_rules import TooFewPeople, change_rule
from apps.stores.models import Member, Role, Store
from tests import make
from tests.auditing import found_of
from tests.cast import Cast, join, person
from tests.payouts.approvals.acts import emails
from tests.payouts.two_people import LITTLE, MUCH, Two, two_people


def test_one_person_alone_cannot_turn_it_on(cast: Cast) -> None:
    with pytest.raises(TooFewPeople, match="Invite an owner or admin first"):
        change_rule(cast.bakery.owner_access(), 100_00)
    join(cast.bakery.store, cast.charlie, Role.ADMIN)
    type(cast.charlie).objects.filter(pk=cast.charlie.pk).update(is_active=False)
    with pytest.raises(TooFewPeople):
        change_rule(cast.bakery.owner_access(), 100_00)
    assert not ApprovalRule.objects.filter(store=cast.bakery.store).exists()


def test_only_owners_change_it_and_each_mode_has_its_own(two: Two) -> None:
    with pytest.raises(RoleForbids):
        change_rule(two.as_adam(), None)
    with pytest.raises(WrongCredential):
        change_rule(two.key_access(), None)
    assert ApprovalRule.objects.get(store=two.cast.bakery.store).mode == "test"
    make.store_coins(two.cast.bakery.store, "ETH", 10**18)
    assert make.payout(two.cast.bakery.live, MUCH, asset_id="ETH")["status"] == "pending"


def test_a_stricter_rule_counts_at_once_and_a_looser_one_after_its_wait(cast: Cast) -> None:
    two = two_people(cast, "live", "ETH")
    change_rule(two.as_alice(), 50_00)
    assert make.payout(two.key, LITTLE, asset_id="ETH")["status"] == "requires_review"
    change_rule(two.as_alice(), None)
    assert make.payout(two.key, LITTLE, asset_id="ETH")["status"] == "requires_review"
    told = [whom for whom, subject in emails() if "approval limit" in subject]
    assert told == [cast.alice.email] * 3, "of each change"
    with time_machine.travel(clock.real_now() + timedelta(hours=25)):
        made = make.payout(two.key, MUCH, asset_id="ETH")
        assert made["status"] == "pending"
    assert found_of("payouts_approved") == []


def test_an_owner_stops_a_looser_rule_by_the_emails_link(cast: Cast) -> None:
    two = two_people(cast, "live", "ETH")
    rule = change_rule(two.as_alice(), 10_000_00)
    assert rule.next_from is not None and approval_rules.stop_change(rule.pk, rule.next_from)
    rule.refresh_from_db()
    assert (rule.above_cents, rule.next_above_cents, rule.next_from) == (100_00, None, None)


def test_another_currency_of_the_store_does_not_loosen_the_rule(two: Two) -> None:
    Store.objects.filter(pk=two.cast.bakery.store.pk).update(settlement_currency="GBP")
    change_rule(two.as_alice(), 60_00)
    rule = ApprovalRule.objects.get(store=two.cast.bakery.store)
    assert (rule.currency, rule.above_cents) == ("EUR", 60_00)
    assert make.payout(two.key, LITTLE)["status"] == "requires_review"


def test_the_last_approvers_going_is_foreseen(two: Two) -> None:
    assert approval_rules.leaves_too_few(Member.objects.get(user=two.adam))
    third = person("olga")
    join(two.cast.bakery.store, third, Role.ADMIN)
    assert not approval_rules.leaves_too_few(Member.objects.get(user=two.adam))
    assert not approval_rules.leaves_too_few(
        Member(store=two.cast.bakery.store, user=two.cast.bob, role=Role.DEVELOPER)
    )
